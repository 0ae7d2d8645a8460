"""The history of labelled tasks: corpora, records, training, and the database that comes of it."""

from elect.history.corpus import read_corpus
from elect.history.train import train

__all__ = ["read_corpus", "train"]
