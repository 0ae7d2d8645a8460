"""One suite over all families of the pool: a new one is found by itself, through the list of families."""

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pyod.models.base import BaseDetector
from sklearn.base import clone

from elect import ModelPool, PoolScorer, paper_pool
from elect.errors import StoreError
from elect.pool.detectors import fit_detector, new_detector
from elect.pool.families import FAMILIES
from elect.pool.families._base import Family
from elect.storage.stored import Stored

RNG = np.random.default_rng(20)
X = np.vstack([RNG.normal(size=(150, 4)), RNG.normal(size=(10, 4)) * 6])
X[:20, 0] = X[0, 0]  # some rows share a value
NEW = np.vstack([X[:5], RNG.normal(size=(30, 4)) * 3, [[1e6] * 4, [-1e6] * 4]])


@pytest.fixture(params=list(FAMILIES))
def family(request: pytest.FixtureRequest) -> Family:
    return FAMILIES[request.param]


def sample(family: Family) -> ModelPool:
    """A few models of a family, from the first to the last of its grid."""
    ids = family.pool().ids
    return family.pool().subset(dict.fromkeys((ids[0], ids[len(ids) // 3], ids[2 * len(ids) // 3], ids[-1])))


def test_families_are_named_once_and_the_first_ones_are_the_papers() -> None:
    assert all(name == family.name for name, family in FAMILIES.items())
    of_paper = list(dict.fromkeys(spec.detector for spec in paper_pool()))
    assert [name for name, family in FAMILIES.items() if family.in_paper] == of_paper


def test_the_grid_is_of_models_the_engine_knows(family: Family) -> None:
    pool = family.pool()
    assert len(set(pool.ids)) == len(pool)
    assert set(family.grid) <= set(family.defaults)
    assert all(family.supports(family.params_of(spec)) for spec in pool)
    assert family.supports(dict(family.defaults))
    assert not family.supports({**family.defaults, "no_such_parameter": 1})
    assert (set(pool.ids) <= set(paper_pool().ids)) == family.in_paper
    assert family.in_paper or not set(pool.ids) & set(paper_pool().ids)


def test_the_order_of_asking_does_not_matter(family: Family) -> None:
    pool = sample(family)
    together = PoolScorer(X, pool)
    for model_id in reversed(pool.ids):
        scores = together.scores(model_id)
        assert scores.shape == (len(X),)
        assert np.isfinite(scores).all()
        assert np.array_equal(scores, PoolScorer(X, pool.subset([model_id])).scores(model_id))
        assert np.array_equal(scores, PoolScorer(X, family.pool(), n_jobs=2).scores(model_id))


def test_only_random_families_depend_on_the_seed(family: Family) -> None:
    for spec in sample(family):
        one, other = (PoolScorer(X, ModelPool.of([spec]), seed=seed).scores(spec.id) for seed in (0, 1))
        assert np.array_equal(one, other) != family.is_random


def test_the_twin_is_a_pyod_class_with_the_engines_training_scores(family: Family) -> None:
    for spec in sample(family):
        detector = fit_detector(spec, X)
        assert isinstance(detector, family.pyod_class())
        assert isinstance(detector, BaseDetector)
        assert np.array_equal(detector.decision_scores_, PoolScorer(X, ModelPool.of([spec])).scores(spec.id))
        assert {name: detector.get_params()[name] for name, _ in spec.params} == dict(spec.params)
        again = clone(detector).fit(X)
        assert type(again) is type(detector)
        assert np.array_equal(again.decision_scores_, detector.decision_scores_)
        sent = pickle.loads(pickle.dumps(detector))
        assert np.array_equal(sent.decision_function(NEW), detector.decision_function(NEW))


def test_a_new_row_scores_the_same_alone_and_in_any_batch(family: Family) -> None:
    for spec in sample(family):
        detector = fit_detector(spec, X)
        whole = detector.decision_function(NEW)
        assert np.isfinite(whole).all()
        alone = np.concatenate([detector.decision_function(row[None]) for row in NEW])
        assert np.array_equal(alone, whole), spec.id
        order = np.random.default_rng(0).permutation(len(NEW))
        assert np.array_equal(detector.decision_function(NEW[order]), whole[order]), spec.id


def test_a_fitted_row_scores_as_in_training_unless_neighbours_are_looked_at(family: Family) -> None:
    for spec in sample(family):
        detector = fit_detector(spec, X)
        same = np.allclose(detector.decision_function(X), detector.decision_scores_, rtol=1e-6, atol=1e-9)
        # A solver's tolerance and bins that are closed on the other side leave a little.
        near = np.allclose(detector.decision_function(X), detector.decision_scores_, rtol=1e-3, atol=1e-3)
        assert not same if family.looks_at_neighbors else near, spec.id


def test_a_stored_model_scores_exactly_the_same(family: Family) -> None:
    for spec in sample(family):
        detector = fit_detector(spec, X)
        numbers, arrays = detector.fitted_.plain()
        assert all(isinstance(value, int | float | str) for value in numbers.values())
        assert all(array.dtype.str in ("<f8", "<f4", "<i4", "<u4") for array in arrays.values())
        copies = {name: array.copy() for name, array in arrays.items()}
        restored = family.restore(Stored(dict(numbers), copies, X.shape[1], 1))
        Z = detector.standardizer_.transform(NEW)
        assert np.array_equal(restored.scores(Z), detector.fitted_.scores(Z)), spec.id
        again, arrays_again = restored.plain()
        assert again == numbers
        assert all(np.array_equal(arrays_again[name], array) for name, array in arrays.items())


def damages(array: Any) -> Iterator[Any]:
    """An array as no file may have it."""
    yield array.astype(np.float16)
    yield array[None]
    yield array[..., :0]
    if array.dtype.kind == "f":
        yield np.full_like(array, np.nan)
    else:
        yield array + array.dtype.type(10**6)
        if array.dtype.kind == "i":
            yield array - array.dtype.type(10**6)


def test_damaged_arrays_and_numbers_are_refused(family: Family) -> None:
    for spec in sample(family):
        numbers, arrays = fit_detector(spec, X).fitted_.plain()

        def refused(changed_numbers: Any, changed_arrays: Any, n_features: int = X.shape[1]) -> None:
            with pytest.raises(StoreError):
                family.restore(Stored(changed_numbers, changed_arrays, n_features, 1))

        for name, array in arrays.items():
            refused(numbers, {key: value for key, value in arrays.items() if key != name})
            for damaged in damages(array):
                refused(numbers, {**arrays, name: damaged})
        for name, value in numbers.items():
            refused({key: other for key, other in numbers.items() if key != name}, arrays)
            for damaged in (None, -1, 0, "no such word", float("nan"), float("inf")):
                if type(damaged) is not type(value) or value != damaged:
                    refused({**numbers, name: damaged}, arrays)


def test_the_trees_of_a_forest_are_checked_before_use() -> None:
    numbers, arrays = fit_detector("IForest(max_features=0.5, n_estimators=10)", X).fitted_.plain()
    for changed in (
        {"features": arrays["features"] + np.uint32(X.shape[1])},
        {"children": arrays["children"] + np.uint32(arrays["children"].shape[-1] - 1)},
        {"depths": arrays["depths"] + np.int32(arrays["children"].shape[-1])},
        {"shifts": arrays["shifts"][:-1]},
    ):
        with pytest.raises(StoreError):
            FAMILIES["IForest"].restore(Stored(numbers, {**arrays, **changed}, X.shape[1], 1))


@pytest.mark.parametrize("axis", [0, -1])
def test_a_shortened_array_is_refused_or_harmless(family: Family, axis: int) -> None:
    for spec in sample(family):
        numbers, arrays = fit_detector(spec, X).fitted_.plain()
        for name, array in arrays.items():
            short = np.ascontiguousarray(array[:-1] if axis == 0 else array[..., :-1])
            try:
                model = family.restore(Stored(numbers, {**arrays, name: short}, X.shape[1], 1))
            except StoreError:
                continue
            assert np.isfinite(model.scores(np.asarray(NEW))).all()


def test_the_cost_is_positive_and_what_is_built_is_free(family: Family) -> None:
    for spec in sample(family):
        scorer = PoolScorer(X, family.pool())
        before = scorer.predicted_seconds(spec.id)
        pieces = family.pieces(family.params_of(spec))
        assert len(set(pieces)) == len(pieces)
        assert all(piece.cost.seconds(1000, 5, 5) > 0 for piece in pieces)
        small, large = (sum(piece.cost.seconds(n, 5, 5) for piece in pieces) for n in (1000, 2000))
        assert large > small or not pieces
        scorer.scores(spec.id)
        after = scorer.predicted_seconds(spec.id)
        assert after > 0
        assert before > after or not pieces


def test_notes_are_none_or_sentences(family: Family) -> None:
    few = PoolScorer(X[:4], family.pool())
    for scorer in (few, PoolScorer(X, family.pool())):
        for spec in sample(family):
            scorer.scores(spec.id)
            note = scorer.note(spec.id)
            assert note is None or (isinstance(note, str) and note)


def test_a_detector_of_the_defaults_can_be_made_by_name(family: Family) -> None:
    spec = ModelPool.grid(family.name).specs[0]
    detector = new_detector(spec).fit(X)
    assert isinstance(detector, family.pyod_class())
    assert np.isfinite(detector.decision_function(NEW)).all()


@pytest.mark.parametrize(
    "table",
    [
        [[0.0, 1.0], [3.0, 1.0]],
        [[1.0, 1.0], [1.0, 1.0]],
        np.full((120, 3), 0.1),
        np.repeat(np.random.default_rng(6).normal(size=(4, 2)), 60, axis=0),
        np.random.default_rng(8).normal(size=(20, 60)),
        np.random.default_rng(9).normal(size=(60, 2)) * 1e300,
    ],
    ids=["two rows", "two equal rows", "constant", "duplicates", "more columns than rows", "huge values"],
)
def test_scores_are_finite_whatever_the_table(family: Family, table: Any) -> None:
    for spec in sample(family):
        detector = fit_detector(spec, table)
        assert np.isfinite(detector.decision_scores_).all()
        assert np.isfinite(detector.decision_function(table)).all()
        assert np.isfinite(detector.decision_function(np.zeros_like(table))).all()
