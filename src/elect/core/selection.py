"""What a search says while it runs, and what it ends with."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

import numpy as np

from elect.core import explanation
from elect.core.models import ModelPool, ParamValue
from elect.errors import InvalidInput
from elect.support import wording
from elect.support.arrays import FloatArray

_LEAST_TASKS = 20

Phase = Literal["prior", "anchor", "initial", "adaptive", "pool"]


@dataclass(frozen=True)
class Neighbor:
    """A historical task found similar to the one at hand."""

    task: str
    similarity: float


@dataclass(frozen=True)
class Candidate:
    """A model with its performance over the neighbours (over all historical tasks while there are none)."""

    model_id: str
    mean: float
    spread: float
    on_neighbors: tuple[float, ...] = ()


@dataclass(frozen=True)
class SearchStep:
    """One evaluated model and what is known after it. Stopping after any step is valid.

    Step 0 comes before any model is evaluated: its pick is the best on average over the whole history. Then come the
    anchors, the initial models, and the models the acquisition chooses; or, phase ``pool``, every model of the pool.
    """

    index: int
    phase: Phase
    evaluated: str | None
    acquisition_value: float | None
    neighbors: tuple[Neighbor, ...]
    pick: Candidate
    runners_up: tuple[Candidate, ...]
    seconds: float
    failure: str | None = None
    stopped_because: str | None = None
    expected_rank: "RankInterval | None" = None
    reason: str | None = None

    @property
    def mean_similarity(self) -> float | None:
        """The mean estimated similarity of the neighbours."""
        if not self.neighbors:
            return None
        return sum(neighbor.similarity for neighbor in self.neighbors) / len(self.neighbors)


@dataclass(frozen=True)
class RankInterval:
    """Where the picked model is expected to stand among all models (1 is the best)."""

    expected: float
    low: float
    high: float
    level: float = 0.9

    def __str__(self) -> str:
        between = f"with {wording.percent(self.level)} chance between {self.low:.0f} and {self.high:.0f}"
        return f"about {self.expected:.0f} among all models, {between}"

    @classmethod
    def of(cls, left_out: FloatArray, level: float = 0.9) -> "RankInterval | None":
        """The mean and the central share of the ranks that picks had on tasks that were left out.

        The rank of another pick lies there with the stated chance, whatever their distribution (split conformal
        prediction). With fewer than twenty tasks the quantiles would be the extremes themselves: then there is none.

        >>> RankInterval.of(np.arange(1.0, 101.0))
        RankInterval(expected=50.5, low=5.0, high=96.0, level=0.9)
        """
        if len(left_out) < _LEAST_TASKS:
            return None
        ordered = np.sort(left_out)
        # The k-th smallest of n left-out ranks is above a new one with chance k / (n + 1).
        k = max(round((1 - level) / 2 * (len(ordered) + 1)), 1)
        return cls(float(ordered.mean()), float(ordered[k - 1]), float(ordered[-k]), level)


@dataclass(frozen=True, repr=False)
class Selection:
    """The elected model and how it came about."""

    pick: Candidate
    detector: str
    params: tuple[tuple[str, ParamValue], ...]
    strategy: str
    neighbors: tuple[Neighbor, ...]
    runners_up: tuple[Candidate, ...]
    evaluated: tuple[str, ...]
    failures: tuple[tuple[str, str], ...]
    steps: tuple[SearchStep, ...]
    stopped_because: str
    seconds: float
    metric: str = "ap"
    expected_rank: RankInterval | None = None
    notes: tuple[str, ...] = ()
    reason: str | None = None

    def __repr__(self) -> str:
        tried = wording.count(len(self.evaluated), "model")
        return (
            f"Selection({self.model_id}, elected by {self.strategy!r} from {tried} in {wording.duration(self.seconds)})"
        )

    @property
    def model_id(self) -> str:
        return self.pick.model_id

    @property
    def why(self) -> str:
        """Why this model, in a sentence."""
        return explanation.why(self)

    @property
    def course(self) -> str:
        """How the search went, in a sentence."""
        return explanation.course(self)

    def explain(self) -> str:
        """Which historical tasks, how the pick and its runners-up did there, what was evaluated, why it stopped."""
        return explanation.explain(self)

    def _repr_html_(self) -> str:
        # By name: what draws a record stands above it.
        html: str = import_module("elect.report.notebook").selection_html(self)
        return html

    @classmethod
    def from_steps(
        cls,
        steps: Iterable[SearchStep],
        pool: ModelPool,
        *,
        strategy: str = "elect",
        metric: str = "ap",
        stopped_because: str = "the caller stopped",
    ) -> "Selection":
        """The answer after these steps, however many there are (at least one), on models of this pool.

        >>> pool = ModelPool.grid("COF", n_neighbors=[3])
        >>> step = SearchStep(0, "prior", None, None, (), Candidate(pool.ids[0], 0.5, 0.1), (), 0.0)
        >>> Selection.from_steps([step], pool).params
        (('n_neighbors', 3),)
        """
        trace = tuple(steps)
        if not trace:
            raise InvalidInput(
                "A selection must have at least one step: the first one of a search comes without any work."
            )
        last = trace[-1]
        spec = pool[last.pick.model_id]
        return cls(
            pick=last.pick,
            detector=spec.detector,
            params=spec.params,
            strategy=strategy,
            neighbors=last.neighbors,
            runners_up=last.runners_up,
            # An anchor can come again as an initial model: it is evaluated once.
            evaluated=tuple(dict.fromkeys(s.evaluated for s in trace if s.evaluated and not s.failure)),
            failures=tuple(
                (s.evaluated, s.failure) for s in trace if s.evaluated is not None and s.failure is not None
            ),
            steps=trace,
            stopped_because=last.stopped_because or stopped_because,
            seconds=last.seconds,
            metric=metric,
            expected_rank=last.expected_rank,
            reason=last.reason,
        )
