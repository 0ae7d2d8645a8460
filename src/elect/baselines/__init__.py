"""The baselines of the paper behind one ``Selector`` protocol."""

from elect.baselines.base import Choice, FittedSelector, History, Selector, TaskView
from elect.baselines.ensemble import MegaEnsemble
from elect.baselines.factorization import Alors, MetaOD
from elect.baselines.fixed import AnyModel, BestMeanRank, GlobalBest, PopularModel
from elect.baselines.internal import ByMeasure
from elect.baselines.metafeatures import meta_features
from elect.baselines.neighbors import ArgoSmart, Isac
from elect.baselines.registry import BASELINES, PAPER_BASELINES, Baseline
from elect.baselines.surrogates import MeasureSurrogates, SupervisedSurrogates

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
