"""What the paper looks at besides the comparison: task similarities, the case study, the ablations."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elect.bench.beds import Bed
from elect.bench.elect_method import ElectSelector
from elect.bench.methods import ELECT, ELECT_METHOD, Method
from elect.bench.protocol import folds
from elect.bench.result import BenchResult, MethodResult
from elect.bench.run import bench_of
from elect.bench.statistics import wilcoxon_p
from elect.history.pieces import Pieces
from elect.paper.similarity import similarity_to_tasks, task_similarities
from elect.support.arrays import FloatArray, read_only
from elect.support.meter import Meter

from . import paper_numbers as paper
from .variants import ABLATIONS, EXAMINED, EXAMINED_COMPUTED


@dataclass(frozen=True, eq=False)
class SimilarityInfo:
    """The similarities of every two tasks of a testbed, by the true performances."""

    label: str
    testbed: str
    values: FloatArray

    @property
    def median(self) -> float:
        return float(np.median(self.values))

    @classmethod
    def of(cls, bed: Bed) -> "SimilarityInfo":
        matrix = task_similarities(bed.performance.values)
        values = matrix[np.triu_indices(len(matrix), k=1)]
        return cls(f"{bed.testbed}, {bed.source}", bed.testbed, read_only(values))


@dataclass(frozen=True)
class CaseStep:
    """One iteration of the search on a task. ``similarity`` is the true mean similarity of the neighbours found."""

    iteration: int
    evaluated: str
    similarity: float
    estimated: float
    matched: int
    pick: str
    rank: float


@dataclass(frozen=True, eq=False)
class CaseInfo:
    """The search on one task, iteration by iteration; iteration 0 is after the initial models."""

    task: str
    steps: tuple[CaseStep, ...]
    best_similarity: float
    best_model: str
    source: str = ""

    @property
    def shown(self) -> tuple[CaseStep, ...]:
        """The iterations that the paper shows, as far as there are as many, and the last."""
        wanted = {step.iteration for step in paper.CASE_STUDY} | {self.steps[-1].iteration}
        return tuple(step for step in self.steps if step.iteration in wanted)


def case_of(bed: Bed, task: str, protocol: str = "loo", seed: int = 0) -> CaseInfo:
    """The search on one task, beside the truth about it."""
    fold = next(fold for fold in folds(bed.tasks, bed.groups, protocol) if task in fold.held_out)
    history, views = bed.history(fold, ELECT_METHOD.reference)
    fitted = ElectSelector(seed=seed).fit(history)
    row, ranks = bed.performance.row(task), bed.performance.ranks()[bed.performance.task_index(task)]
    i, j = np.triu_indices(len(bed.pool), k=1)
    truth = similarity_to_tasks(row[i] - row[j], history.values, np.arange(len(bed.pool)))
    position = {name: k for k, name in enumerate(history.performance.tasks)}
    t = fitted.database.settings.n_neighbor_tasks
    nearest = {history.performance.tasks[k] for k in np.argsort(-truth, kind="stable")[:t]}
    steps = []
    iteration = -1
    for step in fitted.steps(views[task]):
        last_initial = step.phase == "initial" and step.evaluated == fitted.database.initial_models[-1]
        if not (last_initial or step.phase == "adaptive"):
            continue
        iteration += 1
        neighbors = [neighbor.task for neighbor in step.neighbors]
        steps.append(
            CaseStep(
                iteration=iteration,
                evaluated=step.evaluated or "",
                similarity=float(np.mean([truth[position[name]] for name in neighbors])),
                estimated=float(step.mean_similarity or 0.0),
                matched=len(nearest & set(neighbors)),
                pick=step.pick.model_id,
                rank=float(ranks[bed.pool.index(step.pick.model_id)]),
            )
        )
    best = float(np.sort(truth)[::-1][:t].mean())
    return CaseInfo(task, tuple(steps), best, bed.pool.ids[int(np.argmax(row))])


@dataclass(frozen=True, eq=False)
class AblationInfo:
    """ELECT against itself with one part changed, on the same tasks; the test is one-sided, as in the paper."""

    variant: str
    title: str
    elect_ranks: FloatArray
    variant_ranks: FloatArray
    p_value: float

    @classmethod
    def of(cls, elect: MethodResult, variant: MethodResult) -> "AblationInfo":
        p_value = wilcoxon_p(elect.ranks, variant.ranks, "less")
        return cls(variant.name, variant.title, elect.ranks, variant.ranks, p_value)


def ablations_of(result: BenchResult) -> tuple[AblationInfo, ...]:
    return tuple(
        AblationInfo.of(result[ELECT], result[variant.name]) for variant in ABLATIONS if variant.name in result
    )


def run_ablations(bed: Bed, protocol: str, seed: int, pieces: Pieces, bar: Meter | None = None) -> BenchResult:
    """ELECT and its two ablations."""
    return bench_of(bed, (ELECT_METHOD, *ABLATIONS), protocol, seed=seed, pieces=pieces, bar=bar)


def run_examined(bed: Bed, protocol: str, seed: int, pieces: Pieces, bar: Meter | None = None) -> BenchResult:
    """ELECT and everything that was tried because its rank is not the paper's."""
    return bench_of(bed, examined_methods(bed), protocol, seed=seed, pieces=pieces, bar=bar)


def examined_methods(bed: Bed) -> Sequence[Method]:
    """On the published numbers, what is changed in learning and search; on computed ones, in the measures."""
    return (ELECT_METHOD, *(EXAMINED if bed.source == "published" else EXAMINED_COMPUTED))
