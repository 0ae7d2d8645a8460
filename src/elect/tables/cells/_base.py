"""What the signals of single cells are made from, and what they are called."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elect.support.arrays import FloatArray, IntArray
from elect.tables import values
from elect.tables.encoders import BooleanEncoder, NumberEncoder, TimeEncoder, usable
from elect.tables.treatment import ColumnTreatment

if TYPE_CHECKING:
    import polars as pl

SIGNALS = {
    "far": "how far from the median, in spreads of that side of the column",
    "far_least": "the same, or on a logarithmic scale where that is less",
    "tail": "how few values are as extreme on that side",
    "gap": "the widest empty stretch between the value and the median",
    "alone": "how far the nearest other value is",
    "shift": "how much more usual it would be with its decimal point moved",
    "sign": "how much more usual it would be with the other sign",
    "sentinel": "a value that stands for missing (-999, 9999, a zero where there are none)",
    "decimals": "how few values have as many decimals",
    "rare": "how few rows hold a category as rare",
    "near": "nearly a frequent category: misspelt, or in other case",
    "form": "how few texts are built like this one",
    "missing": "missing where others are not",
    "residual": "how far from what the other columns foretell",
    "residual_log": "the same on a logarithmic scale",
    "excess": "how much further from what the others foretell than from the median",
    "unlikely": "a category the other columns speak against",
    "order": "larger than a column it is never larger than, or smaller",
    "swap": "how much more usual two cells would be if they changed places",
}
"""Every signal is 0 where nothing is odd and grows about with the logarithm of the oddity."""

NAMES = tuple(SIGNALS)
PLACE = {name: place for place, name in enumerate(NAMES)}

COMBINATION = ("residual", "residual_log", "excess", "unlikely", "order", "swap")
WRONG_VALUE = tuple(name for name in NAMES if name not in COMBINATION)

Signals = NDArray[np.float32]
"""(rows, columns, signals)"""


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a table as they are judged: numbers (dates in days) with NaN where missing, and words."""

    names: tuple[str, ...]
    number_at: tuple[int, ...]
    """For each column of ``numbers``, its place among ``names``."""
    numbers: FloatArray
    """(rows, number columns)"""
    unread: NDArray[np.bool_]
    """(rows, number columns): something is there that is no number."""
    is_time: tuple[bool, ...]
    word_at: tuple[int, ...]
    words: "tuple[pl.Series, ...]"

    @property
    def n_rows(self) -> int:
        return len(self.numbers)

    def rows(self, at: IntArray) -> "Cells":
        """Some rows, in the order they are asked for."""
        if np.array_equal(at, np.arange(self.n_rows)):
            return self
        words = tuple(series[at] for series in self.words)
        return replace(self, numbers=self.numbers[at], unread=self.unread[at], words=words)


def cells_of_array(X: FloatArray) -> Cells:
    """The cells of a numeric matrix."""
    n, d = X.shape
    names = tuple(f"x{j}" for j in range(d))
    return Cells(names, tuple(range(d)), X, np.zeros((n, d), dtype=bool), (False,) * d, (), ())


def cells_of_frame(treatment: ColumnTreatment, frame: "pl.DataFrame") -> Cells:
    """The cells of a table, each column read as its treatment reads it."""
    numbers: list[FloatArray] = []
    unread: list[Any] = []
    is_time: list[bool] = []
    number_at: list[int] = []
    word_at: list[int] = []
    words: list[pl.Series] = []
    for place, step in enumerate(treatment.steps):
        series, encoder = frame[step.column], step.encoder
        if isinstance(encoder, NumberEncoder | TimeEncoder):
            if isinstance(encoder, NumberEncoder):
                read = usable(values.numbers(series, encoder.decimal))
            else:
                parsed = values.clocks(series) if encoder.clock else values.dates(series, encoder.order)
                read = usable(parsed) / 86400.0
            gone = values.words(series).is_null().to_numpy() if values.is_text(series) else series.is_null().to_numpy()
            numbers.append(read)
            unread.append(np.isnan(read) & ~gone)
            is_time.append(isinstance(encoder, TimeEncoder))
            number_at.append(place)
        else:
            word_at.append(place)
            words.append(_truth_words(series) if isinstance(encoder, BooleanEncoder) else values.words(series))
    n = frame.height
    matrix = np.column_stack(numbers) if numbers else np.empty((n, 0))
    odd = np.column_stack(unread) if unread else np.empty((n, 0), dtype=bool)
    names = tuple(step.column for step in treatment.steps)
    return Cells(names, tuple(number_at), matrix, odd, tuple(is_time), tuple(word_at), tuple(words))


def _truth_words(series: "pl.Series") -> "pl.Series":
    import polars as pl

    return series.cast(pl.String) if series.dtype == pl.Boolean else values.words(series)


def log1p(x: FloatArray) -> FloatArray:
    """log(1 + x) of what is not negative; NaN counts as nothing odd."""
    result: FloatArray = np.log1p(np.nan_to_num(np.maximum(x, 0.0), nan=0.0, posinf=1e12))
    return result
