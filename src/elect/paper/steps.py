"""What a step of an election shows: the pick, its runners-up and the neighbours. Every strategy builds them here."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from elect.core import Candidate, Neighbor, RankInterval, SearchStep
from elect.core.selection import Phase
from elect.errors import ElectError
from elect.support.arrays import FloatArray, IntArray

Value = TypeVar("Value")

N_RUNNERS_UP = 3


def candidates(
    model_ids: Sequence[str], order: IntArray, mean: FloatArray, spread: FloatArray, on_neighbors: FloatArray
) -> tuple[Candidate, ...]:
    """The pick, then its runners-up: the first models of an order, with what is expected of each (models,) and how it
    did on the neighbours (tasks x models)."""
    return tuple(
        Candidate(model_ids[m], float(mean[m]), float(spread[m]), tuple(on_neighbors[:, m].tolist()))
        for m in order[: 1 + N_RUNNERS_UP].tolist()
    )


def search_step(
    index: int,
    phase: Phase,
    evaluated: str | None,
    shown: Sequence[Candidate],
    seconds: float,
    *,
    neighbors: tuple[Neighbor, ...] = (),
    acquisition_value: float | None = None,
    failure: str | None = None,
    stopped_because: str | None = None,
    expected_rank: RankInterval | None = None,
    reason: str | None = None,
) -> SearchStep:
    """A step of an election, the candidates ``shown`` being those of ``candidates``."""
    return SearchStep(
        index=index,
        phase=phase,
        evaluated=evaluated,
        acquisition_value=acquisition_value,
        neighbors=neighbors,
        pick=shown[0],
        runners_up=tuple(shown[1:]),
        seconds=seconds,
        failure=failure,
        stopped_because=stopped_because,
        expected_rank=expected_rank,
        reason=reason,
    )


def attempt(evaluate: Callable[[], Value]) -> tuple[Value | None, str | None]:
    """What evaluating a model gives, and what went wrong, if anything: a model that fails is left out, no more.

    >>> attempt(lambda: 1 / 0)
    (None, 'ZeroDivisionError: division by zero')
    """
    try:
        return evaluate(), None
    except (ElectError, ArithmeticError, ValueError, RuntimeError, MemoryError) as error:
        return None, f"{type(error).__name__}: {error}"
