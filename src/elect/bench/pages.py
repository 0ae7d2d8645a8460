"""The files of a run: tables, figures, and ``results.md``, our numbers beside the paper's."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from elect.bench import paper, render, tables, words
from elect.bench.beds import Bed
from elect.bench.figures import CriticalDifferenceInfo, IntervalsInfo, ParetoInfo
from elect.bench.methods import ELECT, METHODS
from elect.bench.result import BenchResult
from elect.bench.run import bench_of
from elect.bench.sources import make_bed
from elect.bench.studies import (
    AblationInfo,
    SimilarityInfo,
    TraceInfo,
    ablations_of,
    run_ablations,
    run_examined,
    trace_of,
)
from elect.bench.union_page import union_section
from elect.history.pieces import Pieces
from elect.history.records import work_folder
from elect.support.atomic import write_atomically
from elect.support.meter import Meter, meter

RUNS = (
    ("wild", "published", "loo"),
    ("wild", "published", "strict"),
    ("wild", "computed", "loo"),
    ("wild", "computed", "strict"),
    ("controlled", "computed", "loo"),
    ("controlled", "computed", "strict"),
)
EXAMINED_RUNS = (("wild", "published", "loo"), ("wild", "computed", "loo"), ("controlled", "computed", "loo"))


@dataclass(frozen=True, eq=False)
class Report:
    """All that a page is made of."""

    results: tuple[BenchResult, ...]
    similarities: tuple[SimilarityInfo, ...]
    ablations: tuple[tuple[str, tuple[AblationInfo, ...]], ...]
    examined: tuple[BenchResult, ...]
    traces: tuple[TraceInfo, ...]
    command: str
    union: Mapping[str, Any] | None = None


def write_run(folder: Path, bed: Bed, result: BenchResult, pieces: Pieces, bar: Meter) -> None:
    """The files of one run: ``bench.json``, tables, figures and ``results.md``."""
    ablations = ablations_of(run_ablations(bed, result.protocol, result.seed, pieces, bar))
    traces: tuple[TraceInfo, ...] = ()
    if paper.CASE_TASK in bed.tasks:
        traces = (trace_of(bed, paper.CASE_TASK, result.protocol, result.seed),)
    command = f"elect bench {result.testbed} --source {result.source} --protocol {result.protocol} -o DIR"
    report = Report((result,), (SimilarityInfo.of(bed),), ((words.run_name(result), ablations),), (), traces, command)
    _write(folder / "bench.json", json.dumps(result.to_json(), indent=2) + "\n")
    write_page(folder, report)


def write_results(
    folder: str | PathLike[str],
    work_dir: str | PathLike[str] | None = None,
    seed: int = 0,
    progress: bool = True,
    union: str | PathLike[str] | None = None,
) -> Report:
    """Both testbeds, both sources, both protocols, and what was examined: the project's ``docs/results.md``.

    ``union`` is a file of what ``elect bench union --json`` printed, for the part about the strategies.
    """
    strategies = None if union is None else json.loads(Path(union).read_text(encoding="utf-8"))
    with work_folder(None if work_dir is None else str(work_dir)) as pieces, meter(progress) as bar:
        beds = {key: make_bed(*key, pieces, seed, bar) for key in dict.fromkeys(run[:2] for run in RUNS)}
        results = [bench_of(beds[run[:2]], METHODS, run[2], seed=seed, pieces=pieces, bar=bar) for run in RUNS]
        ablations = [
            (words.run_name(result), ablations_of(run_ablations(beds[run[:2]], run[2], seed, pieces, bar)))
            for run, result in zip(RUNS, results, strict=True)
            if result.protocol == "loo"
        ]
        examined = [run_examined(beds[run[:2]], run[2], seed, pieces, bar) for run in EXAMINED_RUNS]
        wild = [bed for bed in beds.values() if paper.CASE_TASK in bed.tasks]
        report = Report(
            tuple(results),
            tuple(SimilarityInfo.of(bed) for bed in beds.values()),
            tuple(ablations),
            tuple(examined),
            tuple(replace(trace_of(bed, paper.CASE_TASK, seed=seed), source=bed.source) for bed in wild),
            "python -m elect.bench DIR WORK UNION.json",
            strategies,
        )
        write_page(Path(folder), report)
    return report


def write_page(folder: Path, report: Report) -> None:
    """``results.md`` in the folder, and what it shows under ``figures/``."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = folder / "figures"
    for result in report.results:
        name = _file_name(result)
        _write(figures / f"{name}-methods.csv", tables.methods_table(result).csv())
        _write(figures / f"{name}-pairwise.csv", tables.pairwise_table(result).csv())
        _write(figures / f"{name}-tasks.csv", tables.tasks_table(result).csv())
    text = "\n\n".join(part for part in _page(report, figures) if part) + "\n"
    _write(folder / "results.md", text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())


def _file_name(result: BenchResult) -> str:
    return f"{result.testbed}-{result.source}-{result.protocol}"


def _image(figures: Path, name: str, alt: str, figure: object) -> str:
    render.save(figure, figures, name)
    return f"![{alt}](figures/{name}.svg)"


def _bullets(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _page(report: Report, figures: Path) -> Iterator[str]:
    yield "# Results"
    yield (
        f"Generated by `{report.command}`; no number on this page was typed by hand, except the paper's own, which "
        "stand in `elect/benchmark/paper.py` with their places in the paper. A rank is the AP-rank of the model that "
        "a method chooses, among all models of the pool: 1 is the best. `loo` leaves one task out, as the paper does; "
        "`strict` leaves its siblings out too."
    )
    yield "## In short"
    yield _bullets([words.rank_sentence(result) for result in report.results])
    if len(report.results) > 1:
        yield "Mean rank of every method in every run (lower is better):"
        yield tables.overview_table(report.results).markdown()
    yield from _interval_section(report, figures)
    yield from _difference_section(report)
    for result in report.results:
        yield from _run_section(result, figures)
    yield from _similarity_section(report, figures)
    yield from _trace_section(report, figures)
    yield from _ablation_section(report, figures)
    yield from _examined_section(report)
    if report.union is not None:
        yield from union_section(report.union)
    yield "## How this was made"
    yield _bullets(list(dict.fromkeys(note for result in report.results for note in result.notes)))


def _interval_section(report: Report, figures: Path) -> Iterator[str]:
    for key in dict.fromkeys((result.testbed, result.source) for result in report.results):
        both = [result for result in report.results if (result.testbed, result.source) == key]
        info = IntervalsInfo.of(both, paper.MEAN_RANK[key[0]][ELECT])
        name = f"{key[0]}-{key[1]}-ranks"
        yield _image(figures, name, f"Mean ranks with intervals: {info.title}", render.draw_intervals(info))


def _difference_section(report: Report) -> Iterator[str]:
    yield "## Where this differs from the paper"
    loo = [result for result in report.results if result.protocol == "loo"] or list(report.results)
    sentences = []
    for result in loo:
        if result[ELECT].mean_rank.estimate > paper.MEAN_RANK[result.testbed][ELECT]:
            sentences.append(
                f"ELECT's mean rank is worse than the paper's: {result[ELECT].mean_rank.estimate:.1f} instead of "
                f"{paper.MEAN_RANK[result.testbed][ELECT]:g} ({words.run_name(result)})."
                + (" What was examined is below." if report.examined else "")
            )
        sentences += [words.test_sentence(result), words.qth_sentence(result)]
        if result.testbed == "controlled":
            sentences.append(words.meta_feature_sentence(result))
    for result in loo:
        same = (result.testbed, result.source, "strict")
        for other in report.results:
            if (other.testbed, other.source, other.protocol) == same:
                sentences.append(words.sibling_sentence(result, other))
    sentences.append(words.similarity_sentence(report.similarities))
    sentences += [words.trace_sentence(trace) for trace in report.traces]
    sentences += [words.ablation_sentence(where, info) for where, infos in report.ablations for info in infos]
    yield _bullets(sentences)


def _run_section(result: BenchResult, figures: Path) -> Iterator[str]:
    name = _file_name(result)
    yield f"## {result.testbed.capitalize()} testbed, {result.source} numbers, {result.protocol}"
    yield (
        f"{len(result.tasks)} tasks, {len(set(result.groups))} groups of siblings, {result.n_models} models. The *q-th "
        "best* is the best rival, an oracle that always has the q-th best model, that the method is not significantly "
        f"worse than. {words.missing_sentence(result)}"
    ).rstrip()
    yield tables.methods_table(result).markdown()
    yield "ELECT against each baseline (the paper's Table II), the better in bold, both where there is no difference:"
    yield tables.pairwise_table(result).markdown()
    info = CriticalDifferenceInfo.of(result)
    yield _image(figures, f"{name}-cd", f"Critical differences: {info.title}", render.draw_critical_difference(info))
    pareto = ParetoInfo.of(result)
    if result.source == "computed":
        yield _image(figures, f"{name}-pareto", f"Time against rank: {pareto.title}", render.draw_pareto(pareto))
        frontier = words.listed([point.name for point in pareto.frontier])
        yield (
            f"On the frontier of time and rank: {frontier}. ELECT takes {tables.seconds_text(result[ELECT].seconds)} s "
            f"a task; the paper has {paper.SECONDS[ELECT]:.1f} s on its machine with plain PyOD, and iForest, MetaOD "
            "and ELECT on the frontier of the wild testbed. With the shared-work engine running *all* models costs "
            "seconds, so what ELECT saves by running few is small here."
        )


def _similarity_section(report: Report, figures: Path) -> Iterator[str]:
    yield "## Similarity of tasks"
    yield tables.similarity_table(report.similarities).markdown()
    drawn = render.draw_similarities(report.similarities)
    yield _image(figures, "similarities", "Distribution of pairwise task similarities", drawn)


def _trace_section(report: Report, figures: Path) -> Iterator[str]:
    for trace in report.traces:
        yield f"## Case study: {trace.task}" + (f", {trace.source} numbers" if trace.source else "")
        yield words.trace_sentence(trace)
        yield tables.trace_table(trace).markdown()
        name = f"case-study-{trace.source}" if trace.source else "case-study"
        yield _image(figures, name, f"The search on {trace.task}", render.draw_trace(trace))


def _ablation_section(report: Report, figures: Path) -> Iterator[str]:
    yield "## Ablations: coverage against random initialisation, expected improvement against greedy"
    rows = [(where, info) for where, infos in report.ablations for info in infos]
    yield tables.ablation_table(rows).markdown()
    for where, infos in report.ablations:
        name = "ablations-" + where.replace(" numbers", "").replace(", ", "-")
        yield _image(figures, name, f"Ablations: {where}", render.draw_ablations(where, infos))


def _examined_section(report: Report) -> Iterator[str]:
    if not report.examined:
        return
    yield "## What was examined because ELECT's rank is not the paper's"
    yield (
        "One thing changed at a time, everything else as in the tables above; "
        f"{report.examined[0].repetitions} seeds each, but for costly ones. {words.error_sentence(report.examined)}"
    )
    yield words.many_tries_sentence(report.examined)
    for result in report.examined:
        yield words.examined_sentence(result)
        yield tables.examined_table(result).markdown()
