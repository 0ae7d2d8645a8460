"""A team's own tables lean the row scorer, by no more than they show on tables that were left out."""

from pathlib import Path

import numpy as np

from elect.core import LabeledTask
from elect.history.database import MetaDatabase
from elect.history.pieces import Pieces
from elect.history.row_adapting import adapt, row_tasks
from elect.history.shipped import shipped_database
from elect.support.meter import Meter


def own_tables(n: int, *, noise: bool) -> list[LabeledTask]:
    """Tables in which the *middle* of a column is what is looked for, or nothing in particular."""
    tasks = []
    for k in range(n):
        rng = np.random.default_rng(k)
        X = rng.normal(size=(240, 3))
        X[:, 0] = np.where(rng.random(240) < 0.5, -3.0, 3.0) + 0.3 * X[:, 0]
        y = np.zeros(240, dtype=np.int8)
        y[:12] = 1
        if not noise:
            X[:12, 0] = 0.05 * rng.normal(size=12)
        tasks.append(LabeledTask(f"own/{k}", f"source-{k}", X, y))
    return tasks


def test_it_leans_where_that_gains_and_says_by_how_much(tmp_path: Path) -> None:
    base = shipped_database().row_scorer
    assert base is not None
    tasks = row_tasks(own_tables(8, noise=False), Pieces.at(tmp_path), Meter())
    scorer, told = adapt(base, tasks)
    assert told is not None
    assert told.kept
    assert told.after > told.before + told.error
    assert scorer.own
    assert 0 < scorer.own_weight < 0.5  # eight sources count less than half


def test_where_nothing_is_gained_the_shipped_one_stays(tmp_path: Path) -> None:
    base = shipped_database().row_scorer
    assert base is not None
    scorer, told = adapt(base, row_tasks(own_tables(6, noise=True), Pieces.at(tmp_path), Meter()))
    assert told is not None
    assert not told.kept
    assert scorer is base
    few, nothing = adapt(base, row_tasks(own_tables(2, noise=False), Pieces.at(tmp_path), Meter()))
    assert few is base
    assert nothing is None


def test_a_leaned_scorer_is_stored(tmp_path: Path, small_database: MetaDatabase) -> None:
    from dataclasses import replace

    base = shipped_database().row_scorer
    assert base is not None
    leaned = replace(base, own=base.unusual, own_weight=0.25)
    replace(small_database, row_scorer=leaned).save(tmp_path / "ours.elect")
    again = MetaDatabase.load(tmp_path / "ours.elect").row_scorer
    assert again is not None
    features = np.random.default_rng(0).normal(size=(20, len(base.names)))
    assert np.array_equal(again.log_odds(features), leaned.log_odds(features))
    assert not np.array_equal(again.log_odds(features), base.log_odds(features))


def test_own_tables_join_a_history(small_database: MetaDatabase) -> None:
    from elect import train

    own = own_tables(3, noise=False)
    named = LabeledTask(small_database.tasks[0], small_database.groups[0], own[0].X, own[0].y)
    joined = train([*own, named], small_database.pool, tune=False, trials=1, start=small_database)
    assert joined.tasks[: len(small_database.tasks)] == small_database.tasks
    assert joined.tasks[len(small_database.tasks) :] == ("own/0", "own/1", "own/2", f"own/{named.name}")
    assert len(set(joined.groups)) == len(set(small_database.groups)) + 4  # a source of their own
    assert joined.anchors == small_database.anchors
    assert joined.calibration is not None
    told = joined.calibration["added"]
    assert (told["tasks"], told["groups"]) == (4, 4)
    assert told["before"] is not None
    alone = train(own[:1], small_database.pool, tune=False, trials=1, start=small_database).calibration
    assert alone is not None
    assert alone["added"]["before"] is None  # nothing to leave out


def test_tables_of_another_pool_cannot_join(small_database: MetaDatabase) -> None:
    import pytest

    from elect import ElectError, ModelPool, train

    with pytest.raises(ElectError, match="same pool only"):
        train(own_tables(2, noise=True), ModelPool.grid("COF", n_neighbors=[3]), tune=False, start=small_database)
