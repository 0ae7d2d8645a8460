"""What the columns of a table hold, for sorting, filtering and drawing: numbers, moments or words."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from elect.errors import ElectError
from elect.support import wording
from elect.support.arrays import FloatArray
from elect.tables import ColumnTreatment, Table, values
from elect.tables.encoders import NumberEncoder, TimeEncoder, usable

if TYPE_CHECKING:
    import polars as pl

_LOOKED_AT = 2000
"""Rows that tell what a column holds."""


class Numbers(Mapping[str, FloatArray]):
    """The columns that hold numbers or moments, read when they are first needed. What a column holds is decided by what
    ``elect.tables`` would do with it, on some rows spread over the table."""

    def __init__(self, table: Table) -> None:
        self._frame = table.frame
        self._how: dict[str, NumberEncoder | TimeEncoder] = {}
        self._read: dict[str, FloatArray] = {}
        places = np.unique(np.linspace(0, table.n_rows - 1, _LOOKED_AT).astype(np.intp))
        some = Table(table.frame[places], table.row_ids[places], table.source, decimal=table.decimal)
        try:
            steps = ColumnTreatment.fit_transform(some)[0].steps
        except ElectError:
            steps = ()
        for step in steps:
            if isinstance(step.encoder, NumberEncoder | TimeEncoder):
                self._how[step.column] = step.encoder
        for name in table.columns:
            if name not in self._how and _is_number(some.frame[name]):
                self._how[name] = NumberEncoder(0.0, decimal=table.decimal or ".")

    def __getitem__(self, name: str) -> FloatArray:
        if name not in self._read:
            self._read[name] = _numbers(self._how[name], self._frame[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._frame.columns if name in self._how)

    def __len__(self) -> int:
        return len(self._how)

    def __contains__(self, name: object) -> bool:
        return name in self._how

    def written(self, name: str, number: float) -> str:
        """A number of a column as people write it."""
        how = self._how[name]
        if isinstance(how, NumberEncoder):
            return wording.number(number)
        if how.clock:
            return f"{int(number // 3600):02d}:{int(number // 60 % 60):02d}"
        try:
            return datetime.fromtimestamp(number, UTC).strftime("%Y-%m-%d")
        except (OverflowError, OSError, ValueError):
            return wording.number(number)


def _is_number(cells: "pl.Series") -> bool:
    """Whether a column that elect leaves out, such as one of ids, holds nothing but numbers."""
    parsed = values.numbers(cells)
    return parsed.failed == 0 and bool(np.isfinite(parsed.values).any())


def _numbers(how: NumberEncoder | TimeEncoder, cells: "pl.Series") -> FloatArray:
    if isinstance(how, NumberEncoder):
        return usable(values.numbers(cells, how.decimal))
    return usable(values.clocks(cells) if how.clock else values.dates(cells, how.order))
