"""What the signals of single cells cost: CPU seconds to learn a table of mixed types and to judge all of its cells.

python benchmarks/cells.py [--json]
"""

import argparse
import json
import time

import numpy as np
import polars as pl

from elect.tables import ColumnTreatment, read_table
from elect.tables.cells import CellJudge, cells_of_frame

SIZES = ((1_000, 30), (10_000, 30), (50_000, 30))
CITIES = ("Rome", "Paris", "Oslo", "Bern", "Lima")


def mixed(n: int, d: int) -> pl.DataFrame:
    """Two thirds of the columns are numbers, the others words of few and of many kinds."""
    rng = np.random.default_rng(0)
    columns = [
        rng.lognormal(3, 1, n).round(2) if k % 3 else rng.choice([f"{c}{i}" for c in CITIES for i in range(1 + k)], n)
        for k in range(d)
    ]
    return pl.DataFrame({f"c{k}": column for k, column in enumerate(columns)})


def seconds(n: int, d: int) -> tuple[float, float]:
    """Of the median of three runs: learning and judging."""
    table = read_table(mixed(n, d))
    cells = cells_of_frame(ColumnTreatment.fit_transform(table)[0], table.frame)
    runs = []
    for _ in range(3):
        started = time.process_time()
        judge = CellJudge.fit(cells)
        learned = time.process_time()
        judge.judge(cells)
        runs.append((learned - started, time.process_time() - learned))
    return sorted(runs, key=sum)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    found = []
    for n, d in SIZES:
        learn, judge = seconds(n, d)
        found.append({"rows": n, "columns": d, "learn_s": round(learn, 3), "judge_s": round(judge, 3)})
    if as_json:
        print(json.dumps({"cells": found}))
        return
    for row in found:
        print(f"{row['rows']:>7} x {row['columns']}: learn {row['learn_s']:.2f} s, judge {row['judge_s']:.2f} s")


if __name__ == "__main__":
    main()
