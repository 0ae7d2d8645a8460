"""The baselines by name, in the order of the paper's table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from elect.bench.baselines.base import Selector
from elect.bench.baselines.ensemble import MegaEnsemble
from elect.bench.baselines.factorization import Alors, MetaOD
from elect.bench.baselines.fixed import AnyModel, BestMeanRank, GlobalBest, PopularModel
from elect.bench.baselines.internal import ByMeasure
from elect.bench.baselines.neighbors import ArgoSmart, Isac
from elect.bench.baselines.surrogates import MeasureSurrogates, SupervisedSurrogates

Kind = Literal["no selection", "internal measure", "meta-learning", "meta-features"]


@dataclass(frozen=True)
class Baseline:
    """A baseline: its short name, what it is called in full, how it is made from a seed, and what it asks of a task."""

    name: str
    title: str
    kind: Kind
    make: Callable[[int], Selector]
    is_random: bool = False
    needs_scores: bool = False

    @property
    def needs_meta_features(self) -> bool:
        return self.kind == "meta-features"

    @property
    def is_meta_learning(self) -> bool:
        return self.kind in ("meta-learning", "meta-features")


BASELINES: tuple[Baseline, ...] = (
    Baseline("iForest", "iForest, always", "no selection", lambda seed: PopularModel("IForest")),
    Baseline("LOF", "LOF, always", "no selection", lambda seed: PopularModel("LOF")),
    Baseline("ME", "Mega Ensemble", "no selection", lambda seed: MegaEnsemble(), needs_scores=True),
    Baseline("MC", "Model Centrality", "internal measure", lambda seed: ByMeasure("mc")),
    Baseline("SELECT", "SELECT", "internal measure", lambda seed: ByMeasure("select")),
    Baseline("HITS", "HITS", "internal measure", lambda seed: ByMeasure("hits")),
    Baseline("GB", "Global Best (mean performance)", "meta-learning", lambda seed: GlobalBest()),
    Baseline("ISAC", "ISAC", "meta-features", lambda seed: Isac(seed=seed), is_random=True),
    Baseline("AS", "ARGOSMART", "meta-features", lambda seed: ArgoSmart()),
    Baseline("ALORS", "ALORS", "meta-features", lambda seed: Alors(seed=seed), is_random=True),
    Baseline("MetaOD", "MetaOD", "meta-features", lambda seed: MetaOD(seed=seed), is_random=True),
    Baseline(
        "SS", "Supervised Surrogates", "meta-features", lambda seed: SupervisedSurrogates(seed=seed), is_random=True
    ),
    Baseline("IPM_SS", "IPM-based Supervised Surrogates", "meta-learning", lambda seed: MeasureSurrogates(seed=seed)),
    Baseline("random", "any model, in expectation", "no selection", lambda seed: AnyModel()),
    Baseline("best-rank", "best fixed model by mean rank", "meta-learning", lambda seed: BestMeanRank()),
)
"""The paper's thirteen, then two that it leaves out and that are hard to beat."""

PAPER_BASELINES: tuple[str, ...] = tuple(baseline.name for baseline in BASELINES[:13])
