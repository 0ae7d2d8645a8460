"""Find the odd payments in the bundled table, and write scores, a report and the detector. `make demo`"""

import sys
from pathlib import Path

from elect.cli import main

HERE = Path(__file__).parent
OUT = HERE.parent / "build" / "demo"


def demo() -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    return main(
        [
            *("detect", str(HERE / "payments.csv"), "--id", "payment", "--label", "checked"),
            *("-o", str(OUT / "scores.csv"), "--report", str(OUT / "report.html")),
            *("--save", str(OUT / "payments.elect-detector")),
        ]
    )


if __name__ == "__main__":
    sys.exit(demo())
