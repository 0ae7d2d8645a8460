"""The testbed ``odd``: 361 tasks of OddBench, real tables in which a rare class is outlying.

The tables lie beside ``odd.json`` under the data home, as those of the wild testbed do.
"""

from pathlib import Path

from elect.bench.testbeds.wild import TaskEntry, load_entries, read_entries
from elect.core import LabeledTask


def odd_entries(home: Path | None = None) -> tuple[TaskEntry, ...]:
    """The tasks, in the order of their names."""
    return read_entries("odd.json", home)


def load_odd(home: Path | None = None) -> list[LabeledTask]:
    """All tasks, each checked against its digest."""
    return list(load_entries(odd_entries(home), home))
