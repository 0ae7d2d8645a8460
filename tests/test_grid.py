"""The default pool and its published labels."""

import csv
from pathlib import Path

import pytest

from elect import default_pool
from elect.errors import UnknownModel
from elect.pool import model_id_of, published_label
from elect.pool.grid import GRID


def test_sizes_of_the_families() -> None:
    sizes = {family: len(default_pool().select(family)) for family in GRID}
    assert sizes == {"LODA": 54, "ABOD": 7, "IForest": 81, "kNN": 36, "LOF": 36, "HBOS": 40, "OCSVM": 36, "COF": 7}
    assert len(default_pool()) == 297


def test_labels_map_both_ways() -> None:
    for model_id in default_pool().ids:
        assert model_id_of(published_label(model_id)) == model_id


@pytest.mark.parametrize("label", ["('LOF', ('cosine', 20))", "nonsense(", "('XYZ', 3)", ""])
def test_unknown_labels_are_refused(label: str) -> None:
    with pytest.raises(UnknownModel, match="published label"):
        model_id_of(label)


def test_pool_order_is_the_published_column_order(data_home: Path) -> None:
    with open(data_home / "reference" / "ap.csv", newline="") as file:
        columns = next(csv.reader(file))[1:]
    assert [published_label(model_id) for model_id in default_pool().ids] == columns
