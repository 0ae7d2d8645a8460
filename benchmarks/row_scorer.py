"""Train the row scorer on every labelled task there is, and put it into a database.

    python benchmarks/row_scorer.py WORK src/elect/history/data/shipped.elect --corpus build/corpus/corpus.json \\
      --union benchmarks/results/union.json

With ``--union``, what ``elect bench union --json`` printed, the database also knows the ranks that picks after the
committee had on tasks that were left out: the expected rank of a pick comes from them.

Needs ELECT_DATA_HOME. The rows of each task are described once, and kept in the work folder.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from elect import MetaDatabase
from elect.bench.rows import described, labelled_rows
from elect.history.database import plain_json
from elect.history.expectation import COMMITTEE_RANKS
from elect.history.row_training import train_row_scorer


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("database", type=Path)
    parser.add_argument("--corpus", type=Path, action="append", default=[])
    parser.add_argument("--union", type=Path)
    arguments = parser.parse_args()
    tasks = described(labelled_rows(None, arguments.corpus), arguments.work, say)
    say(f"training on {len(tasks)} tasks")
    database = MetaDatabase.load(arguments.database)
    calibration = plain_json(database.calibration or {})
    if arguments.union is not None:
        calibration[COMMITTEE_RANKS] = json.loads(arguments.union.read_text(encoding="utf-8"))[COMMITTEE_RANKS]
    replace(database, row_scorer=train_row_scorer(tasks), calibration=calibration).save(arguments.database)
    return 0


if __name__ == "__main__":
    sys.exit(main())
