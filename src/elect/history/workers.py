"""Where tasks are scored: on this machine with joblib, or on a dask.distributed cluster."""

import re
from collections.abc import Sequence
from typing import Any

from elect.core import LabeledTask
from elect.errors import ElectError
from elect.history.pieces import Pieces
from elect.history.records import Recipe, score_into, score_task
from elect.support.meter import Meter

RETRIES = 5
WORKERS_WITHIN = 60.0
"""Seconds within which a cluster must have its first worker."""

_ADDRESS = re.compile(r"(?:[a-z]+://)?[^\s/:]+:\d{1,5}|(?:[a-z]+://)\[[0-9a-fA-F:]+\]:\d{1,5}|inproc://\S+")


class ClusterError(ElectError, RuntimeError):
    """A cluster that could not be reached, or that could not finish a task."""


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


def _wait_for_workers(client: Any, cluster: Any) -> None:
    """A scheduler without workers would take the tasks and never answer."""
    try:
        client.wait_for_workers(1, timeout=WORKERS_WITHIN)
    except TimeoutError:
        raise ClusterError(
            f"The scheduler {cluster!r} had no worker for {WORKERS_WITHIN:.0f} s: start one with 'dask worker ADDRESS'."
        ) from None


def _on_cluster(tasks: Sequence[LabeledTask], recipe: Recipe, pieces: Pieces, meter: Meter, cluster: Any) -> None:
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise ClusterError("Training on a cluster must have dask.distributed: pip install 'elect[cluster]'.") from None
    own = isinstance(cluster, str)
    if own and not _ADDRESS.fullmatch(cluster):
        raise ClusterError(f"The address of a scheduler must be like tcp://host:8786, got {cluster!r}.")
    try:
        client = Client(cluster, set_as_default=False, timeout="5s") if own else cluster
    except Exception as error:  # of a dozen kinds, by what is wrong with the address or behind it
        raise ClusterError(f"The scheduler {cluster!r} could not be reached ({type(error).__name__}).") from None
    try:
        _wait_for_workers(client, cluster)
        # A task travels with its request, not beside it: when a worker dies the scheduler can send it to another.
        futures = {
            client.submit(
                score_task, task, recipe, pure=False, retries=RETRIES, key=f"elect-{recipe.score_key(task)}"
            ): task
            for task in tasks
        }
        for future in as_completed(list(futures), loop=client.loop):
            task = futures.pop(future)
            try:
                piece = future.result()
            except ElectError:
                raise
            except Exception as error:
                raise ClusterError(
                    f"Task {task.name!r} could not be scored on the cluster ({type(error).__name__}: {error}). "
                    "What was finished is kept: run the same again."
                ) from error
            pieces.put("scores", recipe.score_key(task), piece)
            future.release()
            meter.advance(cost(task))
    finally:
        if own:
            client.close()
