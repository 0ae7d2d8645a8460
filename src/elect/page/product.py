"""The product behind the page: a table on the road of ``elect.detect``, answered about with ``elect.answers``."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from elect.core import SearchStep
from elect.detect.election import Election
from elect.detect.opened import OpenedTable
from elect.detect.options import Options
from elect.history.database import MetaDatabase
from elect.page._base import Progress, Ranking
from elect.page.found import TableFound
from elect.page.meanings import Numbers
from elect.page.together import Together, ranked
from elect.tables import Table

if TYPE_CHECKING:
    import polars as pl

_BETWEEN_RANKINGS = 0.7
_FEWEST_MODELS = 4


class TableProduct:
    """A table that is held whole."""

    def __init__(self, path: Path, opened: OpenedTable, database: MetaDatabase | None, options: Options) -> None:
        assert opened.whole is not None
        self.path = path
        self.opened = opened
        self.options = options
        self._table: Table = opened.whole
        self._database = database

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def frame(self) -> "pl.DataFrame":
        return self._table.frame

    @cached_property
    def row_ids(self) -> "pl.Series":
        id = self.options.id
        return self._table.frame[id] if id in self._table.columns else self._table.row_ids

    @cached_property
    def numbers(self) -> Numbers:
        return Numbers(self._table)

    def written(self, column: str, number: float) -> str:
        return self.numbers.written(column, number)

    @property
    def database(self) -> MetaDatabase:
        """The history to elect from, read when it is first needed."""
        if self._database is None:
            from elect.history.shipped import shipped_database

            self._database = shipped_database()
        return self._database

    def search(self, left_out: Sequence[str]) -> "TableSearch":
        return TableSearch(self, replace(self.options, drop=(*self.options.drop, *left_out)))


class TableSearch:
    """One election on the table, and what its models say together as it goes on."""

    def __init__(self, product: TableProduct, options: Options) -> None:
        self._product = product
        self._options = options
        self._election: Election | None = None
        self._together: Together | None = None

    def steps(self) -> Iterator[Progress]:
        yield Progress(0, None, "preparing the columns")
        election = Election(self._product.opened, self._product.database, self._options)
        self._election = election
        self._together = together = Together(election.scorer.n_points)
        shown = 0.0
        for step in election.steps():
            if step.evaluated is not None and step.failure is None:
                together.hear(election.scorer.scores(step.evaluated))
            ranking = None
            if together.heard >= _FEWEST_MODELS and time.monotonic() - shown > _BETWEEN_RANKINGS:
                ranking, shown = self._so_far(step), time.monotonic()
            yield Progress(together.heard, election.most_models, "scoring models", step, ranking)

    def found(self, stopped_because: str | None = None) -> TableFound:
        if self._election is None or self._together is None:
            self._election = Election(self._product.opened, self._product.database, self._options)
            self._together = Together(self._election.scorer.n_points)
            next(self._election.steps())  # the first step comes without any work
        selection = self._election.selection(stopped_because or "the caller stopped")
        return TableFound(self._product, self._election, selection, self._together)

    def _so_far(self, step: SearchStep) -> Ranking:
        assert self._election is not None
        assert self._together is not None
        return ranked(self._product.frame.height, self._election.positions, self._together, step.pick.model_id)
