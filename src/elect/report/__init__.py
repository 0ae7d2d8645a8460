"""One self-contained page about a detection: a computed summary, and a thin renderer."""

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

__all__ = [
    "AgreementView",
    "ColumnView",
    "ReasonView",
    "ReportSummary",
    "RowView",
    "histogram",
    "map_points",
    "render",
    "trace_of",
]
