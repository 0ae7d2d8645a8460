"""The model that the answers elect: the one expected to find most, by the chances of the rows after them.

Two opinions count alike: what is expected by the chances of the session, in which an answer speaks for similar rows,
and by those of the models, in which an answer speaks for the models that foretold it. Together they elect better than
either. Models that are expected to find about as much are told apart by how they did in the history.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from elect.answers.posterior import Posterior, RankedTable, placed
from elect.committee.consensus import expected_performance
from elect.committee.curves import OutlierCurves
from elect.core import Selection
from elect.core.sources import ScoreSource
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.measures import rank
from elect.paper.acquisition import neighbor_moments
from elect.paper.neighbors import neighbors_by_performance
from elect.paper.steps import candidates
from elect.strategies import select
from elect.support import wording
from elect.support.arrays import FloatArray

HISTORY = 0.01
"""How much average precision lies between the best and the worst mean rank in the history, in doubt. On the OddBench
tasks it gains after five answers, and later nothing; with ten times as much, the answers no longer count enough."""


@dataclass(frozen=True, eq=False)
class AnsweredElection:
    """The models of a pool on one table, and the pick without answers. Models are scored when a pick is asked for."""

    database: MetaDatabase
    source: ScoreSource
    picked: Selection | None = None

    @cached_property
    def table(self) -> RankedTable:
        return RankedTable.of(ranks_of(self.database, self.source))

    @cached_property
    def unlabelled(self) -> Selection:
        """The pick without answers."""
        return select(self.database, self.source) if self.picked is None else self.picked

    def elect(self, chance: FloatArray, answers: Mapping[int, bool]) -> Selection:
        """The pick after these answers, given the chance of each row (rows,). Rows beyond those that the models rank
        count by what they said of the others."""
        if not answers:
            return self.unlabelled
        told, n = len(answers), self.table.n_rows
        expected = self._expected(chance[:n], {row: said for row, said in answers.items() if row < n})
        usual = self.database.performance.ranks().mean(axis=0) / len(expected)
        order = np.argsort(HISTORY * usual - expected, kind="stable")
        settings, performance = self.database.settings, self.database.performance.values
        # The historical tasks whose gaps resemble the expected ones, on models spread over the whole ranking.
        neighbors = neighbors_by_performance(
            expected, performance, order, settings.n_neighbor_tasks, settings.scale_gaps
        )
        on_neighbors = performance[neighbors.tasks]
        _, spread = neighbor_moments(on_neighbors if len(on_neighbors) else performance)
        shown = candidates(self.database.pool.ids, order, expected, spread, on_neighbors)
        spec = self.database.pool[shown[0].model_id]
        given = f"{wording.count(told, 'answer')} {'was' if told == 1 else 'were'} given"
        return replace(
            self.unlabelled,
            pick=shown[0],
            runners_up=shown[1:],
            detector=spec.detector,
            params=spec.params,
            neighbors=neighbors.named(self.database.tasks),
            strategy="answers",
            evaluated=self.database.pool.ids,
            stopped_because=given,
            # What was learned about unlabelled picks says nothing about this one.
            expected_rank=None,
            reason=f"{given}: with what they say it is expected to find most",
        )

    def _expected(self, chance: FloatArray, answers: Mapping[int, bool]) -> FloatArray:
        """What each model is expected to find (models,): by the session, and by the models themselves where the history
        tells their quality."""
        expected = expected_performance(self.table.rows, chance)
        if not tells_quality(self.database):
            return expected
        models = posterior_of(self.database, self.table)
        models.hear(answers)
        says = placed(models.outlier_chance(), answers, models.wrong)
        halfway: FloatArray = (expected + expected_performance(self.table.rows, says)) / 2
        return halfway


def tells_quality(database: MetaDatabase) -> bool:
    """Whether a database says how likely a row is an outlier where a model of some average precision ranks it."""
    calibration = database.calibration
    return calibration is not None and "curves" in calibration and database.settings.metric == "ap"


def posterior_of(database: MetaDatabase, table: RankedTable) -> Posterior:
    """What the history says about the models on a table with these ranks."""
    if database.calibration is None or not tells_quality(database):
        raise InvalidInput("Models must be weighed by a database of average precision (ap) with its calibration.")
    curves = OutlierCurves.from_json(database.calibration["curves"])
    return Posterior(table, curves, database.performance.values)


def ranks_of(database: MetaDatabase, source: ScoreSource) -> FloatArray:
    """The descending ranks of the rows by every model of the pool (rows x models)."""
    return rank(np.column_stack([source.scores(model_id) for model_id in database.pool.ids]))
