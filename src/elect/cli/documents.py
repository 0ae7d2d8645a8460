"""Parts of results as plain JSON values: what ``--json`` prints."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elect.core import Selection
    from elect.detect.detection import Evaluation, TopRow
    from elect.detect.drift import Drift
    from elect.tables import ColumnTreatment, Reading


def model(found: "Selection") -> dict[str, Any]:
    """The pick."""
    return {"id": found.model_id, "detector": found.detector, "params": dict(found.params)}


def selection(found: "Selection", *, trace: bool = False) -> dict[str, Any]:
    """The pick and how it came about; with ``trace`` every model evaluated and every step of the search."""
    return {
        "model": model(found),
        "strategy": found.strategy,
        "neighbors": [{"task": n.task, "similarity": n.similarity} for n in found.neighbors],
        "models_evaluated": len(found.evaluated),
        "seconds": found.seconds,
        "stopped_because": found.stopped_because,
        "expected_rank": None if found.expected_rank is None else asdict(found.expected_rank),
        "why": found.why,
        "expected_performance": {"metric": found.metric, "mean": found.pick.mean, "spread": found.pick.spread},
        "runners_up": [{"id": c.model_id, "mean": c.mean} for c in found.runners_up],
        "failures": [{"id": model_id, "why": why} for model_id, why in found.failures],
        "notes": list(found.notes),
        **(_trace(found) if trace else {}),
    }


def reading(found: "Reading | None") -> dict[str, Any] | None:
    """How the table was read."""
    return None if found is None else asdict(found)


def _trace(found: "Selection") -> dict[str, Any]:
    steps = [
        {
            "step": step.index,
            "phase": step.phase,
            "model": step.evaluated,
            "similarity": step.mean_similarity,
            "expected_improvement": step.acquisition_value,
            "pick": step.pick.model_id,
        }
        for step in found.steps
    ]
    return {"evaluated": list(found.evaluated), "trace": steps}


def columns(treatment: "ColumnTreatment | None") -> list[dict[str, Any]]:
    names = ("column", "role", "kind", "done", "why", "missing")
    told = () if treatment is None else treatment.summary()
    return [{name: getattr(summary, name) for name in names} for summary in told]


def evaluation(found: "Evaluation | None") -> dict[str, Any] | None:
    return None if found is None else asdict(found)


def top_row(row: "TopRow") -> dict[str, Any]:
    return {
        "position": row.position,
        "id": row.id,
        "score": row.score,
        "chance": row.chance,
        "is_outlier": row.is_outlier,
        "kind": row.kind,
        "agreeing": row.agreeing,
        "reasons": [asdict(reason) for reason in row.reasons],
    }


def drift(found: "Drift | None") -> dict[str, Any] | None:
    if found is None:
        return None
    columns = None if found.columns is None else [asdict(moved) for moved in found.columns]
    rows = {"flagged": found.flagged, "expected": found.expected, "more_flagged": found.more}
    return {"changed": bool(found), "columns": columns, **rows, "advice": list(found.advice)}
