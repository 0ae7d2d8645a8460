"""How good a choice was. Only here is the truth about a task looked at."""

import numpy as np
from numpy.typing import NDArray

from elect.bench.baselines import Choice
from elect.bench.statistics import model_rank, value_rank
from elect.core import ModelPool, ScoreMatrix
from elect.core.metrics import performance as performance_of
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray


def judge_choice(
    choice: Choice, pool: ModelPool, performance: FloatArray, y: NDArray[np.int8] | None, metric: str = "ap"
) -> tuple[float, float]:
    """The rank among the models and the performance of a choice, given the performance of every model (models,).

    A choice of several models has the expected rank and performance. Labels are needed where it is an ensemble.
    """
    if choice.scores is not None:
        if y is None:
            raise InvalidInput("The labels of the task are not available: its ensemble cannot be judged.")
        scores = ScoreMatrix(choice.scores[:, np.newaxis], ("ensemble",))
        value = float(performance_of(scores, y, metric)[0])
        return value_rank(performance, value), value
    chosen = [pool.index(model_id) for model_id in choice.model_ids]
    ranks = [model_rank(performance, model) for model in chosen]
    return float(np.mean(ranks)), float(performance[chosen].mean())
