"""What a browser asks to see: rows, one row, the map, columns, models. Reads a moment, changes nothing."""

import threading
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.errors import InvalidInput
from elect.page import views
from elect.page._base import Found, Product, Ranking
from elect.page.moment import Moment
from elect.page.rows import Query, find, ordered
from elect.support.arrays import IntArray

MOST_ROWS = 200
"""A browser gets so many rows at a time."""

_KEPT_ORDERS = 8
_CELL = 120
_REASONED = 100
"""So many of the top rows always get reasons; further down, only flagged ones."""

View = dict[str, Any]


class Reader:
    """Keeps what is costly to make and does not change: the last orders, and the bins of each column."""

    def __init__(self, product: Product) -> None:
        self._product = product
        self._lock = threading.Lock()
        self._orders: OrderedDict[Any, IntArray] = OrderedDict()
        self._places: tuple[int, IntArray] | None = None
        self._bins: dict[str, views.Bins] = {}

    def table(self) -> View:
        """What never changes about the table."""
        product = self._product
        return {
            "name": product.name,
            "rows": product.frame.height,
            "id": product.row_ids.name,
            "columns": [{"name": name, "number": name in product.numbers} for name in product.frame.columns],
        }

    def name(self, position: int) -> str:
        return str(views.cut(str(self._product.row_ids[position]), 80))

    def rows(self, moment: Moment, query: Query, start: int, count: int) -> View:
        """A range of the rows that a query means."""
        ranking = _ranked(moment)
        order = self._order(moment, ranking, query)
        shown = order[max(start, 0) : max(start, 0) + min(max(count, 0), MOST_ROWS)]
        return {
            "rows_version": moment.rows_version,
            "total": len(order),
            "start": start,
            "rows": self._rows(moment, ranking, shown),
        }

    def find(self, moment: Moment, query: Query, row: str) -> View:
        """Where a row is in the order of a query; None if it is not there."""
        order = self._order(moment, _ranked(moment), query)
        place = find(row, self._product.row_ids, order)
        return {"place": place, "position": None if place is None else int(order[place])}

    def row(self, moment: Moment, position: int) -> View:
        """All there is to say about a row: its values on the histograms of their columns, and an ordinary row."""
        ranking, product = _ranked(moment), self._product
        self._check(position)
        above = ranking.chance >= moment.threshold
        found = moment.found
        like = None if found is None else found.ordinary_like(position)
        shown = [position] if like is None else [position, like]
        cells = product.frame[shown]
        columns = []
        for name in product.frame.columns:
            values = views.texts(cells[name])
            bins = self._bins_of(name)
            number = product.numbers.get(name)
            columns.append(
                {
                    "name": name,
                    "value": values[0],
                    "ordinary": values[1] if like is not None else None,
                    "bin": int(bins.place[position]),
                    "number": None if number is None or not np.isfinite(number[position]) else float(number[position]),
                    "bars": self._bars(name, above),
                }
            )
        view = self._rows(moment, ranking, np.array([position]), reasoned=True)[0]
        return {
            **view,
            "columns": columns,
            "ordinary": None if like is None else {"position": like, "row": self.name(like)},
            "rows_version": moment.rows_version,
        }

    def map(self, moment: Moment) -> View:
        """Rows in the plane, the likeliest last, so that they are drawn on top."""
        ranking = _ranked(moment)
        placed = _finished(moment).placed()
        order = np.argsort(ranking.chance[placed.positions], kind="stable")
        positions = placed.positions[order]
        return {
            "rows_version": moment.rows_version,
            "note": placed.note,
            "positions": positions.tolist(),
            "names": [self.name(int(p)) for p in positions],
            "x": np.round(placed.xy[order, 0], 4).tolist(),
            "y": np.round(placed.xy[order, 1], 4).tolist(),
            "chance": np.round(ranking.chance[positions], 4).tolist(),
        }

    def columns(self, moment: Moment) -> View:
        """What was done with each column, its distribution, and where the flagged rows lie in it."""
        ranking = _ranked(moment)
        above = ranking.chance >= moment.threshold
        facts = {} if moment.found is None else {fact.column: fact for fact in moment.found.columns}
        found = []
        for name in self._product.frame.columns:
            fact = facts.get(name)
            found.append(
                {
                    "name": name,
                    "role": None if fact is None else fact.role,
                    "kind": None if fact is None else fact.kind,
                    "done": None if fact is None else fact.done,
                    "why": None if fact is None else fact.why,
                    "missing": None if fact is None else fact.missing,
                    "left_out": name in moment.left_out,
                    "bars": self._bars(name, above),
                }
            )
        return {"columns": found}

    def models(self, moment: Moment) -> View:
        """The election as far as it came; once it has ended, what it rests on and how far the families agree."""
        found = moment.found if moment.phase == "ready" else None
        selection = None if found is None else found.selection
        neighbors = moment.steps[-1].neighbors if moment.steps else ()
        return {
            "steps": [views.step_view(step) for step in moment.steps],
            "neighbors": [{"task": n.task, "similarity": n.similarity} for n in neighbors],
            "selection": None if selection is None else views.selection_view(selection),
            "agreement": None if found is None else views.agreement_view(found.agreement),
        }

    def compare(self, moment: Moment, one: str, other: str) -> View:
        """What one model ranks at the top and the other does not: as many rows as are flagged."""
        found, ranking = _finished(moment), _ranked(moment)
        known = () if found.selection is None else found.selection.evaluated
        for model_id in (one, other):
            if model_id not in known:
                raise InvalidInput(f"The model {model_id!r} was not evaluated.")
        count = max(10, int((ranking.chance >= moment.threshold).sum()))
        count = min(count, self._product.frame.height)
        groups = views.compare(found.model_scores(one), found.model_scores(other), count)
        return {
            "count": count,
            **{
                name: {
                    "count": len(positions),
                    "rows": self._rows(moment, ranking, positions[: views.MOST_COMPARED], cells=False),
                }
                for name, positions in groups.items()
            },
        }

    def _rows(
        self, moment: Moment, ranking: Ranking, positions: IntArray, *, cells: bool = True, reasoned: bool = False
    ) -> list[View]:
        product, said = self._product, moment.said
        places = self._places_of(moment, ranking)[positions]
        reasons: dict[int, list[View]] = {}
        if moment.found is not None:
            top = places <= _REASONED
            asked = positions[np.ones(len(positions), bool) if reasoned else top | self._above(moment, positions)]
            if len(asked):
                given = moment.found.reasons([int(p) for p in asked])
                reasons = {int(p): views.reasons_view(r) for p, r in zip(asked, given, strict=True)}
        texts = (
            [views.texts(column, _CELL) for column in product.frame[positions].iter_columns()]
            if cells and len(positions)
            else []
        )
        return [
            {
                "position": int(p),
                "row": self.name(int(p)),
                "place": int(places[i]),
                "chance": round(float(ranking.chance[p]), 4),
                "flagged": bool(ranking.chance[p] >= moment.threshold),
                "kind": ranking.kinds[int(ranking.kind[p])] if ranking.kinds else "",
                "reasons": reasons.get(int(p), []),
                "answer": {True: "yes", False: "no", None: "unknown"}[said[int(p)]] if int(p) in said else None,
                **({"cells": [column[i] for column in texts]} if cells else {}),
            }
            for i, p in enumerate(positions)
        ]

    def _above(self, moment: Moment, positions: IntArray) -> NDArray[np.bool_]:
        return _ranked(moment).chance[positions] >= moment.threshold

    def _order(self, moment: Moment, ranking: Ranking, query: Query) -> IntArray:
        answered = tuple(p for p, _ in moment.answers) if query.shown == "answered" else ()
        key = (moment.rows_version, moment.threshold if query.shown == "flagged" else None, answered, query)
        with self._lock:
            if key in self._orders:
                self._orders.move_to_end(key)
                return self._orders[key]
        order = ordered(query, self._product.frame, self._product.numbers, ranking, moment.threshold, answered)
        with self._lock:
            self._orders[key] = order
            while len(self._orders) > _KEPT_ORDERS:
                self._orders.popitem(last=False)
        return order

    def _places_of(self, moment: Moment, ranking: Ranking) -> IntArray:
        kept = self._places
        if kept is None or kept[0] != moment.rows_version:
            kept = (moment.rows_version, views.places(ranking.chance))
            self._places = kept
        return kept[1]

    def _bars(self, name: str, above: NDArray[np.bool_]) -> View:
        return views.bars(self._bins_of(name), above, lambda number: self._product.written(name, number))

    def _bins_of(self, name: str) -> views.Bins:
        if name not in self._bins:
            self._bins[name] = views.Bins.of(self._product.frame[name], self._product.numbers.get(name))
        return self._bins[name]

    def _check(self, position: int) -> None:
        if not 0 <= position < self._product.frame.height:
            raise InvalidInput(f"Rows are counted from 0 to {self._product.frame.height - 1}, got {position}.")


def _ranked(moment: Moment) -> Ranking:
    if moment.ranking is None:
        raise NotYet("The rows are not ranked yet.")
    return moment.ranking


def _finished(moment: Moment) -> Found:
    if moment.found is None:
        raise NotYet("The search has not ended yet.")
    return moment.found


class NotYet(InvalidInput):
    """Asked for before it was there."""
