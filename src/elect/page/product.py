"""The product behind the page: a table on the road of ``elect.detect``, answered about with ``elect.answers``."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from elect.detect.opened import OpenedTable
from elect.page._base import Progress
from elect.page.meanings import Numbers
from elect.support import wording
from elect.tables import Table
from elect.tables.naming import named_rows, recognised

if TYPE_CHECKING:
    import polars as pl

    from elect.detect.election import Election
    from elect.detect.options import Options
    from elect.history.database import MetaDatabase
    from elect.page.found import TableFound


class TableProduct:
    """A table that is held whole. ``history`` is the file of the database, where it is not the shipped one."""

    def __init__(
        self,
        path: Path,
        opened: OpenedTable,
        database: "MetaDatabase | None",
        options: "Options",
        history: Path | None = None,
    ) -> None:
        assert opened.whole is not None
        self.path = path
        self.history = history
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
        """What names each row: the id, or the column that is recognised as one. It stays when columns are left out."""
        options = self.options
        name = options.id
        if name is None:
            out = {options.label, *options.drop}
            name = recognised(self.opened.sample, [c for c in options.columns or self._table.columns if c not in out])
        return _whole(named_rows(self._table, name, chosen=options.id is not None), self._table.row_ids)

    @cached_property
    def numbers(self) -> Numbers:
        return Numbers(self._table)

    def written(self, column: str, number: float) -> str:
        return self.numbers.written(column, number)

    @property
    def database(self) -> "MetaDatabase":
        """The history to elect from, read when it is first needed."""
        if self._database is None:
            from elect.history.shipped import shipped_database

            self._database = shipped_database()
        return self._database

    @property
    def strategy(self) -> str:
        return self.options.elected_by

    def search(self, left_out: Sequence[str], strategy: str) -> "TableSearch":
        chosen = self.options.strategy if strategy == self.strategy else strategy
        return TableSearch(self, replace(self.options, drop=(*self.options.drop, *left_out), strategy=chosen))


class TableSearch:
    """One election on the table. The committee is heard first: it ranks the rows before any model is elected."""

    def __init__(self, product: TableProduct, options: "Options") -> None:
        self._product = product
        self._options = options
        self._election: Election | None = None
        self._early: TableFound | None = None
        self._found: TableFound | None = None

    def steps(self) -> Iterator[Progress]:
        yield Progress(0, None, "preparing the columns")
        # What searches takes a second to import: the page is served meanwhile.
        from elect.detect.election import Election
        from elect.page.found import TableFound

        election = self._election = Election(self._product.opened, self._product.database, self._options)
        yield Progress(0, election.most_models, "ranking the rows")
        rest = election.opened.n_rows - len(election.positions)
        if rest:
            self._early = TableFound(self._product, election, early=True)
            doing = f"ranking {wording.count(rest, 'more row')}"
            yield Progress(0, rest, doing, found=self._early)
            for done in election.ranked():
                yield Progress(min(done, rest), rest, doing)
        found = self._found = TableFound(self._product, election)
        yield Progress(0, election.most_models, "scoring models", found=found)
        scored = 0
        for step in election.steps():
            scored += step.evaluated is not None
            yield Progress(scored, election.most_models, "scoring models", step)

    def found(self, stopped_because: str | None = None) -> "TableFound":
        from elect.detect.election import Election
        from elect.page.found import TableFound

        if self._election is None:
            self._election = Election(self._product.opened, self._product.database, self._options)
        if self._found is None:
            # Of a long table that was stopped early, the rows that were looked at first are what there is.
            self._found = self._early or TableFound(self._product, self._election)
        if not self._election.has_begun:
            next(self._election.steps())  # the first step comes without any work
        self._found.elected(self._election.selection(stopped_because))
        return self._found


def _whole(names: "pl.Series", numbers: "pl.Series") -> "pl.Series":
    """Names of rows, and the number of a row where its name is missing."""
    import polars as pl

    gone = names.is_null() | (names.cast(pl.String) == "").fill_null(False)
    if not gone.any():
        return names
    numbered = pl.select(pl.format("row {}", numbers)).to_series()
    return names.cast(pl.String).zip_with(~gone, numbered).alias(names.name)
