"""``elect bench``: the evaluations, each a command with its own options."""

from pathlib import Path
from typing import Annotated, Any

import typer

from elect.cli import parse, screen
from elect.cli.options import Json, Quiet, Seed
from elect.errors import InvalidInput

app = typer.Typer(
    help="Compare the methods on labelled tasks, as in the paper.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Protocol = Annotated[
    str, typer.Option(metavar="NAME", help="loo: leave one task out; strict: leave its siblings out too.")
]
Methods = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Some of the methods, ELECT always being one; by default all."),
]
Work = Annotated[Path | None, typer.Option(metavar="DIR", help="A folder that keeps finished pieces.")]
Corpora = Annotated[
    list[Path] | None,
    typer.Option("--corpus", metavar="FILE", help="A corpus of the history, as elect corpus writes; repeat it."),
]
Folds = Annotated[int, typer.Option(metavar="N", min=2, help="So many folds of sources, each left out once.")]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Judge only so many tasks.")]


@app.command()
def wild(
    source: Annotated[
        str, typer.Option(metavar="NAME", help="Numbers that are published, or computed here.")
    ] = "published",
    protocol: Protocol = "loo",
    methods: Methods = None,
    work: Work = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """ELECT and its baselines on the paper's 39 real tasks."""
    _one_of("--source", source, ("published", "computed"))
    _methods("wild", source, protocol, methods, work, seed, json, quiet)


@app.command()
def controlled(
    protocol: Protocol = "loo",
    methods: Methods = None,
    work: Work = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """ELECT and its baselines on tasks with injected outliers."""
    _methods("controlled", "computed", protocol, methods, work, seed, json, quiet)


@app.command()
def union(
    corpus: Corpora = None,
    work: Work = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """The strategies with a wide history, each source left out once."""
    from elect.bench.union import run_union

    result = run_union(corpus or [], seed=seed, work_dir=_folder(work), progress=not quiet)
    if json:
        screen.print_json(result)
        return
    subsets = ("wild", "keel", "odd", "union", "errors")
    heads = [*(f"{subset} rank" for subset in subsets), "union ap", "errors ap", "union p"]
    rows = []
    for row in sorted(result["methods"], key=lambda row: float(row["union"]["mean_rank"])):
        numbers = [row[subset]["mean_rank"] for subset in subsets]
        numbers += [row["union"]["mean_ap"], row["errors"]["mean_ap"]]
        numbers += [row["union"]["against"].get("fixed", {}).get("p_value")]
        rows.append([row["name"], *(_shown(value) for value in numbers)])
    console = screen.stdout()
    screen.grid(console, [("method", False), *((head, True) for head in heads)], rows)
    console.print("union: wild, keel and odd; p: Wilcoxon by source against fixed")


@app.command()
def answers(
    testbed: Annotated[str, typer.Option(metavar="NAME", help="wild, odd or errors.")] = "wild",
    counts: Annotated[
        str, typer.Option(metavar="NUMBERS", help="After how many answers to look, separated by commas.")
    ] = "0,5,10,20,50",
    methods: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="One of the methods; repeat it. By default all.")
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="Only so many tasks, drawn at random.")] = None,
    corpus: Corpora = None,
    protocol: Protocol = "strict",
    work: Work = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """How well rows are ranked after simulated answers of a person, by elect and its peers.

    All answers are right, or one in ten is wrong.
    """
    from elect.bench.answers import run_answers

    _one_of("--testbed", testbed, ("wild", "odd", "errors"))
    _one_of("--protocol", protocol, ("loo", "strict"))
    try:
        numbers = [int(item) for item in counts.split(",")]
    except ValueError:
        raise InvalidInput(f"--counts must be whole numbers such as 0,5,10,20,50, got {counts!r}.") from None
    result = run_answers(
        testbed,
        counts=numbers,
        methods=methods,
        limit=limit,
        corpora=corpus or [],
        protocol=protocol,
        seed=seed,
        work_dir=_folder(work),
        progress=not quiet,
    )
    if json:
        screen.print_json(result)
        return
    heads = ("wrong", "n", "mean_ap", "low", "high", "mean_ap_unasked", "found", "worse", "mean_rank")
    rows = [[row["method"], *(_shown(row[head]) for head in heads)] for row in result["answers"]]
    screen.grid(screen.stdout(), [("method", False), *((head.replace("_", " "), True) for head in heads)], rows)


@app.command()
def errors(
    corpus: Corpora = None,
    folds: Folds = 5,
    limit: Limit = None,
    work: Work = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """How well wrong values in real tables are found, by the committee and by its rivals."""
    from elect.bench.errors import run_errors

    result = run_errors(corpus or [], n_folds=folds, limit=limit, work_dir=_folder(work), progress=not quiet)
    if json:
        screen.print_json(result)
        return
    _ranked(result["methods"], ("mean_ap", "standard_error", "tasks", "groups", "named_first"))
    told = {name.replace("_", " "): value for name, value in result["calibration"].items() if name != "reliability"}
    screen.grid(screen.stdout(), [("calibration", False), ("", True)], [[n, _shown(v)] for n, v in told.items()])


@app.command()
def odd(
    corpus: Corpora = None,
    folds: Folds = 5,
    limit: Limit = None,
    no_pool: Annotated[
        bool, typer.Option("--no-pool", help="Leave out the paper's 297 models and the best of them in hindsight.")
    ] = False,
    leave_kinds_out: Annotated[
        bool, typer.Option("--leave-kinds-out", help="Judge each kind of tasks also with its whole kind left out.")
    ] = False,
    work: Work = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """How well rows of rare classes are ranked, by the committee and by its rivals; then every other kind of task."""
    from elect.bench.odd import run_odd

    result = run_odd(
        corpus or [],
        n_folds=folds,
        limit=limit,
        pool=not no_pool,
        leave_kinds_out=leave_kinds_out,
        work_dir=_folder(work),
        progress=not quiet,
    )
    if json:
        screen.print_json(result)
        return
    _ranked(result["methods"], ("mean_ap", "standard_error", "tasks", "groups"))
    heads = [head for head in result["kinds"][0] if head != "kind"]
    rows = [[row["kind"], *(_shown(row[head]) for head in heads)] for row in result["kinds"]]
    screen.grid(screen.stdout(), [("kind", False), *((head.replace("_", " "), True) for head in heads)], rows)


def _ranked(methods: list[dict[str, Any]], heads: tuple[str, ...]) -> None:
    rows = [[row["name"], *(_shown(row[head]) for head in heads)] for row in methods]
    screen.grid(screen.stdout(), [("method", False), *((head.replace("_", " "), True) for head in heads)], rows)


def _methods(
    testbed: str,
    source: str,
    protocol: str,
    methods: list[str] | None,
    work: Path | None,
    seed: int,
    json: bool,
    quiet: bool,
) -> None:
    """Run ELECT and its baselines on a testbed of the paper, and show what came of it."""
    import elect.bench

    _one_of("--protocol", protocol, ("loo", "strict"))
    result: dict[str, Any] = elect.bench.run_bench(
        testbed,
        source=source,
        protocol=protocol,
        methods=list(parse.names(methods or (), ())) or None,
        seed=seed,
        work_dir=work,
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
            [str(row["name"]), *(_shown(row[head.replace(" ", "_")]) for head in heads)]
            for row in sorted(result["methods"], key=lambda row: float(row["mean_rank"]))
        ],
    )
    console.print(f"{protocol} protocol on {testbed}; ranks among {result['n_models']} models, 1 is the best")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidInput(f"{name} must be one of {', '.join(allowed)}, got {value!r}.")


def _folder(work: Path | None) -> str | None:
    return None if work is None else str(work)


def _shown(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.4g}"
