"""What is held of a long table does not grow with it: one score a row, and nothing else."""

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elect.detect import findings
from elect.detect.batches import drained, score_batches
from elect.tables import iter_batches

RNG = np.random.default_rng(5)


def peak_of(work: Callable[[], Any]) -> int:
    """The bytes that work took at most, beside what was there."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("group", [10_000, 1_000_000], ids=["small groups", "one group"])
def test_of_a_parquet_file_little_is_held_while_it_is_read(tmp_path: Path, group: int) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({f"c{j}": RNG.normal(size=1_000_000) for j in range(2)}), path, row_group_size=group)
    before, held = pa.total_allocated_bytes(), []
    for batch in iter_batches(path, 10_000):
        held.append(pa.total_allocated_bytes() - before)
        assert batch.n_rows == 10_000
    assert len(held) == 100
    assert max(held) < path.stat().st_size / 2


def test_an_arrow_file_is_read_in_batches_and_not_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.arrow"
    table = pa.table({"a": np.arange(1_000.0)})
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table, max_chunksize=100)
    monkeypatch.setattr(pa, "memory_map", lambda *args: pytest.fail("mapped pages stay with the process"))
    values = np.concatenate([batch.frame["a"].to_numpy() for batch in iter_batches(path, 300)])
    assert (values == np.arange(1_000.0)).all()


def test_scores_of_batches_are_held_once() -> None:
    n, many = 50_000, 60
    treatment = SimpleNamespace(
        refuse_unreadable=lambda batch: None,
        transform=lambda batch: None,
        unread=lambda batch: {},
        surprises=lambda unread, rows: (str(rows),),
    )

    def batches() -> Iterator[Any]:
        for _ in range(many):
            yield SimpleNamespace(n_rows=n, frame=None, columns=("a",), reading=None, remarks=())

    found: list[Any] = []
    peak = peak_of(lambda: found.append(drained(score_batches(batches(), treatment, lambda *_: np.full(n, 1.5)))))  # type: ignore[arg-type]
    assert len(found[0].scores) == n * many
    assert (found[0].scores == 1.5).all()
    assert found[0].notes == (str(n * many),)
    assert peak < 1.3 * found[0].scores.nbytes


def test_the_highest_scores_are_found_without_a_copy_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = RNG.normal(size=4_000_000)
    assert peak_of(lambda: findings.highest(scores, 10)) < scores.nbytes
    monkeypatch.setattr(findings, "_AT_ONCE", 7)
    few = RNG.integers(0, 9, 100).astype(np.float64)
    for count in (0, 1, 6, 7, 8, 50, 100, 200):
        assert findings.highest(few, count).tolist() == np.argsort(-few, kind="stable")[:count].tolist()
