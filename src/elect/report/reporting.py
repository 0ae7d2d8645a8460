"""From a detection to the report about it."""

from importlib.metadata import version
from pathlib import Path

from elect.detect.detection import Detection
from elect.detect.findings import Findings
from elect.detect.threshold import rule_of
from elect.report.page import render
from elect.report.snippet import code
from elect.report.summary import ReportSummary, histogram, map_points
from elect.support import wording

MOST_CELLS = 100
"""A row opens to its values: of a wide table to so many."""


def report_of(
    detection: Detection,
    findings: Findings,
    top: int = 10,
    *,
    database: Path | None = None,
    saved_as: Path | None = None,
) -> str:
    """The report as one HTML document. ``database`` is the file it was elected from, where it is not the shipped one;
    ``saved_as`` the file that keeps the detector."""
    return render(summary_of(detection, findings, top, database=database, saved_as=saved_as))


def summary_of(
    detection: Detection,
    findings: Findings,
    top: int = 10,
    *,
    database: Path | None = None,
    saved_as: Path | None = None,
) -> ReportSummary:
    """What the report says."""
    assert detection.treatment is not None  # a file is a table
    return ReportSummary(
        title=Path(detection.opened.source).name,
        n_rows=detection.opened.n_rows,
        selection=detection.selection,
        threshold=detection.threshold,
        threshold_rule=rule_of(detection.threshold, detection.options.contamination, detection.options.scorer),
        n_outliers=int(detection.labels.sum()),
        histogram=histogram(detection.scores, detection.threshold),
        map=map_points(detection.rows, detection.row_scores, detection.threshold),
        top=findings.top,
        cells=tuple(tuple(map(wording.cell, row)) for row in findings.cells[:, :MOST_CELLS].iter_rows()),
        id_name=detection.row_ids.name,
        agreement=findings.agreement,
        columns=detection.treatment.summary(),
        python=code(
            detection.opened.source,
            [summary.column for summary in detection.treatment.summary()],
            detection.options,
            detection.selection,
            database=database,
            saved_as=saved_as,
        ),
        first=top,
        evaluation=detection.evaluation,
        notes=(*detection.opened.sample.notes, *detection.selection.notes, *detection.notes),
        version=version("elect"),
    )
