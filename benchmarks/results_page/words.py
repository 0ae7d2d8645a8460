"""Where our numbers and the paper's differ, in plain sentences made from the numbers."""

from collections.abc import Sequence

import numpy as np

from elect.bench.methods import ELECT
from elect.bench.result import BenchResult

from . import paper_numbers as paper
from .studies import AblationInfo, CaseInfo, SimilarityInfo
from .tables import ALPHA, ordinal, verdict_of


def run_name(result: BenchResult) -> str:
    return f"{result.testbed}, {result.source} numbers, {result.protocol}"


def and_list(names: Sequence[str]) -> str:
    """
    >>> and_list(["a", "b", "c"]), and_list([])
    ('a, b and c', 'none')
    """
    if not names:
        return "none"
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def rank_sentence(result: BenchResult) -> str:
    """ELECT's mean rank, the paper's, and what else there is to beat."""
    mine, told = result[ELECT].mean_rank, paper.MEAN_RANK[result.testbed][ELECT]
    off = mine.estimate - told
    if off <= 0:
        verdict = f"which is as good as or better than the paper's {told:g}"
    elif mine.low <= told:
        verdict = f"{off:.0f} places worse than the paper's {told:g}, which still lies inside the interval"
    else:
        verdict = f"{off:.0f} places worse than the paper's {told:g}, which lies outside the interval"
    ordered = sorted(result.complete(), key=lambda m: m.mean_rank.estimate)
    place = [m.name for m in ordered].index(ELECT) + 1
    best = ordered[0]
    lead = "It is the best of all" if place == 1 else f"Best is {best.name} with {best.mean_rank.estimate:.1f}"
    return (
        f"**{run_name(result)}**: ELECT's mean rank is {mine.estimate:.1f} (95 % interval {mine.low:.0f} to "
        f"{mine.high:.0f}), {verdict}. {lead}; by mean rank ELECT is number {place} of {len(ordered)}."
    )


def test_sentence(result: BenchResult) -> str:
    """Against which baselines ELECT differs, here and in the paper."""
    elect = result[ELECT]
    known = [m for m in result.methods if m.name in paper.P_VALUES[result.testbed]]
    verdicts = {m.name: verdict_of(elect, m) for m in known}
    better = [name for name, verdict in verdicts.items() if verdict == "better"]
    worse = [name for name, verdict in verdicts.items() if verdict == "worse"]
    in_paper = [name for name, p in paper.P_VALUES[result.testbed].items() if p < ALPHA]
    text = (
        f"{run_name(result)}: at 0.05 ELECT is better than {and_list(better)} of the {len(known)} baselines that the "
        f"paper tested there; the paper says better than {and_list(in_paper)}."
    )
    if worse:
        text += f" Here it is worse than {and_list(worse)}."
    return text


def qth_sentence(result: BenchResult) -> str:
    found, told = result[ELECT].qth_best, paper.QTH_BEST[result.testbed]
    if found.position is None:
        return (
            f"{run_name(result)}: ELECT is worse than the worst model of every task; in the paper the {ordinal(told)}."
        )
    return (
        f"{run_name(result)}: the best rival that ELECT keeps up with is the {ordinal(found.position)} best model (top "
        f"{found.percent:.0f} %); in the paper the {ordinal(told)}."
    )


def meta_feature_sentence(result: BenchResult) -> str:
    """The claim of the controlled testbed: methods by meta-features fail where ELECT does not."""
    shown = [result[name] for name in paper.P_VALUES["controlled"] if name in result]
    ranks = ", ".join(f"{m.name} {m.mean_rank.estimate:.0f}" for m in shown)
    above = [m.name for m in shown if m.mean_rank.estimate > paper.CONTROLLED_OTHERS_ABOVE]
    return (
        f"{run_name(result)}: the paper has every meta-feature baseline above {paper.CONTROLLED_OTHERS_ABOVE:g}; here "
        f"they are {ranks} ({and_list(above)} above {paper.CONTROLLED_OTHERS_ABOVE:g})."
    )


def sibling_sentence(loo: BenchResult, strict: BenchResult) -> str:
    """What leaving siblings in is worth to each method."""
    moved = [
        (strict[m.name].mean_rank.estimate - m.mean_rank.estimate, m.name)
        for m in loo.methods
        if m.name in strict and m.is_meta_learning
    ]
    most, name = max(moved)
    mine = strict[ELECT].mean_rank.estimate - loo[ELECT].mean_rank.estimate
    return (
        f"{loo.testbed}, {loo.source} numbers: leaving out the siblings too changes ELECT's mean rank by {mine:+.1f}; "
        f"the method that loses most is {name} ({most:+.1f})."
    )


def similarity_sentence(infos: Sequence[SimilarityInfo]) -> str:
    parts = [f"{info.label} {info.median:.3f} (paper {paper.SIMILARITY_MEDIAN[info.testbed]:.3f})" for info in infos]
    wild = [info.median for info in infos if info.testbed == "wild"]
    controlled = [info.median for info in infos if info.testbed == "controlled"]
    text = f"Median similarity of two tasks: {'; '.join(parts)}."
    if wild and controlled:
        more = min(controlled) > max(wild)
        text += " The controlled testbed is " + (
            "the more similar one, as in the paper." if more else "not the more similar one."
        )
    return text


def ablation_sentence(where: str, info: AblationInfo) -> str:
    told = paper.ABLATIONS[info.variant]
    mine, theirs = float(np.median(info.elect_ranks)), float(np.median(info.variant_ranks))
    if info.p_value < ALPHA:
        verdict = "ELECT is significantly better, as in the paper"
    elif mine < theirs:
        verdict = "ELECT's median is lower, but the difference is not significant"
    else:
        verdict = "ELECT's median is not even lower"
    # The paper's ablations are on its wild testbed alone.
    beside = "" if where.startswith("wild") else ", on its wild testbed"
    return (
        f"{where}, {info.variant}: medians {mine:.1f} and {theirs:.1f}, p = {info.p_value:.3f}: {verdict} (the "
        f"paper{beside}: {told.elect_median} and {told.variant_median}, p = {told.p_value})."
    )


def case_sentence(info: CaseInfo) -> str:
    first, last, told = info.steps[0], info.steps[-1], paper.CASE_STUDY[-1]
    where = f" ({info.source} numbers)" if info.source else ""
    return (
        f"On {info.task}{where} the search goes from a mean true similarity of {first.similarity:.3f} with "
        f"{first.matched} of the 5 nearest tasks found to {last.similarity:.3f} with {last.matched}, and from rank "
        f"{first.rank:g} to "
        f"{last.rank:g} ({last.pick}); the paper ends at {told.similarity:.3f} with {told.matched}, rank {told.rank:g} "
        f"({told.pick}). The best model on it is {info.best_model}."
    )


def examined_sentence(result: BenchResult) -> str:
    """Whether anything that was examined explains the gap."""
    elect, told = result[ELECT], paper.MEAN_RANK[result.testbed][ELECT]
    others = sorted((m for m in result.methods if m.name != ELECT), key=lambda m: m.mean_rank.estimate)
    best = others[0]
    significant = [m.name for m in others if m.p_value is not None and m.p_value < ALPHA]
    reaches = best.mean_rank.estimate <= told
    verdict = f"{'It' if reaches else 'None'} reaches the paper's {told:g}."
    return (
        f"{run_name(result)}: of {len(others)} changes the lowest mean rank is that of *{best.name}*, "
        f"{best.mean_rank.estimate:.1f} (ELECT as it is: {elect.mean_rank.estimate:.1f}; the seed alone moves that by "
        f"{elect.spread_of_repetitions:.1f}, one standard deviation). {verdict} Different from ELECT at 0.05: "
        f"{and_list(significant)}."
    )


def error_sentence(results: Sequence[BenchResult]) -> str:
    """How far a mean rank can be trusted at all."""
    errors = [float(r[ELECT].ranks.std(ddof=1) / np.sqrt(len(r.tasks))) for r in results]
    return (
        f"The standard error of ELECT's mean rank, from the spread over tasks alone, is {min(errors):.0f} to "
        f"{max(errors):.0f} here: a difference below that is not a result."
    )


def many_tries_sentence(results: Sequence[BenchResult]) -> str:
    """How far the p-values of what was examined can be trusted."""
    tried = [
        (m.p_value, m.name, run_name(r))
        for r in results
        for m in r.methods
        if m.name != ELECT and m.p_value is not None
    ]
    p, name, where = min(tried)
    corrected = min(1.0, p * len(tried))
    return (
        f"These {len(tried)} comparisons were made after seeing ELECT's result, on the tasks they are judged by: the "
        "lowest of many mean ranks is flattering and is no estimate of what that change would do on new tasks. The "
        f"p-values are not corrected; the smallest, {p:.4f} for *{name}* ({where}), is {corrected:.2f} after "
        f"Bonferroni's correction for {len(tried)}."
    )


def missing_sentence(result: BenchResult) -> str:
    lacking = [m.name for m in result.methods if m.tasks != result.tasks]
    return f"Not run on every task, and so not in the diagrams: {and_list(lacking)}." if lacking else ""
