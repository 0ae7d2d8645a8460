"""The pairwise performance predictor: antisymmetric, repeatable, and blind to what is held out."""

import ast
import hashlib
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import lightgbm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import elect
from elect.errors import InvalidInput
from elect.paper.folds import group_folds
from elect.paper.predictor import PairwisePredictor
from elect.paper.predictor_training import PredictorParams, train_predictor, tune_predictor
from elect.paper.similarity import pair_indices, pairwise_gaps

PARAMS = PredictorParams(num_leaves=8, rounds=20, learning_rate=0.1, min_leaf_share=0.001)


def history(n_tasks=8, n_models=25, noise=0.02, seed=0):
    """Tasks whose performances follow from their first two measures; the third says nothing."""
    rng = np.random.default_rng(seed)
    measures = rng.random((n_tasks, n_models, 3))
    performance = 0.6 * measures[..., 0] - 0.3 * measures[..., 1] + noise * rng.normal(size=(n_tasks, n_models))
    return performance, measures


@cache
def predictor():
    return train_predictor(*history(), params=PARAMS)


measure_rows = hnp.arrays(np.float64, st.tuples(st.integers(1, 9), st.just(3)), elements=st.floats(-2.0, 2.0))


@settings(max_examples=150)
@given(measure_rows, measure_rows)
def test_turning_a_pair_around_turns_its_gap_around(a, b):
    model = predictor()
    np.testing.assert_array_equal(model.gaps_between(a, b), -model.gaps_between(b, a).T)
    assert (np.diag(model.gaps_between(a, a)) == 0.0).all()


@given(measure_rows)
def test_gaps_come_in_the_order_of_pairs(measures):
    model = predictor()
    first, second = pair_indices(len(measures))
    between = model.gaps_between(measures, measures)
    np.testing.assert_array_equal(model.gaps(measures), between[first, second])


@given(measure_rows)
def test_adding_a_model_is_the_same_as_asking_again_for_all(measures):
    model = predictor()
    gaps = model.gaps(measures[:1])
    for n in range(1, len(measures)):
        gaps = model.with_model(gaps, measures[:n], measures[n])
        np.testing.assert_array_equal(gaps, model.gaps(measures[: n + 1]))


def test_gaps_are_half_the_difference_of_what_lightgbm_says_of_the_two_directions():
    model = predictor()
    booster = lightgbm.Booster(model_str=model.text)
    a, b = np.random.default_rng(5).random((2, 40, 3))
    one = booster.predict(np.hstack([a, b, a - b]), num_threads=1)
    other = booster.predict(np.hstack([b, a, b - a]), num_threads=1)
    np.testing.assert_array_equal(np.diag(model.gaps_between(a, b)), (one - other) / 2)


def test_learns_what_there_is_to_learn():
    performance, measures = history(seed=1)
    truth = pairwise_gaps(performance)
    predicted = np.array([predictor().gaps(one) for one in measures])
    assert np.sqrt(np.mean((predicted - truth) ** 2)) < 0.4 * np.sqrt(np.mean(truth**2))


def test_equal_arguments_give_equal_bytes():
    performance, measures = history()
    for pairs in (None, 50):
        one = train_predictor(performance, measures, params=PARAMS, pairs_per_task=pairs, seed=3)
        other = train_predictor(
            performance.copy(), np.asfortranarray(measures), params=PARAMS, pairs_per_task=pairs, seed=3
        )
        assert one.text == other.text
        assert one == other


def test_another_process_with_other_threads_trains_the_same_bytes():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import hashlib, test_predictor as t\n"
        "print(hashlib.sha256(t.predictor().text.encode()).hexdigest())\n"
    )
    here = Path(__file__).parent
    source = str(Path(elect.__file__).parent.parent)
    environment = {**os.environ, "OMP_NUM_THREADS": "4", "PYTHONPATH": source}
    command = [sys.executable, "-c", code, str(here)]
    found = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout.strip()
    assert found == hashlib.sha256(predictor().text.encode()).hexdigest()


def test_a_sample_of_pairs_depends_on_the_seed_and_a_full_one_is_all_of_them():
    performance, measures = history()
    texts = [train_predictor(performance, measures, params=PARAMS, pairs_per_task=40, seed=s).text for s in (0, 1)]
    assert texts[0] != texts[1]
    every = train_predictor(performance, measures, params=PARAMS)
    n_pairs = 25 * 24 // 2
    assert train_predictor(performance, measures, params=PARAMS, pairs_per_task=n_pairs).text == every.text
    assert train_predictor(performance, measures, params=PARAMS, pairs_per_task=10**9).text == every.text


def test_one_task_with_two_models_and_nothing_to_tell_apart():
    tied = train_predictor(np.full((3, 5), 0.4), history(3, 5)[1], params=PARAMS)
    np.testing.assert_array_equal(tied.gaps(np.eye(3)), np.zeros(3))
    smallest = train_predictor(np.array([[0.1, 0.9]]), np.zeros((1, 2, 1)), measure_names=["mc"])
    assert smallest.gaps(np.zeros((2, 1))).tolist() == [0.0]
    assert smallest.gaps(np.zeros((1, 1))).shape == (0,)


def test_pickles_and_compares_by_value():
    model = predictor()
    copy = pickle.loads(pickle.dumps(model))
    assert copy == model
    measures = np.random.default_rng(0).random((6, 3))
    np.testing.assert_array_equal(copy.gaps(measures), model.gaps(measures))
    assert model != train_predictor(*history(seed=9), params=PARAMS)


def test_siblings_share_a_fold_and_folds_are_even():
    groups = ["a", "b", "a", "c", "d", "d", "d", "e"]
    folds = group_folds(groups, 3)
    assert all(len({fold for fold, name in zip(folds, groups, strict=True) if name == g}) == 1 for g in set(groups))
    assert sorted(np.bincount(folds)) == [2, 3, 3]
    assert len(set(group_folds(["a", "b"], 5))) == 2
    for bad in (lambda: group_folds(["a", "a"], 3), lambda: group_folds(["a", "b"], 1)):
        with pytest.raises(InvalidInput, match="at least 2 folds and 2 groups"):
            bad()


CANDIDATES = (
    PredictorParams(4, 5, 0.1, 0.01),
    PredictorParams(4, 30, 0.1, 0.01),
    PredictorParams(8, 30, 0.1, 0.01),
    PredictorParams(4, 1, 0.001, 0.01),
)
GROUPS = ["a", "a", "b", "c", "d", "e", "e", "f"]


@cache
def tuned(n_jobs=1):
    return tune_predictor(*history(), GROUPS, candidates=CANDIDATES, n_folds=3, pairs_per_task=200, n_jobs=n_jobs)


def test_tuning_prefers_what_predicts_held_out_tasks_better():
    result = tuned()
    assert result.errors.shape == (4, 8)
    assert result.best == CANDIDATES[int(np.argmin(result.errors.mean(axis=1)))]
    assert result.best.rounds == 30
    # Next to no boosting is next to no gap.
    np.testing.assert_allclose(result.errors[3], result.zero_errors, rtol=0.01)
    assert result.mean_errors.min() < 0.5 * result.zero_errors.mean()
    assert not result.errors.flags.writeable


def test_tuning_does_not_depend_on_the_number_of_jobs():
    np.testing.assert_array_equal(tuned(n_jobs=2).errors, tuned().errors)


def test_an_error_is_that_of_a_predictor_trained_without_the_fold():
    performance, measures = history()
    folds = np.array(tuned().folds)
    for task, candidate in ((0, 0), (5, 2)):
        inside = folds != folds[task]
        model = train_predictor(performance[inside], measures[inside], params=CANDIDATES[candidate], pairs_per_task=200)
        error = np.sqrt(np.mean((model.gaps(measures[task]) - pairwise_gaps(performance[task])) ** 2))
        assert tuned().errors[candidate, task] == pytest.approx(error, rel=1e-12)


def test_what_is_held_out_is_not_seen():
    performance, measures = history()
    changed = performance.copy()
    changed[0] = changed[0][::-1]
    again = tune_predictor(changed, measures, GROUPS, candidates=CANDIDATES, n_folds=3, pairs_per_task=200)
    folds = np.array(tuned().folds)
    same_fold = (folds == folds[0]) & (np.arange(8) != 0)
    assert same_fold.any()
    # Task 0 was held out together with these, so that their predictors never saw it; the others did.
    np.testing.assert_array_equal(again.errors[:, same_fold], tuned().errors[:, same_fold])
    assert (again.errors[:3, folds != folds[0]] != tuned().errors[:3, folds != folds[0]]).all()


@pytest.mark.parametrize(
    "change",
    [
        {"num_leaves": 1},
        {"rounds": 0},
        {"rounds": 10**9},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"min_leaf_share": 0.5},
        {"num_leaves": 4000, "rounds": 5000},
    ],
)
def test_parameters_out_of_range_are_refused(change):
    with pytest.raises(InvalidInput, match=next(iter(change))):
        replace(PARAMS, **change)


@pytest.mark.parametrize(
    "call",
    [
        lambda p, m: train_predictor(p[:, :1], m[:, :1]),
        lambda p, m: train_predictor(p[:0], m[:0]),
        lambda p, m: train_predictor(p, m[:, :-1]),
        lambda p, m: train_predictor(p, m[..., 0]),
        lambda p, m: train_predictor(p, m[..., :2]),
        lambda p, m: train_predictor(np.where(p == p.max(), np.nan, p), m),
        lambda p, m: train_predictor(p, np.where(m == m.max(), np.inf, m)),
        lambda p, m: train_predictor(p, m, pairs_per_task=0),
        lambda p, m: tune_predictor(p, m, GROUPS[1:]),
        lambda p, m: tune_predictor(p, m, GROUPS, candidates=()),
        lambda p, m: PairwisePredictor(predictor().text, ("mc",)),
        lambda p, m: predictor().gaps(m),
        lambda p, m: predictor().gaps(m[0, :, :2]),
        lambda p, m: predictor().gaps(np.full((2, 3), np.nan)),
        lambda p, m: predictor().gaps_between(m[0], m[0, 0]),
        lambda p, m: predictor().with_model(np.zeros(2), m[0, :3], m[0, 3]),
    ],
)
def test_input_that_cannot_be_used_is_refused(call):
    with pytest.raises(InvalidInput):
        call(*history())


def test_only_one_module_knows_lightgbm_and_only_to_train():
    package = Path(elect.__file__).parent
    importers = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
                names += [str(given.value) for given in node.args if isinstance(given, ast.Constant)]
            if any(name.split(".")[0] == "lightgbm" for name in names):
                importers.add(path.relative_to(package).as_posix())
    assert importers == {"support/boosting.py"}
    code = "import sys, elect.paper.predictor_training, elect.history.row_training; sys.exit('lightgbm' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
