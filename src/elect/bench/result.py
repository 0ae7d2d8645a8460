"""What a run of the benchmark comes to: one row a method, with intervals and tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from elect.bench.beds import Bed
from elect.bench.methods import ELECT, Method
from elect.bench.runner import Outcome
from elect.bench.statistics import Interval, QthBest, bootstrap_interval, qth_best, wilcoxon_p
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, read_only


@dataclass(frozen=True, eq=False)
class MethodResult:
    """A method on the tasks it could be run on; ranks and performances are means over repetitions, one a task.

    ``p_value`` is that of the paired two-sided Wilcoxon test of its ranks against ELECT's; None where ELECT was not
    run. ``seconds`` are a task's on average, over the tasks where they are known.
    """

    name: str
    title: str
    is_meta_learning: bool
    tasks: tuple[str, ...]
    ranks: FloatArray
    performances: FloatArray
    picks: tuple[tuple[str, ...], ...]
    mean_rank: Interval
    median_rank: Interval
    mean_ap: Interval
    p_value: float | None
    qth_best: QthBest
    seconds: float
    fit_seconds: float
    spread_of_repetitions: float

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "mean_rank": self.mean_rank.estimate,
            "mean_rank_interval": [self.mean_rank.low, self.mean_rank.high],
            "median_rank": self.median_rank.estimate,
            "median_rank_interval": [self.median_rank.low, self.median_rank.high],
            "mean_ap": self.mean_ap.estimate,
            "mean_ap_interval": [self.mean_ap.low, self.mean_ap.high],
            "p_value": self.p_value,
            "qth_best": self.qth_best.position,
            "qth_best_percent": self.qth_best.percent,
            "seconds": self.seconds,
            "fit_seconds": self.fit_seconds,
            "n_tasks": len(self.tasks),
            "spread_of_repetitions": self.spread_of_repetitions,
        }


@dataclass(frozen=True, eq=False)
class BenchResult:
    """All methods on one testbed, source and protocol."""

    testbed: str
    source: str
    protocol: str
    tasks: tuple[str, ...]
    groups: tuple[str, ...]
    n_models: int
    seed: int
    repetitions: int
    methods: tuple[MethodResult, ...]
    notes: tuple[str, ...]
    wall_seconds: float = 0.0

    @cached_property
    def _by_name(self) -> dict[str, MethodResult]:
        return {method.name: method for method in self.methods}

    def __getitem__(self, name: str) -> MethodResult:
        try:
            return self._by_name[name]
        except KeyError:
            raise InvalidInput(f"{name!r} was not run: the methods are {', '.join(self._by_name)}.") from None

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def complete(self) -> tuple[MethodResult, ...]:
        """The methods that were run on every task: those that can be compared all at once."""
        return tuple(method for method in self.methods if method.tasks == self.tasks)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values: the contract of ``elect bench --json``."""
        return {
            "protocol": self.protocol,
            "testbed": self.testbed,
            "source": self.source,
            "n_tasks": len(self.tasks),
            "n_models": self.n_models,
            "seed": self.seed,
            "repetitions": self.repetitions,
            "methods": [method.to_json() for method in self.methods],
            "notes": list(self.notes),
            "wall_seconds": self.wall_seconds,
        }


def result_of(
    bed: Bed,
    methods: Sequence[Method],
    outcomes: Sequence[Outcome],
    protocol: str,
    *,
    seed: int,
    repetitions: int,
    notes: Sequence[str] = (),
    wall_seconds: float = 0.0,
) -> BenchResult:
    """The result of the outcomes of these methods."""
    by_method = {method.name: [o for o in outcomes if o.method == method.name] for method in methods}
    elect = _per_task(by_method[ELECT], bed.tasks) if by_method.get(ELECT) else None
    rows = [
        _method_result(bed, method, by_method[method.name], elect, seed) for method in methods if by_method[method.name]
    ]
    return BenchResult(
        testbed=bed.testbed,
        source=bed.source,
        protocol=protocol,
        tasks=bed.tasks,
        groups=bed.groups,
        n_models=len(bed.pool),
        seed=seed,
        repetitions=repetitions,
        methods=tuple(rows),
        notes=(*bed.notes, *notes),
        wall_seconds=wall_seconds,
    )


def _per_task(outcomes: Sequence[Outcome], order: Sequence[str]) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for task in order:
        of_task = [outcome for outcome in outcomes if outcome.task == task]
        if of_task:
            found[task] = of_task
    return found


def _method_result(
    bed: Bed, method: Method, outcomes: Sequence[Outcome], elect: dict[str, list[Outcome]] | None, seed: int
) -> MethodResult:
    per_task = _per_task(outcomes, bed.tasks)
    tasks = tuple(per_task)
    ranks = np.array([np.mean([o.rank for o in per_task[task]]) for task in tasks])
    performances = np.array([np.mean([o.performance for o in per_task[task]]) for task in tasks])
    rows = [bed.performance.task_index(task) for task in tasks]
    groups = [bed.groups[i] for i in rows]
    p_value = None
    if elect is not None:
        p_value = wilcoxon_p(ranks, [float(np.mean([o.rank for o in elect[task]])) for task in tasks])
    timed = [o for o in outcomes if not bed.costs or o.build_seconds is not None]
    return MethodResult(
        name=method.name,
        title=method.title,
        is_meta_learning=method.is_meta_learning,
        tasks=tasks,
        ranks=read_only(ranks),
        performances=read_only(performances),
        picks=tuple(tuple(o.pick for o in per_task[task]) for task in tasks),
        mean_rank=bootstrap_interval(ranks, np.mean, seed, groups=groups),
        median_rank=bootstrap_interval(ranks, np.median, seed, groups=groups),
        mean_ap=bootstrap_interval(performances, np.mean, seed, groups=groups),
        p_value=p_value,
        # Ranks are compared, as everywhere: a gap in performance means another thing on every task.
        qth_best=qth_best(-ranks, -bed.performance.ranks()[rows]),
        seconds=float(np.mean([o.seconds + (o.build_seconds or 0.0) for o in timed])) if timed else float("nan"),
        fit_seconds=float(np.mean([o.fit_seconds for o in outcomes])),
        spread_of_repetitions=_spread(per_task),
    )


def _spread(per_task: dict[str, list[Outcome]]) -> float:
    """The standard deviation, over repetitions, of the mean rank: what the seed alone does to it."""
    times = {len(outcomes) for outcomes in per_task.values()}
    if times == {1}:
        return 0.0
    means = [np.mean([outcomes[r].rank for outcomes in per_task.values()]) for r in range(min(times))]
    return float(np.std(means, ddof=1))
