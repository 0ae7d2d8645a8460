"""The same run in Python: lines that give the scores of the report again."""

from collections.abc import Sequence
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
) -> str:
    """Read the table at ``source``, which has these columns, leave out what was left out, elect and score. A table that
    was given in Python has no source, and is ``X``."""
    lines = [
        "from elect import ElectDetector" + (", load_detector" if saved_as is not None else ""),
        *([] if source is None else ["from elect.tables import read_table"]),
        "",
        *([] if source is None else [f"table = {_call('read_table', [repr(source)])}{_chosen(columns, options)}"]),
        f"detector = {_call('ElectDetector', _arguments(options, database))}.fit({'X' if source is None else 'table'})",
        "scores = detector.decision_scores_  # in the order of the table; higher is more outlying",
        f"print(*detector.explain({'X' if source is None else 'table'}, detector.labels_ == 1), sep='\\n')",
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
