"""Everything the page knows at one moment. A change makes a new moment; nobody ever sees half of one."""

from dataclasses import dataclass
from typing import Any, Literal

from elect.answers.kept import Given
from elect.core import SearchStep
from elect.page import views
from elect.page._base import Aim, Found, Ranking

Phase = Literal["searching", "finishing", "ready", "failed", "ended"]


@dataclass(frozen=True, eq=False)
class Moment:
    """``version`` counts the moments; ``rows_version`` and ``found_version`` tell a browser whether rows, or columns
    and models, must be fetched again. ``own_threshold`` is the person's, None while it is the product's."""

    version: int = 0
    phase: Phase = "searching"
    doing: str = "reading the table"
    done: int = 0
    total: int | None = None
    began: float = 0.0
    seconds: float = 0.0
    steps: tuple[SearchStep, ...] = ()
    ranking: Ranking | None = None
    rows_version: int = 0
    found: Found | None = None
    found_version: int = 0
    own_threshold: float | None = None
    left_out: tuple[str, ...] = ()
    strategy: str = "committee"
    answers: tuple[Given, ...] = ()
    aim: Aim = "learn"
    question: int | None = None
    changed: dict[str, Any] | None = None
    failure: str | None = None

    @property
    def threshold(self) -> float:
        if self.own_threshold is not None:
            return self.own_threshold
        return 0.5 if self.ranking is None else self.ranking.threshold

    @property
    def said(self) -> dict[int, bool | None]:
        return dict(self.answers)

    def document(self, names: Any) -> dict[str, Any]:
        """The moment as plain JSON; ``names`` gives a row's id by its position."""
        return {
            "version": self.version,
            "phase": self.phase,
            "progress": {"doing": self.doing, "done": self.done, "total": self.total, "seconds": self.seconds},
            "rows_version": self.rows_version,
            "found_version": self.found_version,
            "left_out": list(self.left_out),
            "strategy": self.strategy,
            "answers": [{"position": p, "row": names(p), "answer": said} for p, said in self.answers],
            "aim": self.aim,
            "question": None if self.question is None else {"position": self.question, "row": names(self.question)},
            "changed": self.changed,
            "failure": self.failure,
            **self._ranking_document(),
            **self._found_document(),
        }

    def _ranking_document(self) -> dict[str, Any]:
        if self.ranking is None:
            return {"ranking": None}
        chance = self.ranking.chance
        return {
            "ranking": {
                "pick": self.ranking.pick,
                "left": self.ranking.left,
                "threshold": self.threshold,
                "suggested": self.ranking.threshold,
                "is_own": self.own_threshold is not None,
                "flagged": views.flagged(chance, self.threshold),
                "kinds": views.kinds(self.ranking, self.threshold),
                "curve": views.curve(chance),
            }
        }

    def _found_document(self) -> dict[str, Any]:
        if self.found is None:
            return {"notes": [], "python": None}
        return {"notes": list(self.found.notes), "python": self.found.snippet(self.threshold)}
