"""Tables that are already in memory: pandas, polars, numpy, Arrow, lists and dictionaries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elect.tables.arrow import Notes, frame_of
from elect.tables.errors import TableError
from elect.tables.table import Table, column_names

if TYPE_CHECKING:
    import polars as pl


def from_data(data: Any) -> Table:
    """The table that an object in memory holds.

    >>> from_data({"a": [1, 2], "b": ["x", None]}).frame.rows()
    [(1, 'x'), (2, None)]
    """
    import polars as pl

    if isinstance(data, Table):
        return data
    if isinstance(data, pl.LazyFrame):
        data = _collected(data)
    if isinstance(data, pl.DataFrame):
        return _named(data, "The polars frame")
    if _is_pandas(data):
        return _from_pandas(data)
    if isinstance(data, np.ndarray):
        return _from_array(data)
    if isinstance(data, Mapping):
        return _from_columns(list(data), list(data.values()), "The dictionary")
    if isinstance(data, list | tuple):
        return _from_list(data)
    if hasattr(data, "__arrow_c_stream__"):
        return _from_arrow(data)
    if hasattr(data, "toarray"):
        raise TableError("A sparse matrix is not a table elect can read; pass its .toarray() if it fits in memory.")
    raise TableError(
        f"A table must be a file name, a pandas or polars frame, an Arrow table, a two-dimensional array or a list of "
        f"dictionaries, got {type(data).__name__}."
    )


def _collected(data: "pl.LazyFrame") -> "pl.DataFrame":
    try:
        return data.collect()
    except MemoryError:
        raise
    except Exception as error:  # whatever its query does: it is run here for the first time
        why = " ".join(str(error).split())[:200]
        raise TableError(f"The lazy frame could not be collected ({type(error).__name__}: {why}).") from None


def _from_arrow(data: Any) -> Table:
    source, notes = "The Arrow table", Notes()
    try:
        frame = frame_of(import_module("pyarrow").table(data), source, None, notes)
    except TableError:
        raise
    except Exception as error:
        raise TableError(f"{source} could not be read ({type(error).__name__}: {str(error)[:100]}).") from None
    return replace(_named(frame, source), notes=tuple(notes))


def _named(frame: "pl.DataFrame", source: str) -> Table:
    frame = frame.clone()
    frame.columns = list(column_names(frame.columns, source))
    return Table.of(frame, source)


def _is_pandas(data: Any) -> bool:
    # By name: pandas is accepted, never imported.
    return type(data).__name__ == "DataFrame" and type(data).__module__.partition(".")[0] == "pandas"


def _from_pandas(data: Any) -> Table:
    source = "The pandas frame"
    labels = [" ".join(map(str, c)) if isinstance(c, tuple) else c for c in data.columns]
    names = column_names(labels, source)
    columns = [_pandas_column(data.iloc[:, position]) for position in range(len(names))]
    row_ids = None
    if type(data.index).__name__ != "RangeIndex":
        index = data.index.to_series() if data.index.nlevels == 1 else data.index.to_series().map(str)
        row_ids = _pandas_column(index)
    elif data.index.start != 0 or data.index.step != 1:
        row_ids = _series(data.index.to_numpy())
    return _from_columns(names, columns, source, row_ids)


def _pandas_column(column: Any) -> "pl.Series":
    import polars as pl

    try:
        series = pl.from_pandas(column.reset_index(drop=True).rename(None))
        if isinstance(series, pl.Series) and not _odd(series):
            return series
    except Exception:  # an object column of mixed types: whatever Arrow raises, cell by cell works
        pass
    missing = column.isna().to_numpy()
    return _series([None if gone else value for value, gone in zip(column, missing, strict=True)])


def _odd(series: "pl.Series") -> bool:
    """Types that exist only in pandas (periods, intervals) arrive wrapped; their text says more."""
    return type(series.dtype).__name__ in ("Extension", "Object")


def _from_array(data: NDArray[Any]) -> Table:
    source = "The array"
    if data.dtype.names:
        return _from_columns(data.dtype.names, [_unmasked(data[name]) for name in data.dtype.names], source)
    if data.ndim != 2:
        raise TableError(
            f"An array must have two dimensions (rows x columns), got {data.ndim}; "
            "reshape it, with .reshape(-1, 1) for a single column."
        )
    places = range(data.shape[1])
    return _from_columns([f"x{j}" for j in places], [_unmasked(data[:, j]) for j in places], source)


def _unmasked(column: NDArray[Any]) -> Any:
    """The values of a column, missing where they are masked."""
    if not isinstance(column, np.ma.MaskedArray):
        return column
    if column.dtype.kind in "biuf":
        return np.ma.filled(column.astype(np.float64), np.nan)
    return column.tolist()  # with None for what is masked


def _from_list(data: Sequence[Any]) -> Table:
    source = "The list"
    if not data:
        raise TableError("The list is empty; a table needs at least one row.")
    if all(isinstance(row, Mapping) for row in data):
        keys = list(dict.fromkeys(key for row in data for key in row))
        return _from_columns(keys, [[row.get(key) for row in data] for key in keys], source)
    if all(isinstance(row, list | tuple | np.ndarray) for row in data):
        width = len(data[0])
        for position, row in enumerate(data):
            if len(row) != width:
                raise TableError(
                    f"Row {position} of the list has {len(row)} values, but row 0 has {width}; make them equal."
                )
        return _from_columns([f"x{j}" for j in range(width)], [[row[j] for row in data] for j in range(width)], source)
    raise TableError("A list must hold dictionaries (one a row) or rows of equal length, got something else.")


def _from_columns(
    names: Iterable[Any], columns: Sequence[Any], source: str, row_ids: "pl.Series | None" = None
) -> Table:
    import polars as pl

    named = column_names(list(names), source)
    series = [_series(column).alias(name) for name, column in zip(named, columns, strict=True)]
    lengths = {len(column) for column in series}
    if len(lengths) > 1:
        raise TableError(
            f"{source} has columns of different lengths ({min(lengths)} to {max(lengths)}); make them equal."
        )
    return Table.of(pl.DataFrame(series), source, row_ids=row_ids)


def _series(values: Any) -> "pl.Series":
    """One column. Values of mixed types become text, which is what they have in common."""
    import polars as pl

    if isinstance(values, pl.Series):
        return values
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "c":
            raise TableError("Complex numbers have no order, so elect cannot use them; pass real and imaginary parts.")
        if values.ndim == 1 and values.dtype.kind in "biufMm":
            if values.dtype == np.float16:
                values = values.astype(np.float32)
            return pl.Series(np.ascontiguousarray(values))
        values = values.tolist()
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = {type(value) for value in plain if value is not None}
    if kinds <= {int, float} or len(kinds) <= 1:
        try:
            series = pl.Series(plain, strict=False)
            if not _odd(series):
                return series
        except Exception:  # integers beyond 64 bits and the like
            pass
    return pl.Series([None if value is None or value != value else str(value) for value in plain], dtype=pl.String)


def is_frame(data: Any) -> bool:
    """Whether data is a table with named columns, which are treated, rather than an array of numbers."""
    if isinstance(data, np.ndarray):
        return data.dtype.names is not None
    # A lazy frame is asked for nothing: its columns may cost a look at the whole file.
    known = isinstance(data, Table | Mapping) or hasattr(data, "collect_schema")
    return known or (hasattr(data, "columns") and (hasattr(data, "shape") or hasattr(data, "collect")))
