"""Tasks with known outliers: the wild testbed, the controlled one, rare classes, wrong values in real tables."""

from elect.bench.testbeds.controlled import MOTHERSETS, choose_mothersets, controlled_tasks, load_controlled
from elect.bench.testbeds.errors import ErrorTask, WrongCell, load_errors
from elect.bench.testbeds.home import data_home
from elect.bench.testbeds.injection import KINDS, Mixture, fit_mixture, inject
from elect.bench.testbeds.odd import load_odd, odd_entries
from elect.bench.testbeds.published import (
    MEASURE_NAMES,
    PublishedMeasures,
    published_labels,
    published_measures,
    published_performance,
)
from elect.bench.testbeds.wild import TaskEntry, load_more, load_task, load_wild, more_entries, wild_entries

__all__ = [
    "KINDS",
    "MEASURE_NAMES",
    "MOTHERSETS",
    "ErrorTask",
    "Mixture",
    "PublishedMeasures",
    "TaskEntry",
    "WrongCell",
    "choose_mothersets",
    "controlled_tasks",
    "data_home",
    "fit_mixture",
    "inject",
    "load_controlled",
    "load_errors",
    "load_more",
    "load_odd",
    "load_task",
    "load_wild",
    "more_entries",
    "odd_entries",
    "published_labels",
    "published_measures",
    "published_performance",
    "wild_entries",
]
