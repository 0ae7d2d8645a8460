"""One thread for everything heavy: a search replaces the one before it, everything else waits for its turn."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class Stop:
    """Told to a search: ``asked`` to end with what it has, or ``replaced`` and of no more use."""

    def __init__(self) -> None:
        self.asked = False
        self.replaced = False

    def __bool__(self) -> bool:
        return self.asked or self.replaced


class Worker:
    """Runs one job at a time, in the order they came. Of searches that wait, only the latest one is run."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._jobs: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._search: Callable[[Stop], None] | None = None
        self._stop: Stop | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="elect-page", daemon=True)
        self._thread.start()

    def search(self, run: Callable[[Stop], None]) -> None:
        """Start a search as soon as the one that runs has ended, which is told to end now."""
        with self._changed:
            self._search = run
            if self._stop is not None:
                self._stop.replaced = True
            self._changed.notify()

    def submit(self, job: Callable[[], Any]) -> "Future[Any]":
        """Run a short job after those that came before it, and before a search that waits."""
        future: Future[Any] = Future()
        with self._changed:
            if self._closed:
                future.cancel()
                return future
            self._jobs.append((job, future))
            self._changed.notify()
        return future

    def let_others(self) -> None:
        """Run the short jobs that wait, in the middle of the search that calls this."""
        while True:
            with self._changed:
                if not self._jobs:
                    return
                job = self._jobs.popleft()
            _run(*job)

    def stop(self) -> None:
        """Let the search that runs end with what it has found so far."""
        with self._changed:
            if self._stop is not None:
                self._stop.asked = True

    def close(self, timeout: float = 5.0) -> None:
        """End after the step that runs."""
        with self._changed:
            self._closed = True
            self._search = None
            if self._stop is not None:
                self._stop.replaced = True
            for _, future in self._jobs:
                future.cancel()
            self._jobs.clear()
            self._changed.notify()
        self._thread.join(timeout)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not (self._jobs or self._search or self._closed):
                    self._changed.wait()
                if self._closed:
                    return
                job = self._jobs.popleft() if self._jobs else None
                search = None
                if job is None:
                    search, self._search = self._search, None
                    self._stop = Stop()
            if job is not None:
                _run(*job)
            elif search is not None and self._stop is not None:
                search(self._stop)
                with self._changed:
                    self._stop = None


def _run(job: Callable[[], Any], future: "Future[Any]") -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(job())
    except BaseException as error:
        future.set_exception(error)
