"""Every way to elect that ``elect bench union`` judges: the strategies, what they have to beat, and what was tried."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from elect.bench.baselines import Choice
from elect.committee.consensus import RankedRows, expected_performance
from elect.core import ScoreMatrix, Selection
from elect.core.sources import ReplayedMeasures, ReplayedScores
from elect.history.database import MetaDatabase
from elect.history.learning import learn_without
from elect.history.pieces import Pieces
from elect.history.records import MetaRecords
from elect.measures import rank
from elect.paper.acquisition import neighbor_moments
from elect.paper.neighbors import NeighborSet, estimated_neighbors
from elect.paper.pick import best_first
from elect.strategies import STRATEGIES, select
from elect.strategies.elect import elect_steps
from elect.support.arrays import FloatArray

PAIRS_PER_TASK = 2_000
BY_AP = "best fixed model by mean AP"
ALL_MODELS, OPINION = "committee, all models", "common opinion of the models"
ANCHORS, WHOLE = "elect, all models as anchors", "elect, the whole pool"
CENTRAL = "model most like all others (MC)"

Way = tuple[str, Choice, tuple[str, ...]]
"""The name of a method, what it chose, and the similar tasks that it shows."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What is known without the tasks that are judged: a database as it ships, and one whose models are measured
    against all models of the pool instead of a few anchors."""

    database: MetaDatabase
    whole: MetaDatabase

    @classmethod
    def without(cls, held_out: Collection[str], records: MetaRecords, pieces: Pieces) -> "Learned":
        usual = learn_without(held_out, records, pieces, pairs_per_task=PAIRS_PER_TASK)
        every = records.recipe.pool.ids
        whole = learn_without(held_out, records, pieces, anchors=every, pairs_per_task=PAIRS_PER_TASK)
        return cls(usual, whole)


@dataclass(frozen=True, eq=False)
class SeenTask:
    """What may be seen of a task: scores of its rows, the chance of each, measures of the models against all others."""

    scores: ScoreMatrix
    said: FloatArray
    measures: FloatArray


@dataclass(frozen=True, eq=False)
class HeardScores:
    """A source as a table is: scores, and how likely the committee finds each row."""

    task: SeenTask

    def scores(self, model_id: str) -> FloatArray:
        return self.task.scores[model_id]

    def chance(self) -> FloatArray:
        return self.task.said


def every_choice(learned: Learned, task: SeenTask) -> Iterator[Way]:
    """What each method chooses for a task."""
    for name in STRATEGIES:
        found = select(learned.database, HeardScores(task), strategy=name)
        yield name, Choice((found.model_id,)), tuple(neighbor.task for neighbor in found.neighbors)
    ids = learned.database.pool.ids
    yield BY_AP, Choice((ids[int(best_first(learned.database.performance.values.mean(axis=0))[0])],)), ()
    expected = expected_performance(RankedRows.of(rank(task.scores.values)), task.said)
    yield ALL_MODELS, Choice((ids[int(expected.argmax())],)), ()
    opinion = select(learned.database, ReplayedScores(task.scores), strategy="committee")
    yield OPINION, Choice((opinion.model_id,)), ()
    steps = elect_steps(learned.whole, ReplayedMeasures(ids, task.measures))
    replayed = Selection.from_steps(steps, learned.whole.pool)
    yield ANCHORS, Choice((replayed.model_id,)), tuple(neighbor.task for neighbor in replayed.neighbors)
    near = whole_pool_neighbors(learned.whole, task.measures)
    mean, _ = neighbor_moments(learned.whole.performance.values[near.tasks])
    yield WHOLE, Choice((ids[int(best_first(mean)[0])],)), tuple(learned.whole.tasks[t] for t in near.tasks)
    central = task.measures[:, learned.whole.measure_names.index("mc")]
    yield CENTRAL, Choice((ids[int(central.argmax())],)), ()


def whole_pool_neighbors(database: MetaDatabase, measures: FloatArray) -> NeighborSet:
    """The neighbours by the predicted gaps of all models at once: no search is needed where all of them are scored."""
    settings, every = database.settings, np.arange(len(database.pool))
    gaps, performance = database.predictor.gaps(measures), database.performance.values
    return estimated_neighbors(gaps, performance, every, settings.n_neighbor_tasks, settings.scale_gaps)
