"""The table with its results: the user's own columns, then what elect says of every row, in the user's order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

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
    def row_ids(self) -> "pl.Series": ...
    @property
    def scores(self) -> FloatArray: ...
    @property
    def chance(self) -> FloatArray | None: ...
    @property
    def labels(self) -> Any: ...


def write_results(
    path: Path, batches: Iterable[Table], found: Scored, top: "Sequence[TopRow]", *, scores_only: bool = False
) -> tuple[str, ...]:
    """Write every row with its results, a batch at a time; what must be said about it. With ``scores_only`` a row is
    named by its id alone. The format follows the name of the file."""
    told = {row.position: row for row in top}
    replaced: list[str] = []
    first = 0
    with open_whole(path) as file, _writer(file, path.suffix.lower()) as write:
        for batch in batches:
            n = batch.n_rows
            own = found.row_ids.slice(first, n).to_frame() if scores_only else batch.frame
            replaced = [name for name in own.columns if name in RESULT_COLUMNS]
            write(own.drop(replaced).hstack(results(found, told, first, n)))
            first += n
    if not replaced:
        return ()
    columns = "column" if len(replaced) == 1 else "columns"
    return (f"the table's own {columns} {wording.listed(replaced)} were left out of the output, new ones replace them",)


def results(found: Scored, told: "dict[int, TopRow]", first: int, n: int) -> "pl.DataFrame":
    """The result columns of ``n`` rows from ``first`` on. Rows that are not ``told`` of have no kind and no reasons."""
    import polars as pl

    here = slice(first, first + n)
    rows = [told.get(position) for position in range(first, first + n)]
    columns = (
        pl.Series(found.scores[here]),
        pl.Series([None] * n, dtype=pl.Float64) if found.chance is None else pl.Series(found.chance[here]),
        pl.Series(found.labels[here]).cast(pl.Int8),
        pl.Series([None if row is None else row.kind for row in rows], dtype=pl.String),
        pl.Series([None if row is None else row.why for row in rows], dtype=pl.String),
    )
    return pl.DataFrame([column.alias(name) for name, column in zip(RESULT_COLUMNS, columns, strict=True)])


@contextmanager
def _writer(file: BinaryIO, suffix: str) -> Iterator[Writer]:
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
