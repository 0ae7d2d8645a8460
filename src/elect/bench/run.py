"""The benchmark as one function: what ``elect bench`` calls."""

import time
from collections.abc import Sequence
from os import PathLike

from elect.bench.baselines import PopularModel
from elect.bench.beds import Bed
from elect.bench.elect_method import ElectSelector
from elect.bench.methods import Method, methods_named
from elect.bench.result import BenchResult, result_of
from elect.bench.runner import REPETITIONS, run_methods
from elect.bench.sources import make_bed
from elect.history.pieces import Pieces
from elect.history.records import work_folder
from elect.paper.settings import MAX_MODELS
from elect.support.meter import Meter, meter


def run_bench(
    testbed: str,
    source: str | None = None,
    protocol: str = "loo",
    methods: Sequence[str] | None = None,
    seed: int = 0,
    work_dir: str | PathLike[str] | None = None,
    progress: bool = True,
) -> BenchResult:
    """Evaluate methods on a testbed, everything trained inside the fold.

    ``testbed`` is ``wild`` or ``controlled``; ``source`` is ``published`` (the default for wild) or ``computed``;
    ``protocol`` is ``loo`` (leave one task out) or ``strict`` (leave its whole group of siblings out). ``methods``
    names some of the methods, ELECT always being one; None runs all. With ``work_dir`` every finished piece is kept
    there, and the same run again takes it up where it was. Progress goes to standard error.
    """
    chosen = methods_named(methods)
    source = source or ("published" if testbed == "wild" else "computed")
    with work_folder(None if work_dir is None else str(work_dir)) as pieces, meter(progress) as bar:
        needed = any(method.needs_meta_features for method in chosen)
        bed = make_bed(testbed, source, pieces, seed, bar, with_meta_features=needed)
        return bench_of(bed, chosen, protocol, seed=seed, pieces=pieces, bar=bar)


def bench_of(
    bed: Bed,
    methods: Sequence[Method],
    protocol: str,
    *,
    seed: int = 0,
    repetitions: int = REPETITIONS,
    pieces: Pieces | None = None,
    bar: Meter | None = None,
) -> BenchResult:
    """The same on a bed at hand."""
    started = time.perf_counter()
    outcomes = run_methods(
        bed,
        methods,
        protocol,
        seed=seed,
        repetitions=repetitions,
        cache=None if pieces is None else pieces.folder,
        bar=bar,
    )
    wall = time.perf_counter() - started
    return result_of(
        bed,
        methods,
        outcomes,
        protocol,
        seed=seed,
        repetitions=repetitions,
        notes=_notes(bed, repetitions),
        wall_seconds=wall,
    )


def _notes(bed: Bed, repetitions: int) -> tuple[str, ...]:
    """What a reader of the result must know, made from the settings themselves."""
    elect = ElectSelector()
    popular = [PopularModel(family).model_of(bed.pool) for family in ("IForest", "LOF")]
    return (
        "Everything is learned inside the fold: predictor, anchors, initial models, clusters, factors, regressors.",
        f"iForest and LOF are the models nearest to PyOD's defaults: {popular[0]} and {popular[1]}.",
        f"Random methods are run {repetitions} times; ranks and performances of a task are means over these.",
        "p-values are of the two-sided paired Wilcoxon test on AP-ranks; intervals are bootstrap over groups of "
        "siblings.",
        f"ELECT here: t = {elect.n_neighbor_tasks}, {elect.initial_size} initial models by coverage, expected "
        f"improvement, {MAX_MODELS} models (anchors come on top), {elect.pairs_per_task:,} sampled pairs a task.",
    )
