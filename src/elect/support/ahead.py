"""The next item is made while the present one is worked on."""

import queue
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def ahead(items: Iterable[T]) -> Iterator[T]:
    """The same items, each one made in a thread while the one before is in use. At most two are held.

    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    made: queue.Queue[tuple[bool, Any]] = queue.Queue(maxsize=1)
    stop = threading.Event()

    def put(item: tuple[bool, Any]) -> None:
        while not stop.is_set():
            with suppress(queue.Full):
                made.put(item, timeout=0.1)
                return

    def make() -> None:
        try:
            for item in items:
                put((True, item))
                if stop.is_set():
                    return
        except BaseException as error:  # it is raised where the item is asked for
            put((False, error))
        else:
            put((False, None))
        finally:
            if isinstance(items, Generator):
                items.close()  # here, where it was run

    thread = threading.Thread(target=make, daemon=True, name="elect-ahead")
    thread.start()
    try:
        while True:
            is_item, got = made.get()
            if is_item:
                yield got
            elif got is None:
                return
            else:
                raise got
    finally:
        stop.set()
        thread.join()
