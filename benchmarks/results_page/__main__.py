"""The page of results, made from the repository root.

    python -m benchmarks.results_page union [--corpus FILE ...] [--work DIR] > UNION.json
    python -m benchmarks.results_page page DIR [--work DIR] [--union UNION.json]
    python -m benchmarks.results_page strategies DIR --union UNION.json
    python -m benchmarks.results_page rows DIR

``union`` judges the strategies, strictly; ``page`` makes every run of both testbeds, and writes ``results.md`` and its
figures. ``make results`` does both; single runs are ``elect bench``. ``strategies`` writes the part of ``results.md``
anew that ``union`` is for, and nothing else. ``rows`` writes ``results-rows.md`` from what ``elect bench errors``,
``odd`` and ``answers`` printed into ``benchmarks/results``.
"""

import argparse
import json
import sys
from pathlib import Path

from elect.bench.union import run_union
from elect.errors import ElectError

from .page import write_results
from .rows_page import write_rows
from .union_page import write_union


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.results_page",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    union = commands.add_parser("union", help="judge the strategies; one JSON object")
    union.add_argument("--corpus", type=Path, action="append", default=[], help="as elect corpus writes; repeat it")
    page = commands.add_parser("page", help="write results.md and its figures")
    page.add_argument("folder", type=Path)
    page.add_argument("--union", type=Path, help="what the command union printed")
    strategies = commands.add_parser("strategies", help="write the part of results.md about the strategies anew")
    strategies.add_argument("folder", type=Path)
    strategies.add_argument("--union", type=Path, required=True, help="what the command union printed")
    rows = commands.add_parser("rows", help="write results-rows.md and its figures")
    rows.add_argument("folder", type=Path)
    for command in (union, page):
        command.add_argument("--work", help="a folder that keeps finished pieces")
    options = parser.parse_args()
    try:
        if options.command == "union":
            json.dump(run_union(options.corpus, work_dir=options.work), sys.stdout, indent=2)
        elif options.command == "strategies":
            write_union(options.folder / "results.md", json.loads(options.union.read_text(encoding="utf-8")))
        elif options.command == "rows":
            write_rows(options.folder, Path(__file__).parents[1] / "results")
        else:
            write_results(options.folder, options.work, union=options.union)
    except ElectError as error:
        print(f"elect: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
