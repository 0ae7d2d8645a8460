"""Train the row scorer on every labelled task there is, and put it into a database.

    python benchmarks/row_scorer.py WORK src/elect/history/data/shipped.elect --corpus build/corpus/corpus.json

Needs ELECT_DATA_HOME. The rows of each task are described once, and kept in the work folder.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from elect import MetaDatabase
from elect.bench.rows import described, labelled_rows
from elect.history.row_training import train_row_scorer


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("database", type=Path)
    parser.add_argument("--corpus", type=Path, action="append", default=[])
    arguments = parser.parse_args()
    tasks = described(labelled_rows(None, arguments.corpus), arguments.work, say)
    say(f"training on {len(tasks)} tasks")
    database = MetaDatabase.load(arguments.database)
    replace(database, row_scorer=train_row_scorer(tasks)).save(arguments.database)
    return 0


if __name__ == "__main__":
    sys.exit(main())
