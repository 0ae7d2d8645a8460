"""From a table to an answer worth acting on: one road, in memory or in batches.

options = Options(...)                     what is asked
opened = open_table(data, options.seed)    a file or a frame
election = Election(opened, database, options)
for step in election.steps(): ...          the caller may stop
detection = election.detect(election.selection())
findings = findings_of(election, detection)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elect.detect.detection import Detection
    from elect.detect.election import Election
    from elect.detect.findings import Findings, findings_of
    from elect.detect.opened import open_array, open_table
    from elect.detect.options import Options

_HOME = {
    "Detection": "elect.detect.detection",
    "Election": "elect.detect.election",
    "Findings": "elect.detect.findings",
    "Options": "elect.detect.options",
    "findings_of": "elect.detect.findings",
    "open_array": "elect.detect.opened",
    "open_table": "elect.detect.opened",
}

__all__ = ["Detection", "Election", "Findings", "Options", "findings_of", "open_array", "open_table"]


def __getattr__(name: str) -> Any:
    # Fitting needs PyOD, which takes a second to import; writing a file or parsing an option does not.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'elect.detect' has no attribute {name!r}")
