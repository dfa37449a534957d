"""``report.html``: a self-contained page about a run."""

from manifill.report.html_report import report_of_run, write_report

__all__ = ["report_of_run", "write_report"]
