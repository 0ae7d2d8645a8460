"""The neighbours N of a task: the t historical tasks most similar to it (Eq. 3 and 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elect.core import Neighbor
from elect.paper.similarity import pairwise_gaps, similarity_to_tasks
from elect.support.arrays import FloatArray, IntArray

COMPARED_MODELS = 60
"""Where the performance of the whole pool is known or expected, tasks are compared on so many models of it."""


@dataclass(frozen=True, eq=False)
class NeighborSet:
    """Historical tasks by their rows in the history, the most similar first, and how similar each is."""

    tasks: IntArray
    similarities: FloatArray

    def named(self, names: Sequence[str]) -> tuple[Neighbor, ...]:
        """The same by the names of the tasks, for a reader."""
        pairs = zip(self.tasks.tolist(), self.similarities.tolist(), strict=True)
        return tuple(Neighbor(names[task], similarity) for task, similarity in pairs)


NOBODY = NeighborSet(np.empty(0, dtype=np.intp), np.empty(0))
"""The neighbours while nothing was compared."""


def estimated_neighbors(
    gaps: FloatArray, performance: FloatArray, models: IntArray, n_tasks: int, scale: bool = False
) -> NeighborSet:
    """The neighbours by estimated similarity, from *predicted* gaps of the pairs of ``models`` (Eq. 5).

    ``performance`` (tasks x models) is that of the history; ``n_tasks`` is the paper's t.

    >>> history = np.array([[0.1, 0.5, 0.9], [0.9, 0.5, 0.1], [0.8, 0.5, 0.1]])
    >>> estimated_neighbors(np.array([0.7]), history, np.array([0, 2]), 2).tasks
    array([1, 2])
    """
    return _most_similar(similarity_to_tasks(gaps, performance, models, scale=scale), n_tasks)


def neighbors_by_performance(
    expected: FloatArray, performance: FloatArray, order: IntArray, n_tasks: int, scale: bool = False
) -> NeighborSet:
    """The neighbours by the performance of the models on the task itself (Eq. 3), known or expected (models,).

    ``order`` ranks the models; those compared are spread over the whole of it.

    >>> history = np.array([[0.1, 0.5, 0.9], [0.9, 0.5, 0.6], [0.8, 0.5, 0.1]])
    >>> neighbors_by_performance(np.array([0.7, 0.4, 0.1]), history, np.array([0, 1, 2]), 2).tasks
    array([2, 1])
    """
    if len(order) < 2:
        return NOBODY
    spread = order[np.unique(np.linspace(0, len(order) - 1, COMPARED_MODELS).astype(int))]
    return estimated_neighbors(pairwise_gaps(expected[spread]), performance, spread, n_tasks, scale)


def _most_similar(similarities: FloatArray, n_tasks: int) -> NeighborSet:
    """The top t; of equally similar tasks, those that come first in the history."""
    tasks = np.argsort(-similarities, kind="stable")[:n_tasks]
    return NeighborSet(tasks, similarities[tasks])
