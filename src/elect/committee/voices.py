"""The models of the pool that the committee listens to: few, and better than many.

One isolation forest, the sum of distances from the medians of the columns, and two distances to the core of the table,
which are read off one search for neighbours. Distances to all other rows and local densities (kNN, LOF) were heard
before; with the core there they add nothing.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from elect.core.models import ModelPool, ModelSpec
from elect.pool.families.core import FAMILY as CORE
from elect.pool.families.core import FittedCore
from elect.pool.families.extremes import FAMILY as EXTREMES
from elect.pool.families.iforest import FAMILY as IFOREST
from elect.pool.standardize import Standardizer
from elect.storage.stored import Arrays, Numbers, Stored
from elect.support.arrays import FloatArray

if TYPE_CHECKING:
    from elect.pool import PoolScorer
    from elect.pool.families._base import FittedModel

FOREST = ModelSpec.of("IForest", n_estimators=200, max_features=0.5)
SUM = ModelSpec.of("Extremes", how="sum")
NEAR = (10, 25)
"""How many rows of the core are near, for each of the two distances."""
_ROWS_AT_ONCE = 16_384

FAMILIES = ("IForest", "Extremes", *("Core" for _ in NEAR))
"""The family of each voice, in the order of the scores."""


def voice_pool() -> ModelPool:
    """The models, in the order of the scores.

    >>> len(voice_pool())
    4
    """
    return ModelPool.of([FOREST, SUM, *(ModelSpec.of("Core", n_neighbors=k) for k in NEAR)])


def voice_scores(scorer: "PoolScorer") -> FloatArray:
    """The training scores (rows, voices) on the table of a scorer, in which a row is not its own neighbour."""
    own = scorer.beside(voice_pool())
    # Of the pool itself where they are in it: what they share with other models is not made twice then.
    said = [scorer if model_id in scorer.pool else own for model_id in own.pool.ids]
    return np.column_stack([source.scores(model_id) for source, model_id in zip(said, own.pool.ids, strict=True)])


@dataclass(frozen=True, eq=False)
class Voices:
    """The fitted models, for rows that are not of the table they were fitted on."""

    standardizer: Standardizer
    forest: "FittedModel"
    sums: "FittedModel"
    core: FittedCore

    @classmethod
    def fit(cls, scorer: "PoolScorer") -> "Voices":
        """The models on the table of a scorer."""
        work = scorer.work
        forest = IFOREST.fit(work, IFOREST.params_of(FOREST))
        sums = EXTREMES.fit(work, EXTREMES.params_of(SUM))
        return cls(scorer.standardizer, forest, sums, CORE.fit_each(work, NEAR))

    @property
    def n_jobs(self) -> int:
        return self.core.n_jobs

    def scores(self, X: FloatArray) -> FloatArray:
        """Scores (rows, voices) of rows, which may come in any company."""
        out = np.empty((len(X), len(FAMILIES)))
        for start in range(0, len(X), _ROWS_AT_ONCE):
            here = slice(start, start + _ROWS_AT_ONCE)
            Z = self.standardizer.transform(X[here])
            out[here, 0] = self.forest.scores(Z)
            out[here, 1] = self.sums.scores(Z)
            out[here, 2:] = self.core.each(Z)
        return out

    @cached_property
    def in_one_thread(self) -> "Voices":
        """The same models for a caller that has threads of its own."""
        forest = replace(self.forest, n_jobs=1)  # type: ignore[type-var]
        return replace(self, forest=forest, core=replace(self.core, n_jobs=1))

    def plain(self) -> tuple[Numbers, Arrays]:
        """What ``restore`` makes the same models from."""
        numbers: Numbers = {}
        arrays: Arrays = {"center": self.standardizer.center, "scale": self.standardizer.scale}
        for part, model in (("forest", self.forest), ("sums", self.sums), ("core", self.core)):
            own, held = model.plain()
            numbers |= {f"{part}_{name}": value for name, value in own.items()}
            arrays |= {f"{part}_{name}": array for name, array in held.items()}
        return numbers, arrays

    @classmethod
    def restore(cls, stored: Stored) -> "Voices":
        """The models that were stored, every size and index checked."""
        forest, sums = IFOREST.restore(stored.part("forest_")), EXTREMES.restore(stored.part("sums_"))
        core = replace(CORE.restore(stored.part("core_")), ks=NEAR)
        d = (stored.n_features,)
        standardizer = Standardizer(stored.array("center", d), stored.array("scale", d))
        return cls(standardizer, forest, sums, core)
