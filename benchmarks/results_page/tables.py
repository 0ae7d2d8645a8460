"""The tables of the evaluation as plain rows, and how rows become Markdown and CSV."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elect.bench.methods import ELECT
from elect.bench.result import BenchResult, MethodResult
from elect.support.arrays import FloatArray

from . import paper_numbers as paper
from .studies import AblationInfo, CaseInfo, SimilarityInfo

ALPHA = 0.05


@dataclass(frozen=True)
class TextTable:
    """A header and rows of texts."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """
        >>> print(TextTable(("a", "b"), (("1", "x|y"),)).markdown())
        | a | b |
        |---|---|
        | 1 | x\\|y |
        """
        lines = [_line(self.header), "|" + "---|" * len(self.header), *(_line(row) for row in self.rows)]
        return "\n".join(lines)

    def csv(self) -> str:
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows([self.header, *self.rows])
        return buffer.getvalue()


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def rounded(value: float | None, decimals: int = 1) -> str:
    return "-" if value is None else f"{value:.{decimals}f}"


def ordinal(number: int) -> str:
    """
    >>> [ordinal(n) for n in (1, 12, 32, 55, 103)]
    ['1st', '12th', '32nd', '55th', '103rd']
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def p_text(value: float | None) -> str:
    """A p-value in a cell.

    >>> p_text(0.04321), p_text(0.00001), p_text(None)
    ('0.0432', '< 0.0001', '-')
    """
    if value is None:
        return "-"
    return "< 0.0001" if value < 0.00005 else f"{value:.4f}"


def p_equation(value: float) -> str:
    """A p-value in a sentence.

    >>> p_equation(0.04321), p_equation(0.00001)
    ('p = 0.0432', 'p < 0.0001')
    """
    text = p_text(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def seconds_text(value: float) -> str:
    """
    >>> seconds_text(0.00012), seconds_text(0.5), seconds_text(12.34)
    ('< 0.01', '0.50', '12.3')
    """
    if value < 0.01:
        return "< 0.01"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def by_mean_rank(result: BenchResult) -> list[MethodResult]:
    return sorted(result.methods, key=lambda method: method.mean_rank.estimate)


def methods_table(result: BenchResult) -> TextTable:
    """All methods, best mean rank first."""
    header = ("method", "mean rank", "95 % interval", "median", "mean AP", "p against ELECT", "q-th best", "s a task")
    rows = []
    for m in by_mean_rank(result):
        name = f"**{m.name}**" if m.name == ELECT else m.name
        if len(m.tasks) < len(result.tasks):
            name += f" ({len(m.tasks)} tasks only)"
        rows.append(
            (
                name,
                rounded(m.mean_rank.estimate),
                f"{m.mean_rank.low:.0f} to {m.mean_rank.high:.0f}",
                rounded(m.median_rank.estimate),
                rounded(m.mean_ap.estimate, 3),
                "-" if m.name == ELECT else p_text(m.p_value),
                "none" if m.qth_best.position is None else str(m.qth_best.position),
                seconds_text(m.seconds),
            )
        )
    return TextTable(header, tuple(rows))


def overview_table(results: Sequence[BenchResult]) -> TextTable:
    """The mean rank of every method in every run, best first by the first run; the paper's where it gives one."""
    header = ("method", *(f"{r.testbed}, {r.source}, {r.protocol}" for r in results), "paper (wild; controlled)")
    rows = []
    for m in by_mean_rank(results[0]):
        cells = [_overview_cell(r, m.name) for r in results]
        told = [rounded(paper.MEAN_RANK[bed].get(m.name), 0) for bed in ("wild", "controlled")]
        name = f"**{m.name}**" if m.name == ELECT else m.name
        rows.append((name, *cells, "-" if told == ["-", "-"] else "; ".join(told)))
    return TextTable(header, tuple(rows))


def _overview_cell(result: BenchResult, name: str) -> str:
    if name not in result:
        return "-"
    m = result[name]
    text = rounded(m.mean_rank.estimate)
    return text if m.tasks == result.tasks else f"{text} ({len(m.tasks)} tasks)"


def pairwise_table(result: BenchResult) -> TextTable:
    """The paper's Table II: ELECT against each baseline, our p-value beside the paper's, the better method in bold."""
    elect = result[ELECT]
    published = paper.P_VALUES[result.testbed]
    rival, best = f"{ordinal(paper.QTH_BEST[result.testbed])} best model", elect.qth_best
    ours = f"{ordinal(best.position)} best model" if best.position is not None else "no model"
    rows = [("**ELECT**", f"**{ours}** (paper: {rival})", p_text(best.p_value), "no difference", "-")]
    for m in result.methods:
        if m.name == ELECT:
            continue
        verdict = verdict_of(elect, m)
        rows.append(
            (
                "ELECT" if verdict == "worse" else "**ELECT**",
                m.name if verdict == "better" else f"**{m.name}**",
                p_text(m.p_value),
                {"better": "ELECT", "worse": m.name, "none": "no difference"}[verdict],
                p_text(published[m.name]) if m.name in published else "not tested",
            )
        )
    return TextTable(("ours", "baseline", "p", "better at 0.05", "p in the paper"), tuple(rows))


def verdict_of(elect: MethodResult, other: MethodResult) -> str:
    """Whether ELECT is significantly ``better``, ``worse``, or there is ``none`` of a difference."""
    if other.p_value is None or other.p_value >= ALPHA:
        return "none"
    mine = [elect.ranks[elect.tasks.index(task)] for task in other.tasks]
    return "better" if sum(mine) < sum(other.ranks) else "worse"


def tasks_table(result: BenchResult) -> TextTable:
    """The rank of every method's choice on every task: all that the statistics are made of."""
    names = [m.name for m in result.methods]
    rows = []
    for task, group in zip(result.tasks, result.groups, strict=True):
        cells = [rounded(m.ranks[m.tasks.index(task)], 2) if task in m.tasks else "" for m in result.methods]
        rows.append((task, group, *cells))
    return TextTable(("task", "group", *names), tuple(rows))


def ablation_table(infos: Sequence[tuple[str, AblationInfo]]) -> TextTable:
    """Each ablation on each run: medians and the one-sided p-value, ours and the paper's."""
    rows = []
    for where, info in infos:
        told = paper.ABLATIONS[info.variant] if where.startswith("wild") else None
        rows.append(
            (
                where,
                f"ELECT against {info.variant}",
                f"{_median(info.elect_ranks):.1f} against {_median(info.variant_ranks):.1f}",
                f"{info.elect_ranks.mean():.1f} against {info.variant_ranks.mean():.1f}",
                p_text(info.p_value),
                "-" if told is None else f"{told.elect_median} against {told.variant_median}, p = {told.p_value}",
            )
        )
    header = ("run", "comparison", "median rank", "mean rank", "one-sided p", "paper (wild): medians")
    return TextTable(header, tuple(rows))


def _median(values: FloatArray) -> float:
    return float(np.median(values))


def similarity_table(infos: Sequence[SimilarityInfo]) -> TextTable:
    rows = []
    for info in infos:
        told = paper.SIMILARITY_MEDIAN[info.testbed]
        rows.append((info.label, str(len(info.values)), rounded(info.median, 4), rounded(told, 4)))
    return TextTable(("testbed", "pairs of tasks", "median similarity", "in the paper"), tuple(rows))


def case_table(info: CaseInfo) -> TextTable:
    """The paper's Table III with ours beside it."""
    told = {step.iteration: step for step in paper.CASE_STUDY}
    rows = []
    for step in info.shown:
        theirs = told.get(step.iteration)
        rows.append(
            (
                str(step.iteration),
                rounded(step.similarity, 4),
                rounded(step.estimated, 4),
                str(step.matched),
                step.pick,
                rounded(step.rank),
                "-" if theirs is None else f"{theirs.similarity:.4f}, {theirs.matched}, {theirs.pick}, {theirs.rank:g}",
            )
        )
    header = (
        "iteration",
        "mean similarity",
        "as estimated",
        "matched of 5",
        "pick",
        "its rank",
        "paper: similarity, matched, pick, rank",
    )
    return TextTable(header, tuple(rows))


def examined_table(result: BenchResult) -> TextTable:
    """Each thing that was examined, as a change of ELECT."""
    rows = []
    for m in result.methods:
        name = "**ELECT, as in the tables above**" if m.name == ELECT else m.name
        rows.append(
            (
                name,
                m.title,
                rounded(m.mean_rank.estimate),
                f"{m.mean_rank.low:.0f} to {m.mean_rank.high:.0f}",
                rounded(m.median_rank.estimate),
                rounded(m.mean_ap.estimate, 3),
                rounded(m.spread_of_repetitions) if m.spread_of_repetitions > 0 else "one seed",
                "-" if m.name == ELECT else p_text(m.p_value),
            )
        )
    header = ("changed", "to", "mean rank", "95 % interval", "median", "mean AP", "sd over seeds", "p against ELECT")
    return TextTable(header, tuple(rows))
