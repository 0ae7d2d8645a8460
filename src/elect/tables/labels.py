"""Known outliers, where the user has them: only ever used to report how well a ranking did."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from elect.support import wording
from elect.tables import values
from elect.tables.errors import TableError

if TYPE_CHECKING:
    import polars as pl

_OUTLIER_WORDS = ("1", "true", "yes", "y", "t", "on", "outlier", "anomaly", "anomalous", "abnormal", "fraud", "attack")


@dataclass(frozen=True, eq=False)
class Labels:
    """``y`` is 1 for an outlier; ``known`` is false where the label is missing (``y`` is then 0)."""

    y: NDArray[np.int8]
    known: NDArray[np.bool_]
    meaning: str


def read_labels(series: "pl.Series") -> Labels:
    """A label column with two values as outliers and normal rows; otherwise an error says what it holds.

    >>> import polars as pl
    >>> labels = read_labels(pl.Series("class", ["ok", "ok", "Fraud", None]))
    >>> labels.y.tolist(), labels.meaning
    ([0, 0, 1, 0], "'Fraud' is the outlier")
    """
    text = values.words(series)
    found = text.drop_nulls().unique().sort().to_list()
    if len(found) != 2:
        held = "nothing" if not found else f"{wording.count(len(found), 'different value')}"
        raise TableError(
            f"Label column {series.name!r} must hold two values, one for outliers and one for normal rows; "
            f"it holds {held}. Name another column, or leave the label out."
        )
    # Both +1 and -1 are used for outliers, so of these two only the rarer one can be it.
    named = [value for value in found if value.lower() in _OUTLIER_WORDS] if "-1" not in found else []
    if len(named) == 1:
        outlier, why = named[0], "is the outlier"
    else:
        counts = [int((text == value).sum()) for value in found]
        outlier, why = found[int(np.argmin(counts))], "is taken for the outlier, being rarer"
    y = (text == outlier).fill_null(False).to_numpy().astype(np.int8)
    return Labels(y, text.is_not_null().to_numpy(), f"{outlier!r} {why}")
