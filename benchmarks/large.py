"""Large tables: time, memory, and whether one planted value is found, on one machine and in many files.

    python benchmarks/large.py [--rows 1000000 10000000] [--json]
    python benchmarks/large.py --parts 64 --rows 20000000 --workers 2 [--json]

Tables are standard normal, 10 columns of Parquet, with one value of 60 standard deviations. The first form runs ``elect
detect`` on one file, the value at the start, in the middle and at the end of the smallest table. The second runs it
over many files three times: quietly; with a worker killed in the middle, and the whole run killed a little later; and
started again. It compares the results byte by byte, and says what was scored twice.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = 10
BLOCK = 100_000


def rows(start: int, stop: int, planted: int) -> Any:
    """Rows of one long table, the same however it is cut."""
    parts = []
    for first in range(start - start % BLOCK, stop, BLOCK):
        X = np.random.default_rng([7, first]).normal(size=(BLOCK, COLUMNS))
        if first <= planted < first + BLOCK:
            X[planted - first, 3] = 60.0
        parts.append(X[max(start, first) - first : min(stop, first + BLOCK) - first])
    return np.vstack(parts)


def write(path: Path, start: int, stop: int, planted: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for first in range(start, stop, BLOCK):
        X = rows(first, min(first + BLOCK, stop), planted)
        table = pa.table({f"c{j}": X[:, j] for j in range(COLUMNS)})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


class Watch(threading.Thread):
    """The largest memory of a process and of each process below it, in MB."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.peaks, self._over = pid, dict[int, float](), threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.2):
            for pid in (self.pid, *below(self.pid)):
                try:
                    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
                except OSError:
                    continue
                peak = next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)
                self.peaks[pid] = max(self.peaks.get(pid, 0.0), peak)

    def stop(self) -> dict[int, float]:
        self._over.set()
        self.join()
        return self.peaks


def below(pid: int) -> list[int]:
    """The child processes of a process."""
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in children.read_text().split()]
        except OSError:
            continue
    return found


def elect(*words: object) -> tuple[dict[str, Any], dict[str, float]]:
    """A command, what it said, and its cost."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "elect.cli", *map(str, words), "--json", "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        watch = Watch(process.pid)
        watch.start()
        out, _ = process.communicate()
        peaks = watch.stop()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise SystemExit(f"elect {' '.join(map(str, words))} ended with status {process.returncode}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    own = peaks.pop(process.pid, 0.0)
    cost = {"wall_s": time.perf_counter() - started, "cpu_s": cpu, "peak_mib": own}
    return json.loads(out), {**cost, "worker_peak_mib": max(peaks.values(), default=0.0)}


def one_file(sizes: list[int], folder: Path) -> list[dict[str, Any]]:
    found = []
    for n in sizes:
        places = (0, n // 2 + 1, n - 1) if n == min(sizes) else (n // 2 + 1,)
        for place in places:
            table, out = folder / "table.parquet", folder / "scored.parquet"
            write(table, 0, n, place)
            told, cost = elect("detect", table, "-o", out)
            import pyarrow.parquet as pq

            scores = pq.read_table(out, columns=["elect_score"])["elect_score"].to_numpy()
            rank = int((scores > scores[place]).sum()) + 1
            found.append({"rows": n, "planted_at": place, "rank": rank, "flagged": told["n_outliers"], **cost})
            print(found[-1], file=sys.stderr, flush=True)
    return found


def results(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def done_in(out: Path) -> dict[str, int]:
    """The files that are told to be done, and when they were written."""
    told = [path.name.removesuffix(".json") for path in (out / "_elect").glob("*.parquet.json")]
    return {name: (out / name).stat().st_mtime_ns for name in told}


def interrupted(words: list[str], out: Path, parts: int) -> dict[str, int]:
    """Start a run, kill a worker after an eighth of the files and everything after a third; what was done by then."""
    command = [sys.executable, "-m", "elect.cli", *words, "-q", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    worker = None
    while True:
        time.sleep(0.05)
        if process.poll() is not None:
            raise SystemExit("the run ended before it could be killed: take more rows")
        count = len(done_in(out)) if (out / "_elect").exists() else 0
        if worker is None and count >= parts // 8:
            spawned = [p for p in below(process.pid) if b"spawn_main" in Path(f"/proc/{p}/cmdline").read_bytes()]
            worker = spawned[0]
            os.kill(worker, signal.SIGKILL)
        if count >= parts // 3:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return done_in(out)


def many_files(n: int, parts: int, workers: int, folder: Path) -> dict[str, Any]:
    tables = folder / "tables"
    tables.mkdir()
    edges = np.linspace(0, n, parts + 1).astype(int)
    place = 2 * n // 3
    for number in range(parts):
        write(tables / f"part-{number:04d}.parquet", int(edges[number]), int(edges[number + 1]), place)
    print(f"{parts} files of {n} rows written", file=sys.stderr, flush=True)
    words = ["detect", str(tables / "*.parquet"), "--workers", str(workers), "--scores-only", "-o"]
    quiet, cost = elect(*words, folder / "quiet")
    print(cost, f"expected {quiet['seconds_expected']:.0f} s, took {quiet['seconds']:.0f}", file=sys.stderr, flush=True)
    out = folder / "out"
    before = interrupted([*words, str(out)], out, parts)
    again, second = elect(*words, out)
    after = done_in(out)
    same = results(out) == results(folder / "quiet")
    top = [row["position"] for row in quiet["top"]]
    return {
        "rows": n,
        "files": parts,
        "workers": workers,
        **cost,
        "scoring_s": quiet["seconds"],
        "scoring_expected_s": quiet["seconds_expected"],
        "planted_among_top": top.index(place) + 1 if place in top else None,
        "done_before_restart": len(before),
        "scored_after_restart": again["files_scored"],
        "scored_twice": sum(after[name] != moment for name, moment in before.items()),
        "complete": len(after) == parts,
        "bit_identical": same and again["top"] == quiet["top"] and again["n_outliers"] == quiet["n_outliers"],
        "restart_worker_peak_mib": second["worker_peak_mib"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--parts", type=int, help="cut the table into so many files")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--work", type=Path, help="a folder with room for the tables, instead of a temporary one")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="elect-large-", dir=asked.work))
    try:
        if asked.parts is None:
            found: Any = one_file(asked.rows, folder)
        else:
            found = many_files(asked.rows[0], asked.parts, asked.workers, folder)
    finally:
        shutil.rmtree(folder)
    if asked.json:
        print(json.dumps(found, indent=2))
        return
    for line in found if isinstance(found, list) else [found]:
        print("  ".join(f"{k} {v:.1f}" if isinstance(v, float) else f"{k} {v}" for k, v in line.items()))


if __name__ == "__main__":
    main()
