"""``python -m elect.benchmark DIR [WORK]``: every run of both testbeds, and the page about them.

``make results`` and the documentation use it; single runs are ``elect bench``.
"""

import sys

from elect.benchmark.pages import write_results
from elect.errors import ElectError


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print("usage: python -m elect.benchmark DIR [WORK]", file=sys.stderr)
        return 2
    try:
        write_results(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None)
    except ElectError as error:
        print(f"elect: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
