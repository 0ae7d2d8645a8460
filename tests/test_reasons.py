"""The column that was made odd is the one that is named, by every family of detectors."""

from typing import Any

import numpy as np
import pytest

from elect import ModelSpec, fit_detector
from elect.detect.explaining import describe, explainer_for_fitted, feature_groups
from elect.detect.reasons import MOST_COLUMNS, TYPICAL_ROWS, column_drops, typical_values
from elect.tables import ColumnTreatment, read_table

RNG = np.random.default_rng(3)
N, D = 400, 8
ONES = [np.array([column]) for column in range(D)]


def planted() -> tuple[Any, list[int]]:
    """A table whose first rows are each far out in one known column."""
    X = RNG.normal(size=(N, D))
    columns = [2, 5, 0, 7]
    for row, column in enumerate(columns):
        X[row, column] = 9.0
    return X, columns


MODELS = [
    ModelSpec.of("kNN", method="largest", n_neighbors=1),
    ModelSpec.of("kNN", method="mean", n_neighbors=20),
    ModelSpec.of("LOF", metric="euclidean", n_neighbors=20),
    ModelSpec.of("LOF", metric="manhattan", n_neighbors=5),
    ModelSpec.of("COF", n_neighbors=20),
    ModelSpec.of("ABOD", n_neighbors=10),
    ModelSpec.of("HBOS", n_bins=20, alpha=0.1),
    ModelSpec.of("LODA", n_bins=10, n_random_cuts=200),
    ModelSpec.of("IForest", n_estimators=200, max_features=0.9),
    ModelSpec.of("OCSVM", kernel="rbf", nu=0.1),
]


@pytest.mark.parametrize("spec", MODELS, ids=lambda spec: spec.id)
def test_the_planted_column_is_found(spec: ModelSpec) -> None:
    X, columns = planted()
    treatment, rows = ColumnTreatment.fit_transform(read_table(X))
    detector = fit_detector(spec, rows)
    explainer = explainer_for_fitted(detector, spec, rows, range(len(columns)), treatment)
    found = explainer.reasons(rows[: len(columns)], read_table(X).frame[: len(columns)])
    assert [reasons[0].column for reasons in found] == [f"x{column}" for column in columns]
    assert all(0 < reason.share <= 1 for reasons in found for reason in reasons)


def test_a_broken_relation_names_both_columns() -> None:
    a = RNG.normal(size=N)
    X = np.column_stack([a, a + RNG.normal(size=N) * 0.05, RNG.normal(size=N)])
    X[0] = [1.2, -1.2, 0.0]  # each value is usual, the two together are not
    detector = fit_detector("kNN(method=mean, n_neighbors=5)", X[1:])
    Z = X
    drops = column_drops(
        detector.decision_function,
        Z[:1],
        typical_values(Z[1:], detector.decision_scores_, ONES[:3]),
        ONES[:3],
        ordinary=float(np.median(detector.decision_scores_)),
    )
    assert {drop.column for drop in drops[0][:2]} == {0, 1}


def test_a_row_that_is_not_unusual_has_no_reasons() -> None:
    def flat(rows: Any) -> Any:
        return np.zeros(len(rows))

    assert column_drops(flat, np.ones((1, 2)), np.zeros((TYPICAL_ROWS, 2)), ONES[:2], ordinary=0.0) == [()]


def test_typical_values_of_a_group_come_from_one_row() -> None:
    """Half of one category and half of another is not typical of anything."""
    codes = RNG.integers(0, 3, size=200)
    X = np.eye(3)[codes]
    typical = typical_values(X, np.zeros(200), [np.array([0, 1, 2])])
    assert np.array_equal(typical.sum(axis=1), np.ones(TYPICAL_ROWS))


def test_a_wide_table_tries_the_columns_that_stand_out() -> None:
    d = 10 * MOST_COLUMNS
    X = RNG.normal(size=(50, d))
    X[0, 123] = 40.0
    groups = [np.array([column]) for column in range(d)]
    scored = []

    def far(rows: Any) -> Any:
        scored.append(len(rows))
        return np.abs(rows).max(axis=1)

    found = column_drops(far, X[:1], typical_values(X, np.zeros(50), groups), groups, ordinary=0.0)
    assert found[0][0].column == 123
    assert sum(scored) <= 1 + MOST_COLUMNS * TYPICAL_ROWS


def test_reasons_speak_of_the_users_cells() -> None:
    words = ["red"] * 60 + ["blue"] * 39 + ["green"]
    numbers = [*RNG.normal(10, 1, size=99).round(3).tolist(), None]
    table = read_table({"colour": words, "size": numbers})
    treatment, rows = ColumnTreatment.fit_transform(table)
    spec = ModelSpec.of("kNN", method="mean", n_neighbors=5)
    explainer = explainer_for_fitted(fit_detector(spec, rows), spec, rows, [99], treatment)
    reasons = {reason.column: reason for reason in explainer.reasons(rows[99:], table.frame[99:])[0]}
    assert reasons["colour"].value == "green"
    assert reasons["colour"].usual.endswith("% of rows")
    assert feature_groups(treatment)[1].tolist() == list(range(len(rows[0]) - 1, len(rows[0])))


def test_a_rare_value_is_not_given_the_share_of_all_rare_values() -> None:
    colours = ["red"] * 60 + ["blue"] * 36 + ["green", "pink", "grey", "gold"]
    table = read_table({"colour": colours, "size": RNG.normal(size=100)})
    treatment, _ = ColumnTreatment.fit_transform(table)
    said = [describe(treatment.steps[0], table.frame, place)[1] for place in (0, 60, 96)]
    assert said == ["60% of rows", "36% of rows", "rare values, together 4% of rows"]


def test_twenty_rows_by_fifty_columns_is_one_batch() -> None:
    X = RNG.normal(size=(2000, 50))
    treatment, rows = ColumnTreatment.fit_transform(read_table(X))
    spec = ModelSpec.of("LOF", metric="euclidean", n_neighbors=20)
    calls = []
    explainer = explainer_for_fitted(fit_detector(spec, rows), spec, rows, range(20), treatment)

    def counted(values: Any) -> Any:
        calls.append(len(values))
        return explainer.score(values)

    column_drops(counted, rows[:20], explainer.typical, feature_groups(treatment), ordinary=explainer.ordinary)
    assert calls == [20, 20 * 50 * TYPICAL_ROWS]
