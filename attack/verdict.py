"""What came of a case."""

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

Word = Literal["result", "refused", "wrong", "traceback", "hang", "crash"]
FINE: tuple[Word, ...] = ("result", "refused")


@dataclass(frozen=True)
class Verdict:
    """``result`` and ``refused`` are as they should be; ``why`` says what happened. ``tries`` counts what the
    goal of an attack counts: commands, kills."""

    word: Word
    why: str = ""
    tries: int = 1

    @property
    def fine(self) -> bool:
        return self.word in FINE

    @property
    def signature(self) -> str:
        """Equal for finds of one cause, as far as can be told: numbers, names and paths play no part."""
        what = re.sub(r"'[^']*'|\"[^\"]*\"|/\S+|0x[0-9a-f]+|\d+", "#", self.why[-300:])
        return f"{self.word}-{hashlib.sha256(what.encode()).hexdigest()[:8]}"


RESULT = Verdict("result")
REFUSED = Verdict("refused")


def wrong(why: str) -> Verdict:
    return Verdict("wrong", why)
