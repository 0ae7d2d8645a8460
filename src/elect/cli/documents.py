"""Results as plain JSON values: what ``--json`` prints."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elect.core import Selection
    from elect.detect.detection import Detection, Evaluation, TopRow
    from elect.detect.findings import Findings
    from elect.tables import ColumnTreatment


def selection_document(selection: "Selection") -> dict[str, Any]:
    """The pick and how it came about."""
    return {
        "model": {"id": selection.model_id, "detector": selection.detector, "params": dict(selection.params)},
        "strategy": selection.strategy,
        "neighbors": [{"task": n.task, "similarity": n.similarity} for n in selection.neighbors],
        "models_evaluated": len(selection.evaluated),
        "seconds": selection.seconds,
        "stopped_because": selection.stopped_because,
        "expected_rank": None if selection.expected_rank is None else asdict(selection.expected_rank),
        "why": selection.why,
        "expected_performance": {
            "metric": selection.metric,
            "mean": selection.pick.mean,
            "spread": selection.pick.spread,
        },
        "runners_up": [{"id": c.model_id, "mean": c.mean} for c in selection.runners_up],
        "evaluated": list(selection.evaluated),
        "failures": [{"id": model_id, "why": why} for model_id, why in selection.failures],
        "notes": list(selection.notes),
    }


def columns_document(treatment: "ColumnTreatment | None") -> list[dict[str, Any]]:
    return [
        {
            "column": s.column,
            "role": s.role,
            "kind": s.kind,
            "done": s.done,
            "why": s.why,
            "missing": s.missing,
        }
        for s in (() if treatment is None else treatment.summary())
    ]


def evaluation_document(evaluation: "Evaluation | None") -> dict[str, Any] | None:
    return None if evaluation is None else asdict(evaluation)


def top_document(row: "TopRow") -> dict[str, Any]:
    return {
        "row": row.id,
        "position": row.position,
        "score": row.score,
        "outlier": row.is_outlier,
        "agreeing": row.agreeing,
        "reasons": [asdict(reason) for reason in row.reasons],
    }


def detection_document(
    detection: "Detection", findings: "Findings", top: int, written: dict[str, str | None]
) -> dict[str, Any]:
    """The selection, and what it found."""
    return {
        **selection_document(detection.selection),
        "n_rows": len(detection.scores),
        "threshold": detection.threshold,
        "contamination": detection.options.contamination,
        "n_outliers": int(detection.labels.sum()),
        "top": [top_document(row) for row in findings.top[:top]],
        "evaluation": evaluation_document(detection.evaluation),
        "columns": columns_document(detection.treatment),
        "notes": [*detection.selection.notes, *detection.notes],
        **written,
    }
