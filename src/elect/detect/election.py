"""The one road from a table to a detection: columns treated, models scored, one elected, fitted, every row scored."""

import time
from collections.abc import Generator, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from elect.committee.committee import Committee, FittedCommittee
from elect.committee.scorer import chance_of
from elect.committee.voices import Voices
from elect.core import SearchStep, Selection
from elect.detect.batches import drained, score_batches
from elect.detect.costs import Size, affordable, cost_of, spared
from elect.detect.detection import Detection, Evaluation, doubts_of, evaluate
from elect.detect.opened import OpenedTable
from elect.detect.options import Options
from elect.detect.scorers import TableScorer, cells_of
from elect.detect.threshold import EVEN, threshold_of
from elect.history.database import MetaDatabase
from elect.history.shipped import row_scorer_of
from elect.pool import PoolScorer
from elect.pool.engine import DEFAULT_TRIALS
from elect.strategies import STRATEGIES
from elect.strategies.committee import quick_models
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray
from elect.support.meter import Meter
from elect.support.threads import n_threads
from elect.tables import ColumnTreatment, Labels, TableError, read_labels
from elect.tables.cells import Survey

if TYPE_CHECKING:
    import polars as pl

    from elect.answers import Feedback
    from elect.detect.asked import Others

PIECE = 20_000
"""Rows that are scored between two looks at the clock, or at a button."""

MAX_ROWS = 10_000
"""Above this many rows the selection, and the fit of the chosen detector, use a seeded sample of so many."""

MAX_ROWS_OF_LONG = 5_000
"""The same for a table that is too long to be learned from whole: neighbours of every other row are looked up."""

SURE = 3.0
"""Log-odds that rows answered yes have at least, and rows answered no at most with the other sign."""

MANY = 0.1
"""From this share of flagged rows on, they are called a group."""


@dataclass(frozen=True, eq=False)
class Said:
    """What a scorer says of every row. ``heard`` is what the voices of a committee said of the fitted rows, and
    ``features`` all it knows of them; label and notes are those of a table that was read in batches."""

    scorer: TableScorer
    scores: FloatArray
    heard: FloatArray | None = None
    features: FloatArray | None = None
    label: "pl.Series | None" = None
    notes: tuple[str, ...] = ()


class Election:
    """A search on one table. Whoever consumes ``steps`` may stop after any of them, and has the pick so far.

    The models are scored by ``scorer`` on some rows of the table: those at ``positions``, whose cells are ``cells`` and
    whose numeric matrix is ``rows``. Among the rows that are learned from, whose matrix is ``learned``, they are those
    at ``drawn``.

    >>> from elect.detect import Election, Options, open_table
    >>> from elect.history.shipped import shipped_database
    >>> table = open_table({"size": [1.0, 2.0, 1.5, 2.5, 1.2, 99.0], "speed": [3.0, 3.5, 3.2, 2.9, 3.1, 3.3]})
    >>> election = Election(table, shipped_database(), Options(max_models=3))
    >>> for step in election.steps():
    ...     pass  # ``step.pick`` is the pick so far: a caller may stop here
    >>> detection = election.detect(election.selection())
    >>> int(detection.scores.argmax())
    5
    """

    def __init__(self, opened: OpenedTable, database: MetaDatabase, options: Options) -> None:
        self.opened = opened
        self.database = database
        self.options = options
        self.treatment, self.learned = _learn(opened, options)
        # A label that cannot be used is said before the search, not after it.
        whole = None if self.treatment is None else opened.whole
        self._labels = None if whole is None or self.treatment is None else self.treatment.labels(whole)
        self._draw(Size(MAX_ROWS if opened.positions is None else min(MAX_ROWS, MAX_ROWS_OF_LONG), DEFAULT_TRIALS))
        self._steps: list[SearchStep] = []
        self._started = time.perf_counter()
        self._scoring_seconds = 0.0
        self._spared: tuple[str, ...] = ()
        self.meter = Meter()
        """Counts the rows of a long table that were scored."""

    def _draw(self, size: Size) -> None:
        """The rows that models are scored and fitted on."""
        self.size = size
        opened, options = self.opened, self.options
        self.drawn = sample_rows(len(self.learned), options.seed, size.rows)
        self.positions = self.drawn if opened.positions is None else opened.positions[self.drawn]
        self.rows = self.learned if len(self.drawn) == len(self.learned) else self.learned[self.drawn]
        self.scorer = PoolScorer(
            self.rows,
            self.database.pool,
            seed=options.seed,
            trials=size.trials,
            n_jobs=options.n_jobs,
            standardize=self.treatment is None,
        )

    def plan(self, at_once: int | None = None) -> float | None:
        """The seconds that scoring all rows of a long table will take, ``at_once`` at the same time (by default as many
        as there are threads); None for a table that takes none to speak of. Where that is more than ``max_seconds``
        leaves, the committee is made smaller, and a note says so."""
        first = self.first_look if self.opened.positions is not None else None
        if first is None:
            return None
        cost = cost_of(first.scorer, self.size, self.learned, self.opened.sample.frame)
        at_once = n_threads(self.options.n_jobs) if at_once is None else at_once
        n, asked = self.opened.n_rows, self.options.max_seconds
        if asked is not None:
            size = affordable(cost, n, at_once, asked - (time.perf_counter() - self._started))
            if size != self.size:
                self._spared = (spared(size, self.size, n, cost.seconds(n, at_once, size), asked),)
                self._draw(size)
                for made in ("heard", "first_look", "committee"):
                    self.__dict__.pop(made, None)
        self._scoring_seconds = cost.seconds(n, at_once, self.size)
        return self._scoring_seconds

    @property
    def _search_seconds(self) -> float | None:
        """What is left for the search: scoring all rows of a long table comes first."""
        asked = self.options.max_seconds
        if asked is None or not self._scoring_seconds:
            return asked
        return max(asked - self._scoring_seconds - (time.perf_counter() - self._started), 0.01)

    @property
    def cells(self) -> "pl.DataFrame":
        """The rows that the models are scored on, as the user has them."""
        return self.opened.sample.frame[self.drawn]

    @property
    def has_begun(self) -> bool:
        """Whether there is a pick already."""
        return bool(self._steps)

    @property
    def most_models(self) -> int | None:
        """How many models may be evaluated, if that is set."""
        if self.options.max_models is None and self.options.elected_by == "committee":
            return len(quick_models(self.database.pool))
        return self.options.max_models

    def steps(self) -> Iterator[SearchStep]:
        """One step for each evaluated model."""
        options = self.options
        for step in STRATEGIES[options.elected_by](
            self.database,
            HeardTable(self),
            max_models=options.max_models,
            max_seconds=self._search_seconds,
            seed=options.seed,
        ):
            self._steps.append(step)
            yield step

    def selection(self, stopped_because: str | None = None) -> Selection:
        """The pick after the steps consumed so far. ``stopped_because`` says why the caller consumed no more."""
        chosen = Selection.from_steps(
            self._steps,
            self.database.pool,
            strategy=self.options.elected_by,
            metric=self.database.settings.metric,
            stopped_because=stopped_because or "the caller stopped",
        )
        return replace(chosen, notes=self._notes(chosen.model_id))

    def evaluation(self, selection: Selection) -> Evaluation | None:
        """How well the pick did on the rows it was elected on, where their labels are known."""
        if self._labels is None:
            return None
        labels, here = self._labels, self.positions
        return evaluate(
            self.scorer.scores(selection.model_id), Labels(labels.y[here], labels.known[here], labels.meaning)
        )

    def feedback(
        self,
        selection: Selection | None = None,
        aim: Literal["learn", "find"] = "learn",
        others: "Others | None" = None,
    ) -> "Feedback":
        """A session of questions about the rows that the models are scored on, followed by others, such as
        ``asked.likely_others``."""
        from elect.detect.asked import session_of

        return session_of(self, selection, aim, others)

    def _answered(self, said: "Said", feedback: "Feedback", others: "Others | None") -> "Said":
        """What is said of every row once the answers count: rows answered yes come first, those answered no last."""
        from elect.detect.asked import asked_positions

        n, positions = len(self.positions), asked_positions(self, others)
        scorer = replace(said.scorer, answers=feedback.model)
        known = self._said(scorer, feedback.log_odds[:n], said.heard, said.features)
        scores = known.scores
        high, low = max(float(scores.max()), SURE), min(float(scores.min()), -SURE)
        for answer in feedback.answers:
            if answer.is_outlier is not None:
                scores[positions[answer.row]] = high if answer.is_outlier else low
        return known

    def of_sample(self) -> "Election":
        """The same election for the rows that are learned from alone, as if they were the table: what is needed where
        the other rows are scored elsewhere."""
        found = copy(self)
        found.opened = replace(self.opened, n_rows=len(self.learned), positions=None, whole=self.opened.sample)
        found.positions = self.drawn
        return found

    def detect(
        self, selection: Selection, feedback: "Feedback | None" = None, others: "Others | None" = None
    ) -> Detection:
        """Score every row, the answers of a session counted, and set the threshold; ``others`` are those that the
        session is about. The pick is fitted when it is first needed."""
        options, opened = self.options, self.opened
        share = 0.1 if options.contamination == "auto" else options.contamination
        fit_pick = cache(partial(_fitted, self.scorer, selection.model_id, share))
        said = self.committee
        if said is None:
            detector = fit_pick()
            said = self._said(TableScorer(detector, self.treatment, None), np.asarray(detector.decision_scores_))
        elif feedback is not None and feedback.answers:
            said = self._answered(said, feedback, others)
        scores, labels, notes = said.scores, self._labels, said.notes
        if labels is None and said.label is not None:
            try:
                labels = read_labels(said.label)
            except TableError as error:
                notes = (*notes, str(error))
        chance = EVEN if feedback is None else feedback.threshold
        threshold = threshold_of(scores, options.contamination, options.scorer, chance)
        return Detection(
            opened=opened,
            options=options,
            selection=replace(selection, notes=self._notes(selection.model_id)),
            fit_pick=fit_pick,
            treatment=self.treatment,
            scores=scores,
            threshold=threshold,
            fitted=self.positions,
            rows=self.learned if opened.positions is None else self.rows,
            scorer=said.scorer,
            heard=said.heard,
            evaluation=None if labels is None else evaluate(scores, labels),
            notes=(*doubts_of(self.rows), *notes, *_many(float((scores > threshold).mean()), options)),
        )

    @cached_property
    def heard(self) -> "Heard":
        """What the committee says of the rows that the models are scored on. It is fitted when it is first asked."""
        frame = None if self.treatment is None else self.opened.sample.frame
        cells = cells_of(self.treatment, self.learned, frame)
        committee, learned = Committee.fit(row_scorer_of(self.database), self.scorer, cells, self._survey)
        features = committee.table.describe(learned.scores, learned.cells[self.drawn])
        log_odds = committee.scorer.log_odds(features)
        fitted = FittedCommittee(committee, partial(Voices.fit, self.scorer))
        return Heard(fitted, learned.scores, features, log_odds)

    @cached_property
    def _survey(self) -> Survey | None:
        return None if self.treatment is None else self.opened.survey(self.treatment)

    @cached_property
    def first_look(self) -> "Said | None":
        """What the committee says of the rows at ``positions`` alone: of a long table, that is known much earlier."""
        if self.options.scorer != "committee":
            return None
        heard = self.heard
        return Said(TableScorer(None, self.treatment, heard.committee), heard.log_odds, heard.voices, heard.features)

    @cached_property
    def committee(self) -> "Said | None":
        """What the committee says of every row, where it is asked for. That needs no search, and is made once."""
        first = self.first_look
        return None if first is None else self._said(first.scorer, first.scores, first.heard, first.features)

    def _said(
        self,
        scorer: TableScorer,
        known: FloatArray,
        heard: FloatArray | None = None,
        features: FloatArray | None = None,
    ) -> "Said":
        """What a scorer says of every row, all at once."""
        return drained(self._saying(scorer, known, heard, features))

    def ranked(self) -> Iterator[int]:
        """Let the committee judge all rows piece by piece: how many it has judged. At the end ``committee`` is there;
        whoever stops before has ``first_look``."""
        first = self.first_look
        if first is not None and "committee" not in self.__dict__:
            self.__dict__["committee"] = yield from self._saying(
                first.scorer, first.scores, first.heard, first.features
            )

    def _saying(
        self, scorer: TableScorer, known: FloatArray, heard: FloatArray | None, features: FloatArray | None
    ) -> Generator[int, None, "Said"]:
        """The scores of all rows. Those that were fitted keep their training scores, which are known and in which a row
        is not its own neighbour."""
        opened = self.opened
        if opened.positions is None:
            said = Said(scorer, (yield from self._scoring(scorer)), heard, features)
        else:
            assert self.treatment is not None
            found = yield from score_batches(
                opened.batches(), self.treatment, scorer, self.options.label, meter=self.meter
            )
            said = Said(scorer, found.scores, heard, features, found.label, found.notes)
        said.scores[self.positions] = known
        return said

    def _scoring(self, scorer: TableScorer) -> Generator[int, None, FloatArray]:
        """Scores of rows that are all at hand; those of fitted rows are of no use."""
        scores = np.empty(len(self.learned))
        others = np.setdiff1d(np.arange(len(scores)), self.drawn)
        for start in range(0, len(others), PIECE):
            part = others[start : start + PIECE]
            frame = None if self.treatment is None else self.opened.sample.frame[part]
            scores[part] = scorer(self.learned[part], frame)
            yield start + len(part)
        return scores

    def _notes(self, model_id: str) -> tuple[str, ...]:
        """What must be known about a pick and the rows it was elected on."""
        own = self.scorer.note(model_id)
        notes: tuple[str, ...] = () if own is None else (own,)
        drawn, n = len(self.positions), self.opened.n_rows
        if drawn == n:
            return notes
        return (
            *notes,
            f"elected and fitted on a seeded sample of {wording.count(drawn)} of the {wording.count(n, 'row')}",
            *self._spared,
        )


class Heard(NamedTuple):
    """The committee of a table, the scores of its voices (rows x voices), what it sees of the rows (rows x features),
    and its log-odds (rows,)."""

    committee: FittedCommittee
    voices: FloatArray
    features: FloatArray
    log_odds: FloatArray


@dataclass(frozen=True, eq=False)
class HeardTable:
    """What a strategy knows of a table: the scores of its models, and how likely the committee finds each row."""

    election: Election

    def scores(self, model_id: str) -> FloatArray:
        return self.election.scorer.scores(model_id)

    def chance(self) -> FloatArray:
        return chance_of(self.election.heard.log_odds)


def _fitted(scorer: PoolScorer, model_id: str, contamination: float) -> Any:
    """The pick as a PyOD detector. PyOD takes a second to import, and few need the pick itself."""
    from elect.pool.detectors import detector_from

    return detector_from(scorer, model_id, contamination=contamination)


def _many(flagged: float, options: Options) -> tuple[str, ...]:
    """Said where more is flagged than can be an exception."""
    if options.contamination != "auto" or flagged <= MANY:
        return ()
    share = wording.percent(flagged)
    return (f"{share} of the rows are flagged: so many are a group of their own rather than exceptions",)


def _learn(opened: OpenedTable, options: Options) -> tuple[ColumnTreatment | None, FloatArray]:
    """What is done with the columns, and the numeric matrix; an array is taken as it is."""
    if opened.array is not None:
        return None, opened.array
    return ColumnTreatment.fit_transform(
        opened.sample, label=options.label, id=options.id, drop=options.drop, columns=options.columns
    )


def sample_rows(n: int, seed: int, most: int) -> IntArray:
    """The rows to elect and fit on: all up to so many, a seeded sample of so many above."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng([seed, n]).choice(n, most, replace=False))
