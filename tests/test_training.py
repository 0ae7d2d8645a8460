"""Meta-training: reproducible to the last bit, resumable at any moment, and blind to what it must not see."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from elect import LabeledTask, MetaDatabase, ScoreMatrix
from elect.core import Selection
from elect.core.metrics import performance
from elect.core.sources import ReplayedScores
from elect.errors import ElectError, InvalidInput
from elect.history import read_corpus, train
from elect.history.learning import learn_database, learn_without
from elect.history.pieces import Pieces
from elect.history.records import Recipe, work_folder
from elect.history.train import make_records
from elect.paper.anchors import choose_anchors, rank_correlations
from elect.paper.search import search
from toys import SMALL_POOL, corpus, make_task

HERE = Path(__file__).parent
GOLDEN = HERE / "golden" / "small.json"


def saved(database: MetaDatabase, folder: Path) -> bytes:
    path = folder / "it.elect"
    database.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("ties", [False, True])
def test_metrics_equal_scikit_learns(ties: bool) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 5))
    if ties:
        values = values.round(0)
    y = (rng.random(200) < 0.1).astype(np.int8)
    scores = ScoreMatrix(values, tuple("abcde"))
    expected = [average_precision_score(y, values[:, j]) for j in range(5)]
    assert performance(scores, y, "ap") == pytest.approx(expected)
    assert performance(scores, y, "roc") == pytest.approx([roc_auc_score(y, values[:, j]) for j in range(5)])
    assert np.allclose(performance(scores, y, average_precision_score), expected)


def test_precision_at_n_counts_ties_by_share() -> None:
    scores = ScoreMatrix([[3.0, 0.0], [2.0, 0.0], [2.0, 0.0], [1.0, 0.0]], ("a", "b"))
    assert performance(scores, np.array([1, 1, 0, 0]), "prn").tolist() == [0.75, 0.5]


def test_unknown_metrics_and_one_sided_labels_are_refused() -> None:
    scores = ScoreMatrix([[1.0], [2.0]], ("a",))
    with pytest.raises(InvalidInput, match="metric must be one of ap, roc, prn"):
        performance(scores, np.array([0, 1]), "f1")
    with pytest.raises(InvalidInput, match="both outliers and normal rows"):
        performance(scores, np.array([0, 0]))


def test_anchors_are_the_models_that_agreement_with_goes_with_performance() -> None:
    """Model 0 is right on every task; models agree with it as far as they are good."""
    rng = np.random.default_rng(1)
    quality = rng.random((12, 9))
    quality[:, 0] = 1.0
    correlations = rng.normal(0, 0.05, size=(12, 9, 9))
    correlations[:, :, 0] = quality
    choice = choose_anchors(correlations, quality, [f"g{i}" for i in range(12)], max_size=4)
    assert choice.anchors[0] == 0
    assert len(choice.held_out) == 4


def test_anchors_of_a_single_task_or_of_equal_performance() -> None:
    correlations = np.ones((1, 3, 3))
    assert choose_anchors(correlations, np.array([[0.5, 0.5, 0.5]]), ["g"]).anchors
    assert choose_anchors(np.zeros((4, 3, 3)), np.zeros((4, 3)), list("abcd")).anchors


def test_rank_correlations_equal_scipys() -> None:
    from scipy.stats import spearmanr

    values = np.random.default_rng(0).normal(size=(50, 4)).round(1)
    assert np.allclose(rank_correlations(values), spearmanr(values)[0])


def test_training_repeats_to_the_last_bit(tmp_path: Path, small_database: MetaDatabase) -> None:
    again = train(corpus(), SMALL_POOL, n_jobs=2, work_dir=tmp_path / "work")
    assert saved(again, tmp_path) == saved(small_database, tmp_path)
    other = train(corpus(), SMALL_POOL, seed=1)
    assert saved(other, tmp_path) != saved(small_database, tmp_path)


def test_golden_numbers(small_database: MetaDatabase) -> None:
    assert summary(small_database) == json.loads(GOLDEN.read_text()), (
        "Training on the small corpus gives other numbers than stored. If that is intended: "
        "python tests/test_training.py regenerate"
    )


def summary(database: MetaDatabase) -> dict[str, Any]:
    from elect import score_pool

    X = make_task(100).X
    selection = Selection.from_steps(search(database, ReplayedScores(score_pool(X, SMALL_POOL))), SMALL_POOL)
    return {
        "performance": np.round(database.performance.values, 6).tolist(),
        "measures": np.round(database.measures, 6).tolist(),
        "anchors": list(database.anchors),
        "initial_models": list(database.initial_models),
        "n_neighbor_tasks": database.settings.n_neighbor_tasks,
        "patience": database.settings.patience,
        "scale_gaps": database.settings.scale_gaps,
        "trees": database.predictor.trees.n_trees,
        "pick": selection.model_id,
        "neighbors": [neighbor.task for neighbor in selection.neighbors],
        "evaluated": list(selection.evaluated),
    }


def test_a_larger_corpus_scores_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from elect.history import records

    scored: list[str] = []
    original = records.score_task
    monkeypatch.setattr(records, "score_task", lambda task, *rest: (scored.append(task.name), original(task, *rest))[1])
    train(corpus(4), SMALL_POOL, work_dir=tmp_path)
    assert len(scored) == 4
    train(corpus(5), SMALL_POOL, work_dir=tmp_path)
    assert scored[4:] == ["toy/4"]


def test_a_damaged_piece_is_made_again(tmp_path: Path) -> None:
    whole = saved(train(corpus(4), SMALL_POOL, work_dir=tmp_path / "work"), tmp_path)
    for piece in (tmp_path / "work").iterdir():
        piece.write_bytes(piece.read_bytes()[:-40])
    assert saved(train(corpus(4), SMALL_POOL, work_dir=tmp_path / "work"), tmp_path) == whole


def test_what_is_learned_is_in_single_precision(small_database: MetaDatabase) -> None:
    for values in (small_database.performance.values, small_database.measures):
        np.testing.assert_array_equal(values, values.astype(np.float32).astype(np.float64))


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from toys import SMALL_POOL, corpus
from elect.history import train
train(corpus(), SMALL_POOL, work_dir={work!r}, n_jobs={n_jobs}).save({out!r})
"""


@pytest.mark.parametrize(("pieces", "n_jobs"), [(1, 1), (4, 1), (3, 2), (8, 1), (13, 1)])
def test_killed_at_any_moment_it_goes_on_to_the_same_end(
    tmp_path: Path, small_database: MetaDatabase, pieces: int, n_jobs: int
) -> None:
    work, out = tmp_path / "work", tmp_path / "out.elect"
    script = SCRIPT.format(tests=str(HERE), work=str(work), out=str(out), n_jobs=n_jobs)
    process = subprocess.Popen([sys.executable, "-c", script])
    try:
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if work.is_dir() and len([f for f in work.iterdir() if f.suffix == ".npz"]) >= pieces:
                break
            time.sleep(0.002)
        killed = process.poll() is None
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    assert killed, "the run ended before it could be killed"
    assert not out.exists()
    kept = {f.name: f.stat().st_mtime_ns for f in work.iterdir() if f.suffix == ".npz"}
    assert len(kept) >= pieces
    subprocess.run([sys.executable, "-c", script], check=True)
    assert out.read_bytes() == saved(small_database, tmp_path)
    assert all((work / name).stat().st_mtime_ns == stamp for name, stamp in kept.items()), (
        "finished work was done again"
    )


def fold(tasks: tuple[LabeledTask, ...], held_out: str, pieces: Pieces) -> MetaDatabase:
    """What a benchmark does: all tasks are scored, one group is left out of everything that is learned."""
    records = make_records(tasks, Recipe(SMALL_POOL), pieces)
    left_out = [record.name for record in records.tasks if record.group == held_out]
    return learn_without(left_out, records, pieces)


def test_the_held_out_labels_change_nothing_that_is_trained(tmp_path: Path) -> None:
    tasks = corpus()
    shuffled = np.random.default_rng(0).permutation(tasks[2].y)
    changed = (*tasks[:2], replace(tasks[2], y=shuffled), *tasks[3:])
    with work_folder(None) as pieces:
        one, other = fold(tasks, "g2", pieces), fold(changed, "g2", pieces)
        assert saved(one, tmp_path) == saved(other, tmp_path)
        # The same change does matter where the task is part of the history.
        assert saved(fold(tasks, "g0", pieces), tmp_path) != saved(fold(changed, "g0", pieces), tmp_path)


def test_siblings_are_left_out_together() -> None:
    tasks = tuple(make_task(seed, group=f"g{seed // 2}") for seed in range(6))
    with work_folder(None) as pieces:
        database = fold(tasks, "g1", pieces)
    assert database.tasks == ("toy/0", "toy/1", "toy/4", "toy/5")
    assert "g1" not in database.groups


def test_leaving_tasks_out_is_learning_from_the_others(tmp_path: Path) -> None:
    tasks = corpus()
    with work_folder(None) as pieces:
        records = make_records(tasks, Recipe(SMALL_POOL), pieces)
        others = make_records(tasks[1:], Recipe(SMALL_POOL), pieces)
        left_out = learn_without([tasks[0].name], records, pieces)
        assert saved(left_out, tmp_path) == saved(learn_database(others, pieces), tmp_path)
        assert saved(left_out, tmp_path) != saved(learn_database(records, pieces), tmp_path)
        with pytest.raises(ElectError, match="left out"):
            learn_without([task.name for task in tasks], records, pieces)


def test_one_task_is_enough() -> None:
    database = train(corpus(1), SMALL_POOL)
    assert database.tasks == ("toy/0",)
    assert (
        Selection.from_steps(search(database, ReplayedScores(_scores(make_task(50)))), SMALL_POOL).model_id
        in SMALL_POOL
    )


def _scores(task: LabeledTask) -> ScoreMatrix:
    from elect import score_pool

    return score_pool(task.X, SMALL_POOL)


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ((), "at least one labelled task"),
        ((make_task(0), make_task(0)), "'toy/0' is there twice"),
        ((replace(make_task(0), y=np.zeros(98, dtype=np.int8)),), "only normal rows"),
        (("not a task",), "sequence of LabeledTask"),
    ],
)
def test_bad_corpora_are_refused(tasks: Any, message: str) -> None:
    with pytest.raises(ElectError, match=message):
        train(tasks, SMALL_POOL)


def write_corpus(folder: Path) -> None:
    """One task in each format, and two siblings."""
    import polars as pl
    import scipy.io

    tasks = corpus(5)
    frames = [
        pl.DataFrame({**{f"x{j}": t.X[:, j] for j in range(t.n_columns)}, "outlier": t.y.astype(int)}) for t in tasks
    ]
    frames[0].write_csv(folder / "a.csv")
    frames[1].write_parquet(folder / "b.parquet")
    np.savez(folder / "c.npz", X=tasks[2].X, y=tasks[2].y)
    scipy.io.savemat(folder / "d.mat", {"X": tasks[3].X, "y": tasks[3].y[:, None]})
    rows = "\n".join(
        ",".join(map(repr, map(float, x))) + f",{'yes' if o else 'no'}" for x, o in zip(*_xy(tasks[4]), strict=True)
    )
    attributes = "\n".join(f"@attribute x{j} numeric" for j in range(3))
    (folder / "e.arff").write_text(f"@relation e\n{attributes}\n@attribute outlier {{no,yes}}\n@data\n{rows}\n")
    (folder / "groups.csv").write_text("file,group\na.csv,siblings\nb.parquet,siblings\n")
    (folder / "notes.md").write_text("not a table")


def _xy(task: LabeledTask) -> tuple[Any, Any]:
    return task.X, task.y


def test_a_folder_of_every_format(tmp_path: Path) -> None:
    write_corpus(tmp_path)
    found = read_corpus(tmp_path)
    assert [task.name for task in found] == ["a", "b", "c", "d", "e"]
    assert [task.group for task in found] == ["siblings", "siblings", "c", "d", "e"]
    for task, original in zip(found, corpus(5), strict=True):
        assert pytest.approx(original.X) == task.X
        assert np.array_equal(task.y, original.y)
    database = train(tmp_path, SMALL_POOL)
    assert database.groups == ("siblings", "siblings", "c", "d", "e")


def test_a_manifest(tmp_path: Path) -> None:
    write_corpus(tmp_path)
    entries = [{"name": "one", "group": "g", "file": "c.npz"}, {"name": "gone", "group": "h", "file": None}]
    (tmp_path / "list.json").write_text(json.dumps(entries))
    (task,) = read_corpus(tmp_path / "list.json")
    assert (task.name, task.group) == ("one", "g")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.npz", b"not a zip", "could not be read"),
        ("t.mat", b"not mat", "not a readable MATLAB file"),
        ("t.arff", b"not arff", "could not be read as ARFF"),
        ("t.csv", b"a,b\n1,2\n3,4\n", "no label column"),
        ("t.csv", b"a,label\n1,0\n2,\n3,1\n", "must say of every row"),
        ("groups.csv", b"x,y\n1,2\n", "must hold labelled tables"),
    ],
)
def test_bad_tables_are_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ElectError, match=message):
        read_corpus(tmp_path)


def test_bad_places_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is neither"):
        read_corpus(tmp_path / "nowhere")
    (tmp_path / "m.json").write_text("{}")
    with pytest.raises(InvalidInput, match=r"at least one task|JSON list"):
        read_corpus(tmp_path / "m.json")
    (tmp_path / "m.json").write_text('[{"name": "a", "group": "g", "file": "missing.npz"}]')
    with pytest.raises(InvalidInput, match=r"table of task 'a' does not exist: .*missing\.npz"):
        read_corpus(tmp_path / "m.json")
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(InvalidInput, match="cannot be made"):
            train(corpus(2), SMALL_POOL, work_dir=tmp_path / "closed" / "work")


if __name__ == "__main__" and sys.argv[1:] == ["regenerate"]:
    GOLDEN.write_text(json.dumps(summary(train(corpus(), SMALL_POOL)), indent=1) + "\n")
