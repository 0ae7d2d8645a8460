"""Progress on standard error, with the time left."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Meter:
    """Counts finished work. This one says nothing."""

    def stage(self, name: str, total: float | None) -> None:
        """A new stage of so much work begins, None where nobody knows how much; the one before is finished."""

    def advance(self, amount: float = 1.0) -> None:
        """Some of the stage's work is done."""


class _Bar(Meter):
    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._task: Any = None

    def stage(self, name: str, total: float | None) -> None:
        if self._task is not None:
            self._progress.update(self._task, completed=self._progress.tasks[self._task].total)
        self._task = self._progress.add_task(name, total=total)

    def advance(self, amount: float = 1.0) -> None:
        self._progress.advance(self._task, amount)


@contextmanager
def meter(show: bool) -> Iterator[Meter]:
    """A bar with the time left on standard error, or silence."""
    if not show:
        yield Meter()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<28}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = _Bar(progress)
        yield bar
        bar.stage("done", 1)
        bar.advance()
