"""A process that writes the same results over and over with the writer of ``detect`` and ``score``, to be killed."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ROWS = 60_000


@dataclass(frozen=True)
class Results:
    scores: Any
    threshold: float = 1.5
    by_chance: bool = True

    def names(self, rows: Any) -> Any:
        return rows.row_ids


def write(path: Path) -> None:
    from elect.detect.output import write_whole
    from elect.detect.result_table import write_results
    from elect.tables import Table

    if path.suffix not in (".csv", ".tsv", ".parquet"):
        write_whole(path, b"\x5a" * (ROWS * 100))
        return
    values = np.arange(ROWS) * 37 % 1009 / 7
    frame = pl.DataFrame({"id": [f"r{i}" for i in range(ROWS)], "a": values, "word": ["north", "south"] * (ROWS // 2)})
    table = Table.of(frame, "t.csv")
    found = Results(values / 80)
    batches = [table.slice(start, 10_000) for start in range(0, ROWS, 10_000)]
    write_results(path, batches, found, ())


if __name__ == "__main__":
    from elect.cli import _ending

    target, times = Path(sys.argv[1]), int(sys.argv[2])
    with _ending():
        write(target.with_name("first" + target.suffix))  # what is imported late is imported now
        target.with_name("first" + target.suffix).unlink()
        print("ready", flush=True)
        try:
            for _ in range(times):
                write(target)
        except KeyboardInterrupt:
            sys.exit(130)
