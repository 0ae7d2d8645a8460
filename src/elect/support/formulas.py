"""Texts that a spreadsheet would run, made harmless; numbers and telephone numbers stay as they are."""

import re

BEGINS = "^[\\s\\x00]*[=+@\uff1d\uff0b\uff20\uff0d-]"
"""What a formula begins with, behind blanks or not; in words that polars understands too."""

# Without letters, quotes and an equals sign there is only arithmetic: nothing is run, called or sent.
_HARMLESS = re.compile(r"\s*[-+](?:[\d\s.,()/:%$€£¥+-]|(?<=\d)[eE](?=[-+]?\d))*")
_BEGINS = re.compile(BEGINS)


def guarded(text: str) -> str:
    """The text, behind an apostrophe where a spreadsheet would run it.

    >>> [guarded(text) for text in ("=1+1", " @SUM(A1)", "-1", "+49 (170) 123-45", "-1.5e-3", "-", "+A1", "a=b")]
    ["'=1+1", "' @SUM(A1)", '-1', '+49 (170) 123-45', '-1.5e-3', '-', "'+A1", 'a=b']
    """
    return f"'{text}" if _BEGINS.match(text) and not _HARMLESS.fullmatch(text) else text
