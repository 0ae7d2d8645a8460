"""The meta-database: an object that contradicts itself cannot be made."""

import numpy as np
import pytest

from elect.core import ModelPool, PerformanceMatrix
from elect.errors import InvalidInput, PoolMismatch, UnknownModel
from elect.history.database import MetaDatabase, frozen_json, plain_json
from elect.paper.settings import SearchSettings
from test_store import GROUPS, POOL, TASKS, arguments


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"pool": ModelPool.of(POOL.specs[::-1])}, PoolMismatch),
        ({"groups": GROUPS[:2]}, InvalidInput),
        ({"groups": ("a", "b", "")}, InvalidInput),
        ({"groups": ("a", "b", "c\n")}, InvalidInput),
        ({"groups": ("a", "b", "c" * 1001)}, InvalidInput),
        ({"measures": np.zeros((3, 5, 3))}, InvalidInput),
        ({"measures": np.full((3, 5, 2), np.nan)}, InvalidInput),
        ({"measures": np.full((3, 5, 2), 1e101)}, InvalidInput),
        ({"performance": PerformanceMatrix(np.full((3, 5), -1e101), TASKS, POOL.ids)}, InvalidInput),
        ({"measure_names": ("mc", "mc")}, InvalidInput),
        ({"measure_names": ("mc", "select")}, InvalidInput),
        ({"anchors": ()}, InvalidInput),
        ({"anchors": (POOL.ids[0], POOL.ids[0])}, InvalidInput),
        ({"anchors": ("LOF(n_neighbors=4)",)}, UnknownModel),
        ({"initial_models": ("LOF(n_neighbors=4)",)}, UnknownModel),
        ({"initial_models": ()}, InvalidInput),
        ({"settings": SearchSettings(metric="roc")}, InvalidInput),
        ({"provenance": {"tasks": []}}, InvalidInput),
        ({"provenance": {"tasks": ["wine", "glass", "zoo"]}}, InvalidInput),
        ({"provenance": {"x": {1, 2}}}, InvalidInput),
        ({"provenance": {"x": float("nan")}}, InvalidInput),
        ({"provenance": {1: "x"}}, InvalidInput),
        ({"provenance": {"x": "\ud800"}}, InvalidInput),
        ({"provenance": [1]}, InvalidInput),
        ({"calibration": {"x": 2**64}}, InvalidInput),
    ],
)
def test_a_database_that_contradicts_itself_is_refused(changes, error):
    with pytest.raises(error):
        # Without a provenance that tells of the tasks, which would be wrong first.
        MetaDatabase(**arguments(**{"provenance": {}, **changes}))


@pytest.mark.parametrize(
    "settings",
    [{"n_neighbor_tasks": 0}, {"n_neighbor_tasks": 2.0}, {"patience": True}, {"scale_gaps": 1}, {"metric": ""}],
)
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(InvalidInput, match=next(iter(settings))):
        SearchSettings(**settings)


def test_provenance_cannot_be_changed_afterwards():
    told = {"seeds": [1, 2], "versions": {"numpy": np.float64(2)}}
    frozen = frozen_json(told, "provenance")
    told["seeds"].append(3)
    assert plain_json(frozen) == {"seeds": [1, 2], "versions": {"numpy": 2.0}}
    with pytest.raises(TypeError):
        frozen["versions"]["numpy"] = 3
    deep = {}
    for _ in range(100):
        deep = {"x": deep}
    with pytest.raises(InvalidInput, match="nested"):
        frozen_json(deep, "provenance")
