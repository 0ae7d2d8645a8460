"""A session of questions: which row to ask about, what the answers say, which model they elect."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from elect.answers.posterior import Posterior, RankedTable
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
from elect.support.arrays import FloatArray

WRONG = 0.05
"""The share of answers expected to be mistaken."""


@dataclass(frozen=True)
class Answer:
    """What a person said of a row; None means they do not know."""

    row: int
    is_outlier: bool | None


class Feedback:
    """Asks about the rows that tell most about which model is right, and elects with what was answered.

    All models of the pool are scored once. Without an answer the selection is the unlabelled one.

    >>> feedback = Feedback(database, PoolScorer(X))  # doctest: +SKIP
    >>> row = feedback.ask()  # doctest: +SKIP
    >>> feedback.tell(row, True)  # doctest: +SKIP
    >>> feedback.selection.model_id  # doctest: +SKIP
    """

    def __init__(
        self,
        database: MetaDatabase,
        source: ScoreSource,
        *,
        unlabelled: Selection | None = None,
        wrong: float = WRONG,
    ) -> None:
        if not 0.0 <= wrong < 0.5:
            raise InvalidInput(f"wrong, the share of mistaken answers, must lie in [0, 0.5), got {wrong!r}.")
        if database.calibration is None or "curves" not in database.calibration:
            raise InvalidInput("This database carries no calibration, which answers need: train it again.")
        if database.settings.metric != "ap":
            raise InvalidInput(
                f"Answers must have a database of average precision (ap), got one of {database.settings.metric!r}."
            )
        curves = OutlierCurves.from_json(database.calibration["curves"])
        scores = np.column_stack([source.scores(model_id) for model_id in database.pool.ids])
        if unlabelled is None:
            unlabelled = select(database, source)
        self._database = database
        self._unlabelled = unlabelled
        self._table = RankedTable.of(rank(scores))
        self._posterior = Posterior(self._table, curves, database.performance.values, max(wrong, 1e-3))
        self._wrong = wrong
        self._answers: dict[int, bool | None] = {}
        self._selection: Selection | None = None

    @property
    def answers(self) -> tuple[Answer, ...]:
        """What was told so far, in order."""
        return tuple(Answer(row, said) for row, said in self._answers.items())

    @property
    def n_rows(self) -> int:
        return self._table.n_rows

    def ask(self) -> int:
        """The row whose answer would tell most; an error once every row was asked about."""
        information = self._posterior.information()
        information[list(self._answers)] = -np.inf
        row = int(np.argmax(information))
        if row in self._answers:
            raise InvalidInput(f"Every one of the {self.n_rows} rows was asked about already.")
        return row

    def tell(self, row: int, is_outlier: bool | None) -> None:
        """Take an answer: True for an outlier, False for a normal row, None for "don't know"."""
        if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < self.n_rows:
            raise InvalidInput(f"row must be a whole number from 0 to {self.n_rows - 1}, got {row!r}.")
        if row in self._answers:
            raise InvalidInput(f"Row {row} was answered already: start a new session to change an answer.")
        if is_outlier is not None and not isinstance(is_outlier, bool | np.bool_):
            raise InvalidInput(f"An answer must be True, False or None, got {is_outlier!r}.")
        self._answers[int(row)] = None if is_outlier is None else bool(is_outlier)
        if is_outlier is not None:
            self._posterior.tell(int(row), bool(is_outlier))
            self._selection = None

    def resume(self, answers: Iterable[Answer]) -> None:
        """Take answers of an earlier session."""
        for answer in answers:
            self.tell(answer.row, answer.is_outlier)

    @property
    def outlier_chance(self) -> FloatArray:
        """The chance of each row to be an outlier; answered rows are nearly certain."""
        chance = self._posterior.outlier_chance()
        for row, said in self._answers.items():
            if said is not None:
                chance[row] = 1.0 - self._wrong if said else self._wrong
        return chance

    @property
    def selection(self) -> Selection:
        """The elected model after the answers so far: the best expected performance over all models."""
        if all(said is None for said in self._answers.values()):
            return self._unlabelled
        if self._selection is None:
            self._selection = self._elect()
        return self._selection

    def _elect(self) -> Selection:
        expected = expected_performance(self._table.rows, self.outlier_chance)
        order = np.argsort(-expected, kind="stable")
        # The historical tasks whose gaps resemble the expected ones, on models spread over the whole ranking.
        settings, performance = self._database.settings, self._database.performance.values
        neighbors = neighbors_by_performance(
            expected, performance, order, settings.n_neighbor_tasks, settings.scale_gaps
        )
        on_neighbors = performance[neighbors.tasks]
        _, spread = neighbor_moments(on_neighbors if len(on_neighbors) else performance)
        shown = candidates(self._database.pool.ids, order, expected, spread, on_neighbors)
        spec = self._database.pool[shown[0].model_id]
        told = sum(said is not None for said in self._answers.values())
        return replace(
            self._unlabelled,
            pick=shown[0],
            runners_up=shown[1:],
            detector=spec.detector,
            params=spec.params,
            neighbors=neighbors.named(self._database.tasks),
            strategy="answers",
            evaluated=self._database.pool.ids,
            stopped_because=f"{told} answers were given",
            # What was learned about unlabelled picks says nothing about this one.
            expected_rank=None,
            reason=f"{told} answers were given: with them it is expected to find most",
        )
