"""How a command starts: what it imports, what it compiles, and who compiles it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elect.core.ranks import rank
from elect.support import compiled, threads
from elect.support.compiled import compiled as kernel

HEAVY = {"sklearn", "pyod", "lightgbm", "pandas", "joblib", "scipy.stats", "scipy.special", "matplotlib", "dask"}

RUN = """
import json, sys
from numba.core import event

class Compiled(event.Listener):
    depth, modules = 0, []
    def on_start(self, event):
        self.depth += 1
    def on_end(self, event):
        self.depth -= 1
        if not self.depth:
            self.modules.append(event.data["dispatcher"].py_func.__module__)

event.register("numba:compile", Compiled())
from elect.cli import main
status = main(["detect", *sys.argv[1:]])
print(json.dumps({"status": status, "compiled": Compiled.modules, "imported": sorted(sys.modules)}))
"""


def run(table: Path, out: Path, cache: Path) -> tuple[dict[str, Any], str]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(table), "-o", str(out)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_the_first_call_compiles_in_two_processes_and_the_second_call_nothing(tmp_path: Path) -> None:
    from elect.cli.compiling import LEFT

    table = tmp_path / "table.csv"
    rows = np.random.default_rng(0).normal(size=(120, 4)).round(3)
    rows[7, 2] = 60.0
    table.write_text("a,b,c,d\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    cold, said = run(table, tmp_path / "cold.csv", tmp_path / "cache")
    assert cold["status"] == 0
    assert "compiling kernels" in said
    assert said.index("at first look") < said.index("elect: 1 model")  # rows first, then the election
    assert cold["compiled"]
    if threads.n_cores() > 1:  # what is left to the other process is not compiled here too
        assert not set(cold["compiled"]) & set(LEFT)
    warm, said = run(table, tmp_path / "warm.csv", tmp_path / "cache")
    assert warm["compiled"] == []
    assert "compiling" not in said
    assert (tmp_path / "warm.csv").read_text() == (tmp_path / "cold.csv").read_text()
    assert not HEAVY & set(warm["imported"])


@kernel()
def _thrice(x):  # type: ignore[no-untyped-def]
    return 3 * x


class Dying:
    """A process that runs while it is asked about twice."""

    asked = 0

    def poll(self) -> int | None:
        self.asked += 1
        return None if self.asked <= 2 else 1


def test_a_process_that_dies_leaves_its_kernels_to_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    process = Dying()
    _thrice._cache.flush()  # type: ignore[attr-defined]
    monkeypatch.setattr(compiled, "_elsewhere", None)
    compiled.leave_to(process, [__name__])  # type: ignore[arg-type]
    assert _thrice(2) == 6
    assert process.asked > 2


def test_a_process_that_never_ends_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_PATIENCE", 0.0)
    monkeypatch.setattr(compiled, "_elsewhere", None)
    process = Dying()
    process.asked = -10_000
    compiled.leave_to(process, [rank.__module__])  # type: ignore[arg-type]
    assert rank(np.array([[1.0], [2.0]]).repeat(2, axis=1)).tolist() == [[2.0, 2.0], [1.0, 1.0]]


def test_cores_are_those_this_process_may_use() -> None:
    assert 1 <= threads.n_cores() <= (os.cpu_count() or 1)
    assert threads.n_threads(-1) == min(threads.n_cores(), threads.MOST)
    assert threads.n_threads(-10_000) == 1


@pytest.mark.parametrize("ends", ["raises", "returns"])
def test_pieces_run_in_threads_and_an_error_comes_through(ends: str) -> None:
    seen: list[tuple[int, int]] = []

    def work(start: int, stop: int) -> None:
        seen.append((start, stop))
        if ends == "raises" and start == 4:
            raise ValueError("the third piece")

    if ends == "raises":
        with pytest.raises(ValueError, match="the third piece"):
            threads.run_chunks(work, 9, 2, 3)
    else:
        threads.run_chunks(work, 9, 2, 3)
    assert sorted(seen) == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 9)]
