"""What the product says today, so that moving code can be seen to change nothing.

    ELECT_DATA_HOME=... python tests/golden_house.py --write     # regenerate house.json
    ELECT_DATA_HOME=... python tests/golden_house.py             # compare everything, all 38 wild tasks

``tests/test_golden_house.py`` compares the small wild tasks and all the rest on every run.
"""

import contextlib
import hashlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
FILE = HERE / "golden" / "house.json"
PAYMENTS = HERE.parent / "examples" / "payments.csv"
STRATEGIES = ("committee", "fixed", "elect")


def wild_tasks(home: Path, most_rows: int | None = None) -> list[tuple[str, Path]]:
    listed = json.loads((home / "wild.json").read_text())
    tasks = listed["tasks"] if isinstance(listed, dict) else listed
    found = [(t["name"], home / t["file"]) for t in tasks if t.get("file") and (home / t["file"]).is_file()]
    if most_rows is None:
        return found
    return [(name, path) for name, path in found if np.load(path)["X"].shape[0] <= most_rows]


def picks(path: Path) -> dict[str, Any]:
    """What each strategy elects on a task, and what it expects."""
    from elect import PoolScorer
    from elect.history.shipped import shipped_database
    from elect.strategies import select

    database = shipped_database()
    scorer = PoolScorer(np.load(path)["X"], database.pool)
    out = {}
    for strategy in STRATEGIES:
        found = select(database, scorer, strategy=strategy)
        rank = found.expected_rank
        out[strategy] = {
            "model": found.model_id,
            "neighbors": [n.task for n in found.neighbors],
            "evaluated": len(found.evaluated),
            "expected_rank": None if rank is None else [round(rank.expected, 6), rank.low, rank.high],
        }
    return out


def tables(folder: Path) -> dict[str, tuple[Path, tuple[str, ...]]]:
    """Three tables with the options they are read with."""
    from sklearn.datasets import load_breast_cancer, load_wine

    found: dict[str, tuple[Path, tuple[str, ...]]] = {"payments": (PAYMENTS, ("--id", "payment", "--label", "checked"))}
    for name, load in (("wine", load_wine), ("cancer", load_breast_cancer)):
        path = folder / f"{name}.csv"
        load(as_frame=True).frame.to_csv(path, index=False)
        found[name] = (path, ("--drop", "target"))
    return found


def run(*arguments: str) -> dict[str, Any]:
    """One command with --json, as a program would run it."""
    from elect.cli import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main([*arguments, "--json", "--quiet"])
    assert status == 0, (arguments, out.getvalue())
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def without(value: Any, *names: str) -> Any:
    """A document without what differs from run to run, its numbers rounded."""
    if isinstance(value, dict):
        return {key: without(inner, *names) for key, inner in value.items() if key not in names}
    if isinstance(value, list):
        return [without(inner, *names) for inner in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def detections() -> dict[str, Any]:
    """``detect --json`` of three tables, and what a saved detector says of the same rows again."""
    out = {}
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        for name, (path, options) in tables(folder).items():
            scores, saved, again = folder / "scores.csv", folder / "d.elect-detector", folder / "again.csv"
            found = run("detect", str(path), *options, "--scorer", "model", "-o", str(scores), "--save", str(saved))
            run("score", str(saved), str(path), "-o", str(again))
            out[name] = {
                "detect": without(found, "seconds", "output", "saved", "report", "file", "outputs", "trace", "steps"),
                "scores": column(scores, "elect_score"),
                "scored_again": column(again, "elect_score"),
            }
    return out


def column(path: Path, name: str) -> dict[str, Any]:
    import polars as pl

    values = pl.read_csv(path)[name].to_numpy()
    return {"first": [float(f"{v:.9g}") for v in values[:5]], "sum": float(f"{values.sum():.9g}")}


def database() -> dict[str, Any]:
    """A database trained on six toy tasks, by its meaning."""
    from elect.history import train
    from toys import SMALL_POOL, corpus

    found = train(corpus(), SMALL_POOL)
    return {
        "performance": hashlib.sha256(np.round(found.performance.values, 12).tobytes()).hexdigest(),
        "settings": without(json.loads(json.dumps(found.settings.__dict__, default=str))),
        "anchors": list(getattr(found, "anchors", ())),
        "calibration": without(json.loads(json.dumps(found.calibration, default=dict)), "rows"),
    }


def main(arguments: list[str]) -> int:
    home = Path(os.environ["ELECT_DATA_HOME"])
    found = {
        "picks": {name: picks(path) for name, path in wild_tasks(home)},
        "detections": detections(),
        "database": json.loads(json.dumps(database())),
    }
    if "--write" in arguments:
        FILE.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    kept = json.loads(FILE.read_text())
    for part in found:
        for name in found[part]:
            if found[part][name] != kept[part][name]:
                print("differs:", part, name, json.dumps(found[part][name])[:2000])
    return 0 if found == kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
