"""The values that pass between stages: frozen, read-only, addressed by name."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elect import ElectError, LabeledTask, ModelPool, ModelSpec, PerformanceMatrix, ScoreMatrix, Task
from elect.errors import InvalidInput, UnknownModel


def test_ids_are_canonical() -> None:
    one = ModelSpec.of("LOF", n_neighbors=20, metric="euclidean")
    other = ModelSpec.of("LOF", metric="euclidean", n_neighbors=np.int64(20))
    assert one == other
    assert one.id == other.id == "LOF(metric=euclidean, n_neighbors=20)"
    assert hash(one) == hash(other)


def test_spec_refuses_what_cannot_be_named() -> None:
    with pytest.raises(InvalidInput, match="plain values"):
        ModelSpec.of("LOF", metric=lambda a, b: 0.0)
    with pytest.raises(InvalidInput, match="have a method"):
        ModelSpec.of(dict)


def test_specs_and_pools_are_frozen() -> None:
    spec = ModelSpec.of("COF", n_neighbors=3)
    with pytest.raises(FrozenInstanceError):
        spec.detector = "LOF"  # type: ignore[misc]
    pool = ModelPool.of([spec])
    with pytest.raises(FrozenInstanceError):
        pool.specs = ()  # type: ignore[misc]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6, unique=True), st.data())
def test_fingerprint_changes_when_any_model_does(ks: list[int], data: st.DataObject) -> None:
    pool = ModelPool.grid("COF", n_neighbors=ks)
    assert pool.fingerprint == ModelPool.grid("COF", n_neighbors=list(ks)).fingerprint
    changed = list(ks)
    changed[data.draw(st.integers(0, len(ks) - 1))] = 99
    assert ModelPool.grid("COF", n_neighbors=changed).fingerprint != pool.fingerprint
    assert ModelPool.grid("ABOD", n_neighbors=ks).fingerprint != pool.fingerprint
    if len(ks) > 1:
        assert ModelPool.grid("COF", n_neighbors=ks[::-1]).fingerprint != pool.fingerprint


def test_pool_refuses_duplicates_and_emptiness() -> None:
    with pytest.raises(InvalidInput, match="twice"):
        ModelPool.grid("COF", n_neighbors=[3, 3])
    with pytest.raises(InvalidInput, match="at least one"):
        ModelPool(())


def test_unknown_model_says_what_was_near() -> None:
    pool = ModelPool.grid("COF", n_neighbors=[3, 5])
    with pytest.raises(UnknownModel, match=r"Did you mean 'COF\(n_neighbors=3\)'") as caught:
        pool["COF(n_neighbors=33)"]
    assert isinstance(caught.value, ElectError)
    assert isinstance(caught.value, KeyError)


def test_score_matrix_is_read_only_and_a_copy() -> None:
    values = np.zeros((3, 2))
    scores = ScoreMatrix(values, ("a", "b"))
    values[0, 0] = 7.0
    assert scores["a"][0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        scores["a"][0] = 1.0


@pytest.mark.parametrize(
    ("values", "ids", "message"),
    [
        (np.zeros((3, 2)), ("a",), "one column for each"),
        ([[np.nan]], ("a",), "finite"),
        ([[np.inf]], ("a",), "finite"),
        (np.zeros((3, 2)), ("a", "a"), "twice"),
    ],
)
def test_score_matrix_refuses(values: object, ids: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ScoreMatrix(values, ids)  # type: ignore[arg-type]


def test_score_matrix_survives_pickling() -> None:
    scores = ScoreMatrix([[1.0, 2.0]], ("a", "b"), {"a": "fitted on a sample"})
    again = pickle.loads(pickle.dumps(scores))
    assert again.model_ids == scores.model_ids
    assert dict(again.notes) == dict(scores.notes)
    assert np.array_equal(again.values, scores.values)


def test_score_matrix_subset_keeps_notes() -> None:
    scores = ScoreMatrix([[1.0, 2.0, 3.0]], ("a", "b", "c"), {"b": "why"})
    part = scores.subset(["c", "b"])
    assert part.model_ids == ("c", "b")
    assert part.values.tolist() == [[3.0, 2.0]]
    assert dict(part.notes) == {"b": "why"}
    with pytest.raises(UnknownModel):
        scores.subset(["z"])


def test_performance_ranks_average_ties_and_leave_out() -> None:
    P = PerformanceMatrix([[0.1, 0.5, 0.5], [0.9, 0.2, 0.1]], ("t1", "t2"), ("a", "b", "c"))
    assert P.ranks().tolist() == [[3.0, 1.5, 1.5], [1.0, 2.0, 3.0]]
    left = P.without(["t1"])
    assert left.tasks == ("t2",)
    assert left.row("t2").tolist() == [0.9, 0.2, 0.1]
    assert P.column("b").tolist() == [0.5, 0.2]
    with pytest.raises(InvalidInput, match="Unknown task"):
        P.row("t9")
    with pytest.raises(UnknownModel):
        P.column("z")


def test_tasks_check_shapes_and_labels() -> None:
    with pytest.raises(InvalidInput, match="two dimensions"):
        Task("t", "g", np.zeros(3))
    with pytest.raises(InvalidInput, match="one label for each"):
        LabeledTask("t", "g", np.zeros((3, 1)), np.zeros(2))
    with pytest.raises(InvalidInput, match="outlier"):
        LabeledTask("t", "g", np.zeros((3, 1)), np.array([0, 1, 2]))
    task = LabeledTask("t", "g", np.zeros((3, 1)), np.array([0, 0, 1]))
    with pytest.raises(ValueError, match="read-only"):
        task.X[0, 0] = 1.0
