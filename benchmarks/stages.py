"""Where the time of ``elect detect FILE -o OUT`` goes, stage by stage, cold and warm, beside PyOD's IForest and KNN.

    python benchmarks/stages.py [--json] [--sizes 1500x15 5000x30 100000x20 1000000x10] [--repeats 3]

Every run is a process of its own. Cold: no kernel was compiled before. Warm: the median by CPU time of some runs after
it. A stage has the CPU and wall seconds while the main thread was in it and in no stage inside it; CPU seconds are
those of all threads, so that what is read or scored meanwhile counts for the stage that waits. ``start and end`` is
what the process took beyond its stages: the interpreter, the screen, and on a cold run the process that compiles
alongside. Tables of up to 100,000 rows are CSV, longer ones Parquet. PyOD's are timed without their import, on the
numbers alone.
"""

import argparse
import builtins
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SIZES = ("1500x15", "5000x30", "100000x20", "1000000x10")
RIVALS = ("IForest", "KNN")
LONGEST = 900
"""Seconds after which a rival is given up."""

STAGES = {
    "elect.cli.searching:load_database": "history",
    "elect.detect.opened:open_table": "reading",
    "elect.detect.opened:OpenedTable.batches": "reading",
    "elect.detect.opened:OpenedTable.survey": "survey of all rows",
    "elect.detect.election:Election.__init__": "treatment",
    "elect.tables.treatment:ColumnTreatment.transform": "treatment",
    "elect.pool.engine:PoolScorer._score": "pool",
    "elect.pool.work:SharedWork.graph": "pool: neighbours",
    "elect.tables.cells:CellJudge.fit": "cell signals",
    "elect.committee.committee:cell_summary": "cell signals",
    "elect.committee.committee:Committee.fit": "committee",
    "elect.committee.scorer:RowScorer.log_odds": "committee",
    "elect.detect.election:Election.steps": "election",
    "elect.detect.election:Election._said": "scoring of the other rows",
    "elect.detect.election:_fitted": "fit of the pick",
    "elect.detect.findings:findings_of": "reasons",
    "elect.cli.detect:Targets.write": "writing",
}


class Clock:
    """Seconds by stage; those of a stage inside another count for it alone."""

    def __init__(self) -> None:
        self.cpu: dict[str, float] = {}
        self.wall: dict[str, float] = {}
        self.stack: list[str] = []
        self.last = (time.process_time(), time.perf_counter())

    def turn(self) -> None:
        now = (time.process_time(), time.perf_counter())
        if self.stack:
            here = self.stack[-1]
            self.cpu[here] = self.cpu.get(here, 0.0) + now[0] - self.last[0]
            self.wall[here] = self.wall.get(here, 0.0) + now[1] - self.last[1]
        self.last = now

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        import threading

        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self.turn()
        self.stack.append(name)
        try:
            yield
        finally:
            self.turn()
            self.stack.pop()


def instrument(clock: Clock) -> None:
    """Put the stages around the functions they are made of, imports and compilation included."""
    original = builtins.__import__

    def importing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name in sys.modules and not (len(args) > 2 and args[2]):
            return original(name, *args, **kwargs)
        with clock.stage("imports"):
            return original(name, *args, **kwargs)

    builtins.__import__ = importing
    with clock.stage("imports"):
        import numba.core.event as events

        class Compiling(events.Listener):  # type: ignore[misc]
            def on_start(self, event: Any) -> None:
                clock.turn()
                clock.stack.append("compiling")

            def on_end(self, event: Any) -> None:
                clock.turn()
                clock.stack.pop()

        events.register("numba:compile", Compiling())
        for place, stage in STAGES.items():
            module, _, path = place.partition(":")
            owner: Any = importlib.import_module(module)
            *inside, name = path.split(".")
            for part in inside:
                owner = getattr(owner, part)
            wrap(owner, name, stage, clock)


def wrap(owner: Any, name: str, stage: str, clock: Clock) -> None:
    held = vars(owner)[name]
    function = held.__func__ if isinstance(held, classmethod) else held

    def timed(*args: Any, **kwargs: Any) -> Any:
        from elect.pool.families import family_of

        family = family_of(args[1][0]) if stage == "pool" else None
        with clock.stage(stage if family is None else f"pool: {family.name}"):
            result = function(*args, **kwargs)
        return steps(result, stage, clock) if isinstance(result, Iterator) else result

    def put(where: Any) -> None:
        setattr(where, name, classmethod(timed) if isinstance(held, classmethod) else timed)

    put(owner)
    # Modules that imported the function by name hold it too.
    for module in [module for path, module in sys.modules.items() if path.startswith("elect")]:
        if vars(module).get(name) is held:
            put(module)


def steps(items: Iterator[Any], stage: str, clock: Clock) -> Iterator[Any]:
    while True:
        with clock.stage(stage):
            try:
                item = next(items)
            except StopIteration:
                return
        yield item


def one_run(table: str, out: str) -> None:
    """The command itself, in this process; its stages as JSON on the file descriptor 3."""
    clock, began = Clock(), time.perf_counter()
    seen: dict[str, float] = {}
    instrument(clock)
    from elect.cli import live, main

    first = live.first_rows

    def first_rows(election: Any) -> Any:
        said = first(election)
        seen["first_rows_wall"] = time.perf_counter() - began
        return said

    live.first_rows = first_rows
    sys.argv = ["elect", "detect", table, "-o", out]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    clock.turn()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    os.write(3, json.dumps({"cpu": clock.cpu, "wall": clock.wall, "peak_mib": peak, **seen}).encode())


def rival_run(name: str, table: str) -> None:
    """One of PyOD's detectors with its defaults; CPU and wall seconds of its fit on the file descriptor 3."""
    import numpy as np
    from pyod.models.iforest import IForest
    from pyod.models.knn import KNN

    X = np.load(table)
    detector = {"IForest": IForest, "KNN": KNN}[name]()
    cpu, wall = time.process_time(), time.perf_counter()
    detector.fit(X)
    os.write(3, json.dumps({"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}).encode())


def measured(arguments: list[str], cache: Path | None, limit: float | None = None) -> dict[str, Any] | None:
    """Run this script in a process of its own; what it says, with its CPU and wall seconds and its peak memory."""
    read, write = os.pipe()
    environment = {**os.environ, **({} if cache is None else {"NUMBA_CACHE_DIR": str(cache)})}

    def third() -> None:
        os.dup2(write, 3)

    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, __file__, *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=third,
        pass_fds=(write, 3) if write != 3 else (3,),
    )
    os.close(write)
    try:
        _, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        os.close(read)
        return None
    wall = time.perf_counter() - began
    with os.fdopen(read, "rb") as stream:
        said = stream.read()
    if process.returncode:
        raise SystemExit(errors.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**json.loads(said), "total_cpu": used, "total_wall": wall}


def make_table(size: str, folder: Path) -> tuple[Path, Path]:
    """A table of correlated numbers in which one row in a hundred has one cell eight times as large."""
    import numpy as np
    import polars as pl

    n, d = map(int, size.split("x"))
    rng = np.random.default_rng([n, d])
    X = rng.normal(size=(n, d)) @ (rng.normal(size=(d, d)) / np.sqrt(d)) + 0.5 * rng.normal(size=(n, d))
    X[rng.choice(n, n // 100, replace=False), rng.integers(0, d, n // 100)] *= 8
    frame = pl.DataFrame(X, schema=[f"c{j}" for j in range(d)])
    path = folder / f"{size}{'.csv' if n <= 100_000 else '.parquet'}"
    frame.write_csv(path) if n <= 100_000 else frame.write_parquet(path)
    np.save(folder / f"{size}.npy", X)
    return path, folder / f"{size}.npy"


def on_size(size: str, repeats: int, rivals: Sequence[str], tell: Callable[[str], None]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, numbers = make_table(size, folder)
        arguments = ["--one", str(table), str(folder / f"out{table.suffix}")]
        tell(f"{size}: cold")
        cold = measured(arguments, folder / "cache")
        warm = []
        for repeat in range(repeats):
            tell(f"{size}: warm, {repeat + 1} of {repeats}")
            warm.append(measured(arguments, folder / "cache"))
        found: dict[str, Any] = {"size": size, "cold": cold}
        found["warm"] = sorted(warm, key=lambda run: run["total_cpu"])[len(warm) // 2]  # type: ignore[index]
        for rival in rivals:
            tell(f"{size}: PyOD {rival}")
            found[rival] = measured(["--rival", rival, str(numbers)], None, LONGEST)
    for run in (found["cold"], found["warm"]):
        for clock in ("cpu", "wall"):
            run[clock]["start and end"] = run[f"total_{clock}"] - sum(run[clock].values())
            run[clock] = {stage: round(seconds, 3) for stage, seconds in run[clock].items()}
    return {key: rounded(value) for key, value in found.items()}


def rounded(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: rounded(value) for key, value in found.items()}
    return round(found, 3) if isinstance(found, float) else found


def show(found: dict[str, Any]) -> None:
    cold, warm = found["cold"], found["warm"]
    print(f"\n{found['size']:28}  warm CPU  warm wall  cold CPU  cold wall")
    for stage in sorted(set(cold["cpu"]) | set(warm["cpu"]), key=lambda stage: -warm["cpu"].get(stage, 0.0)):
        four = [run[clock].get(stage, 0.0) for run in (warm, cold) for clock in ("cpu", "wall")]
        print(f"{stage:28}  {four[0]:8.2f}  {four[1]:9.2f}  {four[2]:8.2f}  {four[3]:9.2f}")
    four = [run[f"total_{clock}"] for run in (warm, cold) for clock in ("cpu", "wall")]
    print(f"{'in all':28}  {four[0]:8.2f}  {four[1]:9.2f}  {four[2]:8.2f}  {four[3]:9.2f}")
    first = [run["first_rows_wall"] for run in (warm, cold)]
    print(f"{'first rows are known after':28}  {'':8}  {first[0]:9.2f}  {'':8}  {first[1]:9.2f}")
    print(f"{'peak memory, MiB':28}  {warm['peak_mib']:8.0f}")
    for rival in set(RIVALS) & set(found):
        run = found[rival]
        said = f"more than {LONGEST} s" if run is None else f"{run['cpu']:8.2f}  {run['wall']:9.2f}"
        print(f"{'PyOD ' + rival + ', fit alone':28}  {said}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rivals", nargs="*", default=RIVALS, choices=RIVALS)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--rival", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one_run(*options.one)
        return
    if options.rival:
        rival_run(*options.rival)
        return
    sizes = [
        on_size(size, options.repeats, options.rivals, lambda line: print(line, file=sys.stderr))
        for size in options.sizes
    ]
    if options.json:
        print(json.dumps({"cores": os.cpu_count(), "sizes": sizes}, indent=1))
    else:
        for size in sizes:
            show(size)


if __name__ == "__main__":
    main()
