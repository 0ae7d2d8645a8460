"""The command line: parse, call, render. ``elect --help`` tells the commands."""

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

LONGEST = 2000
"""A message may have so many characters: what it quotes may be any file's."""

NO_MEMORY = "There is not enough memory for this table: give fewer columns with --columns, or fewer rows."
_NO_ROOM = ("failed to map segment", "Cannot allocate memory", "can't start new thread")
"""What a loader of libraries and a starter of threads say where there is no memory left."""

RARELY = 50_000
"""So many new objects before the garbage collector looks: at its usual 700 it walks all modules many times over."""

HEARD_WITHIN = 5.0
"""Seconds after which a process that was told to end, and has not, is told again."""


def script() -> None:
    """The command ``elect``: a process that ends with what it was started for."""
    gc.set_threshold(RARELY)
    _leave(main())


def _leave(status: int) -> None:
    """End the process. Taking every module apart would take a tenth of a second, for nothing."""
    busy = any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread())
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        busy = True
    if busy:  # what is unusual is left to Python's own way
        sys.exit(status)
    atexit._run_exitfuncs()
    os._exit(status)


def main(args: Sequence[str] | None = None) -> int:
    """Run a command. A user's mistake is one line on standard error and exit status 2."""
    try:
        _open_streams()
        with _ending():
            return _run(args)
    except KeyboardInterrupt:  # even while the first modules are imported
        return _interrupted()


@contextmanager
def _ending() -> Iterator[None]:
    """A process that is told to end does so as at any other end: what it was writing is removed.

    It is told again where it goes on: what a handler raises while a library in C looks for an attribute is lost.
    """
    alarm: int | None = getattr(signal, "SIGALRM", None)
    told: list[int] = []

    def end(number: int, frame: object) -> None:
        if not told:
            told.append(number)
            if alarm is not None:
                signal.signal(alarm, end)
                signal.setitimer(signal.ITIMER_REAL, HEARD_WITHIN, HEARD_WITHIN)
        raise SystemExit(128 + told[0])

    before = {}
    for number in (getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)):
        with suppress(ValueError):  # outside of the main thread there are no handlers
            if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores it, and so do we then
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        if told and alarm is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _run(args: Sequence[str] | None) -> int:
    from elect.cli.app import app
    from elect.errors import ElectError

    # A file name need not be text that can be printed; it must not be what a command fails on.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = app(None if args is None else list(args), prog_name="elect", standalone_mode=False)
        # What is left in the buffer is written here, where a full disk can still be reported.
        sys.stdout.flush()
    except ElectError as error:
        return _mistake(str(error))
    except BrokenPipeError:
        # Whoever read the output has enough of it: not an error, and nothing more can be written there.
        sys.stdout = None
        return 0
    except SystemExit as error:
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":  # what click does about a broken pipe
            sys.stdout = None
            return 0
        return error.code if isinstance(error.code, int) else 2
    except OSError as error:
        _forget_output()
        where = f" {error.filename!r}" if error.filename else ""
        return _mistake(f"The system refused{where}: {error.strerror or error}.")
    except MemoryError:
        return _mistake(NO_MEMORY)
    except Exception as error:
        if any(words in str(error) for words in _NO_ROOM):
            return _mistake(NO_MEMORY)
        if type(error).__name__ == "Abort":
            return _interrupted()
        # typer's own complaints about the command line; the class depends on typer's version.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        return _mistake(f"{message()} Try 'elect --help'.")
    if status == 130:
        return _interrupted()
    return status if isinstance(status, int) else 0


def _open_streams() -> None:
    """A stream that was closed leads nowhere from here on; else the next file opened would take its place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            stream = open(number, "r" if name == "stdin" else "w", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def _mistake(message: str) -> int:
    from elect.cli.screen import tell

    tell(" ".join(message[:LONGEST].split()) + ("" if len(message) <= LONGEST else " ..."))
    return 2


def _interrupted() -> int:
    print("elect: interrupted.", file=sys.stderr)
    return 130


def _forget_output() -> None:
    """Leave standard output alone if it is what failed, or Python would complain about it again on exit."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = None


__all__ = ["main"]
