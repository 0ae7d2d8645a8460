"""``python -m elect.bench DIR [WORK [UNION.json]]``: every run of both testbeds, and the page about them.

``make results`` and the documentation use it; single runs are ``elect bench``.
"""

import sys

from elect.bench.pages import write_results
from elect.errors import ElectError


def main() -> int:
    if len(sys.argv) not in (2, 3, 4):
        print("usage: python -m elect.bench DIR [WORK [UNION.json]]", file=sys.stderr)
        return 2
    try:
        work, union = (*sys.argv[2:], None, None)[:2]
        write_results(sys.argv[1], work, union=union)
    except ElectError as error:
        print(f"elect: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
