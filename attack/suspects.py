"""Cases that crash, hang and fail on purpose: what the campaign must be able to see."""

import os
import signal
import time
from pathlib import Path

from attack.verdict import REFUSED, Verdict


def run(case: str, folder: Path) -> Verdict:
    match case:
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "hang":
            time.sleep(600)
        case "fail":
            raise ValueError(case)
    return REFUSED
