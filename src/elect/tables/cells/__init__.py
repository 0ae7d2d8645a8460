"""Signals of single cells: what is odd about a value, by its own column and given the others of its row."""

from dataclasses import dataclass

import numpy as np

from elect.tables.cells._base import (
    COMBINATION,
    NAMES,
    PLACE,
    SIGNALS,
    WRONG_VALUE,
    Cells,
    Signals,
    cells_of_array,
    cells_of_frame,
)
from elect.tables.cells.given import GivenJudge
from elect.tables.cells.numbers import NumberJudge
from elect.tables.cells.saying import say
from elect.tables.cells.survey import Survey, merged
from elect.tables.cells.words import WordJudge


@dataclass(frozen=True, eq=False)
class CellJudge:
    """What was learned of the columns of a table; judges its own cells and those of later rows alike."""

    numbers: NumberJudge
    words: WordJudge
    given: GivenJudge

    @classmethod
    def fit(cls, cells: Cells, survey: Survey | None = None) -> "CellJudge":
        """From all rows, or from a sample and what a survey of all rows says."""
        numbers, words = NumberJudge.fit(cells), WordJudge.fit(cells)
        given = GivenJudge.fit(cells, numbers)
        if survey is not None:
            numbers, words = numbers.surveyed(survey), words.surveyed(survey)
        return cls(numbers, words, given)

    def judge(self, cells: Cells) -> Signals:
        """The signals of every cell (rows, columns, signals)."""
        out = np.zeros((cells.n_rows, len(cells.names), len(NAMES)), dtype=np.float32)
        self.numbers.judge(cells, out)
        self.words.judge(cells, out)
        self.given.judge(cells, self.numbers, out)
        return out


__all__ = ["COMBINATION", "NAMES", "PLACE", "SIGNALS", "WRONG_VALUE", "CellJudge", "Cells", "Signals"]
__all__ += ["Survey", "cells_of_array", "cells_of_frame", "merged", "say"]
