"""``elect train``, ``elect corpus`` and ``elect bench``: long runs over labelled tables."""

import time
from pathlib import Path

from elect.cli import parse, screen
from elect.errors import InvalidInput

METRICS = ("ap", "roc", "prn")


def train(
    folders: list[Path],
    output: Path,
    *,
    work: Path | None,
    cluster: str | None,
    label: str | None,
    metric: str,
    seed: int,
    n_jobs: int,
    json: bool,
    quiet: bool,
) -> None:
    """Train a database and write it."""
    from elect.detect.output import check_output, write_whole

    check_output(output, "--output")
    if metric not in METRICS:
        raise InvalidInput(f"--metric must be one of {', '.join(METRICS)}, got {metric!r}.")
    for folder in folders:
        if not folder.exists():
            raise InvalidInput(f"{str(folder)!r} does not exist: give a folder of labelled tables, or a JSON manifest.")
    started = time.perf_counter()
    from elect.history import read_corpus
    from elect.history import train as train_database
    from elect.history.store import dumps

    database = train_database(
        [task for folder in folders for task in read_corpus(folder, label)],
        metric=metric,
        seed=seed,
        n_jobs=n_jobs,
        work_dir=work,
        cluster=cluster,
        progress=not quiet,
    )
    content = dumps(database)
    write_whole(output, content)
    seconds = time.perf_counter() - started
    if json:
        screen.print_json(
            {
                "output": str(output),
                "bytes": len(content),
                "n_tasks": len(database.tasks),
                "n_models": len(database.pool),
                "metric": database.settings.metric,
                "anchors": list(database.anchors),
                "initial_models": list(database.initial_models),
                "seconds": seconds,
            }
        )
        return
    screen.pairs(
        screen.stdout(),
        [
            ("written", f"{output} ({len(content) / 1e6:.1f} MB)"),
            ("trained on", f"{len(database.tasks)} tasks x {len(database.pool)} models in {seconds:.0f} s"),
            ("try it", f"elect detect TABLE --database {output}"),
        ],
    )


def corpus(folder: Path, *, kinds: list[str] | None, seed: int, json: bool, quiet: bool) -> None:
    """Build the tables of a wider history and write them."""
    from collections import Counter

    from elect.bench.testbeds.history import BUILDERS, USUAL_KINDS, check_kinds, write_corpus
    from elect.core import LabeledTask
    from elect.support.meter import meter

    wanted = check_kinds(parse.names(kinds or (), ()) or USUAL_KINDS)
    started = time.perf_counter()
    tasks: list[LabeledTask] = []
    with meter(not quiet) as bar:
        for kind in wanted:
            bar.stage(f"building {kind}", 1)
            tasks += BUILDERS[kind](seed)
            bar.advance()
        manifest = write_corpus(tasks, folder)
    found = Counter(task.name.split("/")[0] for task in tasks)
    groups = len({task.group for task in tasks})
    seconds = time.perf_counter() - started
    if json:
        screen.print_json(
            {"manifest": str(manifest), "n_tasks": len(tasks), "n_groups": groups, "kinds": wanted, "seconds": seconds}
        )
        return
    screen.pairs(
        screen.stdout(),
        [
            ("written", f"{len(tasks)} tasks of {groups} sources in {seconds:.0f} s: {manifest}"),
            ("of these", ", ".join(f"{count} {name}" for name, count in found.items())),
            ("train on it", f"elect train {manifest} -o ours.elect"),
        ],
    )


def bench(
    testbed: str,
    *,
    source: str | None,
    protocol: str,
    methods: list[str] | None,
    output: Path | None,
    work: Path | None,
    answers: str | None,
    corpora: list[Path],
    seed: int,
    json: bool,
    quiet: bool,
) -> None:
    """Run the benchmark of the paper, or that of the strategies."""
    for name, value, allowed in (
        ("The testbed", testbed, ("wild", "controlled", "union")),
        ("--source", source, (None, "published", "computed")),
        ("--protocol", protocol, ("loo", "strict")),
    ):
        if value not in allowed:
            known = ", ".join(str(item) for item in allowed if item is not None)
            raise InvalidInput(f"{name} must be one of {known}, got {value!r}.")
    if testbed == "union":
        given = {"--methods": methods, "--output": output, "--answers": answers, "--source": source}
        unused = [name for name, value in given.items() if value]
        if unused:
            raise InvalidInput(f"{unused[0]} is of no use with union, which always judges every strategy, strictly.")
        _bench_union(corpora, work, seed, json, quiet)
        return
    if answers is not None:
        _bench_answers(testbed, answers, protocol, work, seed, json, quiet)
        return
    from elect.bench import run_bench

    wanted = list(parse.names(methods or (), ())) or None
    result = run_bench(
        testbed,
        source=source,
        protocol=protocol,
        methods=wanted,
        seed=seed,
        work_dir=work,
        output_dir=output,
        progress=not quiet,
    ).to_json()
    if json:
        screen.print_json(result)
        return
    console = screen.stdout()
    heads = ("mean rank", "median rank", "mean ap", "p value", "seconds")
    screen.grid(
        console,
        [("method", False), *((head, True) for head in heads)],
        [
            [str(row["name"]), *(_number(row[head.replace(" ", "_")]) for head in heads)]
            for row in sorted(result["methods"], key=lambda row: float(row["mean_rank"]))
        ],
    )
    console.print(
        f"{result['protocol']} protocol on {testbed}; ranks among {result.get('n_models')} models, 1 is the best"
    )


def _bench_union(corpora: list[Path], work: Path | None, seed: int, json: bool, quiet: bool) -> None:
    """The strategies on wild and KEEL tasks with a wide history."""
    from elect.bench.union import run_union

    folder = None if work is None else str(work)
    result = run_union(corpora, seed=seed, work_dir=folder, progress=not quiet)
    if json:
        screen.print_json(result)
        return
    console = screen.stdout()
    subsets = ("wild", "keel", "union", "test", "all")
    heads = [*(f"{subset} rank" for subset in subsets), "union ap", "union p", "test p"]
    rows = []
    for row in sorted(result["methods"], key=lambda row: float(row["union"]["mean_rank"])):
        numbers = [row[subset]["mean_rank"] for subset in subsets]
        numbers += [row["union"]["mean_ap"], row["union"]["p_value_fixed"], row["test"]["p_value_fixed"]]
        rows.append([row["name"], *(_number(value) for value in numbers)])
    screen.grid(console, [("method", False), *((head, True) for head in heads)], rows)
    cover = ", ".join(f"{name} {result['coverage'][name]['covered']:.0%}" for name in subsets)
    console.print(f"p: Wilcoxon by source against the best fixed model; 90 % intervals cover {cover}")


def _bench_answers(
    testbed: str, answers: str, protocol: str, work: Path | None, seed: int, json: bool, quiet: bool
) -> None:
    """The pick by number of simulated answers."""
    from elect.bench.answers import run_answers

    try:
        counts = [int(item) for item in answers.split(",")]
    except ValueError:
        raise InvalidInput(f"--answers must be whole numbers such as 0,5,10,20,50, got {answers!r}.") from None
    folder = None if work is None else str(work)
    result = run_answers(testbed, counts=counts, protocol=protocol, seed=seed, work_dir=folder, progress=not quiet)
    if json:
        screen.print_json(result)
        return
    heads = ("n", "wrong", "mean_rank", "median_rank", "mean_rank_unasked", "median_rank_unasked", "mean_ap")
    rows = [[_number(row[head]) for head in heads] for row in result["answers"]]
    screen.grid(screen.stdout(), [(head.replace("_", " "), True) for head in heads], rows)


def _number(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.4g}"
