"""What the whole pool costs: the engine beside a plain loop over PyOD's detectors, its memory, its growth.

    ELECT_DATA_HOME=... python benchmarks/pool.py [--json] [--full] [--trials 1] [--datasets letter satellite ...]

Times are CPU seconds (user and system, ``time.process_time``) of a fresh process with one thread, taken after both
sides have scored a small table, so that imports and compilation are left out; the engine's is the median of three
processes, one before the loop and two after it, and includes the system's share for memory touched the first time; the
breakdown is a second pass, which does not pay for that. On large tables the loop fits a sample of the models that cost
about the same and scales it up, and the output says so; ``--full`` fits all. SUOD is compared where the interpreter
``--suod-python`` can import it.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from elect import ElectError, ModelSpec, default_pool
from parity import chosen_entries

GOALS = {"odds/letter": 80.0, "odds/satellite": 60.0, "odds/mammography": 40.0}
SUOD_DATASET = "odds/letter"
ENGINE_RUNS = 3
FULL_LOOP_ROWS = 3000
GROWTH_ROWS = (1_000, 5_000, 10_000, 50_000)
GROWTH_COLUMNS = 27
MEMORY_GOAL_MIB = 4096
TABLE = (5_000, 30)
TABLE_GOAL = 3.0
IMPORT_GOAL = 0.5
PARTS = ("datasets", "table", "growth", "import", "suod")
RANDOM = ("LODA", "IForest")
# A parameter that hardly changes what a fit costs, and how many of its values a sampled loop fits.
SAMPLED = {
    "LODA": ("n_bins", 1),
    "IForest": ("max_features", 2),
    "kNN": ("method", 1),
    "LOF": ("metric", 1),
    "HBOS": ("alpha", 1),
    "OCSVM": ("nu", 3),
    "COF": ("n_neighbors", 2),
}
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

Report = dict[str, Any]


def say(text: str) -> None:
    print(f"pool: {text}", file=sys.stderr, flush=True)


def part_of(spec: ModelSpec) -> str:
    """The line of the breakdown that a model is counted in: the engine shares work within each."""
    if spec.detector == "OCSVM":
        return "OCSVM linear" if spec["kernel"] == "linear" else "OCSVM poly, rbf, sigmoid"
    return "kNN, LOF, ABOD, COF" if spec.detector in ("kNN", "LOF", "ABOD", "COF") else spec.detector


def loop_groups(full: bool) -> list[tuple[list[ModelSpec], list[ModelSpec]]]:
    """Models that cost about the same, and those of them that are fitted, which rotate from group to group."""
    groups: dict[tuple[Any, ...], list[ModelSpec]] = {}
    for spec in default_pool():
        free = None if full else SAMPLED.get(spec.detector, (None, 0))[0]
        key = (spec.detector, *((name, value) for name, value in spec.params if name != free))
        groups.setdefault(key, []).append(spec)
    chosen = []
    for turn, members in enumerate(groups.values()):
        wanted = min(len(members), SAMPLED.get(members[0].detector, ("", 1))[1])
        step = len(members) / wanted
        chosen.append((members, [members[int(turn + i * step) % len(members)] for i in range(wanted)]))
    return chosen


# ---------------------------------------------------------------------------------------------------------------------
# Jobs: each runs in a process of its own and answers with one JSON object.


def _table(job: Report) -> Any:
    """The table of a job: a task of the wild testbed, or rows from five clusters with scattered outliers."""
    import numpy as np

    from elect.bench.testbeds import load_task

    if "dataset" in job:
        return load_task(chosen_entries([job["dataset"]])[0]).X
    n, d = job["shape"]
    rng = np.random.default_rng(0)
    centres, widths = rng.normal(0.0, 3.0, (5, d)), rng.uniform(0.5, 1.5, (5, d))
    cluster = rng.integers(5, size=n)
    X = centres[cluster] + widths[cluster] * rng.normal(size=(n, d))
    scattered = rng.random(n) < 0.05
    X[scattered] = rng.uniform(-8.0, 8.0, (int(scattered.sum()), d))
    return X


def _peak_mib() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _warm_up() -> Any:
    return _table({"shape": (300, 8)})


def engine_job(job: Report) -> Report:
    from elect import PoolScorer, score_pool

    X = _table(job)
    started = time.process_time()
    score_pool(_warm_up(), trials=job["trials"])
    warm_up = time.process_time() - started
    before = _peak_mib()
    system, started = os.times().system, time.process_time()
    scores = score_pool(X, trials=job["trials"])
    seconds, system = time.process_time() - started, os.times().system - system
    peak = _peak_mib()
    notes = sorted(set(scores.notes.values()))
    del scores
    parts: dict[str, float] = {}
    if job.get("breakdown"):
        scorer = PoolScorer(X, trials=job["trials"])
        for spec in scorer.pool:
            started = time.process_time()
            scorer.scores(spec.id)
            parts[part_of(spec)] = parts.get(part_of(spec), 0.0) + time.process_time() - started
    return {
        "cpu_seconds": seconds,
        "system_cpu_seconds": system,
        "warm_up_cpu_seconds": warm_up,
        "peak_mib": peak,
        "mib_before": before,
        "parts": parts,
        "notes": notes,
    }


def _plain_detector(spec: ModelSpec) -> Any:
    from elect.pool.one_by_one import detector_class

    return detector_class(spec)(**dict(spec.params))


def loop_job(job: Report) -> Report:
    """CPU seconds of each model, fitted through PyOD's own class on the standardised table."""
    import warnings

    import numpy as np

    from elect.pool.standardize import Standardizer

    warnings.simplefilter("ignore")
    X, small = _table(job), _warm_up()
    Z, small = Standardizer.fit(X).transform(X), Standardizer.fit(small).transform(small)
    groups = loop_groups(job["full"])
    for spec in {fitted[0].detector: fitted[0] for _, fitted in groups}.values():
        _plain_detector(spec).fit(np.array(small, order="C"))
    seconds: dict[str, float] = {}
    for position, (_, fitted) in enumerate(groups):
        if position % 20 == 0:
            say(f"  loop: group {position + 1} of {len(groups)}")
        for spec in fitted:
            table = np.array(Z, order="C")  # its own copy: some detectors keep or change what they are given
            started = time.process_time()
            for _ in range(job["trials"] if spec.detector in RANDOM else 1):
                _plain_detector(spec).fit(table)
            seconds[spec.id] = time.process_time() - started
    return {"seconds": seconds, "peak_mib": _peak_mib()}


def suod_job(job: Report) -> Report:
    """SUOD with its defaults: random projection for kNN, LOF, ABOD and COF, every model fitted once."""
    import warnings

    import numpy as np
    from scipy.stats import spearmanr

    from elect import score_pool
    from elect.pool.standardize import Standardizer

    warnings.simplefilter("ignore")
    X = _table(job)
    Z = np.array(Standardizer.fit(X).transform(X))
    pool = default_pool()
    suod = import_module("suod.models.base").SUOD

    def fit(table: Any) -> Any:
        # Its schedule over workers is off: there is one worker.
        return suod([_plain_detector(spec) for spec in pool], n_jobs=1, bps_flag=False).fit(table)

    fit(_warm_up())
    started = time.process_time()
    fitted = fit(Z).base_estimators
    seconds = time.process_time() - started
    ours = score_pool(X, pool.select("kNN") + pool.select("LOF"))
    agreement = [
        float(spearmanr(ours[spec.id], detector.decision_scores_).statistic)
        for spec, detector in zip(pool, fitted, strict=True)
        if spec.detector in ("kNN", "LOF")
    ]
    return {"cpu_seconds": seconds, "peak_mib": _peak_mib(), "agreement": float(np.mean(agreement))}


JOBS: dict[str, Callable[[Report], Report]] = {
    "engine": engine_job,
    "loop": loop_job,
    "suod": suod_job,
}


def _environment() -> dict[str, str]:
    source = str(Path(__file__).resolve().parents[1] / "src")
    path = os.pathsep.join(part for part in (os.environ.get("PYTHONPATH"), source) if part)
    return {**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": path}


def run(kind: str, python: str = sys.executable, **job: Any) -> Report:
    """The answer of a job from a fresh process with one thread."""
    command = [python, __file__, "--job", json.dumps({"kind": kind, **job})]
    done = subprocess.run(command, env=_environment(), stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"the {kind} job failed with status {done.returncode}: {' '.join(command)}")
    answer: Report = json.loads(done.stdout.splitlines()[-1])
    return answer


# ---------------------------------------------------------------------------------------------------------------------
# Parts of the report.


def _sides(loop: float, engine: float) -> Report:
    ratio = round(loop / engine, 1) if engine > 0.0005 else None
    return {"loop_cpu_seconds": round(loop, 3), "engine_cpu_seconds": round(engine, 3), "ratio": ratio}


def dataset_report(name: str, n: int, d: int, trials: int, full: bool) -> Report:
    full = full or n <= FULL_LOOP_ROWS
    say(f"{name} {n} x {d}: engine and {'every model' if full else 'a sample of the models'} through PyOD")
    engines = [run("engine", dataset=name, trials=trials, breakdown=True)]
    loop = run("loop", dataset=name, trials=trials, full=full)
    engines += [run("engine", dataset=name, trials=trials, breakdown=True) for _ in range(ENGINE_RUNS - 1)]
    engine = median(e["cpu_seconds"] for e in engines)
    parts: dict[str, list[float]] = {}
    for members, fitted in loop_groups(full):
        spent = sum(loop["seconds"][spec.id] for spec in fitted) * len(members) / len(fitted)
        parts.setdefault(part_of(members[0]), []).append(spent)
    counts = {part: sum(part_of(spec) == part for spec in default_pool()) for part in parts}
    engine_parts = {part: median(e["parts"][part] for e in engines) for part in parts}
    total, linear = sum(map(sum, parts.values())), "OCSVM linear"
    goal = GOALS.get(name) if trials == 1 else None
    headline = _sides(total, engine)
    return {
        "name": name,
        "n": n,
        "d": d,
        **headline,
        "goal": goal,
        "met": None if goal is None else headline["ratio"] >= goal,
        "without_linear_ocsvm": _sides(total - sum(parts[linear]), engine - engine_parts[linear]),
        "families": [{"name": p, "models": counts[p], **_sides(sum(s), engine_parts[p])} for p, s in parts.items()],
        "loop_sampled": not full,
        "loop_models_fitted": len(loop["seconds"]),
        "models": len(default_pool()),
        "loop_peak_mib": round(loop["peak_mib"]),
        "engine_peak_mib": round(max(e["peak_mib"] for e in engines)),
        "engine_runs_cpu_seconds": [round(e["cpu_seconds"], 3) for e in engines],
        "engine_system_cpu_seconds": round(median(e["system_cpu_seconds"] for e in engines), 3),
        "warm_up_cpu_seconds": round(median(e["warm_up_cpu_seconds"] for e in engines), 2),
    }


def shape_report(n: int, d: int, trials: int) -> Report:
    say(f"engine on {n} x {d} generated rows, trials {trials}")
    answer = run("engine", shape=(n, d), trials=trials)
    return {
        "n": n,
        "d": d,
        "trials": trials,
        "engine_cpu_seconds": round(answer["cpu_seconds"], 3),
        "peak_mib": round(answer["peak_mib"]),
        "mib_before_scoring": round(answer["mib_before"]),
        "notes": answer["notes"],
    }


def table_report() -> Report:
    one, five = (shape_report(*TABLE, trials) for trials in (1, 5))
    seconds = one["engine_cpu_seconds"]
    return {**one, "trials_5_engine_cpu_seconds": five["engine_cpu_seconds"], **_goal(seconds, TABLE_GOAL)}


def growth_report(trials: int) -> Report:
    rows = [shape_report(n, GROWTH_COLUMNS, trials) for n in GROWTH_ROWS]
    return {"rows": rows, "peak_mib": rows[-1]["peak_mib"], **_goal(rows[-1]["peak_mib"], MEMORY_GOAL_MIB)}


def _import_seconds(statement: str) -> float:
    """Wall seconds of an import in an interpreter that has loaded nothing, median of five."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    return median(
        float(subprocess.run(command, env=_environment(), check=True, capture_output=True, text=True).stdout)
        for _ in range(5)
    )


def import_report() -> Report:
    say("import of elect")
    seconds = _import_seconds("import elect")
    engine = _import_seconds("from elect import score_pool")
    return {"seconds": round(seconds, 4), "score_pool_seconds": round(engine, 4), **_goal(engine, IMPORT_GOAL)}


def _goal(value: float, below: float) -> Report:
    return {"goal": below, "met": value < below}


def suod_report(python: str, engine_seconds: float | None) -> Report:
    found = subprocess.run([python, "-c", "import suod.models.base"], capture_output=True, text=True)
    if found.returncode:
        why = found.stderr.strip().splitlines()[-1] if found.stderr.strip() else f"status {found.returncode}"
        return {"available": False, "why": f"{why} (pip install suod, or name an interpreter with --suod-python)"}
    say(f"SUOD on {SUOD_DATASET}")
    try:
        answer = run("suod", python, dataset=SUOD_DATASET)
    except RuntimeError as error:
        return {"available": False, "why": f"it installs but does not run with current libraries: {error}"}
    if engine_seconds is None:
        engine_seconds = run("engine", dataset=SUOD_DATASET, trials=1)["cpu_seconds"]
    return {
        "available": True,
        "dataset": SUOD_DATASET,
        "suod_cpu_seconds": round(answer["cpu_seconds"], 3),
        "engine_cpu_seconds": engine_seconds,
        "ratio": round(answer["cpu_seconds"] / engine_seconds, 1),
        "suod_peak_mib": round(answer["peak_mib"]),
        "mean_spearman_knn_lof": round(answer["agreement"], 3),
        "note": "SUOD fits kNN, LOF, ABOD and COF on random projections to half the columns: other scores than PyOD's "
        "(mean Spearman of kNN and LOF with the exact ones above); one worker, no scheduling, no approximators",
    }


def report(options: argparse.Namespace) -> Report:
    result: Report = {
        "benchmark": "pool",
        "unit": "CPU seconds, one thread, compilation and imports left out",
        "trials": options.trials,
    }
    entries = chosen_entries(options.datasets)
    if "datasets" in options.parts:
        result["datasets"] = [dataset_report(r.name, r.n, r.d, options.trials, options.full) for r in entries]
    if "table" in options.parts:
        result["table"] = table_report()
    if "growth" in options.parts:
        result["growth"] = growth_report(options.trials)
    if "import" in options.parts:
        result["import"] = import_report()
    if "suod" in options.parts:
        seen = {d["name"]: d["engine_cpu_seconds"] for d in result.get("datasets", [])}
        result["suod"] = suod_report(options.suod_python, seen.get(SUOD_DATASET) if options.trials == 1 else None)
    return result


def text(result: Report) -> str:
    return "\n".join(_lines(result))


def _verdict(part: Report) -> str:
    return "no goal" if part["goal"] is None else f"goal {part['goal']:g}: {'met' if part['met'] else 'NOT met'}"


def _lines(result: Report) -> Iterable[str]:
    yield f"{result['unit']}; trials {result['trials']}"
    for data in result.get("datasets", []):
        how = f"sampled: {data['loop_models_fitted']} of" if data["loop_sampled"] else "all"
        yield ""
        yield f"{data['name']} {data['n']} x {data['d']} (PyOD loop: {how} {data['models']} models fitted)"
        yield f"  {'':28}{'models':>7}{'PyOD loop':>11}{'engine':>9}{'ratio':>8}"
        without = {"name": "without linear OCSVM", "models": "", **data["without_linear_ocsvm"]}
        for row in (*data["families"], without, {**data, "name": "total"}):
            ratio = "" if row["ratio"] is None else row["ratio"]
            yield (
                f"  {row['name']:28}{row['models']:>7}{row['loop_cpu_seconds']:>11.2f}"
                f"{row['engine_cpu_seconds']:>9.3f}{ratio:>8}"
            )
        memory = f"engine {data['engine_peak_mib']} MiB, loop {data['loop_peak_mib']} MiB"
        yield f"  of the engine's total, {data['engine_system_cpu_seconds']} s are the system's, for fresh memory"
        yield f"  ratio {_verdict(data)}; peak memory: {memory}"
    if "table" in result:
        part = result["table"]
        yield ""
        yield (
            f"whole pool on {part['n']} x {part['d']}: {part['engine_cpu_seconds']} s (trials 1, {_verdict(part)}), "
            f"{part['trials_5_engine_cpu_seconds']} s (trials 5), {part['peak_mib']} MiB"
        )
    if "growth" in result:
        yield ""
        yield f"growth at {GROWTH_COLUMNS} columns: {'n':>7}{'CPU s':>9}{'MiB':>7}"
        for row in result["growth"]["rows"]:
            yield f"{row['n']:>29}{row['engine_cpu_seconds']:>9.2f}{row['peak_mib']:>7}"
        yield f"  peak MiB {_verdict(result['growth'])}"
    if "import" in result:
        part = result["import"]
        yield ""
        engine = f"from elect import score_pool: {part['score_pool_seconds']} s"
        yield f"import elect: {part['seconds']} s; {engine}; {_verdict(part)}"
    if "suod" in result:
        yield ""
        yield "SUOD: " + ", ".join(f"{name} {value}" for name, value in result["suod"].items())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--datasets", nargs="+", default=["letter", "satellite", "mammography"], metavar="TASK")
    parser.add_argument("--trials", type=int, default=1, help="fits of each random model, on both sides (default 1)")
    parser.add_argument("--full", action="store_true", help="fit every model in the loop, whatever it takes")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure (default: all)")
    parser.add_argument("--suod-python", default=sys.executable, metavar="PATH", help="an interpreter that has SUOD")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.job:
        job = json.loads(options.job)
        print(json.dumps(JOBS[job.pop("kind")](job)))
        return 0
    if options.trials < 1:
        parser.error(f"--trials must be at least 1, got {options.trials}")
    try:
        result = report(options)
    except ElectError as error:
        print(f"pool: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result, indent=2) if options.json else text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
