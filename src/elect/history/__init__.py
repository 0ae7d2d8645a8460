"""The history of labelled tasks, from tables to a database.

- ``corpus``: labelled tables in a folder or a manifest.
- ``records``: what is kept of each task, from scores that ``workers`` made; ``pieces``: finished work that a run killed
  half-way finds again.
- ``train``: all of it, from a corpus to a database. ``learning``: what is learned from records, and from records
  without some tasks. ``tuning``: the settings of the search, chosen by leaving groups out.
- ``database``: ``MetaDatabase``; ``store``: its file; ``shipped``: the one inside the package; ``expectation``: the
  expected rank of its picks; ``grid``: where the models of its pool stand to each other.
"""

from elect.history.corpus import read_corpus
from elect.history.train import train

__all__ = ["read_corpus", "train"]
