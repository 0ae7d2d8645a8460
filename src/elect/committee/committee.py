"""The committee of one table: it learned what is usual there, and judges any row, of the table or new."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elect.committee.features import CellSummary, RowTable, log_rank, summarize
from elect.committee.scorer import RowScorer, either
from elect.committee.voices import FAMILIES, Voices, voice_scores
from elect.support.arrays import FloatArray, IntArray
from elect.tables.cells import COMBINATION, PLACE, WRONG_VALUE, CellJudge, Cells, Signals, Survey

if TYPE_CHECKING:
    from elect.pool import PoolScorer

Kind = Literal["wrong value", "unusual combination", "far from all others"]
KINDS: tuple[Kind, ...] = ("wrong value", "unusual combination", "far from all others")
_GROUPS = ([PLACE[name] for name in WRONG_VALUE], [PLACE[name] for name in COMBINATION])
_SIGNALS_AT_ONCE = 8_000_000
_MOST_SUSPECTS = 25
_COMMON = 2.0
"""What an eighth of the rows has speaks for none of them."""


@dataclass(frozen=True, eq=False)
class Hearing:
    """What a committee heard of the table it learned: scores of the voices on the rows that were drawn, and what the
    cells of all rows say."""

    scores: FloatArray
    cells: CellSummary


@dataclass(frozen=True, eq=False)
class Committee:
    """What is usual in one table. The scores of voices come from outside: see ``Voices`` for rows that are new."""

    scorer: RowScorer
    judge: CellJudge
    table: RowTable

    @classmethod
    def fit(
        cls, scorer: RowScorer, pool: "PoolScorer", cells: Cells, survey: Survey | None = None
    ) -> "tuple[Committee, Hearing]":
        """Learn a table. ``cells`` are those of all rows to learn from, of which the pool may score some; ``survey``
        is what is known of the rows of a table that is longer."""
        judge = CellJudge.fit(cells, survey)
        scores, said = voice_scores(pool), cell_summary(judge, cells)
        table = RowTable.fit(FAMILIES, scores, said, (len(cells.number_at), len(cells.word_at)))
        return cls(scorer, judge, table), Hearing(scores, said)

    def log_odds(self, scores: FloatArray, cells: CellSummary) -> FloatArray:
        """The log-odds of rows to be outliers, from the scores of the voices (rows, voices) and what the cells say."""
        return self.scorer.log_odds(self.table.describe(scores, cells))

    def kinds(self, scores: FloatArray, signals: Signals) -> list[Kind]:
        """What kind of oddity speaks for each row.

        Where the expert of wrong values is the surer one, a cell is wrong by itself or together with the others,
        whichever takes more away when it is not heard. Otherwise the cells together are unusual, or the row as a whole.
        """
        wrong, unusual = self._experts(scores, signals)
        now = either(wrong, unusual)
        alone, together = (now - either(*self._experts(scores, _without(signals, group))) for group in _GROUPS)
        usual = np.broadcast_to(self.table.middle, scores.shape)
        whole = now - either(*self._experts(usual, signals))
        by_cell = np.where(alone >= together, 0, 1)
        by_row = np.where(together >= whole, 1, 2)
        return [KINDS[place] for place in np.where(wrong >= unusual, by_cell, by_row)]

    def blame(self, scores: FloatArray, signals: Signals) -> FloatArray:
        """How much each cell speaks for its row being odd (rows, columns).

        It is what the expert of wrong values would say less if nothing were odd about the cell, and how rare its oddest
        signal is in the table.
        """
        now = self._experts(scores, signals)[0]
        rarity = self._rarity(signals)
        out = 0.5 * np.maximum(rarity - _COMMON, 0.0)
        # In a wide table only the oddest cells can carry a row.
        for place in np.argsort(-rarity, axis=1, kind="stable").T[:_MOST_SUSPECTS]:
            without = self.scorer.experts(self.table.describe(scores, _summary_without(signals, place)))[0]
            out[np.arange(len(out)), place] += np.maximum(now - without, 0.0)
        return out

    def _experts(self, scores: FloatArray, signals: Signals) -> tuple[FloatArray, FloatArray]:
        return self.scorer.experts(self.table.describe(scores, summarize(signals)))

    def _rarity(self, signals: Signals) -> FloatArray:
        """How rare the oddest signal of each cell is: minus the logarithm of the share of rows with one as large."""
        found = np.zeros(signals.shape[:2])
        for place, ordered in enumerate(self.table.tops):
            own = signals[:, :, place].astype(np.float64)
            found = np.maximum(found, np.where(own > 0, log_rank(ordered, own.ravel()).reshape(own.shape), 0.0))
        return found


def _summary_without(signals: Signals, column: IntArray) -> CellSummary:
    """What the cells of each row say together when nothing is odd about one of them."""
    left = signals.copy()
    left[np.arange(len(left)), column] = 0.0
    return summarize(left)


def _without(signals: Signals, group: list[int]) -> Signals:
    left = signals.copy()
    left[:, :, group] = 0.0
    return left


@dataclass(frozen=True, eq=False)
class FittedCommittee:
    """A committee with its voices, ready for rows that are new. The voices are fitted when the first such row comes."""

    committee: Committee
    fit_voices: Callable[[], Voices]

    @classmethod
    def of(cls, committee: Committee, voices: Voices) -> "FittedCommittee":
        """With voices that were fitted before."""
        return cls(committee, partial(_same, voices))

    def __reduce__(self) -> Any:
        # The table that voices are fitted on is not taken along; the voices are.
        return (FittedCommittee.of, (self.committee, self.voices))

    @cached_property
    def voices(self) -> Voices:
        return self.fit_voices()

    def describe(self, rows: FloatArray, cells: Cells) -> FloatArray:
        """What is known of new rows (rows, features); each as if it came alone."""
        return self.committee.table.describe(self.voices.scores(rows), cell_summary(self.committee.judge, cells))

    @cached_property
    def in_one_thread(self) -> "FittedCommittee":
        """The same for a caller that has threads of its own."""
        return FittedCommittee.of(self.committee, self.voices.in_one_thread)


def _same(voices: Voices) -> Voices:
    return voices


def cell_summary(judge: CellJudge, cells: Cells) -> CellSummary:
    """What the cells of rows say, some rows at a time: all signals of a long table would not fit."""
    step = max(1, _SIGNALS_AT_ONCE // max(len(cells.names) * len(PLACE), 1))
    parts = [summarize(judge.judge(cells.rows(at))) for at in _slices(cells.n_rows, step)]
    return np.concatenate(parts)


def _slices(n: int, step: int) -> list[IntArray]:
    return [np.arange(start, min(start + step, n)) for start in range(0, n, step)]
