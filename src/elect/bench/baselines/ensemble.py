"""Mega Ensemble: no selection at all, the mean of every model's scores."""

from dataclasses import dataclass

import numpy as np

from elect.bench.baselines.base import Choice, History, TaskView
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray


@dataclass(frozen=True)
class MegaEnsemble:
    """The average of all models' scores, each brought to mean 0 and deviation 1 first."""

    def fit(self, history: History) -> "MegaEnsemble":
        return self

    def select(self, task: TaskView) -> Choice:
        if task.scores is None:
            raise InvalidInput("Mega Ensemble must have the scores of every model on the task; there are none.")
        ids = task.scores.model_ids
        return Choice(ids, mean_of_standardized(task.scores.values), evaluated=ids)


def mean_of_standardized(scores: FloatArray) -> FloatArray:
    """One score a row from scores (rows x models); a model whose scores are all equal has no say.

    >>> mean_of_standardized(np.array([[0.0, 100.0, 5.0], [2.0, 300.0, 5.0]]))
    array([-0.66666667,  0.66666667])
    """
    center, spread = scores.mean(axis=0), scores.std(axis=0)
    result: FloatArray = ((scores - center) / np.where(spread > 0.0, spread, np.inf)).mean(axis=1)
    return result
