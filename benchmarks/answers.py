"""How long a session takes for one answer: learning from it, and finding the next question.

    python benchmarks/answers.py [--json]

Tables are normal noise with 30 columns and 8 signals. The time of an answer is that of ``tell`` and ``ask`` together;
``opening`` is spent once.
"""

import argparse
import json
import sys
import time

import numpy as np

from elect.answers import Feedback, RowEvidence

ROWS, COLUMNS, SIGNALS, ANSWERS = (2_000, 10_000, 100_000), 30, 8, 50


def measure(n: int) -> dict[str, float]:
    """Milliseconds of an answer at this many rows: the median and the slowest of 50."""
    rng = np.random.default_rng(0)
    signals = rng.exponential(size=(n, SIGNALS))
    evidence = RowEvidence(-6 + signals.mean(axis=1), rng.normal(size=(n, COLUMNS)), signals)
    start = time.perf_counter()
    feedback = Feedback.of(evidence)
    row = feedback.ask()
    opening = time.perf_counter() - start
    taken = []
    for answer in range(ANSWERS):
        start = time.perf_counter()
        feedback.tell(row, answer % 4 == 0)
        row = feedback.ask()
        taken.append(time.perf_counter() - start)
    return {
        "rows": n,
        "columns": COLUMNS,
        "opening_ms": round(1000 * opening, 1),
        "median_ms": round(1000 * float(np.median(taken)), 1),
        "slowest_ms": round(1000 * max(taken), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one object on standard output")
    options = parser.parse_args()
    measure(500)  # compiles
    found = [measure(n) for n in ROWS]
    if options.json:
        json.dump({"answers": found}, sys.stdout, indent=1)
        print()
        return
    for one in found:
        print(
            f"{one['rows']:>8,} x {one['columns']}: an answer {one['median_ms']} ms (slowest {one['slowest_ms']} ms), "
            f"opening {one['opening_ms']} ms"
        )


if __name__ == "__main__":
    main()
