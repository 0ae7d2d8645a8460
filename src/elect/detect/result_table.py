"""The table with its results: the user's own columns, then what elect says of every row, in the user's order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from elect.committee.scorer import chance_of
from elect.detect.output import open_whole, safe_text
from elect.support import wording
from elect.support.arrays import FloatArray
from elect.tables import Table
from elect.tables.decide import RESULT_COLUMNS

if TYPE_CHECKING:
    import polars as pl

    from elect.detect.detection import TopRow

Writer = Callable[["pl.DataFrame"], None]


class Scored(Protocol):
    """What can be written: a ``Detection`` or a ``ScoredTable``."""

    @property
    def scores(self) -> FloatArray: ...
    @property
    def threshold(self) -> float: ...
    @property
    def by_chance(self) -> bool: ...
    def names(self, rows: Table) -> "pl.Series": ...


def write_results(
    path: Path, batches: Iterable[Table], found: Scored, top: "Sequence[TopRow]", *, scores_only: bool = False
) -> tuple[str, ...]:
    """Write every row with its results, a batch at a time; what must be said about it. With ``scores_only`` a row is
    named by its id alone. The format follows the name of the file."""
    told = {row.position: row for row in top}
    replaced: list[str] = []
    first = 0
    with open_whole(path) as file, writer(file, path.suffix.lower()) as write:
        for batch in batches:
            n = batch.n_rows
            own = found.names(batch).to_frame() if scores_only else batch.frame
            replaced = [name for name in own.columns if name in RESULT_COLUMNS]
            write(own.drop(replaced).hstack(results(found, told, first, n)))
            first += n
    if not replaced:
        return ()
    columns = "column" if len(replaced) == 1 else "columns"
    return (f"the table's own {columns} {wording.listed(replaced)} were left out of the output, new ones replace them",)


def results(found: Scored, told: "dict[int, TopRow]", first: int, n: int) -> "pl.DataFrame":
    """The result columns of ``n`` rows from ``first`` on. Rows that are not ``told`` of have no kind and no reasons."""
    kinds: list[str | None] = [None] * n
    whys = list(kinds)
    for position, row in told.items():
        if first <= position < first + n:
            kinds[position - first], whys[position - first] = row.kind, row.why
    return result_columns(found.scores[first : first + n], found.threshold, found.by_chance, kinds, whys)


def result_columns(
    scores: FloatArray, threshold: float, by_chance: bool, kinds: Sequence[str | None], whys: Sequence[str | None]
) -> "pl.DataFrame":
    """The result columns of rows."""
    import polars as pl

    columns = (
        pl.Series(scores),
        pl.Series(chance_of(scores)) if by_chance else pl.Series([None] * len(scores), dtype=pl.Float64),
        pl.Series(scores > threshold).cast(pl.Int8),
        pl.Series(kinds, dtype=pl.String),
        pl.Series(whys, dtype=pl.String),
    )
    return pl.DataFrame([column.alias(name) for name, column in zip(RESULT_COLUMNS, columns, strict=True)])


def beside(frame: Any, results: "pl.DataFrame") -> Any:
    """A frame of pandas or polars with result columns after its own, of its own kind; its index stays."""
    import polars as pl

    if isinstance(frame, Table):
        frame = frame.frame
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame.drop(results.columns, strict=False).hstack(results)
    own = frame.drop(columns=[name for name in results.columns if name in frame.columns])
    text = [name for name in results.columns if results[name].dtype == pl.String]
    told = {name: results[name].to_list() if name in text else results[name].to_numpy() for name in results.columns}
    found = own.assign(**told)
    # An empty list has no kind of its own.
    return found.astype(dict.fromkeys(text, object))


@contextmanager
def writer(file: BinaryIO, suffix: str) -> Iterator[Writer]:
    """What writes frames one below the other, as Parquet or as text."""
    if suffix != ".parquet":
        heads = [True]

        def write_text(frame: "pl.DataFrame") -> None:
            separator = "\t" if suffix == ".tsv" else ","
            file.write(
                _text(frame).write_csv(include_header=heads.pop() if heads else False, separator=separator).encode()
            )

        yield write_text
        return
    writers: list[Any] = []

    def write_parquet(frame: "pl.DataFrame") -> None:
        table = frame.to_arrow()
        if not writers:
            writers.append(import_module("pyarrow.parquet").ParquetWriter(file, table.schema, compression="zstd"))
        writers[0].write_table(table.cast(writers[0].schema))

    try:
        yield write_parquet
    finally:
        for writer in writers:
            writer.close()


def _text(frame: "pl.DataFrame") -> "pl.DataFrame":
    """A frame that can be written as text; an empty cell stays empty."""
    import polars as pl

    return safe_text(frame).with_columns(pl.col(pl.String).replace("", None))
