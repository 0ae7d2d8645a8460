"""The same run in Python: lines that give the scores of the report again."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from elect.core import Selection
from elect.detect.options import Options

_LONGEST = 90


def code(
    source: str | None,
    columns: Sequence[str],
    options: Options,
    selection: Selection,
    *,
    database: str | PathLike[str] | None = None,
    saved_as: str | PathLike[str] | None = None,
    threshold: float | None = None,
) -> str:
    """Read the table at ``source``, which has these columns, leave out what was left out, elect and score. A table that
    was given in Python has no source, and is ``X``. ``threshold`` is a chance that a person has set."""
    table = "X" if source is None else "table"
    flagged = "detector.labels_ == 1" if threshold is None else "flagged"
    lines = [
        "from elect import ElectDetector" + (", load_detector" if saved_as is not None else ""),
        *([] if source is None else ["from elect.tables import read_table"]),
        "",
        *([] if source is None else [f"table = {_call('read_table', [repr(source)])}{_chosen(columns, options)}"]),
        f"detector = {_call('ElectDetector', _arguments(options, database))}.fit({table})",
        "scores = detector.decision_scores_  # in the order of the table; higher is more outlying",
        *([] if threshold is None else [f"flagged = detector.chance_ >= {threshold!r}"]),
        f"print(*detector.explain({table}, {flagged}), sep='\\n')",
    ]
    if selection.strategy != options.elected_by:
        lines.insert(
            lines.index("") + 1, "# The pick of the report also rests on answers, which are not part of these lines."
        )
    elif options.max_seconds is not None:
        lines.insert(
            lines.index("") + 1, "# A budget of time can end the search earlier or later than it did for the report."
        )
    if saved_as is not None:
        lines += [
            "",
            "# The very detector of the report, for new rows:",
            f"detector = load_detector({str(saved_as)!r})",
        ]
        lines += ["detector.predict(table)  # 1 for an outlier"]
    return "\n".join(lines)


def answered_code(
    source: str,
    columns: Sequence[str],
    options: Options,
    answers: Mapping[int, bool | None],
    threshold: float,
    *,
    database: str | PathLike[str] | None = None,
) -> str:
    """Read the table, tell the answers (by the position of the row), and flag the rows from a chance on."""
    given = {"database": None if database is None else str(Path(database)), "random_state": options.seed or None}
    arguments = ["table", *(f"{name}={value!r}" for name, value in given.items() if value is not None)]
    said = [f"{row}: {answer!r}" for row, answer in answers.items()]
    return "\n".join(
        [
            "from elect import Feedback",
            "from elect.tables import read_table",
            "",
            f"table = {_call('read_table', [repr(source)])}{_chosen(columns, options)}",
            f"feedback = {_call('Feedback', arguments)}",
            f"answers = {_wrapped(said)}",
            "for row, odd in answers.items():",
            "    feedback.tell(row, odd)",
            "chance = feedback.chance  # in the order of the table",
            f"flagged = chance >= {threshold!r}",
            "print(table.frame.filter(flagged))",
        ]
    )


def _wrapped(items: Sequence[str]) -> str:
    """A dictionary on lines of a readable length."""
    lines: list[str] = []
    line = ""
    for item in items:
        if line and len(line) + len(item) > _LONGEST:
            lines, line = [*lines, line.rstrip()], ""
        line += f"{item}, "
    lines.append(line.rstrip(", "))
    return f"{{{lines[0]}}}" if len(lines) == 1 else "\n".join(["{", *(f"    {one}" for one in lines), "}"])


def _chosen(columns: Sequence[str], options: Options) -> str:
    """The choice of columns, as a call on the table."""
    apart = {name for name in (options.id, options.label, *options.drop) if name is not None}
    if options.columns is not None:
        return _call(".only", [repr(c) for c in columns if c in options.columns and c not in apart])
    left_out = [repr(c) for c in columns if c in apart]
    return _call(".without", left_out) if left_out else ""


def _arguments(options: Options, database: str | PathLike[str] | None) -> list[str]:
    """What differs from the defaults."""
    given = {
        "database": None if database is None else str(Path(database)),
        "strategy": None if options.strategy == "auto" else options.strategy,
        "max_models": options.max_models,
        "max_seconds": options.max_seconds,
        "random_state": options.seed or None,
        "scorer": None if options.scorer == "committee" else options.scorer,
    }
    share = [] if options.contamination == "auto" else [repr(options.contamination)]
    return [*share, *(f"{name}={value!r}" for name, value in given.items() if value is not None)]


def _call(name: str, arguments: Sequence[str]) -> str:
    """A call on one line, or a line an argument where they are many."""
    inside = ", ".join(arguments)
    if len(name) + len(inside) <= _LONGEST:
        return f"{name}({inside})"
    return "\n".join([f"{name}(", *(f"    {argument}," for argument in arguments), ")"])
