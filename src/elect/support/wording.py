"""Words and numbers as people write them. Whatever a user reads is put together here."""

import math
import re
from collections.abc import Sequence
from typing import Any

LONGEST_TEXT = 80
"""A text from a table is cut after so many characters where it stands in a line."""

_LONG_DECIMAL = re.compile(r"[+-]?\d*\.\d{5,}(?:[eE][+-]?\d+)?")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\.0+")  # as polars writes moments of frames
_KEPT = frozenset("\u200c\u200d")  # some scripts join and part letters with these
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"


# Numbers


def number(value: float, digits: int = 4) -> str:
    """A measured number: its whole part, and decimals as far as they say something.

    >>> number(44.880419999999994), number(1048.36058), number(2015.0), number(0.0616769), number(1.2e-7)
    ('44.88', '1048.4', '2015', '0.06168', '1.2e-7')
    """
    value = float(value)
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
    size = abs(value)
    if size and not 1e-4 <= size < 1e15:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        return f"{_trimmed(mantissa)}e{int(exponent)}"
    if value == int(value):
        return str(int(value))
    decimals = max(digits - 1 - math.floor(math.log10(size)), 1)
    return _trimmed(f"{value:.{decimals}f}")


def count(value: int, noun: str | None = None, nouns: str | None = None) -> str:
    """A counted number, alone or with its noun.

    >>> count(26115), count(1, "row"), count(1500, "row"), count(0, "class", "classes")
    ('26,115', '1 row', '1,500 rows', '0 classes')
    """
    if noun is None:
        return f"{value:,}"
    return f"{value:,} {noun if value == 1 else nouns or noun + 's'}"


def percent(share: float) -> str:
    """A share, with enough digits to tell few from none and most from all.

    >>> [percent(x) for x in (0, 0.00044, 0.0066, 0.06, 0.25, 0.9996, 1)]
    ['0%', '0.044%', '0.7%', '6%', '25%', '99.9%', '100%']
    """
    if share <= 0 or share >= 1 or math.isnan(share):
        return f"{100 * share:.0f}%"
    if share < 0.001:
        return f"{number(100 * share, 2)}%"
    if share < 0.0995:
        return f"{_trimmed(f'{100 * share:.1f}')}%"
    return f"{100 * share:.0f}%" if share < 0.995 else f"{min(100 * share, 99.9):.1f}%"


def chance(value: float) -> str:
    """A chance: as a share, and on which side of one half it is, where rows begin to be flagged.

    >>> [chance(x) for x in (0.25, 0.498, 0.49999, 0.5, 0.504, 0.97)]
    ['25%', '49.8%', '49.9%', '50%', '50.4%', '97%']
    """
    if not 0 < abs(value - 0.5) < 0.005:
        return percent(value)
    return f"{min(100 * value, 49.9) if value < 0.5 else max(100 * value, 50.1):.1f}%"


_FRACTIONS = (
    (0.02, "hardly any"),
    (0.07, "about one in twenty"),
    (0.12, "about one in ten"),
    (0.18, "about one in seven"),
    (0.225, "about a fifth"),
    (0.29, "about a quarter"),
    (0.37, "about a third"),
    (0.45, "about two fifths"),
    (0.56, "about half"),
    (0.7, "about two thirds"),
    (0.85, "about three quarters"),
    (0.95, "nine in ten"),
)


def roughly(share: float) -> str:
    """An estimated share in words: digits would say more than is known.

    >>> roughly(0.31), roughly(0.146), roughly(0.99)
    ('about a third', 'about one in seven', 'nearly all')
    """
    return next((words for limit, words in _FRACTIONS if share < limit), "nearly all")


def duration(seconds: float) -> str:
    """A length of time.

    >>> [duration(x) for x in (0.004, 0.42, 12.3, 200, 7500)]
    ['0.0 s', '0.4 s', '12 s', '3 min 20 s', '2 h 5 min']
    """
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


# Texts


def clean(text: str) -> str:
    """A text on one line that no terminal obeys and that turns nothing around: line ends and odd blanks become blanks,
    what cannot be seen is shown as unreadable.

    >>> clean("a\\tb\\nc\\x1b[0m")
    'a b c\N{REPLACEMENT CHARACTER}[0m'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _KEPT else " " if c.isspace() else _UNREADABLE for c in text)


def short(text: str, longest: int = LONGEST_TEXT) -> str:
    """A clean text that fits a line.

    >>> short("abcdef", 4)
    'abc…'
    """
    plain = clean(text[: longest + 1])
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def cell(value: Any, longest: int = LONGEST_TEXT) -> str:
    """What a table holds in a cell, as it stands there; only decimals that say nothing are left away, and midnights.

    >>> cell(44.880419999999994), cell("1048.36058"), cell("$5.10"), cell(2013.0), cell(None), cell("")
    ('44.88', '1048.4', '$5.10', '2013', 'missing', 'missing')
    >>> cell("1970-01-01 00:00:00.000000000"), cell("2024-06-12 19:38:00.000000")
    ('1970-01-01', '2024-06-12 19:38:00')
    """
    if value is None or value == "" or value != value:
        return "missing"
    text = str(value)
    if _LONG_DECIMAL.fullmatch(text) or (isinstance(value, float) and value.is_integer()):
        return number(float(text))
    if when := _MOMENT.fullmatch(text):
        return when[1] if when[2] == "00:00:00" else f"{when[1]} {when[2]}"
    return short(text, longest)


def listed(names: Sequence[str], most: int = 5) -> str:
    """Some names, and how many there are besides.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a, b, c', 'a, b and 1 more')
    """
    shown = ", ".join(map(clean, names[:most]))
    return shown if len(names) <= most else f"{shown} and {count(len(names) - most)} more"


def quoted(names: Sequence[str], most: int = 5) -> str:
    """The same in quotation marks, for names that may be anything.

    >>> quoted(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    return listed([repr(name) for name in names], most)


def sentence(text: str) -> str:
    """A sentence with its capital and its full stop.

    >>> sentence("it was stopped")
    'It was stopped.'
    """
    return text if not text else text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")
