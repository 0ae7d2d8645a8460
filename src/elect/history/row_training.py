"""Training of the row scorer: rows of labelled tasks of every kind, so that no kind drowns another.

Two experts are grown. The one of *wrong values* learns from tables with entry errors; of other tasks it sees the normal
rows only, so that it keeps quiet where extremes are common. The one of *unusual rows* learns from all other tasks. Both
are calibrated on tasks that they had not seen.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.committee.committee import cell_summary
from elect.committee.features import RowTable, feature_names
from elect.committee.scorer import LEANING, RARER, UNLIKELY, RowScorer, calibrated, chance_of, either, leaning
from elect.committee.voices import FAMILIES, voice_scores
from elect.paper.folds import group_folds
from elect.pool import PoolScorer
from elect.support.arrays import FloatArray, IntArray
from elect.support.boosting import Growth, boost
from elect.support.trees import TreeEnsemble
from elect.tables import ColumnTreatment, read_table
from elect.tables.cells import CellJudge, Cells, cells_of_array, cells_of_frame

ERRORS, CLEAN, PLANTED = "errors", "clean", "planted"
"""Tables with entry errors, the same tables without any, and tables of noise with a few glaring values."""

OF_WRONG_VALUES = (ERRORS, CLEAN, PLANTED)
"""What the expert of wrong values learns from with its labels, and the other expert not at all."""

WRONG_WEIGHTS = {ERRORS: 1.0, CLEAN: 0.3, PLANTED: 0.3, "odd": 0.6, "wild": 0.3, "keel": 0.5, "injected": 0.2}
UNUSUAL_WEIGHTS = {"odd": 1.0, "wild": 1.5, "keel": 1.0, "injected": 0.3, "simulated": 0.2}
OTHER = 0.25
"""The weight of a kind of tasks, each task of a kind weighing the same; any other kind has the last."""

_NAMES = feature_names(FAMILIES)
_HEARD = ("rank ", *(f"far {family}" for family in FAMILIES))
_RANKS = tuple(int(n.startswith(_HEARD) and " at " not in n) for n in _NAMES)
_RISING = tuple(int(r or n.endswith((" first", " second", " mean"))) for r, n in zip(_RANKS, _NAMES, strict=True))
_FREE = {"rank spread"}
_PLAIN = tuple(
    f"{name} {of}" for name in ("sentinel", "shift", "sign", "near", "order") for of in ("first", "second", "mean")
)
"""Signals that say what is wrong: more of one never speaks for a value. Others may: where all values lie far out, being
far is no error."""
_WRONG = Growth(
    num_leaves=31,
    rounds=400,
    learning_rate=0.05,
    min_leaf_rows=100,
    column_share=0.35,
    row_share=0.7,
    ridge=5.0,
    bins=63,
    log_odds=True,
    rising=tuple(int((r or n in _PLAIN) and n not in _FREE) for r, n in zip(_RANKS, _NAMES, strict=True)),
)
UNUSUAL_GROWTH = replace(
    _WRONG,
    num_leaves=6,
    rounds=200,
    learning_rate=0.05,
    min_leaf_rows=300,
    rising=tuple(r if n not in _FREE else 0 for r, n in zip(_RISING, _NAMES, strict=True)),
)
OWN_GROWTH = replace(UNUSUAL_GROWTH, num_leaves=8, rounds=60, ridge=20.0)
"""Of the trees that lean a scorer towards a team's own tables."""

_MOST_ROWS = 150
"""Outliers, and normal rows, that are drawn from one task; weights make up for the others."""

_BINS = np.linspace(0.0, 1.0, 11)


@dataclass(frozen=True, eq=False)
class RowTask:
    """The rows of one labelled task, described as the committee describes them."""

    name: str
    group: str
    kind: str
    features: NDArray[np.float32]
    y: NDArray[np.int8]


def describe_array(X: FloatArray, *, n_jobs: int = 1) -> NDArray[np.float32]:
    """The rows of a numeric table."""
    return _described(PoolScorer(X, n_jobs=n_jobs), cells_of_array(np.asarray(X, dtype=np.float64)))


def describe_table(data: Any, *, n_jobs: int = 1) -> NDArray[np.float32]:
    """The rows of a table of any types."""
    table = read_table(data)
    treatment, rows = ColumnTreatment.fit_transform(table)
    return _described(PoolScorer(rows, n_jobs=n_jobs, standardize=False), cells_of_frame(treatment, table.frame))


def _described(pool: PoolScorer, cells: Cells) -> NDArray[np.float32]:
    judge = CellJudge.fit(cells)
    scores, said = voice_scores(pool), cell_summary(judge, cells)
    table = RowTable.fit(FAMILIES, scores, said, (len(cells.number_at), len(cells.word_at)))
    return table.describe(scores, said).astype(np.float32)


def train_row_scorer(tasks: Sequence[RowTask], *, n_folds: int = 4, seed: int = 0) -> RowScorer:
    """Grow both experts on all tasks; calibrate them on what experts of the other folds say of each task."""
    left_out: list[tuple[FloatArray, FloatArray]] = [(np.empty(0), np.empty(0))] * len(tasks)
    fold_of = group_folds([task.group for task in tasks], n_folds)
    for fold in np.unique(fold_of):
        wrong, unusual = (
            TreeEnsemble.from_lightgbm_text(text)
            for text in _experts([task for task, f in zip(tasks, fold_of, strict=True) if f != fold], seed)
        )
        for place in np.flatnonzero(fold_of == fold).tolist():
            features = tasks[place].features.astype(np.float64)
            left_out[place] = (wrong.predict(features), leaning(unusual.predict(features), features, _NAMES))
    errors = {kind: WRONG_WEIGHTS[kind] for kind in (ERRORS, CLEAN)}
    a, b = _line(tasks, [said[0] for said in left_out], errors)
    others = {k: _weight(k, UNUSUAL_WEIGHTS) for k in {task.kind for task in tasks} - set(OF_WRONG_VALUES)}
    c, d = _line(tasks, [said[1] for said in left_out], others)
    calibration = np.array([a, b, c, d])
    chances = [chance_of(either(*calibrated(*said, calibration))) for said in left_out]
    return RowScorer(FAMILIES, *_experts(tasks, seed), calibration, reliability_of(tasks, chances))


def recipe() -> tuple[Any, ...]:
    """All that decides, besides the tasks, what is learned."""
    return WRONG_WEIGHTS, UNUSUAL_WEIGHTS, OTHER, _WRONG, UNUSUAL_GROWTH, _MOST_ROWS, LEANING, RARER, UNLIKELY


def reliability_of(tasks: Sequence[RowTask], chances: Sequence[FloatArray]) -> FloatArray:
    """For each tenth of the scale, on tables with entry errors: the mean stated chance, the share of outliers, rows."""
    of_errors = [place for place, task in enumerate(tasks) if task.kind in (ERRORS, CLEAN)]
    if not of_errors:
        return np.zeros((0, 3))
    chance = np.concatenate([chances[place] for place in of_errors])
    y = np.concatenate([tasks[place].y for place in of_errors])
    at = np.clip(np.digitize(chance, _BINS) - 1, 0, len(_BINS) - 2)
    found = [
        (chance[at == k].mean(), y[at == k].mean(), (at == k).sum()) for k in range(len(_BINS) - 1) if (at == k).any()
    ]
    return np.array(found, dtype=np.float64)


def _experts(tasks: Sequence[RowTask], seed: int) -> tuple[str, str]:
    """The trees of both experts."""
    wrong = [task if task.kind in OF_WRONG_VALUES else _normal(task) for task in tasks if task.kind != "simulated"]
    unusual = [task for task in tasks if task.kind not in OF_WRONG_VALUES]
    return (
        grow(wrong, WRONG_WEIGHTS, _WRONG, seed),
        # From the share of outliers of each task: the trees need not learn it, only what tells the rows of one apart.
        grow(unusual, UNUSUAL_WEIGHTS, UNUSUAL_GROWTH, seed, start=[share_log_odds(task) for task in unusual]),
    )


def grow(
    tasks: Sequence[RowTask],
    weights: Mapping[str, float],
    growth: Growth,
    seed: int,
    start: Sequence[FloatArray] | None = None,
) -> str:
    """The trees of one expert; with ``start`` they go on from these log-odds of the rows of each task."""
    per_kind = Counter(task.kind for task in tasks)
    used = [place for place, task in enumerate(tasks) if len(task.y)]
    rows, y, weight, begin = [], [], [], []
    for place in used:
        task = tasks[place]
        at, share = _draw(task)
        rows.append(task.features[at])
        y.append(task.y[at].astype(np.float64))
        weight.append(share * _weight(task.kind, weights) / per_kind[task.kind])
        begin.append(np.zeros(len(at)) if start is None else start[place][at])
    total = np.concatenate(weight)
    from_there = None if start is None else np.concatenate(begin)
    return boost(np.vstack(rows), np.concatenate(y), growth, seed, weights=total / total.mean(), start=from_there)


def _draw(task: RowTask) -> tuple[IntArray, FloatArray]:
    """Some rows of a task with weights that stand for all of them, the same whatever other tasks there are."""
    name = hashlib.blake2b(task.name.encode(), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(name, "little"))
    places, weights = [], []
    for label in (1, 0):
        all_of = np.flatnonzero(task.y == label)
        some = rng.permutation(all_of)[:_MOST_ROWS]
        places.append(some)
        weights.append(np.full(len(some), len(all_of) / max(len(some), 1)))
    return np.concatenate(places), np.concatenate(weights) / len(task.y)


def share_log_odds(task: RowTask) -> FloatArray:
    """The log-odds of an outlier in a task, for each of its rows."""
    share = np.clip(task.y.mean(), 1e-3, 1 - 1e-3) if len(task.y) else 0.5
    return np.full(len(task.y), np.log(share / (1 - share)))


def _normal(task: RowTask) -> RowTask:
    keep = task.y == 0
    return replace(task, features=task.features[keep], y=task.y[keep])


def _weight(kind: str, weights: Mapping[str, float]) -> float:
    return weights.get(kind, OTHER)


def _line(tasks: Sequence[RowTask], said: Sequence[FloatArray], weights: Mapping[str, float]) -> tuple[float, float]:
    """Slope and offset of the log-odds, by a logistic regression over the rows of some kinds of tasks."""
    per_kind = Counter(task.kind for task in tasks)
    used = [place for place, task in enumerate(tasks) if task.kind in weights]
    if not used:
        return 0.0, -20.0
    x = np.concatenate([said[p] for p in used])
    y = np.concatenate([tasks[p].y for p in used]).astype(np.float64)
    w = np.concatenate(
        [np.full(len(tasks[p].y), weights[tasks[p].kind] / per_kind[tasks[p].kind] / len(tasks[p].y)) for p in used]
    )
    w /= w.sum()
    slope, offset = 1.0, 0.0
    for _ in range(50):  # Newton's method; the problem is convex and two-dimensional
        p = chance_of(slope * x + offset)
        miss, curve = w * (y - p), w * p * (1 - p) + 1e-12 * w
        gradient = np.array([(miss * x).sum(), miss.sum()])
        hessian = np.array([[(curve * x * x).sum(), (curve * x).sum()], [(curve * x).sum(), curve.sum()]])
        step = np.linalg.solve(hessian + 1e-9 * np.eye(2), gradient)
        slope, offset = slope + np.clip(step[0], -1.0, 1.0), offset + np.clip(step[1], -2.0, 2.0)
        if np.abs(step).max() < 1e-10:
            break
    return max(float(slope), 0.0), float(offset)
