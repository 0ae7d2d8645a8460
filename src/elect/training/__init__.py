"""The offline phase: from a corpus of labelled tasks to a meta-database."""

from elect.training.corpus import read_corpus
from elect.training.performance import performance
from elect.training.train import train

__all__ = ["performance", "read_corpus", "train"]
