"""What the engine accepts, and the standardisation of its columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, read_only, unmasked

# Beyond these, squares of a column's values leave the range of float64.
_LARGE, _SMALL = 1e100, 1e-100


def check_table(X: Any, *, min_rows: int = 2) -> FloatArray:
    """A finite two-dimensional float64 array, or an error that says what to do."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InvalidInput(
            "X must be a dense array, got a sparse matrix: convert it with X.toarray() if it fits in memory."
        )
    try:
        array = np.asarray(unmasked(X))
    except ValueError as error:
        raise InvalidInput(
            f"X must be a rectangular table of numbers; it could not be read as one ({error})."
        ) from None
    if array.dtype.kind not in "fiub":
        try:
            if array.dtype.kind != "O" or array.ndim == 0:
                raise ValueError
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(
                f"X must hold numbers only, got dtype {array.dtype}: elect.tables.ColumnTreatment makes numbers of "
                "text, dates and categories."
            ) from None
    if array.ndim != 2:
        raise InvalidInput(
            f"X must have two dimensions (rows x columns), got {array.ndim}: "
            + ("use X.reshape(-1, 1) for a single column." if array.ndim == 1 else "pass one table at a time.")
        )
    if array.shape[1] == 0:
        raise InvalidInput("X must have at least one column, got none.")
    if array.shape[0] < min_rows:
        raise InvalidInput(
            f"X must have at least {min_rows} rows, got {array.shape[0]}: outliers need others to differ from."
        )
    array = array.astype(np.float64, order="K", copy=False)
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise InvalidInput(
            f"X must be finite, got {array[row, column]} in row {row}, column {column}: "
            "give a pandas or polars frame where frames are taken, or fill missing and infinite values first."
        )
    return array


@dataclass(frozen=True, eq=False)
class Standardizer:
    """Brings each column to mean 0 and standard deviation 1; a constant column to 0."""

    center: FloatArray
    scale: FloatArray

    @classmethod
    def fit(cls, X: FloatArray) -> "Standardizer":
        constant = (X[0] == X).all(axis=0)
        # numpy sums a column in the order of memory, so the last digit depends on the array's layout. The published
        # scores were made from arrays as they were read, with values on the very edges of HBOS's bins, so it stays.
        with np.errstate(over="ignore"):
            center, scale = X.mean(axis=0), X.std(axis=0)
        # A constant column must not become the rounding error of its own mean.
        center, scale = np.where(constant, X[0], center), np.where(constant, 1.0, scale)
        extreme = ~constant & ~((scale < _LARGE) & (scale > _SMALL))
        for column in np.flatnonzero(extreme):
            unit = np.abs(X[:, column]).max()
            scaled = X[:, column] / unit
            center[column], scale[column] = scaled.mean() * unit, max(scaled.std() * unit, np.finfo(float).tiny)
        return cls(read_only(center), read_only(scale))

    @classmethod
    def none(cls, n_columns: int) -> "Standardizer":
        """Leaves columns as they are: for tables whose columns were weighed already."""
        return cls(read_only(np.zeros(n_columns)), read_only(np.ones(n_columns)))

    def transform(self, X: FloatArray) -> FloatArray:
        if X.shape[1] != len(self.center):
            raise InvalidInput(f"X must have the {len(self.center)} columns that were fitted, got {X.shape[1]}.")
        with np.errstate(over="ignore"):
            Z: FloatArray = (X - self.center) / self.scale
        # Values beyond float32 would overflow in squares; nothing is lost, such a row is as far out as can be told.
        return np.clip(Z, -1e15, 1e15, out=Z)
