"""One self-contained page about a detection: a computed summary, and a thin renderer over the records in it."""

from elect.report.page import render
from elect.report.reporting import report_of, summary_of
from elect.report.summary import ReportSummary

__all__ = ["ReportSummary", "render", "report_of", "summary_of"]
