"""A warm process that tries cases one after another. A crash takes it, not the campaign; a hang is ended."""

import contextlib
import importlib
import multiprocessing
import os
import shutil
import signal
import tempfile
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

from attack.verdict import Verdict

_CONTEXT = multiprocessing.get_context("spawn")


def attempt(attack: str, case: Any) -> Verdict:
    """Try one case in this process."""
    module = importlib.import_module(f"attack.{attack}")
    home = os.getcwd()
    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    try:
        (folder / "here").mkdir()
        (folder / "streams").mkdir()
        os.chdir(folder / "here")
        verdict: Verdict = module.run(case, folder)
        return verdict
    except BaseException:
        # What the attack itself does not expect is a find too, or a fault of the attack: both are to be looked at.
        return Verdict("traceback", traceback.format_exc()[-3000:])
    finally:
        os.chdir(home)
        shutil.rmtree(folder, ignore_errors=True)


def _serve(requests: Connection) -> None:
    os.setsid()  # with whatever it starts, it can be ended
    # The campaign is told to stop, not this process. (What is ignored would be ignored by whatever it starts, too.)
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup whatever it starts would rightly ignore it
    while True:
        try:
            attack, case = requests.recv()
        except EOFError:
            return
        requests.send(attempt(attack, case))


class Warm:
    """The process, started when it is first needed and again whenever it is lost."""

    def __init__(self) -> None:
        self._process: Any = None
        self._requests: Any = None

    def __enter__(self) -> "Warm":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def verdict(self, attack: str, case: Any, seconds: float) -> Verdict:
        if self._process is None:
            self._requests, theirs = _CONTEXT.Pipe()
            self._process = _CONTEXT.Process(target=_serve, args=(theirs,))
            self._process.start()
            theirs.close()
        try:
            self._requests.send((attack, case))
            if not self._requests.poll(seconds):
                self._stop()
                return Verdict("hang", f"no end within {seconds:.0f} s")
            found: Verdict = self._requests.recv()
            return found
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode
            self._stop()
            return Verdict("crash", signal.Signals(-code).name if code < 0 else f"exit {code}")

    def _stop(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.join()
            self._requests.close()
            self._process = None
