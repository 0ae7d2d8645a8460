"""Files that earlier versions wrote are read, and say what they said then.

``golden/database-2.elect`` and ``golden/detector-1.elect-detector`` are such files, ``golden/old-files.json`` what was
read from them when they were written. They are never written again.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from elect import MetaDatabase, load_detector
from elect.history.expectation import expected_rank

GOLDEN = Path(__file__).parent / "golden"


def told(part: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / "old-files.json").read_text())[part]
    return found


def test_a_database_of_the_second_version_is_read() -> None:
    was, database = told("database"), MetaDatabase.load(GOLDEN / "database-2.elect")
    np.testing.assert_array_equal(database.performance.values, was["performance"])
    np.testing.assert_array_equal(database.predictor.gaps(database.measures[0]), was["gaps"])


def test_trees_that_nobody_asks_any_more_are_left_behind(tmp_path: Path) -> None:
    old = MetaDatabase.load(GOLDEN / "database-2.elect")
    old.save(tmp_path / "new.elect")
    with zipfile.ZipFile(tmp_path / "new.elect") as kept:
        assert not {"ranker.txt", "gate.txt"} & set(kept.namelist())
    new = MetaDatabase.load(tmp_path / "new.elect")
    np.testing.assert_array_equal(new.performance.values, old.performance.values)
    assert new.predictor == old.predictor


def test_its_calibration_still_means_the_same_ranks() -> None:
    rank = expected_rank(MetaDatabase.load(GOLDEN / "database-2.elect"))
    assert rank is not None
    np.testing.assert_allclose([rank.expected, rank.low, rank.high], told("database")["expected_rank"], rtol=1e-12)


def test_a_detector_of_the_first_version_scores_as_before() -> None:
    was, detector = told("detector"), load_detector(GOLDEN / "detector-1.elect-detector")
    np.testing.assert_allclose(detector.decision_function(was["new"]), was["scores"], rtol=1e-12)
    assert detector.threshold_ == was["threshold"]
    assert detector.selection_.model_id == was["pick"]
    assert [neighbor.task for neighbor in detector.selection_.neighbors] == was["neighbors"]
    assert detector.selection_.stopped_because == was["stopped_because"]
