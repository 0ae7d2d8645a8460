"""Where tasks are scored: on this machine with joblib, or on a dask.distributed cluster."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from elect.core import LabeledTask
from elect.history.pieces import Pieces
from elect.history.records import Recipe, score_into, score_task
from elect.support.cluster import connected, finished
from elect.support.meter import Meter


def cost(task: LabeledTask) -> float:
    """About how long a task takes, in no unit: the pool is linear in rows but for neighbours and kernels."""
    n, d = task.n_rows, task.n_columns
    return n * 1e4 + min(n, 12_000) ** 2 * 30.0 + n**2 * (2.0 + 0.1 * d)


def score_corpus(
    tasks: Sequence[LabeledTask], recipe: Recipe, pieces: Pieces, meter: Meter, n_jobs: int, cluster: Any = None
) -> None:
    """Score every task that has no finished piece yet. Pieces are kept as they come, so nothing finished is lost."""
    missing = [task for task in tasks if not pieces.has("scores", recipe.score_key(task))]
    meter.stage("scoring the pool", sum(map(cost, tasks)) or 1.0)
    meter.advance(sum(cost(task) for task in tasks) - sum(cost(task) for task in missing))
    # The largest first: a long one at the end would leave the other workers idle.
    missing.sort(key=cost, reverse=True)
    if cluster is not None:
        _on_cluster(missing, recipe, pieces, meter, cluster)
    elif n_jobs == 1 or len(missing) <= 1:
        for task in missing:
            score_into(pieces, task, recipe, n_jobs)
            meter.advance(cost(task))
    else:
        _with_joblib(missing, recipe, pieces, meter, n_jobs)


def _with_joblib(tasks: Sequence[LabeledTask], recipe: Recipe, pieces: Pieces, meter: Meter, n_jobs: int) -> None:
    from joblib import Parallel, delayed

    costs = {recipe.score_key(task): cost(task) for task in tasks}
    # Threads: the kernels release the GIL, the table is not copied, and one compilation serves all.
    finished = Parallel(n_jobs=n_jobs, backend="threading", return_as="generator_unordered")(
        delayed(score_into)(pieces, task, recipe) for task in tasks
    )
    for key in finished:
        meter.advance(costs[key])


def _on_cluster(tasks: Sequence[LabeledTask], recipe: Recipe, pieces: Pieces, meter: Meter, cluster: Any) -> None:
    with connected(cluster) as client:
        scored = finished(
            client,
            partial(score_task, recipe=recipe),
            tasks,
            key=lambda task: f"elect-{recipe.score_key(task)}",
            name=lambda task: f"Task {task.name!r}",
        )
        for task, piece in scored:
            pieces.put("scores", recipe.score_key(task), piece)
            meter.advance(cost(task))
