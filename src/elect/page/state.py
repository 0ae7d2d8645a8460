"""The one state of the page: what was found, what was answered, what is going on. No mathematics, no HTTP."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import replace
from typing import Any

from elect.answers.kept import Given, KeptAnswers
from elect.errors import ElectError, InvalidInput
from elect.page import views
from elect.page._base import AIMS, DOWNLOADS, ELECTED_BY, Download, Found, Product, Ranking, Search
from elect.page.moment import Moment
from elect.page.reader import NotYet, Reader
from elect.page.worker import Stop, Worker

Listener = Callable[[], None]

_PATIENCE = 3.0


class PageState:
    """Every change makes a new ``moment`` and wakes the listeners. Changes come from any thread; searches, answers and
    downloads run in the one worker."""

    def __init__(self, product: Product, kept: KeptAnswers) -> None:
        self._product = product
        self._kept = kept
        self._lock = threading.RLock()
        self._listeners: list[Listener] = []
        self._worker = Worker()
        self._told: list[Given] = []
        self.reader = Reader(product)
        self.moment = Moment(answers=kept.read(), strategy=product.strategy)
        self._document: tuple[int, dict[str, Any]] = (-1, {})

    def document(self) -> dict[str, Any]:
        """The moment as plain JSON, made once for all who ask."""
        moment, kept = self.moment, self._document
        if kept[0] != moment.version:
            kept = (moment.version, moment.document(self.reader.name))
            self._document = kept
        return kept[1]

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Be woken after every change, from whatever thread makes it; returns how to end that."""
        with self._lock:
            self._listeners.append(listener)

        def end() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return end

    # What a person does.

    def search(self, left_out: Sequence[str] = (), strategy: str | None = None) -> None:
        """Search (again), without some columns, electing in one way or another; None keeps the way there is. A search
        that runs is given up."""
        if strategy is not None and strategy not in ELECTED_BY:
            raise InvalidInput(f"A strategy must be one of {', '.join(ELECTED_BY)}, got {strategy!r}.")
        names = self._product.frame.columns
        for name in left_out:
            if name not in names:
                raise InvalidInput(f"There is no column {name!r}.")
        chosen = tuple(name for name in names if name in set(left_out))
        if len(chosen) == len(names):
            raise InvalidInput("One column at least must be left in.")
        with self._lock:
            way = self.moment.strategy if strategy is None else strategy
            self._change(
                left_out=chosen,
                strategy=way,
                phase="searching",
                doing="preparing the columns",
                done=0,
                total=None,
                failure=None,
            )
            self._worker.search(lambda stop: self._search(chosen, way, stop))

    def stop(self) -> None:
        """End the search with the ranking so far."""
        self._worker.stop()

    def set_threshold(self, threshold: float | None) -> None:
        """Flag the rows from this chance on; None takes the product's again."""
        if threshold is not None and not 0.0 <= threshold <= 1.0:
            raise InvalidInput(f"A threshold must lie between 0 and 1, got {threshold}.")
        self._change(own_threshold=threshold)

    def set_aim(self, aim: str) -> None:
        """What questions are for: to learn most, or to find outliers."""
        if aim not in AIMS:
            raise InvalidInput(f"An aim must be one of {', '.join(AIMS)}, got {aim!r}.")
        self._change(aim=aim)
        self._soon(self._ask)

    def answer(self, position: int, said: bool | None) -> None:
        """Take an answer about a row; a second one about the same row replaces the first."""
        if not 0 <= position < self._product.frame.height:
            raise InvalidInput(f"Rows are counted from 0 to {self._product.frame.height - 1}, got {position}.")
        with self._lock:
            others = tuple(given for given in self.moment.answers if given[0] != position)
            self._answers((*others, (position, said)))
        self._soon(self._follow)

    def undo(self) -> None:
        """Take the last answer back."""
        with self._lock:
            if not self.moment.answers:
                raise InvalidInput("There is no answer to take back.")
            self._answers(self.moment.answers[:-1])
        self._soon(self._follow)

    def download(self, kind: str) -> Download:
        """A file, with the answers and the threshold of this moment."""
        if kind not in DOWNLOADS:
            raise InvalidInput(f"A download must be one of {', '.join(DOWNLOADS)}, got {kind!r}.")
        if self.moment.found is None or self.moment.phase != "ready":
            raise NotYet("There is nothing to download before the search has ended: wait for it, or stop it.")

        def make() -> Download:
            moment = self.moment
            if moment.found is None or moment.ranking is None:
                raise NotYet("There is nothing to download before the search has ended.")
            return moment.found.download(kind, moment.ranking, moment.threshold)

        made: Download = self._worker.submit(make).result()
        return made

    def end(self) -> None:
        """Nothing changes any more; every listener is told."""
        self._change(phase="ended", doing="")

    def close(self) -> None:
        """End, and wait for the step that is under way."""
        self.end()
        self._worker.close()

    # What the worker does.

    def _search(self, left_out: Sequence[str], strategy: str, stop: Stop) -> None:
        """A whole search. Whatever goes wrong is said on the page: nobody looks at the terminal."""
        began = time.monotonic()
        try:
            found = self._found(self._product.search(left_out, strategy), stop, began)
            if found is not None:
                self._take(found)
                self._change(phase="ready", doing="", seconds=time.monotonic() - began)
        except ElectError as error:
            self._fail(stop, str(error))
        except Exception as error:
            self._fail(stop, f"The search failed: {type(error).__name__}: {error}")

    def _take(self, found: Found) -> None:
        if found is not self.moment.found:
            self._told = []
        self._catch_up(found)
        ranking = found.ranking()
        with self._lock:
            self._change(
                found=found,
                ranking=ranking,
                rows_version=self.moment.rows_version + 1,
                found_version=self.moment.found_version + 1,
                changed=None if found is not self.moment.found else self.moment.changed,
            )
        self._follow()

    def _found(self, search: Search, stop: Stop, began: float) -> Found | None:
        first = True
        for progress in search.steps():
            if stop.replaced:
                return None
            with self._lock:
                steps = () if first else self.moment.steps
                self._change(
                    steps=steps if progress.step is None else (*steps, progress.step),
                    done=progress.done,
                    total=progress.total,
                    doing=progress.doing,
                    seconds=time.monotonic() - began,
                )
            first = False
            if progress.found is not None:
                self._take(progress.found)
            self._worker.let_others()
            if stop:
                break
        if stop.replaced:
            return None
        self._change(phase="finishing", doing="fitting the pick", seconds=time.monotonic() - began)
        found = search.found("it was stopped from the page" if stop.asked else None)
        return None if stop.replaced else found

    def _fail(self, stop: Stop, why: str) -> None:
        if not stop.replaced:
            self._change(phase="failed", failure=why, doing="")

    def _follow(self) -> None:
        """Bring what was found in step with the answers, and say what that changed."""
        moment = self.moment
        found, before = moment.found, moment.ranking
        if found is None or before is None:
            return
        answers = moment.answers
        if tuple(self._told) != answers:
            last = _difference(self._told, answers)
            note = self._catch_up(found)
            after = found.ranking()
            changed = None if last is None else {**self._changed(moment, before, after, last), "note": note}
            with self._lock:
                self._change(ranking=after, rows_version=self.moment.rows_version + 1, changed=changed)
        self._ask()

    def _ask(self) -> None:
        moment = self.moment
        if moment.found is not None:
            self._change(question=moment.found.ask(moment.aim))

    def _catch_up(self, found: Found) -> str:
        """Tell what was not told yet; what is worth knowing about the last answer."""
        answers = list(self.moment.answers)
        same = 0
        while same < min(len(answers), len(self._told)) and answers[same] == self._told[same]:
            same += 1
        for _ in range(len(self._told) - same):
            found.undo()
        note = ""
        for position, said in answers[same:]:
            note = found.tell(position, said)
        self._told = answers
        return note

    def _changed(self, moment: Moment, before: Ranking, after: Ranking, given: Given) -> dict[str, Any]:
        threshold = (moment.threshold, replace(moment, ranking=after).threshold)
        position, said = given
        told = {position, *(answered for answered, _ in moment.answers)}
        view = views.changes(before, after, threshold, self._product.row_ids, told)
        undone = given not in moment.answers
        return {"position": position, "row": self.reader.name(position), "answer": said, "undone": undone, **view}

    # How a change is made.

    def _answers(self, answers: tuple[Given, ...]) -> None:
        # Kept first: what is on the screen is in the file too.
        self._kept.write(answers)
        self._change(answers=answers, rows_version=self.moment.rows_version + 1)

    def _soon(self, job: Callable[[], None]) -> None:
        """Run in the worker, and wait for it a while."""
        future = self._worker.submit(job)
        # A long step of a search may be in the way: the answer is kept already, and the page will hear of the rest.
        done, _ = wait([future], timeout=_PATIENCE if self.moment.found is not None else 0)
        if done:
            future.result()

    def _change(self, **changes: Any) -> None:
        with self._lock:
            if self.moment.phase == "ended":
                return
            self.moment = replace(self.moment, version=self.moment.version + 1, **changes)
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()


def _difference(told: Sequence[Given], answers: Sequence[Given]) -> Given | None:
    """The one answer by which two lists differ; None where it is more than one."""
    changed = [given for given in answers if given not in told] or [given for given in told if given not in answers]
    return changed[0] if len(changed) == 1 else None
