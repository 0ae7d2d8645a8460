"""A history with a team's own tables added to it: what is there stays, the own tasks join it.

Models are measured against the anchors of the history, so that its predictor speaks of the own tasks too; nothing is
learned anew, and a handful of tables is enough.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from elect.core import PerformanceMatrix
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase, plain_json
from elect.history.pieces import Pieces
from elect.history.records import MetaRecords, Recipe, measure_task, single_precision
from elect.paper.pick import best_first
from elect.support.meter import Meter


@dataclass(frozen=True)
class Added:
    """What own tables added to the choice of a model: how the model that is best over the history does on own tables of
    sources that were left out, by mean performance, without and with the other own tables, and the standard error of
    the difference. With one source nothing can be left out, and these are None."""

    tasks: int
    groups: int
    before: float | None = None
    after: float | None = None
    error: float | None = None


def check_start(start: MetaDatabase, recipe: Recipe) -> None:
    """Whether tasks made by a recipe can join a history."""
    for name, there, here in (
        ("pool", start.pool.fingerprint, recipe.pool.fingerprint),
        ("metric", start.settings.metric, recipe.metric),
        ("measures", start.measure_names, recipe.measure_names),
    ):
        if there != here:
            said = "" if name == "pool" else f": {there!r} and {here!r}"
            raise InvalidInput(
                f"Own tables can join a history of the same {name} only{said}. Train a database of your own alone "
                "(--alone, start=None)."
            )


def extend(start: MetaDatabase, records: MetaRecords, pieces: Pieces, bar: Meter) -> MetaDatabase:
    """The history with these tasks in it, and what they added under ``"added"`` of its calibration."""
    recipe = records.recipe
    bar.stage("measuring models", len(records.tasks))
    measured = []
    for task in records.tasks:
        measured.append(measure_task(pieces, task, recipe, start.anchors))
        bar.advance()
    own = records.performance
    taken = set(start.tasks)
    names = [name if name not in taken else f"own/{name}" for name in own.tasks]
    if len(taken.union(names)) != len(taken) + len(names):
        raise InvalidInput("Tasks must have names that the history does not have: rename the tables.")
    groups = [group if group not in set(start.groups) else f"own/{group}" for group in records.groups]
    told = [
        {**task.provenance(), "name": name, "group": group}
        for task, name, group in zip(records.tasks, names, groups, strict=True)
    ]
    history = start.performance
    performance = PerformanceMatrix(
        np.vstack([history.values, own.values]), (*history.tasks, *names), history.model_ids, history.metric
    )
    provenance = plain_json(start.provenance)
    if "tasks" in provenance:
        provenance["tasks"] = [*provenance["tasks"], *told]
    added = _added(history, own, groups, start)
    return replace(
        start,
        performance=performance,
        groups=(*start.groups, *groups),
        measures=np.concatenate([start.measures, single_precision(np.array(measured))]),
        provenance=provenance,
        calibration={**plain_json(start.calibration or {}), "added": asdict(added)},
    )


def _added(history: PerformanceMatrix, own: PerformanceMatrix, groups: Sequence[str], start: MetaDatabase) -> Added:
    sources = sorted(set(groups))
    if len(sources) < 2:
        return Added(len(own.tasks), len(sources))
    first = _best(history)
    before, after = own.values[:, first].copy(), np.empty(len(own.tasks))
    for source in sources:
        out = np.array([group == source for group in groups])
        rest = np.vstack([history.values, own.values[~out]])
        names = tuple(str(place) for place in range(len(rest)))
        known = PerformanceMatrix(rest, names, history.model_ids, history.metric)
        after[out] = own.values[out, _best(known)]
    gain = np.array([(after - before)[[group == source for group in groups]].mean() for source in sources])
    error = float(gain.std(ddof=1) / np.sqrt(len(gain)))
    return Added(len(own.tasks), len(sources), float(before.mean()), float(after.mean()), error)


def _best(performance: PerformanceMatrix) -> int:
    """The model of best mean rank."""
    return int(best_first(-performance.ranks().mean(axis=0))[0])
