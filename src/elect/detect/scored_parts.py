"""The parts of a table scored one by one, on any machine: a file of results each, written whole or not at all.

What is finished is told by a small file beside the results. A run that was stopped, or whose machine died, finds these
and goes on; a job that is given out twice is done once.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, reduce
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.committee.scorer import chance_of
from elect.detect import opened
from elect.detect.detection import TopRow
from elect.detect.explaining import Reason
from elect.detect.findings import highest
from elect.detect.judged import NOBODY, Judged, Known, judge
from elect.detect.output import open_whole
from elect.detect.parts import Part
from elect.detect.result_table import writer
from elect.detect.saving import SavedDetector, load_saved
from elect.support.ahead import ahead
from elect.support.atomic import write_atomically
from elect.tables import Table, iter_batches
from elect.tables.cells import cells_of_frame
from elect.tables.decide import RESULT_COLUMNS
from elect.tables.profile import TableProfile

if TYPE_CHECKING:
    import polars as pl

STATE = "_elect"
"""The folder, within that of the results, of what a run needs to go on."""

DETECTOR, KNOWN = "detector.elect-detector", "known.npz"

MOST_EXPLAINED = 100_000
"""About so many flagged rows get reasons, the most outlying ones of all parts."""

_FEW = 1_000
_MEASURED_FOR = 1.0
"""Rows that a first look at the cost of a row takes, and about the seconds that it is measured for then."""

_UNIT = 2**40
"""Chances are added up in whole numbers of this fraction: the sum does not depend on the order."""


@dataclass(frozen=True)
class Job:
    """A part to score: where its results go, and how. ``run`` tells the runs apart that may meet in a folder; rows
    above ``explain_above`` get reasons."""

    part: Part
    folder: str
    name: str
    run: str
    scores_only: bool = False
    top: int = 10
    explain_above: float = 0.0
    n_jobs: int = 1
    trust: bool = False

    @property
    def output(self) -> Path:
        return Path(self.folder) / self.name

    @property
    def told_in(self) -> Path:
        return Path(self.folder) / STATE / f"{self.name}.json"


@dataclass(frozen=True)
class Told:
    """What is known of a part, or of several, once they are scored. ``alarms`` adds up the chances of flagged rows to
    be no outliers."""

    rows: int
    flagged: int
    alarms: int
    top: tuple[TopRow, ...]
    unread: Mapping[str, int]
    replaced: tuple[str, ...] = ()
    profile: TableProfile | None = None

    def plus(self, other: "Told") -> "Told":
        """Both together, with all rows of the two top lists."""
        profiles = self.profile, other.profile
        return Told(
            self.rows + other.rows,
            self.flagged + other.flagged,
            self.alarms + other.alarms,
            (*self.top, *other.top),
            Counter(self.unread) + Counter(other.unread),
            tuple(dict.fromkeys((*self.replaced, *other.replaced))),
            None if profiles[0] is None or profiles[1] is None else profiles[0].plus(profiles[1]),
        )

    @property
    def false_alarms(self) -> float | None:
        """The share of the flagged rows that is expected to be no outliers."""
        return self.alarms / (self.flagged * _UNIT) if self.flagged else None

    def to_plain(self) -> dict[str, Any]:
        profile = None if self.profile is None else self.profile.to_plain()
        return {**asdict(self), "unread": dict(self.unread), "profile": profile}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Told":
        top = tuple(
            TopRow(**{**row, "reasons": tuple(Reason(**why) for why in row["reasons"])}) for row in plain["top"]
        )
        profile = None if plain["profile"] is None else TableProfile.from_plain(plain["profile"])
        return cls(**{**plain, "top": top, "replaced": tuple(plain["replaced"]), "profile": profile})


def together(found: Iterable[Told], top: int) -> Told:
    """What is known of all parts, with the most outlying rows of all."""
    whole = reduce(Told.plus, found)
    return replace(whole, top=best(whole.top, top))


def best(rows: Sequence[TopRow], count: int) -> tuple[TopRow, ...]:
    """The most outlying rows; of equal ones the first."""
    return tuple(sorted(rows, key=lambda row: (-row.score, row.position))[:count])


def done(job: Job) -> Told | None:
    """What is known of a part that was scored by this run; None where it was not, or not to the end."""
    try:
        plain = json.loads(job.told_in.read_text())
        if plain["run"] != job.run or plain["bytes"] != job.output.stat().st_size:
            return None
        return Told.from_plain(plain["told"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def score_part(job: Job) -> Told:
    """Score a part, write its results, and tell what is in them. What is done already is not done again."""
    found = done(job)
    if found is not None:
        return found
    saved, known = _detector(str(Path(job.folder) / STATE), job.run, job.n_jobs, job.trust)
    assert saved.treatment is not None
    tally = _Tally(job, saved)
    first = job.part.first
    with open_whole(job.output) as file, writer(file, job.output.suffix.lower()) as write:
        for batch in ahead(_batches(job, saved)):
            if first == job.part.first:
                saved.treatment.refuse_unreadable(batch)
            write(tally.add(judge(saved, batch, first, known)))
            first += batch.n_rows
    told = tally.told()
    content = {"run": job.run, "bytes": os.stat(job.output).st_size, "told": told.to_plain()}
    write_atomically(job.told_in, json.dumps(content).encode())
    return told


def _batches(job: Job, saved: SavedDetector) -> Iterator[Table]:
    """The rows of a part, with no more columns than are needed."""
    assert saved.treatment is not None
    named_by, sources = saved.treatment.named_by, saved.treatment.sources
    # The id is read where there is one; a file without it has no names for its rows.
    columns = None if not job.scores_only else sources if named_by is None else (*sources, named_by)
    return iter_batches(job.part.path, opened.ROWS_AT_ONCE, columns=columns)


class _Tally:
    """What was found in the batches of a part so far."""

    def __init__(self, job: Job, saved: SavedDetector) -> None:
        self._job, self._saved = job, saved
        self._rows = self._flagged = self._alarms = 0
        self._top: tuple[TopRow, ...] = ()
        self._unread: Counter[str] = Counter()
        self._profile: TableProfile | None = None
        self._replaced: tuple[str, ...] = ()

    def add(self, judged: Judged) -> "pl.DataFrame":
        """Take rows in; what is written of them."""
        table, treatment = judged.table, self._saved.treatment
        assert treatment is not None
        results = judged.results(self._counted(judged))
        own = treatment.row_ids(table).to_frame() if self._job.scores_only else table.frame
        self._replaced = tuple(name for name in own.columns if name in RESULT_COLUMNS)
        return own.drop(self._replaced).hstack(results)

    def _counted(self, judged: Judged) -> tuple[TopRow, ...]:
        """The flagged rows that get reasons."""
        saved, scores = self._saved, judged.scores
        treatment = saved.treatment
        assert treatment is not None
        flagged = scores > saved.threshold
        self._rows += len(scores)
        self._flagged += int(flagged.sum())
        if saved.committee is not None:
            self._alarms += int(np.round((1.0 - chance_of(scores[flagged])) * _UNIT).astype(np.int64).sum())
        self._unread.update(treatment.unread(judged.table))
        if saved.profile is not None:
            counted = saved.profile.count(cells_of_frame(treatment, judged.table.frame))
            self._profile = counted if self._profile is None else self._profile.plus(counted)
        explained = flagged & (scores > self._job.explain_above)
        tops = highest(scores, self._job.top)
        if len(self._top) == self._job.top:
            tops = tops[scores[tops] > min((row.score for row in self._top), default=-np.inf)]
        told = judged.explain(np.union1d(np.flatnonzero(explained), tops).astype(np.intp))
        shown = set((tops + judged.first).tolist())
        self._top = best((*self._top, *(row for row in told if row.position in shown)), self._job.top)
        return tuple(row for row in told if explained[row.position - judged.first])

    def told(self) -> Told:
        counts = self._rows, self._flagged, self._alarms
        return Told(*counts, self._top, dict(self._unread), self._replaced, self._profile)


@lru_cache(maxsize=1)
def _detector(folder: str, run: str, n_jobs: int, trust: bool) -> tuple[SavedDetector, Known]:
    """What scores the parts of a run; read once a process."""
    saved = load_saved(Path(folder) / DETECTOR, trust=trust, n_jobs=n_jobs)
    place = Path(folder) / KNOWN
    if not place.exists():
        return saved, NOBODY
    with np.load(place, allow_pickle=False) as file:
        heard = file["heard"]
        return saved, Known(file["positions"], file["scores"], heard if heard.size else None)


def seconds_a_row(job: Job) -> float:
    """What a row costs where it is scored, from the file to the results: measured on some rows of a part. All workers
    measure at the same time, for they will also share what a machine has when they score."""
    saved, known = _detector(str(Path(job.folder) / STATE), job.run, job.n_jobs, job.trust)
    started = time.perf_counter()
    table = next(_batches(job, saved))
    reading = (time.perf_counter() - started) / table.n_rows
    assert saved.treatment is not None
    saved.treatment.refuse_unreadable(table)
    few = table.slice(0, _FEW)
    _tried(job, saved, known, few)  # the first time kernels are loaded
    one = _tried(job, saved, known, few) / few.n_rows
    some = table.slice(0, max(_FEW, int(_MEASURED_FOR / one)))
    return reading + _tried(job, saved, known, some) / some.n_rows


def _tried(job: Job, saved: SavedDetector, known: Known, rows: Table) -> float:
    """The seconds that rows take whose results nobody keeps. The top list is one a part, and not counted here."""
    started = time.perf_counter()
    with writer(BytesIO(), job.output.suffix.lower()) as write:
        write(_Tally(replace(job, top=0), saved).add(judge(saved, rows, job.part.first, known)))
    return time.perf_counter() - started


def seconds_of(parts: Sequence[Part], a_row: Sequence[float], at_once: int) -> float:
    """What all parts take, so many scored at once, with what a row costs each worker. The largest one is not shared.

    >>> parts = [Part("a", 0, 4_000), Part("b", 4_000, 1_000), Part("c", 5_000, 1_000)]
    >>> seconds_of(parts, [0.001], 2), seconds_of(parts, [0.001, 0.003], 1)
    (4.0, 12.0)
    """
    rows = [part.rows for part in parts]
    return float(np.mean(a_row)) * max(sum(rows) / at_once, max(rows))
