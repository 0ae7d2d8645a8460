"""The part of ``results.md`` about the strategies."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from elect.strategies import STRATEGIES
from elect.support.atomic import write_atomically

from .tables import TextTable, p_equation

SUBSETS = ("wild", "keel", "odd", "union", "errors", "injected", "simulated", "images", "image features", "texts")
JUDGED = ("union", "errors")
HEADING = "## Better picks: strategies with a wide history"


def write_union(page: Path, result: Mapping[str, Any]) -> None:
    """Put the section into a page in the place of the one that it has; the other parts stay."""
    before, _, after = page.read_text(encoding="utf-8").partition(HEADING)
    rest = after[after.index("\n## ") :]
    write_atomically(page, (before + "\n\n".join(union_section(result)) + "\n" + rest).encode())


def union_section(result: Mapping[str, Any]) -> Iterator[str]:
    """The section, from what the command ``union`` printed."""
    tasks, groups = result["n_tasks"], result["n_groups"]
    yield HEADING
    yield (
        f"From `python -m benchmarks.results_page union`, {result['protocol']}: {tasks['all']} tasks of "
        f"{groups['all']} sources; everything is learned without the fold of a task. Strategies are judged by the "
        f"*union* of the wild tasks, those cut from KEEL's classification data and OddBench ({tasks['union']} tasks, "
        f"{groups['union']} sources). Besides, there are pictures, texts, simulated tasks and injected outliers, and "
        f"tables with entry errors ({tasks['errors']}, one of each source), which no database learns from. *committee* "
        "hears the chances of a row scorer that knows nothing of the source. Differences are of mean ranks by source, "
        "with standard errors and two-sided Wilcoxon tests over sources, without a correction for how many methods "
        "there are."
    )
    yield "Mean rank of the picked model among all (lower is better):"
    yield _ranks(result).markdown()
    for subset, title in (("union", "On the union"), ("errors", "On tables with entry errors")):
        yield f"{title}, by source, against each strategy:"
        yield _tests(result, subset).markdown()
    yield "Mean average precision of the pick:"
    yield _precision(result).markdown()
    yield "What this says:"
    yield "\n".join(f"- {sentence}" for sentence in _sentences(result))
    yield (
        "How often the rank lay in the 90 % interval of the expected rank, which the tasks of the union and the tables "
        "with entry errors of the other folds give:"
    )
    yield _coverage(result).markdown()
    yield (
        "The similar tasks that are shown: how many different sets there are, and how often the same set, or the same "
        "task, is shown at most (share of the tables of a fold)."
    )
    yield _similar(result).markdown()


def _subsets(result: Mapping[str, Any]) -> list[str]:
    return [name for name in SUBSETS if name in result["n_tasks"]]


def _ordered(result: Mapping[str, Any], subset: str = "union") -> list[Mapping[str, Any]]:
    return sorted(result["methods"], key=lambda row: float(row[subset]["mean_rank_groups"]))


def _ranks(result: Mapping[str, Any]) -> TextTable:
    subsets = _subsets(result)
    rows = [
        (_name(row["name"]), *(f"{row[subset]['mean_rank']:.1f}" for subset in subsets)) for row in _ordered(result)
    ]
    return TextTable(("method", *subsets), tuple(rows))


def _tests(result: Mapping[str, Any], subset: str) -> TextTable:
    rows = []
    for row in _ordered(result, subset):
        tests = [_test(row[subset]["against"].get(name)) for name in STRATEGIES]
        rows.append((_name(row["name"]), f"{row[subset]['mean_rank_groups']:.1f}", *tests))
    return TextTable(("method", "mean rank", *(f"against {name}" for name in STRATEGIES)), tuple(rows))


def _test(found: Mapping[str, Any] | None) -> str:
    """A difference with its error and its p-value."""
    if found is None:
        return ""
    return f"{found['difference']:+.1f} ± {found['error']:.1f}, {p_equation(found['p_value'])}"


def _coverage(result: Mapping[str, Any]) -> TextTable:
    subsets = _subsets(result)
    rows = []
    for name, found in result["expected_rank"].items():
        interval = f"{found['low']:.0f} to {found['high']:.0f}"
        shares = (f"{100 * found['coverage'][subset]:.1f} %" for subset in subsets)
        rows.append((_name(name), f"{found['expected']:.0f}", interval, *shares))
    return TextTable(("method", "expected rank", "interval", *subsets), tuple(rows))


def _similar(result: Mapping[str, Any]) -> TextTable:
    rows = []
    for name, found in result["similar_tasks"].items():
        shares = (found["largest_share_of_one_set"], found["largest_share_of_one_task"])
        counts = (f"{found['tables']}", f"{found['different_sets']}")
        rows.append((_name(name), *counts, *(f"{100 * share:.1f} %" for share in shares)))
    return TextTable(("method", "tables", "different sets", "the same set", "the same task"), tuple(rows))


def _precision(result: Mapping[str, Any]) -> TextTable:
    subsets = _subsets(result)
    rows = [
        (_name(row["name"]), *(f"{row[subset]['mean_ap']:.3f}" for subset in subsets))
        for row in sorted(result["methods"], key=lambda row: -float(row["union"]["mean_ap"]))
    ]
    return TextTable(("method", *subsets), tuple(rows))


def _sentences(result: Mapping[str, Any]) -> Iterator[str]:
    rows = {row["name"]: row for row in result["methods"]}
    names = list(STRATEGIES)
    for place, name in enumerate(names):
        for rival in names[place + 1 :]:
            yield "; ".join(_against(rows, rival, name, subset) for subset in JUDGED) + "."


def _against(rows: Mapping[str, Mapping[str, Any]], rival: str, name: str, subset: str) -> str:
    test = rows[name][subset]["against"][rival]
    word = "no different from" if test["p_value"] >= 0.05 else "better than" if test["difference"] < 0 else "worse than"
    return f"*{name}* is {word} *{rival}* on {subset} ({_test(test)})"


def _name(name: str) -> str:
    return f"**{name}**" if name in STRATEGIES else name
