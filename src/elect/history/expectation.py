"""How good a pick is expected to be: an interval from the ranks of picks on historical tasks that were left out.

Each historical task in turn was left out with its whole group, and a model elected for it as for a new table. If the
new task is like another of these, the rank of its pick lies between their quantiles with the stated chance, whatever
their distribution (split conformal prediction with a constant forecast).
"""

import numpy as np

from elect.core import RankInterval
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.support.arrays import FloatArray

SEARCH_RANKS, COMMITTEE_RANKS = "held_out_ranks", "committee_ranks"
"""What the calibration of a database calls the ranks of the paper's picks and of those after the committee."""


def expected_rank(database: MetaDatabase, of: str = SEARCH_RANKS) -> RankInterval | None:
    """The expected rank of a pick of this database with a 90 % interval; None while it carries no calibration."""
    try:
        ranks = _held_out_ranks(database, of)
    except (TypeError, ValueError):
        raise InvalidInput("The calibration of the database cannot be read: train it again.") from None
    if ranks is None:
        return None
    if ranks.ndim != 1 or not ((ranks > 0) & (ranks <= len(database.pool))).all():
        raise InvalidInput("The calibration of the database is out of range: train it again.")
    return RankInterval.of(ranks)


def _held_out_ranks(database: MetaDatabase, of: str) -> FloatArray | None:
    """The ranks of picks on the tasks left out. Files of before hold the search's divided by the number of models."""
    calibration = database.calibration or {}
    if of in calibration:
        return np.array(calibration[of], dtype=np.float64)
    if of == SEARCH_RANKS and "rank_shares" in calibration:
        return np.array(calibration["rank_shares"], dtype=np.float64) * len(database.pool)
    return None
