"""``python -m attack``: see ``attack``."""

import argparse
import json
import platform
import sys
from pathlib import Path
from typing import Any

from attack.campaign import ATTACKS, Tally, campaign, module_of
from attack.verdict import FINE


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="attack", description="Attack elect for a given time; goes on when run again."
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="how long (600)")
    parser.add_argument("--seed", type=int, default=0, help="another seed is another campaign (0)")
    parser.add_argument("--only", help="attacks by name, with commas")
    parser.add_argument("--whole", action="store_true", help="end when every attack has reached its goal")
    parser.add_argument("--state", type=Path, default=Path("build/attack/state.json"), help="what was done so far")
    parser.add_argument("--counts", type=Path, help="where to write the counts as JSON")
    parser.add_argument("--finds", type=Path, default=Path(__file__).parent / "finds", help="where finds are kept")
    asked = parser.parse_args()
    attacks = asked.only.split(",") if asked.only else ATTACKS
    if unknown := set(attacks) - set(ATTACKS):
        parser.error(f"unknown {', '.join(sorted(unknown))}; there are {', '.join(ATTACKS)}")
    found: dict[str, Tally] = {}
    try:
        for name, tally in campaign(
            attacks, asked.seconds, asked.seed, asked.state, whole=asked.whole, finds=asked.finds
        ):
            found[name] = tally
            print(f"{name:16} {tally.cases:6} cases  {tally.verdicts}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("stopped; run the same again to go on", file=sys.stderr)
    tallies = {
        name: Tally(**tally)
        for name, tally in (json.loads(asked.state.read_text())["attacks"] if asked.state.exists() else {}).items()
    }
    counts = document(tallies, asked.seed)
    if asked.counts:
        asked.counts.write_text(json.dumps(counts, indent=1) + "\n")
    print(json.dumps(counts["totals"]))
    return 1 if sum(counts["totals"][word] for word in ("wrong", "traceback", "hang", "crash")) else 0


def document(tallies: dict[str, Tally], seed: int) -> dict[str, Any]:
    """The counts, and the versions they were counted with."""
    from importlib.metadata import version

    words = (*FINE, "wrong", "traceback", "hang", "crash")
    attacks = {
        name: {
            "cases": tally.cases,
            "tries": tally.tries,
            "goal": module_of(name).GOAL,
            **{word: tally.verdicts.get(word, 0) for word in words},
            "seconds": round(tally.seconds),
        }
        for name, tally in sorted(tallies.items())
    }
    return {
        "command": f"python -m attack --seed {seed}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("numpy", "polars", "pyarrow", "numba", "scikit-learn", "pyod")},
        "attacks": attacks,
        "totals": {word: sum(one[word] for one in attacks.values()) for word in words},
    }


if __name__ == "__main__":
    sys.exit(main())
