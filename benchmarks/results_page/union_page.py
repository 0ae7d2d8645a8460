"""The part of ``results.md`` about the strategies."""

from collections.abc import Iterator, Mapping
from typing import Any

from elect.strategies import STRATEGIES

from .tables import TextTable, p_equation, p_text

SUBSETS = ("wild", "keel", "union", "test", "development", "injected", "simulated", "images", "texts", "all")
ELECT, SIMPLE = "elect", "best fixed model by mean rank"


def union_section(result: Mapping[str, Any]) -> Iterator[str]:
    """The section, from what the command ``union`` printed."""
    tasks, groups = result["n_tasks"], result["n_groups"]
    yield "## Better picks: strategies with a wide history"
    yield (
        f"Strict, from `python -m benchmarks.results_page union`: {tasks['all']} tasks of {groups['all']} sources, "
        "dealt by source to ten folds; everything is learned from the other nine. Besides the wild tasks they are cut "
        "from KEEL's classification data, pictures and texts, simulated, or have injected outliers. "
        f"*Union* is wild and KEEL ({tasks['union']} tasks, {groups['union']} sources). Of it, *test* are the wild "
        f"tasks and those of KEEL with a source akin to them ({tasks['test']} tasks, {groups['test']} sources), "
        "*development* the others. Scores are all there is of a task here: *committee* goes by the common opinion of "
        "the models. p-values are Wilcoxon tests on the mean ranks of the sources, two-sided, "
        "without a correction for how many methods there are."
    )
    yield from result.get("notes", ())
    yield "Mean rank of the picked model among all (lower is better), and the p-value on the union:"
    yield _ranks(result).markdown()
    yield "Mean average precision of the pick:"
    yield _precision(result).markdown()
    yield "What this says:"
    yield "\n".join(f"- {sentence}" for sentence in _sentences(result))


def _subsets(result: Mapping[str, Any]) -> list[str]:
    return [name for name in SUBSETS if name in result["n_tasks"]]


def _ordered(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return sorted(result["methods"], key=lambda row: float(row["union"]["mean_rank_groups"]))


def _ranks(result: Mapping[str, Any]) -> TextTable:
    subsets = _subsets(result)
    heads = ("method", *subsets, "union, by source", "p against best by mean rank", "p against elect")
    rows = []
    for row in _ordered(result):
        ranks = [f"{row[subset]['mean_rank']:.1f}" for subset in subsets]
        union = row["union"]
        numbers = (f"{union['mean_rank_groups']:.1f}", p_text(union["p_value_fixed"]), p_text(union["p_value"]))
        rows.append((_name(row["name"]), *ranks, *numbers))
    return TextTable(heads, tuple(rows))


def _precision(result: Mapping[str, Any]) -> TextTable:
    subsets = _subsets(result)
    rows = [
        (_name(row["name"]), *(f"{row[subset]['mean_ap']:.3f}" for subset in subsets))
        for row in sorted(result["methods"], key=lambda row: -float(row["union"]["mean_ap"]))
    ]
    return TextTable(("method", *subsets), tuple(rows))


def _sentences(result: Mapping[str, Any]) -> Iterator[str]:
    rows = {row["name"]: row for row in result["methods"]}
    for name in (name for name in STRATEGIES if name in rows and name != ELECT):
        for rival, key in ((ELECT, "p_value"), (SIMPLE, "p_value_fixed")):
            for subset in ("union", "test", "all"):
                yield _against(rows, name, rival, key, subset)
    single = [row for row in result["methods"] if not row["name"].startswith("mean of")]
    best = min(single, key=lambda row: float(row["wild"]["mean_rank"]))
    yield (
        f"The lowest mean rank of a single model on the wild tasks is {best['wild']['mean_rank']:.1f} "
        f"({best['name']}), which is the best of {len(single)} and so partly lucky."
    )


def _against(rows: Mapping[str, Mapping[str, Any]], name: str, rival: str, key: str, subset: str) -> str:
    mine, other = rows[name][subset], rows[rival][subset]
    p = float(mine[key])
    verdict = "no difference" if p >= 0.05 else "better" if _better(mine, other) else "worse"
    return (
        f"*{name}* against *{rival}*, {subset}: mean rank by source {mine['mean_rank_groups']:.1f} and "
        f"{other['mean_rank_groups']:.1f}, {p_equation(p)}: {verdict}."
    )


def _better(mine: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return float(mine["mean_rank_groups"]) < float(other["mean_rank_groups"])


def _name(name: str) -> str:
    return f"**{name}**" if name in STRATEGIES else name
