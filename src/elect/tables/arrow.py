"""Arrow tables as polars frames: types that polars has no place for are rewritten, or their columns left out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any
from zoneinfo import available_timezones

from elect.tables.table import column_names

if TYPE_CHECKING:
    import polars as pl

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # of the years 1 to 9999, from 1970 on
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class Notes(dict[str, None]):
    """What there is to say about the columns that were read, once each, in order."""

    def say(self, sentence: str) -> None:
        self[sentence] = None


def frame_of(data: Any, source: str, columns: tuple[str, ...] | None = None, notes: Notes | None = None) -> Any:
    """An Arrow table or batch as a frame; ``columns`` names its columns, ``notes`` takes what there is to say."""
    import polars as pl

    arrow = import_module("pyarrow")
    notes = Notes() if notes is None else notes
    # polars would raise on repeated names, in words of its own.
    names = column_names(data.schema.names, source) if columns is None else columns
    if isinstance(data, arrow.RecordBatch):
        data = arrow.Table.from_batches([data])
    found: list[pl.Series] = []
    for name, stored, column in zip(names, data.schema.names, data.columns, strict=True):
        series = _series(column, name, notes)
        if series is not None:
            found.append(series.alias(stored if columns is None else name))
    return pl.DataFrame(found)


def _series(column: Any, name: str, notes: Notes) -> "pl.Series | None":
    import polars as pl

    try:
        tamed = _tamed(column, name, notes)
        series = None if tamed is None else pl.from_arrow(tamed)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # a panic of polars is no Exception
        series = None
    if series is None:
        notes.say(f"Column {name!r} is left out: elect does not read values of type {column.type}.")
        return None
    assert isinstance(series, pl.Series)
    return series


def _tamed(column: Any, name: str, notes: Notes) -> Any:
    """The column in a type that polars takes, None where there is none."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    types, kind = arrow.types, column.type
    if isinstance(kind, arrow.BaseExtensionType):
        return _tamed(column.cast(kind.storage_type), name, notes)
    if types.is_dictionary(kind):
        words = types.is_string(kind.value_type) or types.is_large_string(kind.value_type)
        return column if words else _tamed(column.cast(kind.value_type), name, notes)
    if types.is_run_end_encoded(kind):
        return _tamed(compute.run_end_decode(column), name, notes)
    if types.is_decimal256(kind):
        try:
            return column.cast(arrow.decimal128(38, kind.scale))
        except arrow.ArrowInvalid:  # more than 38 digits
            return column.cast(arrow.float64())
    if types.is_timestamp(kind):
        if kind.tz is not None and kind.tz not in available_timezones():
            column = column.cast(arrow.timestamp(kind.unit, tz="UTC"))  # the same moment, in a zone with a name
        day = 86_400 * _TICKS[kind.unit]
        return _within(column, arrow.int64(), _FIRST_DAY * day, (_LAST_DAY + 1) * day - 1, name, notes)
    if types.is_date32(kind):
        return _within(column, arrow.int32(), _FIRST_DAY, _LAST_DAY, name, notes)
    if types.is_date64(kind):
        day = 86_400_000
        return _within(column, arrow.int64(), _FIRST_DAY * day, (_LAST_DAY + 1) * day - 1, name, notes)
    return column if _known(kind) else None


def _within(column: Any, whole: Any, first: int, last: int, name: str, notes: Notes) -> Any:
    """Moments within the years 1 to 9999; others, which no calendar shows, are missing."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    bounds = [arrow.scalar(max(bound, -(2**63)) if bound < 0 else min(bound, 2**63 - 1)) for bound in (first, last)]
    ticks = column.cast(whole).cast(arrow.int64())
    fine = compute.and_(compute.greater_equal(ticks, bounds[0]), compute.less_equal(ticks, bounds[1]))
    if compute.all(fine, min_count=0).as_py():
        return column
    notes.say(f"Column {name!r} has dates beyond the years 1 to 9999; they were read as missing.")
    return compute.if_else(fine, column, arrow.scalar(None, column.type))


def _known(kind: Any) -> bool:
    """Whether polars takes a type, with whatever is nested in it."""
    types = import_module("pyarrow").types
    if types.is_union(kind) or types.is_interval(kind) or types.is_list_view(kind) or types.is_large_list_view(kind):
        return False
    plain = not (types.is_run_end_encoded(kind) or types.is_decimal256(kind) or types.is_dictionary(kind))
    zoned = types.is_timestamp(kind) and kind.tz is not None
    nested = (kind.field(place) for place in range(kind.num_fields))
    return plain and not zoned and all(_known(field.type) for field in nested)
