"""Whether new rows still come from the world that a detector was made in."""

from dataclasses import dataclass

from elect.support import wording
from elect.support.arrays import FloatArray
from elect.tables.profile import CHANCE, Moved, TableProfile

LEAST_RATIO = 2.0
"""More rows are flagged than expected from so many times the expected share on."""


@dataclass(frozen=True)
class Drift:
    """What changed since a detector was made.

    ``columns`` are those whose values moved; None where the detector was saved without knowing how they were spread.
    ``flagged`` is the share of the new rows that is flagged, ``expected`` that of the rows the detector was made from;
    ``more`` says whether the difference is more than chance.
    """

    columns: tuple[Moved, ...] | None
    compared: int
    flagged: float
    expected: float
    more: bool

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return bool(self.columns) or self.more

    def __str__(self) -> str:
        """What changed, in a sentence.

        >>> print(Drift((), 9, 0.012, 0.01, False))
        none seen: 9 columns compared; 1.2% of the rows flagged, 1% when it was made
        """
        if self.columns is None:
            told = "columns could not be compared (the detector was saved by an earlier version)"
        elif self.columns:
            moved = len({moved.column for moved in self.columns})
            told = f"{wording.count(moved)} of {wording.count(self.compared, 'column')} moved"
        else:
            told = f"{wording.count(self.compared, 'column')} compared"
        was, now = wording.percent(self.expected), wording.percent(self.flagged)
        rows = f"{now} of the rows flagged, {was} when it was made" + (": more than chance" if self.more else "")
        return f"{told}; {rows}" if self else f"none seen: {told}; {rows}"

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do about it."""
        found = []
        if self.columns:
            found.append(
                "look at the columns that moved: another unit, source or default changes all rows at once. If the "
                "change is meant, make the detector again from recent rows (elect detect NEW --save)"
            )
        elif self.more:
            found.append(
                "no column moved, yet more rows are odd: look at the reasons of the flagged rows; if they have one in "
                "common, it is an event or an error, not chance"
            )
        return tuple(found)


def drift_of(
    before: TableProfile | None,
    after: TableProfile | None,
    fitted_scores: FloatArray,
    scores: FloatArray,
    threshold: float,
) -> Drift:
    """From how columns were and are spread, and from the scores of the fitted and of the new rows."""
    were, are = int((fitted_scores > threshold).sum()), int((scores > threshold).sum())
    return drift_of_counts(before, after, (were, len(fitted_scores)), (are, len(scores)))


def drift_of_counts(
    before: TableProfile | None, after: TableProfile | None, fitted: tuple[int, int], new: tuple[int, int]
) -> Drift:
    """The same from how many rows are flagged, of how many: of the fitted and of the new ones."""
    from scipy.stats import hypergeom

    (were, n_before), (are, n_after) = fitted, new
    expected, flagged = were / n_before, are / n_after
    # The chance of so many, were all flagged rows dealt out to both tables at random (Fisher's exact test).
    by_chance = hypergeom.sf(are - 1, n_before + n_after, were + are, n_after)
    more = flagged >= LEAST_RATIO * expected and are > 0 and bool(by_chance < CHANCE)
    columns = None if before is None or after is None else before.moved(after)
    return Drift(columns, 0 if before is None else len(before.columns), flagged, expected, more)
