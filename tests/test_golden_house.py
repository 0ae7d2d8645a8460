"""What the product says does not change by accident: picks, detections, saved detectors, a trained database."""

import json
from pathlib import Path
from typing import Any

import pytest

import golden_house as house

AGAIN = "If it should have changed: ELECT_DATA_HOME=... python tests/golden_house.py --write"


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    return json.loads(house.FILE.read_text())


def test_every_strategy_picks_as_before(data_home: Path, golden: dict[str, Any]) -> None:
    small = house.wild_tasks(data_home, most_rows=400)
    assert len(small) >= 10
    for name, path in small:
        assert house.picks(path) == golden["picks"][name], AGAIN


@pytest.fixture(scope="module")
def detections() -> dict[str, Any]:
    return house.detections()


@pytest.mark.parametrize("table", ["payments", "wine", "cancer"])
def test_detections_and_saved_detectors_are_as_before(
    table: str, detections: dict[str, Any], golden: dict[str, Any]
) -> None:
    assert detections[table] == golden["detections"][table], AGAIN


def test_a_trained_database_is_as_before(golden: dict[str, Any]) -> None:
    assert json.loads(json.dumps(house.database())) == golden["database"], AGAIN
