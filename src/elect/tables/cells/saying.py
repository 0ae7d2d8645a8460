"""What is odd about a cell, in words that a person can check."""

from typing import TYPE_CHECKING

import numpy as np

from elect.support import wording
from elect.tables.cells._base import PLACE, Cells, Signals
from elect.tables.cells.numbers import MOST_DECIMALS, NumberJudge
from elect.tables.cells.words import WordColumn, slip_of

if TYPE_CHECKING:
    from elect.tables.cells import CellJudge

_LEAST = 1.0
"""A signal below this is not worth a word."""

_BEYOND = 0.02
"""Where a larger share of the values lies beyond, one cannot say of nearly all that they do not."""


_FEW = 10
"""So many rows are counted, not told as a share."""


def say(judge: "CellJudge", cells: Cells, signals: Signals, row: int, column: int) -> str:
    """What is odd about one cell; empty where nothing is."""
    own = signals[row, column]
    if column in cells.number_at:
        return _say_number(judge, cells, own, row, cells.number_at.index(column), column)
    j = cells.word_at.index(column)
    return _say_word(judge, cells, own, row, j)


def _say_number(judge: "CellJudge", cells: Cells, own: Signals, row: int, j: int, column: int) -> str:
    numbers = judge.numbers
    x = float(cells.numbers[row, j])
    if np.isnan(x):
        share = wording.percent(float(np.exp(-numbers.missing[j])))
        return "no number" if cells.unread[row, j] else f"in {share} of rows"
    at = {name: float(own[PLACE[name]]) for name in PLACE}
    when = numbers.is_time[j]
    show = _date if when else _plain
    if at["sign"] > _LEAST and at["sign"] >= at["shift"]:
        return f"usual with the other sign: median {show(numbers.scale.middle[j])}"
    if at["swap"] > _LEAST:
        return _partner(cells, numbers, row, j)
    two = _one_of_two(numbers, j, x)
    beyond = "" if two else _beyond(numbers, j, x)
    if at["sentinel"] > _LEAST:
        usual = beyond or f"median {show(numbers.scale.middle[j])}"
        return f"may stand for missing; {usual}"
    if at["shift"] > _LEAST and at["gap"] > 0.5 and not two:
        middle = float(numbers.scale.middle[j])
        times = _factor(x, middle)
        if beyond:
            return f"{times}; {beyond}" if times else beyond
        return f"{times} {show(middle)}" if times else f"median {show(middle)}"
    if at["gap"] > _LEAST and beyond:
        return beyond
    foretold = max(at["residual"], at["residual_log"]) > 1.5 and at["excess"] > 0.4
    if two:
        return f"unlikely with the other columns of this row; {two}" if foretold and two.endswith("% of rows") else two
    if foretold:
        about = _about(numbers, j, x, judge.given.foretold(cells, numbers, row, j))
        known = numbers.distinct[_column(numbers, j)]
        if len(known) and not known[0] <= about <= known[-1]:
            return f"the other columns suggest a much {'lower' if about < x else 'higher'} value"
        if about != x:
            return f"the other columns suggest about {show(about)}"
    if at["order"] > 0:
        other = judge.given.broken_with(cells, row, j)
        if other is not None:
            a, b, name = other
            return f"{'above' if a else 'below'} {name}, which it is in {wording.percent(b)} of rows"
    if at["far"] > 1.1:
        as_far = float(np.exp(-at["tail"]))
        rows = round(as_far * int(numbers.counts[j]))
        seen = f"only {wording.count(rows, 'row')}" if rows <= _FEW else f"{wording.percent(as_far)} of rows"
        side = "high" if x >= numbers.scale.middle[j] else "low"
        return f"median {show(numbers.scale.middle[j])}; as {side} in {seen}"
    if at["decimals"] > 2.0 and _decimals(x) > np.argmin(numbers.decimals[j]):
        return f"written with more decimals than most; median {show(numbers.scale.middle[j])}"
    if x == numbers.scale.middle[j]:
        return "the median; odd only beside the other values of this row"
    return f"median {show(numbers.scale.middle[j])}"


def _say_word(judge: "CellJudge", cells: Cells, own: Signals, row: int, j: int) -> str:
    column = judge.words.columns[j]
    word = cells.words[j][row]
    if word is None:
        return f"in {wording.percent(float(np.exp(-column.missing)))} of rows"
    count = column.counts.get(word, 0)
    seen = _seen(count, column)
    if own[PLACE["near"]] > _LEAST:
        like = slip_of(word, max(count, 1), column.near)
        if like is not None:
            return f"nearly {wording.short(like[0])!r}, which is in {wording.count(like[1], 'row')}; {seen}"
    unlikely = own[PLACE["unlikely"]]
    # That a frequent value is frequent is no reason; the least that the other columns say against it is.
    frequent = count > 0.05 * column.rows and unlikely > 0.1
    if frequent or (unlikely > 0.7 and unlikely > own[PLACE["rare"]] / 3):
        return f"unlikely with the other columns of this row; {seen}"
    return seen


def _seen(count: int, column: WordColumn) -> str:
    if count == 0:
        return "never seen before"
    return f"in {_share_of(count, column.rows)}"


def _one_of_two(numbers: NumberJudge, j: int, x: float) -> str:
    """How frequent a value is, in a column of two values: nothing lies beyond or between."""
    here = _column(numbers, j)
    u = numbers.distinct[here]
    if len(u) != 2 or x not in u:
        return ""
    low = int(numbers.at_most[here][0])
    rows = low if x == u[0] else int(numbers.counts[j]) - low
    return f"in {_share_of(rows, int(numbers.counts[j]))}"


def _share_of(rows: int, of: int) -> str:
    if rows <= _FEW:
        return f"{wording.count(rows)} of {wording.count(of, 'row')}"
    return f"{wording.percent(rows / of)} of rows"


def _beyond(numbers: NumberJudge, j: int, x: float) -> str:
    """Where the others end: the next value towards the median, or the bulk where several values lie beyond it."""
    here = _column(numbers, j)
    u = numbers.distinct[here]
    middle = numbers.scale.middle[j]
    show = _date if numbers.is_time[j] else _plain
    inner = u[(u < x) & (u >= middle)] if x >= middle else u[(u > x) & (u <= middle)]
    if len(inner) == 0:
        return ""
    # Several wrong values may lie together: the bulk begins on the other side of the widest gap.
    ordered = np.sort(np.abs(np.r_[inner, x] - middle))
    widest = int(np.argmax(np.diff(ordered)))
    above = x >= middle
    edge = middle + ordered[widest] if above else middle - ordered[widest]
    if widest < len(ordered) - 2 or bool((u > x).any() if above else (u < x).any()):
        within = np.searchsorted(u, edge, side="right" if above else "left")
        at_most = int(np.r_[0, numbers.at_most[here]][within])
        beyond = numbers.counts[j] - at_most if above else at_most
        if beyond > max(_BEYOND * numbers.counts[j], 1):
            return ""
        return f"nearly all others are at {'most' if above else 'least'} {show(edge)}"
    return f"next {'highest' if above else 'lowest'} {show(edge)}"


def _about(numbers: NumberJudge, j: int, x: float, foretold: float) -> float:
    """What is foretold, as far as it says something: two digits of how far it is from the value, and whole where all of
    the column is."""
    u = numbers.distinct[_column(numbers, j)]
    away = abs(x - foretold)
    if len(u) == 0 or not 0 < away < np.inf or numbers.is_time[j]:
        return foretold
    unit = 10.0 ** (np.floor(np.log10(away)) - 1)
    if np.abs(u).max() < 2.0**53 and (u == np.floor(u)).all():
        unit = max(unit, 1.0)
    # Divided by a whole number where the unit is small: 57 * 0.1 is not 5.7.
    return float(np.round(foretold / unit) * unit if unit >= 1 else np.round(foretold / unit) / np.round(1 / unit))


def _column(numbers: NumberJudge, j: int) -> slice:
    return slice(int(numbers.starts[j]), int(numbers.starts[j + 1]))


def _factor(x: float, middle: float) -> str:
    ratio = x / middle if middle else 0.0  # with another sign it is no multiple
    if ratio >= 2:
        return f"{wording.number(ratio, 2)} times the median"
    return f"{wording.number(1 / ratio, 2)} times smaller than the median" if 0 < ratio <= 0.5 else ""


def _partner(cells: Cells, numbers: NumberJudge, row: int, j: int) -> str:
    """The column that this cell seems to have changed places with."""
    x = cells.numbers[row]
    there = [
        max(abs(float(numbers.signed_at(x[j], k))), abs(float(numbers.signed_at(x[k], j)))) if k != j else np.inf
        for k in range(len(x))
    ]
    name = cells.names[cells.number_at[int(np.nanargmin(there))]]
    return f"would be usual in {wording.short(name)}, and that value here"


def _decimals(x: float) -> int:
    return len(f"{x:.{MOST_DECIMALS}f}".rstrip("0").partition(".")[2])


def _plain(value: float) -> str:
    return wording.number(float(value))


def _date(days: float) -> str:
    try:
        return str(np.datetime64("1970-01-01") + np.timedelta64(int(np.floor(days)), "D"))
    except (OverflowError, ValueError):
        return wording.number(float(days))
