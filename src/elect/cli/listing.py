"""``elect models`` and ``elect info``."""

from collections import Counter
from pathlib import Path

from elect.cli import screen
from elect.errors import InvalidInput


def models(family: str | None, *, json: bool) -> None:
    """The candidate models."""
    from elect.pool import default_pool

    pool = default_pool()
    families = list(dict.fromkeys(spec.detector for spec in pool))
    if family is not None and family not in families:
        raise InvalidInput(f"--family must be one of {', '.join(families)}, got {family!r}.")
    chosen = [spec for spec in pool if family is None or spec.detector == family]
    if json:
        entries = [{"id": spec.id, "detector": spec.detector, "params": dict(spec.params)} for spec in chosen]
        screen.print_json({"count": len(entries), "fingerprint": pool.fingerprint, "models": entries})
        return
    console = screen.stdout()
    if family is not None:
        for spec in chosen:
            console.print(spec.id)
        return
    rows = []
    for name in families:
        specs = [spec for spec in pool if spec.detector == name]
        values = {key: dict.fromkeys(dict(spec.params)[key] for spec in specs) for key, _ in specs[0].params}
        grid = "; ".join(f"{key} {', '.join(map(str, found))}" for key, found in values.items())
        rows.append([name, str(len(specs)), grid])
    screen.grid(console, [("family", False), ("models", True), ("every combination of", False)], rows)
    console.print(
        f"{len(pool)} models, fingerprint {pool.fingerprint[:12]}; elect models --family LOF lists one family"
    )


def _tasks(names: tuple[str, ...]) -> str:
    """The names of tasks, or of a long history how many there are from each source."""
    if len(names) <= 60:
        return ", ".join(names)
    sources = Counter(name.split("/")[0] for name in names)
    return ", ".join(f"{count} {source}" for source, count in sources.most_common())


def info(path: Path | None, *, json: bool) -> None:
    """What a database holds."""
    from dataclasses import asdict

    from elect.history.database import MetaDatabase, plain_json

    if path is None:
        from elect.history.shipped import shipped_database

        database, where = shipped_database(), "shipped with elect"
    else:
        database, where = MetaDatabase.load(path), str(path)
    provenance = plain_json(database.provenance)
    if json:
        screen.print_json(
            {
                "database": where,
                "n_tasks": len(database.tasks),
                "n_groups": len(set(database.groups)),
                "tasks": provenance.get("tasks")
                or [{"name": t, "group": g} for t, g in zip(database.tasks, database.groups, strict=True)],
                "n_models": len(database.pool),
                "fingerprint": database.pool.fingerprint,
                "metric": database.settings.metric,
                "measures": list(database.measure_names),
                "anchors": list(database.anchors),
                "initial_models": list(database.initial_models),
                "settings": asdict(database.settings),
                "calibrated": database.calibration is not None,
                "learned_pick": database.rank_predictor is not None,
                "provenance": {key: value for key, value in provenance.items() if key != "tasks"},
            }
        )
        return
    console = screen.stdout()
    settings = database.settings
    best = database.performance.values.mean(axis=0).argmax()
    versions = provenance.get("versions")
    screen.pairs(
        console,
        [
            ("database", where),
            ("tasks", f"{len(database.tasks)} in {len(set(database.groups))} groups: {_tasks(database.tasks)}"),
            ("models", f"{len(database.pool)}, fingerprint {database.pool.fingerprint[:12]}"),
            ("metric", settings.metric),
            ("best on average", database.pool.ids[int(best)]),
            ("anchors", ", ".join(database.anchors)),
            ("initial models", ", ".join(database.initial_models)),
            ("search", f"{settings.n_neighbor_tasks} neighbour tasks, patience {settings.patience}"),
            ("learned pick", "no: the history is too small" if database.rank_predictor is None else "yes"),
            *(
                [("made with", ", ".join(f"{k} {v}" for k, v in versions.items()))]
                if isinstance(versions, dict)
                else []
            ),
        ],
    )
