"""Compiled kernels whose cache is damaged, read-only, gone or shared: the same result."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from attack.edits import edited, edits
from attack.invocations import TABLE
from attack.processes import finished, judged, kept, with_environment
from attack.verdict import RESULT, Verdict, wrong

GOAL, BATCH, SECONDS = 30, 6, 600

ARGS = ["detect", "t.csv", "--json", "-q", "--max-models", "3", "--n-jobs", "1"]


def cases() -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {
            "files": st.lists(st.integers(0, 500), min_size=1, max_size=5),
            "edits": edits(3),
            "way": st.sampled_from(("edit", "edit", "edit", "empty", "gone", "swap", "folder is a file")),
        }
    )


def run(case: dict[str, Any], folder: Path) -> Verdict:
    here, cache = folder / "here", folder / "cache"
    (here / "t.csv").write_text(TABLE)
    shutil.copytree(_warm(), cache)
    files = sorted(path for path in cache.rglob("*.nb?"))
    chosen = [files[number % len(files)] for number in case["files"]]
    match case["way"]:
        case "edit":
            for path in chosen:
                path.write_bytes(edited(path.read_bytes(), case["edits"]))
        case "empty":
            for path in chosen:
                path.write_bytes(b"")
        case "gone":
            for path in {*chosen}:
                path.unlink()
        case "swap":
            content = chosen[0].read_bytes()
            chosen[0].write_bytes(chosen[-1].read_bytes())
            chosen[-1].write_bytes(content)
        case "folder is a file":
            shutil.rmtree(cache)
            cache.write_bytes(b"")
    status, out, err = finished(ARGS, here, env=with_environment(NUMBA_CACHE_DIR=os.fspath(cache)))
    verdict = judged(status, err, allowed=[0])
    if not verdict.fine:
        return verdict
    return RESULT if _told(out) == _told((_warm().parent / "told.json").read_text()) else wrong("another result")


def _told(text: str) -> Any:
    found = json.loads(text)
    return {name: found[name] for name in ("model", "top", "threshold", "n_outliers")}


def _warm() -> Path:
    """A cache with all kernels of the command."""
    here = kept("caches")
    if not (here / "told.json").exists():
        (here / "t.csv").write_text(TABLE)
        status, out, err = finished(ARGS, here, env=with_environment(NUMBA_CACHE_DIR=os.fspath(here / "warm")))
        assert status == 0, err
        (here / "told.json").write_text(out)
    return here / "warm"
