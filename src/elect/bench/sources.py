"""The testbeds that ``elect bench`` knows: wild with published or computed numbers, controlled with computed ones."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elect.bench.baselines import meta_features
from elect.bench.beds import Bed, Costs
from elect.bench.testbeds import (
    PublishedMeasures,
    data_home,
    load_controlled,
    load_task,
    load_wild,
    published_measures,
    published_performance,
    wild_entries,
)
from elect.core import LabeledTask, ModelPool, PerformanceMatrix, ScoreMatrix
from elect.errors import InvalidInput
from elect.history.pieces import Pieces, digest, task_digest
from elect.history.records import MetaRecords, Recipe, measure_task, stored_scores
from elect.history.train import make_records
from elect.measures import PAPER_MEASURES, published_centrality, published_hits, published_select
from elect.paper.anchors import choose_anchors
from elect.pool import PoolScorer, default_pool
from elect.support.arrays import FloatArray
from elect.support.meter import Meter

TESTBEDS = ("wild", "controlled")
SOURCES = ("published", "computed")
TRIALS = 5

MAX_TIMED_ROWS = 12_000
"""Models are timed on tasks of at most this many rows: a larger one costs minutes and says the same."""


def make_bed(
    testbed: str,
    source: str,
    pieces: Pieces,
    seed: int = 0,
    bar: Meter | None = None,
    *,
    with_meta_features: bool = True,
) -> Bed:
    """A testbed with a source of numbers; what is costly about it is kept as pieces."""
    bar = bar or Meter()
    if testbed not in TESTBEDS:
        raise InvalidInput(f"The testbed must be one of {', '.join(TESTBEDS)}, got {testbed!r}.")
    if source not in SOURCES:
        raise InvalidInput(f"The source must be one of {', '.join(SOURCES)}, got {source!r}.")
    if testbed == "wild" and source == "published":
        return _published(pieces, seed, bar, with_meta_features)
    if source == "published":
        raise InvalidInput("The controlled testbed has no published numbers: use the source 'computed'.")
    tasks = load_wild() if testbed == "wild" else load_controlled(seed=seed)
    return computed_bed(testbed, tasks, pieces, seed, bar, with_meta_features=with_meta_features)


@dataclass(frozen=True, eq=False)
class _FilledMeasures:
    """Published measures, gaps filled by the mean over the tasks of the fold's history."""

    published: PublishedMeasures
    names: tuple[str, ...] = PAPER_MEASURES
    references: tuple[str, ...] = ("all",)

    def measures(self, history: tuple[str, ...], reference: str) -> tuple[FloatArray, tuple[str, ...]]:
        return self.published.filled(sources=history), self.published.model_ids


def _published(pieces: Pieces, seed: int, bar: Meter, with_meta_features: bool) -> Bed:
    pool = default_pool()
    entries = wild_entries()
    performance = published_performance("ap", pool.ids)
    published = published_measures(model_ids=pool.ids)
    tasks = {entry.name: entry for entry in entries if entry.available}
    features, seconds = np.zeros((len(entries), 0)), np.zeros(len(entries))
    if with_meta_features:
        loaders = [partial(load_task, entry) if entry.available else None for entry in entries]
        features, seconds = _meta_features_of(loaders, pieces, seed, bar)
    key = digest(performance.values.tobytes().hex(), published.values.tobytes().hex())
    lacking = sorted({task for task, _ in published.missing})
    absent = [entry.name for entry in entries if not entry.available]
    files = _score_files(tasks)
    return Bed(
        testbed="wild",
        source="published",
        pool=pool,
        performance=performance,
        groups=tuple(entry.group for entry in entries),
        measurer=_FilledMeasures(published),
        meta_features=features,
        meta_seconds=seconds,
        fingerprint=digest("wild", "published", seed, key),
        scores=lambda task: _published_scores(files, task),
        labels=lambda task: load_task(tasks[task]).y if task in tasks else None,
        notes=(
            "Performances and measures are the published ones; seconds are those of selecting alone, since the models "
            "were run by others.",
            f"{len(lacking)} tasks lack one or more published measures ({', '.join(lacking)}): there a model gets its "
            "mean over the tasks of the fold's history.",
            f"The table of {', '.join(absent)} is not available: its meta-features are the mean over the history.",
            f"Published scores exist for {len(files)} tasks only ({', '.join(sorted(files))}): ME is judged on those.",
        ),
    )


def _score_files(tasks: Iterable[str]) -> dict[str, Path]:
    folder = data_home() / "reference" / "scores"
    paths = {task: folder / f"{task.replace('/', '_')}.npz" for task in tasks}
    return {task: path for task, path in paths.items() if path.is_file()}


def _published_scores(files: dict[str, Path], task: str) -> ScoreMatrix | None:
    if task not in files:
        return None
    with np.load(files[task], allow_pickle=False) as stored:
        return ScoreMatrix(stored["scores"].astype(np.float64), default_pool().ids)


@dataclass(frozen=True, eq=False)
class ComputedMeasures:
    """Measures of our own scores, against all models or against anchors chosen from the history of the fold."""

    records: MetaRecords
    pieces: Pieces
    references: tuple[str, ...] = ("all", "selected", "ascending")

    @property
    def names(self) -> tuple[str, ...]:
        return self.records.recipe.measure_names

    def measures(self, history: tuple[str, ...], reference: str) -> tuple[FloatArray, tuple[str, ...]]:
        ids = self.records.recipe.pool.ids
        if reference == "all":
            return self._all, ids
        if reference == "ascending":
            return self._ascending, ids
        anchors = self._anchors(history)
        recipe = self.records.recipe
        tables = [measure_task(self.pieces, record, recipe, anchors) for record in self.records.tasks]
        return np.array(tables), anchors

    @cached_property
    def _all(self) -> FloatArray:
        recipe = self.records.recipe
        return np.array([measure_task(self.pieces, task, recipe, recipe.pool.ids) for task in self.records.tasks])

    @cached_property
    def _ascending(self) -> FloatArray:
        """By the convention of the published files: rank 1 is the least outlying point, all models are anchors."""
        tables = []
        for record in self.records.tasks:
            key = digest("ascending", record.key)
            piece = self.pieces.get("measures", key)
            if piece is None:
                scores = stored_scores(self.pieces, record, self.records.recipe)
                columns = (published_centrality(scores), published_select(scores), published_hits(scores))
                piece = {"measures": np.column_stack(columns)}
                self.pieces.put("measures", key, piece)
            tables.append(piece["measures"])
        return np.array(tables)

    def _anchors(self, history: tuple[str, ...]) -> tuple[str, ...]:
        inside = [task for task in self.records.tasks if task.name in history]
        key = digest("anchors", *(task.key for task in inside))
        piece = self.pieces.get("anchors", key)
        if piece is None:
            correlations = np.array([task.correlations for task in inside])
            values = np.array([task.performance for task in inside])
            found = choose_anchors(correlations, values, [task.group for task in inside]).anchors
            piece = {"anchors": np.array(found, dtype=np.int64)}
            self.pieces.put("anchors", key, piece)
        return tuple(self.records.recipe.pool.ids[int(i)] for i in piece["anchors"])


def computed_bed(
    testbed: str,
    tasks: Sequence[LabeledTask],
    pieces: Pieces,
    seed: int = 0,
    bar: Meter | None = None,
    *,
    pool: ModelPool | None = None,
    with_meta_features: bool = True,
) -> Bed:
    """Labelled tasks as a testbed, with everything about them computed here."""
    bar = bar or Meter()
    recipe = Recipe(pool or default_pool(), seed=seed, trials=TRIALS)
    records = make_records(tasks, recipe, pieces, bar)
    features, seconds = np.zeros((len(tasks), 0)), np.zeros(len(tasks))
    if with_meta_features:
        features, seconds = _meta_features_of([partial(_same, task) for task in tasks], pieces, seed, bar)
    bar.stage("timing models", len(tasks))
    costs = {}
    for task in tasks:
        if task.n_rows <= MAX_TIMED_ROWS:
            costs[task.name] = _costs(task, recipe, pieces)
        bar.advance()
    by_name = {record.name: record for record in records.tasks}
    keys = [record.key for record in records.tasks]
    truth: dict[str, NDArray[np.int8]] = {task.name: task.y for task in tasks}
    performance: PerformanceMatrix = records.performance
    return Bed(
        testbed=testbed,
        source="computed",
        pool=recipe.pool,
        performance=performance,
        groups=records.groups,
        measurer=ComputedMeasures(records, pieces),
        meta_features=features,
        meta_seconds=seconds,
        fingerprint=digest(testbed, "computed", seed, *keys, performance.values.tobytes().hex()),
        scores=lambda task: stored_scores(pieces, by_name[task], recipe),
        labels=lambda task: truth[task],
        costs=costs,
        notes=(
            f"Scores, performances and measures are computed here on {len(tasks)} tasks (seed {seed}, random models "
            f"averaged over {TRIALS} trials).",
            f"Seconds are CPU seconds a task, the models that had to be run included, over the {len(costs)} tasks of "
            f"at most {MAX_TIMED_ROWS:,} rows.",
        ),
    )


def _same(task: LabeledTask) -> LabeledTask:
    return task


def _meta_features_of(
    loaders: Sequence[Callable[[], LabeledTask] | None], pieces: Pieces, seed: int, bar: Meter
) -> tuple[FloatArray, FloatArray]:
    """Meta-features (tasks x features) and the CPU seconds of each task's; NaN where there is no table."""
    bar.stage("extracting meta-features", len(loaders))
    rows: list[tuple[FloatArray, float] | None] = []
    for load in loaders:
        rows.append(None if load is None else _meta_features(load(), pieces, seed))
        bar.advance()
    width = next(len(row[0]) for row in rows if row is not None)
    values = np.array([np.full(width, np.nan) if row is None else row[0] for row in rows])
    return values, np.array([np.nan if row is None else row[1] for row in rows])


def _meta_features(task: LabeledTask, pieces: Pieces, seed: int) -> tuple[FloatArray, float]:
    # Their version is part of the name: raise it when the features change.
    key = digest("meta-features-1", task_digest(task), seed)
    piece = pieces.get("metafeatures", key)
    if piece is None:
        started = time.process_time()
        values = np.array(list(meta_features(task.X, seed).values()))
        piece = {"values": values, "seconds": np.array(time.process_time() - started)}
        pieces.put("metafeatures", key, piece)
    return piece["values"], float(piece["seconds"])


def _costs(task: LabeledTask, recipe: Recipe, pieces: Pieces) -> Costs:
    """CPU seconds of each group of models that are scored together, on one core."""
    key = digest("costs-1", recipe.score_key(task))
    piece = pieces.get("costs", key)
    if piece is None:
        # Compiled kernels are loaded here, not inside the clock.
        warm = PoolScorer(task.X[:50], recipe.pool, n_jobs=1)
        scorer = PoolScorer(task.X, recipe.pool, seed=recipe.seed, trials=recipe.trials, n_jobs=1)
        group_of = np.full(len(recipe.pool), -1, dtype=np.int64)
        seconds: list[float] = []
        for position, model_id in enumerate(recipe.pool.ids):
            if group_of[position] >= 0:
                continue
            warm.scores(model_id)
            group_of[[recipe.pool.index(member) for member in scorer.group(model_id)]] = len(seconds)
            started = time.process_time()
            scorer.scores(model_id)
            seconds.append(time.process_time() - started)
        piece = {"group_of": group_of, "seconds": np.array(seconds)}
        pieces.put("costs", key, piece)
    return Costs(piece["group_of"].astype(np.intp), piece["seconds"])
