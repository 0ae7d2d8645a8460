"""Words judged by their own column: a rare one, one that is nearly a frequent one, one built unlike the others."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elect.support.arrays import FloatArray
from elect.tables.cells._base import PLACE, Cells, Signals
from elect.tables.cells.numbers import tail_signal
from elect.tables.cells.survey import Survey

if TYPE_CHECKING:
    import polars as pl

MOST_COMPARED = 400
"""Frequent categories, and characters of one, that others are compared with."""

_LONGEST = 60
"""Characters of a word that is compared."""

_LEAST_RATIO = 4.0
"""A category is a slip of another only where that one is so many times as frequent."""

_SAME, _ONE, _TWO, _DIGIT = 2.0, 1.5, 1.0, 0.25
"""How strongly a likeness speaks: the same but for case and blanks, one slip, two slips, slips in digits only."""


@dataclass(frozen=True)
class WordColumn:
    """What was learned of one column of words: the signals of each word, and of one that was never seen."""

    words: dict[str, tuple[float, float, float]]
    counts: dict[str, int]
    forms: dict[str, float]
    near: dict[str, tuple[str, int]]
    """Frequent categories by what is left of them with one character deleted."""
    apart: float
    """The share of frequent categories that are not nearly another one: where most are, as among short codes, being
    like one is no slip."""
    unseen: float
    unseen_form: float
    missing: float
    rows: int


@dataclass(frozen=True)
class WordJudge:
    """What was learned of the columns of words."""

    columns: tuple[WordColumn, ...]

    @classmethod
    def fit(cls, cells: Cells) -> "WordJudge":
        return cls(tuple(_learn(series) for series in cells.words))

    def surveyed(self, survey: Survey) -> "WordJudge":
        """Learned from a sample, with how often each word is seen in all rows, where that is known."""
        return WordJudge(
            tuple(
                column if counts is None else _learned(counts, survey.rows)
                for column, counts in zip(self.columns, survey.words, strict=True)
            )
        )

    def judge(self, cells: Cells, out: Signals) -> None:
        """Fill in the signals of the columns of words."""
        for column, series, place in zip(self.columns, cells.words, cells.word_at, strict=True):
            distinct = series.unique()
            table = {word: self._signals(column, word) for word in distinct.to_list() if word is not None}
            gone = series.is_null().to_numpy()
            out[gone, place, PLACE["missing"]] = column.missing
            codes = series.replace_strict(list(table), list(range(len(table))), default=len(table)) if table else None
            if codes is None:
                continue
            index = codes.fill_null(len(table)).to_numpy().astype(np.intp)
            found = np.array([*table.values(), (0.0, 0.0, 0.0)], dtype=np.float32)[index]
            found[gone] = 0.0
            for k, name in enumerate(("rare", "near", "form")):
                out[:, place, PLACE[name]] = found[:, k]

    @staticmethod
    def _signals(column: WordColumn, word: str) -> tuple[float, float, float]:
        known = column.words.get(word)
        if known is not None:
            return known
        form = column.forms.get(form_of(word), column.unseen_form)
        return column.unseen, column.apart * likeness(word, 1, column.near), form


def _learn(series: "pl.Series") -> WordColumn:
    return _learned(Counter(dict(series.value_counts().iter_rows())), len(series))


def _learned(seen: Counter[str | None], n_rows: int) -> WordColumn:
    """From how often each word is seen in so many rows; None is a missing one."""
    rows = max(n_rows, 1)
    missing = -np.log(max(seen[None] / rows, 0.5 / rows))
    # The most frequent first, equally frequent ones by the alphabet.
    counted = sorted(((word, n) for word, n in seen.items() if word is not None), key=lambda item: (-item[1], item[0]))
    if not counted:
        return WordColumn({}, {}, {}, {}, 1.0, 0.0, 0.0, float(missing), rows)
    words = [word for word, _ in counted]
    counts: FloatArray = np.array([n for _, n in counted], dtype=np.float64)
    rare = tail_signal(counts, counts)
    forms: dict[str, float] = {}
    for word, count in zip(words, counts, strict=True):
        form = form_of(word)
        forms[form] = forms.get(form, 0.0) + float(count)
    sizes = np.array(list(forms.values()))
    odd = dict(zip(forms, tail_signal(sizes, sizes).tolist(), strict=True))
    near = _deletions(words, counts)
    apart = _apart(words, counts)
    least = counts[0] / _LEAST_RATIO
    signals = {
        word: (float(r), apart * likeness(word, int(c), near) if c <= least else 0.0, odd[form_of(word)])
        for word, r, c in zip(words, rare, counts, strict=True)
    }
    unseen = float(tail_signal(np.r_[counts, 1.0], np.array([1.0]))[0])
    unseen_form = float(tail_signal(np.r_[sizes, 1.0], np.array([1.0]))[0])
    times = {word: int(count) for word, count in zip(words, counts, strict=True)}
    return WordColumn(signals, times, odd, near, apart, unseen, unseen_form, float(missing), rows)


def form_of(word: str) -> str:
    """How a text is built: letters, digits and signs, runs of a kind as one.

    >>> form_of("AB-1234"), form_of("Rome "), form_of("rome")
    ('A-9', 'Aa_', 'a')
    """
    out: list[str] = []
    for c in word[:60]:
        kind = "9" if c.isdigit() else ("A" if c.isupper() else "a") if c.isalpha() else "_" if c.isspace() else c
        if kind in "Aa" and not c.isascii():
            kind = "ä"
        if not out or out[-1] != kind:
            out.append(kind)
    return "".join(out)


def _plain(word: str) -> str:
    return "".join(word.casefold().split())


def _shortened(plain: str) -> set[str]:
    return {plain[:i] + plain[i + 1 :] for i in range(len(plain))}


def _deletions(words: list[str], counts: FloatArray) -> dict[str, tuple[str, int]]:
    """What is left of the frequent words with no character or one deleted; the most frequent word keeps its place."""
    found: dict[str, tuple[str, int]] = {}
    for word, count in zip(words[:MOST_COMPARED], counts, strict=False):
        if count < _LEAST_RATIO:
            break
        plain = _plain(word)
        if len(plain) > MOST_COMPARED:
            continue
        for part in (plain, *_shortened(plain)):
            found.setdefault(part, (word, int(count)))
    return found


def _apart(words: list[str], counts: FloatArray) -> float:
    """The share of frequent words that are not one slip away from another.

    >>> _apart(["Rome", "Paris", "Oslo"], np.array([50.0, 40.0, 30.0]))
    1.0
    >>> _apart(["JAX", "LAX", "PHX", "PHL"], np.array([50.0, 40.0, 30.0, 20.0]))
    0.0
    """
    common = zip(words[:MOST_COMPARED], counts, strict=False)
    frequent = {_plain(word) for word, count in common if count >= _LEAST_RATIO}
    found = [{plain, *_shortened(plain)} for plain in frequent if len(plain) <= _LONGEST]
    times = Counter(part for parts in found for part in parts)
    near = sum(any(times[part] > 1 for part in parts) for parts in found)
    return 1.0 - near / max(len(frequent), 1)


def likeness(word: str, count: int, near: dict[str, tuple[str, int]]) -> float:
    """How much a word looks like a slip of a more frequent one.

    >>> near = _deletions(["Rome", "Paris"], np.array([50.0, 40.0]))
    >>> likeness("rome ", 1, near) > likeness("Rone", 1, near) > likeness("Oslo", 1, near) == 0.0
    True
    """
    found = slip_of(word, count, near)
    return 0.0 if found is None else found[2]


def slip_of(word: str, count: int, near: dict[str, tuple[str, int]]) -> tuple[str, int, float] | None:
    """The frequent word that this one most looks like a slip of, how often it is seen, and how strongly."""
    plain = _plain(word)
    if len(plain) > _LONGEST:
        return None
    best: tuple[str, int, float] | None = None
    for part in (plain, *_shortened(plain)):
        hit = near.get(part)
        if hit is None or hit[0] == word or hit[1] < _LEAST_RATIO * count:
            continue
        strength = _strength(plain, _plain(hit[0])) * float(np.log(hit[1] / count))
        if strength > 0 and (best is None or strength > best[2]):
            best = (*hit, strength)
    return best


def _strength(a: str, b: str) -> float:
    if a == b:
        return _SAME
    if min(len(a), len(b)) < 3:
        return 0.0
    if sorted(c for c in a if not c.isdigit()) == sorted(c for c in b if not c.isdigit()) and a != b:
        letters = "".join(c for c in a if not c.isdigit()) == "".join(c for c in b if not c.isdigit())
        if letters:
            return _DIGIT
    one = abs(len(a) - len(b)) == 1 or sum(x != y for x, y in zip(a, b, strict=False)) <= 2
    return _ONE if one else (_TWO if min(len(a), len(b)) >= 6 else 0.0)
