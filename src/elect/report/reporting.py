"""From a detection to the report about it."""

from pathlib import Path

from elect import __version__
from elect.detect.detection import Detection, Evaluation
from elect.report.page import render
from elect.report.summary import (
    AgreementView,
    ColumnView,
    ReasonView,
    ReportSummary,
    RowView,
    histogram,
    map_points,
    trace_of,
)


def report_of(detection: Detection, top: int = 10, saved_as: Path | None = None) -> str:
    """The report as one HTML document."""
    return render(summary_of(detection, top, saved_as))


def summary_of(detection: Detection, top: int = 10, saved_as: Path | None = None) -> ReportSummary:
    """What the report says."""
    treatment, opened = detection.treatment, detection.opened
    share = detection.detector.contamination
    rule = "3.5 robust deviations above the median" if share == "auto" else f"so that {share:.1%} of the rows lie above"
    return ReportSummary(
        title=Path(opened.path).name,
        n_rows=opened.n_rows,
        n_columns=opened.sample.n_columns,
        n_used=len(treatment.sources),
        selection=detection.selection,
        trace=trace_of(detection.selection),
        threshold=detection.threshold,
        threshold_rule=rule,
        n_outliers=int(detection.labels.sum()),
        histogram=histogram(detection.scores, detection.threshold),
        map=map_points(detection.rows, detection.row_scores, detection.threshold),
        top=tuple(
            RowView(
                row.id,
                row.score,
                row.is_outlier,
                row.agreeing,
                tuple(ReasonView(r.column, r.value, r.usual, r.share) for r in row.reasons),
            )
            for row in detection.top[:top]
        ),
        id_name=detection.row_ids.name,
        agreement_top=detection.agreement.top,
        agreement=tuple(
            AgreementView(model.model_id, model.correlation, model.shared_top) for model in detection.agreement.models
        ),
        columns=tuple(ColumnView(s.column, s.role, s.kind, s.done, s.why, s.missing) for s in treatment.summary()),
        labels=None if detection.evaluation is None else _labels(detection.evaluation),
        notes=(*detection.selection.notes, *detection.notes),
        saved_as=None if saved_as is None else str(saved_as),
        version=__version__,
    )


def _labels(found: Evaluation) -> str:
    return (
        f"Against the known labels: average precision {found.ap:.3f}, ROC AUC {found.roc_auc:.3f} on {found.rows:,} "
        f"rows with {found.outliers:,} outliers. The labels played no part in the pick."
    )
