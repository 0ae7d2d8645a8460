"""The initial models of a search: a few whose performance tells the tasks of the history apart (appendix A)."""

import numpy as np

from elect.core import PerformanceMatrix
from elect.errors import InvalidInput


def coverage_initial_models(performance: PerformanceMatrix, size: int) -> tuple[str, ...]:
    """Choose models that are the best or the worst on many tasks, until as many tasks as can be are covered.

    The top models of a task are all those that share its best performance, its bottom models all those that share its
    worst. A task is covered once one of its top and one of its bottom models are chosen. Each step adds the model that
    is a top or a bottom model on most tasks that still lack one; of equal models, the one that comes first in the pool.
    A task that has a top model already gains nothing from a second one that ties with it, so that does not count.

    When every task is covered before ``size`` models are chosen, the tasks are covered again with their second-best
    and second-worst distinct performances, then the third, and so on; models that are left after the last come in
    the order of the pool. The answer holds ``size`` models, or the whole pool where it has fewer, in the order chosen:
    a smaller answer is the beginning of a larger one.

    >>> P = PerformanceMatrix([[0.9, 0.1, 0.5], [0.8, 0.3, 0.2], [0.7, 0.2, 0.1]], ("s", "t", "u"), ("a", "b", "c"))
    >>> coverage_initial_models(P, 2)
    ('a', 'c')
    """
    from scipy.stats import rankdata  # takes half a second to import, and only training needs it

    if size < 0:
        raise InvalidInput(f"The size of the initial set must be at least 0, got {size}.")
    size = min(size, len(performance.model_ids))
    from_top = rankdata(-performance.values, method="dense", axis=1)
    from_bottom = rankdata(performance.values, method="dense", axis=1)
    chosen: list[int] = []
    for depth in range(1, len(performance.model_ids) + 1):
        top, bottom = from_top == depth, from_bottom == depth
        while len(chosen) < size:
            lacks_top = ~top[:, chosen].any(axis=1, keepdims=True)
            lacks_bottom = ~bottom[:, chosen].any(axis=1, keepdims=True)
            # A chosen model helps no longer: what it is a top or a bottom model of does not lack one.
            helped = ((top & lacks_top) | (bottom & lacks_bottom)).sum(axis=0)
            best = int(np.argmax(helped))
            if helped[best] == 0:
                break
            chosen.append(best)
    left = np.setdiff1d(np.arange(len(performance.model_ids)), chosen)
    chosen += left[: size - len(chosen)].tolist()
    return tuple(performance.model_ids[model] for model in chosen)
