"""From a detection to the report about it."""

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from elect.detect.detection import Detection
from elect.detect.findings import Findings
from elect.detect.threshold import rule_of
from elect.report.page import render
from elect.report.snippet import code
from elect.report.summary import ReportSummary, histogram, map_points
from elect.support import wording
from elect.tables import ColumnSummary

MOST_ROWS = 100
"""A page is to be read: of the flagged rows it shows so many."""

MOST_CELLS = 100
"""A row opens to its values: of a wide table to so many."""


def report_of(
    detection: Detection,
    findings: Findings,
    top: int = 10,
    *,
    database: Path | None = None,
    saved_as: Path | None = None,
    python: str | None = None,
) -> str:
    """The report as one HTML document. ``database`` is the file it was elected from, where it is not the shipped one;
    ``saved_as`` the file that keeps the detector; ``python`` are lines that do the same, where others than usual are
    needed."""
    found = summary_of(detection, findings, top, database=database, saved_as=saved_as)
    return render(found if python is None else replace(found, python=python))


def summary_of(
    detection: Detection,
    findings: Findings,
    top: int = 10,
    *,
    database: Path | None = None,
    saved_as: Path | None = None,
) -> ReportSummary:
    """What the report says."""
    columns = columns_of(detection)
    shown = max(top, MOST_ROWS)
    return ReportSummary(
        title=Path(detection.opened.source).name,
        n_rows=detection.opened.n_rows,
        selection=detection.selection,
        threshold=detection.threshold,
        threshold_rule=rule_of(detection.threshold, detection.options.contamination, detection.options.scorer),
        n_outliers=int(detection.labels.sum()),
        histogram=histogram(detection.scores, detection.threshold),
        map=map_points(detection.rows, detection.row_scores, detection.threshold),
        false_alarms=detection.false_alarms,
        top=findings.top[:shown],
        cells=tuple(tuple(map(wording.cell, row)) for row in findings.cells[:shown, :MOST_CELLS].iter_rows()),
        id_name=detection.id_name,
        agreement=findings.agreement,
        columns=columns,
        python=code(
            detection.opened.source if Path(detection.opened.source).is_file() else None,
            [summary.column for summary in columns],
            detection.options,
            detection.selection,
            database=database,
            saved_as=saved_as,
        ),
        first=top,
        evaluation=detection.evaluation,
        notes=(*detection.opened.sample.notes, *detection.selection.notes, *detection.notes, *findings.notes),
        version=version("elect"),
    )


def columns_of(detection: Detection) -> tuple[ColumnSummary, ...]:
    """What was done with each column; those of an array are taken as they are."""
    if detection.treatment is not None:
        return detection.treatment.summary()
    names = detection.opened.sample.columns
    return tuple(ColumnSummary(name, "feature", "number", "used as it is", "it is of an array", 0.0) for name in names)
