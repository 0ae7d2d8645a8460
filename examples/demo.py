"""Score a small table with all 297 models and show the rows most of them find outlying. `make demo`"""

import csv
import time
from pathlib import Path

import numpy as np

from elect import score_pool

TABLE = Path(__file__).with_name("machines.csv")


def main() -> None:
    with open(TABLE, newline="") as file:
        names, *rows = csv.reader(file)
    X = np.array([[float(value) for value in row[1:]] for row in rows])
    print(f"{TABLE.name}: {X.shape[0]} rows x {X.shape[1]} columns")
    started = time.perf_counter()
    scores = score_pool(X)
    print(f"scored by {len(scores.model_ids)} models in {time.perf_counter() - started:.1f} s\n")
    # The share of rows each model finds less outlying, averaged over the models.
    ranks = scores.values.argsort(axis=0, kind="stable").argsort(axis=0)
    agreement = ranks.mean(axis=1) / (len(X) - 1)
    print(f"{'':10}{'agreement':>10}  " + "".join(f"{name:>16}" for name in names[1:]))
    for row in np.argsort(-agreement)[:8]:
        print(f"{rows[row][0]:10}{agreement[row]:>10.3f}  " + "".join(f"{value:>16}" for value in rows[row][1:]))
    print("\nThe most outlying rows by mean rank over the pool. Which single model to trust is what elect will select.")


if __name__ == "__main__":
    main()
