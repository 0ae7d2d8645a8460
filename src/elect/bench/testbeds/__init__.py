"""Tasks with known outliers: the wild testbed, the controlled one, and outliers injected into a table."""

from elect.bench.testbeds.controlled import MOTHERSETS, choose_mothersets, controlled_tasks, load_controlled
from elect.bench.testbeds.home import data_home
from elect.bench.testbeds.injection import KINDS, Mixture, fit_mixture, inject
from elect.bench.testbeds.published import (
    MEASURE_NAMES,
    PublishedMeasures,
    published_labels,
    published_measures,
    published_performance,
)
from elect.bench.testbeds.wild import TaskRecord, load_more, load_task, load_wild, more_records, wild_records

__all__ = [
    "KINDS",
    "MEASURE_NAMES",
    "MOTHERSETS",
    "Mixture",
    "PublishedMeasures",
    "TaskRecord",
    "choose_mothersets",
    "controlled_tasks",
    "data_home",
    "fit_mixture",
    "inject",
    "load_controlled",
    "load_more",
    "load_task",
    "load_wild",
    "more_records",
    "published_labels",
    "published_measures",
    "published_performance",
    "wild_records",
]
