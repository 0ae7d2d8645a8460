"""What a user asks of a detection, in one record that is checked once."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from elect.errors import InvalidInput, check_word
from elect.paper.stopping import check_budgets
from elect.strategies import DEFAULT, STRATEGIES
from elect.support.threads import n_threads


@dataclass(frozen=True)
class Options:
    """What a user asks for; the defaults are the command line's. A mistake is said when the record is made.

    ``contamination`` is the share of rows to flag, or ``"auto"``: see ``elect.detect.threshold``. Rows are ranked by
    the ``"committee"``, or by the elected ``"model"`` alone. ``label`` names a
    column of known outliers and ``id`` the column that names the rows: both stay out of the features, as does what
    ``drop`` names and, where ``columns`` is given, what it does not.

    >>> Options(contamination=0.05, drop=("note",)).elected_by
    'committee'
    >>> Options(max_models=20).elected_by
    'elect'
    """

    contamination: float | Literal["auto"] = "auto"
    scorer: Literal["committee", "model"] = "committee"
    strategy: str = "auto"
    max_models: int | None = None
    max_seconds: float | None = None
    seed: int = 0
    n_jobs: int | None = -1
    label: str | None = None
    id: str | None = None
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        share = self.contamination
        number = float | int | np.floating
        is_share = isinstance(share, number) and not isinstance(share, bool) and 0 < share <= 0.5
        if not is_share and not (isinstance(share, str) and share == "auto"):
            raise InvalidInput(f"contamination must be 'auto' or a number in (0, 0.5], got {share!r}.")
        if is_share and type(share) is not float:
            object.__setattr__(self, "contamination", float(share))  # a number of numpy is none for PyOD
        check_word("scorer", self.scorer, ("committee", "model"))
        check_word("strategy", self.strategy, ("auto", *STRATEGIES))
        check_budgets(max_models=self.max_models, max_seconds=self.max_seconds)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise InvalidInput(f"seed must be a whole number of at least 0, got {self.seed!r}.")
        n_threads(self.n_jobs)

    @property
    def elected_by(self) -> str:
        """The strategy; ``"auto"`` with a budget of models is the paper's search, which is made for one."""
        if self.strategy != "auto":
            return self.strategy
        return DEFAULT if self.max_models is None else "elect"
