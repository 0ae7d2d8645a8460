"""The baselines of the paper behind one ``Selector`` protocol."""

from elect.bench.baselines.base import Choice, FittedSelector, History, Selector, TaskView
from elect.bench.baselines.ensemble import MegaEnsemble
from elect.bench.baselines.factorization import Alors, MetaOD
from elect.bench.baselines.fixed import AnyModel, BestMeanRank, GlobalBest, PopularModel
from elect.bench.baselines.internal import ByMeasure
from elect.bench.baselines.metafeatures import meta_features
from elect.bench.baselines.neighbors import ArgoSmart, Isac
from elect.bench.baselines.registry import BASELINES, PAPER_BASELINES, Baseline
from elect.bench.baselines.surrogates import MeasureSurrogates, SupervisedSurrogates

__all__ = [
    "BASELINES",
    "PAPER_BASELINES",
    "Alors",
    "AnyModel",
    "ArgoSmart",
    "Baseline",
    "BestMeanRank",
    "ByMeasure",
    "Choice",
    "FittedSelector",
    "GlobalBest",
    "History",
    "Isac",
    "MeasureSurrogates",
    "MegaEnsemble",
    "MetaOD",
    "PopularModel",
    "Selector",
    "SupervisedSurrogates",
    "TaskView",
    "meta_features",
]
