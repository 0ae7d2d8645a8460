"""The paper's pool and its published labels."""

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from elect import MetaDatabase, PoolScorer, default_pool, fit_detector, paper_pool, score_pool, train
from elect.errors import InvalidInput, PoolMismatch, UnknownModel
from elect.pool import model_id_of, published_label
from toys import corpus


def test_sizes_of_the_families() -> None:
    sizes = dict(Counter(spec.detector for spec in paper_pool()))
    assert sizes == {"LODA": 54, "ABOD": 7, "IForest": 81, "kNN": 36, "LOF": 36, "HBOS": 40, "OCSVM": 36, "COF": 7}
    assert len(paper_pool()) == 297
    assert default_pool() is paper_pool()


def test_labels_map_both_ways() -> None:
    for model_id in paper_pool().ids:
        assert model_id_of(published_label(model_id)) == model_id


@pytest.mark.parametrize("label", ["('LOF', ('cosine', 20))", "nonsense(", "('XYZ', 3)", ""])
def test_unknown_labels_are_refused(label: str) -> None:
    with pytest.raises(UnknownModel, match="published label"):
        model_id_of(label)


def test_pool_order_is_the_published_column_order(data_home: Path) -> None:
    with open(data_home / "reference" / "ap.csv", newline="") as file:
        columns = next(csv.reader(file))[1:]
    assert [published_label(model_id) for model_id in paper_pool().ids] == columns


def test_a_pool_may_be_given_by_its_name(tmp_path: Path, small_database: MetaDatabase) -> None:
    X = [[0.0], [1.0], [2.0], [9.0]]
    assert PoolScorer(X, "paper").pool is paper_pool()
    assert fit_detector("kNN(method=mean, n_neighbors=1)", X, pool="paper").decision_scores_.argmax() == 3
    small_database.save(tmp_path / "small.elect")
    with pytest.raises(PoolMismatch):
        MetaDatabase.load(tmp_path / "small.elect", "paper")


@pytest.mark.parametrize("wrong", ["papers", ["LOF"], 297])
def test_what_is_no_pool_is_refused(wrong: Any) -> None:
    for call in (score_pool, PoolScorer, lambda X, pool: train(corpus(1), pool)):
        with pytest.raises(InvalidInput, match="'paper' or a ModelPool"):
            call([[0.0], [1.0]], wrong)
