"""``report.html``: one page about a run, readable without a network."""

from manifill.report.write import report_of_run, write_report

__all__ = ["report_of_run", "write_report"]
