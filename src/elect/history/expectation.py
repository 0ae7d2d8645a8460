"""How good a pick is expected to be: an interval from the ranks of picks on historical tasks that were left out.

Each historical task in turn was left out with its whole group, and a model elected for it as for a new table. If the
new task is like another of these, the rank of its pick lies between their quantiles with the stated chance, whatever
their distribution (split conformal prediction with a constant forecast).
"""

import numpy as np

from elect.core import RankInterval
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase


def expected_rank(database: MetaDatabase) -> RankInterval | None:
    """The expected rank of a pick of this database with a 90 % interval; None while it carries no calibration."""
    if database.calibration is None or "rank_shares" not in database.calibration:
        return None
    shares = np.array(list(database.calibration["rank_shares"]), dtype=np.float64)
    if shares.ndim != 1 or not ((shares > 0) & (shares <= 1)).all():
        raise InvalidInput("The calibration of the database is out of range: train it again.")
    return RankInterval.of(shares * len(database.pool))
