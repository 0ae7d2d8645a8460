"""The models of the pool that the committee listens to: few, and as good as all of them together.

One isolation forest, the sum of distances from the medians of the columns, three distances to neighbours and three
local densities. Neighbours are looked up once for all six, in the table and for new rows.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from elect.core.models import ModelPool, ModelSpec
from elect.pool.families.extremes import FAMILY as EXTREMES
from elect.pool.families.iforest import FAMILY as IFOREST
from elect.pool.families.knn import knn_scores
from elect.pool.kernels.lof import LocalDensities
from elect.pool.kernels.neighbors import NeighborIndex
from elect.pool.standardize import Standardizer
from elect.storage.stored import Arrays, Numbers, Stored
from elect.support.arrays import FloatArray

if TYPE_CHECKING:
    from elect.pool import PoolScorer
    from elect.pool.families._base import FittedModel

FOREST = ModelSpec.of("IForest", n_estimators=200, max_features=0.5)
SUM = ModelSpec.of("Extremes", how="sum")
DISTANCES = (("largest", 5), ("mean", 10), ("mean", 25))
DENSITIES = (10, 20, 50)
_ROWS_AT_ONCE = 16_384

FAMILIES = ("IForest", "Extremes", *("kNN" for _ in DISTANCES), *("LOF" for _ in DENSITIES))
"""The family of each voice, in the order of the scores."""


def voice_pool() -> ModelPool:
    """The models, in the order of the scores.

    >>> len(voice_pool())
    8
    """
    near = [ModelSpec.of("kNN", method=method, n_neighbors=k) for method, k in DISTANCES]
    dense = [ModelSpec.of("LOF", metric="euclidean", n_neighbors=k) for k in DENSITIES]
    return ModelPool.of([FOREST, SUM, *near, *dense])


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
    index: NeighborIndex
    densities: LocalDensities
    n_jobs: int

    @classmethod
    def fit(cls, scorer: "PoolScorer") -> "Voices":
        """The models on the table of a scorer."""
        work = scorer.work
        densities = LocalDensities.of(work.graph("euclidean", max(DENSITIES)), DENSITIES, work.n_jobs)
        forest = IFOREST.fit(work, IFOREST.params_of(FOREST))
        sums = EXTREMES.fit(work, EXTREMES.params_of(SUM))
        return cls(scorer.standardizer, forest, sums, work.neighbor_index, densities, work.n_jobs)

    def scores(self, X: FloatArray) -> FloatArray:
        """Scores (rows, voices) of rows, which may come in any company."""
        out = np.empty((len(X), len(FAMILIES)))
        for start in range(0, len(X), _ROWS_AT_ONCE):
            here = slice(start, start + _ROWS_AT_ONCE)
            Z = self.standardizer.transform(X[here])
            graph = self.index.query(Z, max(DENSITIES), "euclidean", n_jobs=self.n_jobs)
            out[here, 0] = self.forest.scores(Z)
            out[here, 1] = self.sums.scores(Z)
            for place, (method, k) in enumerate(DISTANCES, start=2):
                out[here, place] = knn_scores(graph.distances, method, k)
            out[here, 2 + len(DISTANCES) :] = self.densities.scores(graph, self.n_jobs)
        return out

    @cached_property
    def in_one_thread(self) -> "Voices":
        """The same models for a caller that has threads of its own."""
        return replace(self, forest=replace(self.forest, n_jobs=1), n_jobs=1)  # type: ignore[type-var]

    def plain(self) -> tuple[Numbers, Arrays]:
        """What ``restore`` makes the same models from."""
        numbers: Numbers = {}
        arrays: Arrays = {}
        for part, model in (("forest", self.forest), ("sums", self.sums)):
            own, held = model.plain()
            numbers |= {f"{part}_{name}": value for name, value in own.items()}
            arrays |= {f"{part}_{name}": array for name, array in held.items()}
        return numbers, {
            **arrays,
            "rows": self.index.rows,
            "radii": self.densities.radii,
            "densities": self.densities.densities,
            "center": self.standardizer.center,
            "scale": self.standardizer.scale,
        }

    @classmethod
    def restore(cls, stored: Stored) -> "Voices":
        """The models that were stored, every size and index checked."""
        forest, sums = IFOREST.restore(stored.part("forest_")), EXTREMES.restore(stored.part("sums_"))
        rows = stored.rows()
        shape = (len(rows), len(DENSITIES))
        densities = LocalDensities(DENSITIES, stored.array("radii", shape), stored.array("densities", shape))
        d = (stored.n_features,)
        standardizer = Standardizer(stored.array("center", d), stored.array("scale", d))
        return cls(standardizer, forest, sums, NeighborIndex.build(rows), densities, stored.n_jobs)
