"""Results as a page, a document, or a folder for a paper."""

from holdsup.report.view import Entry
from holdsup.report.writing import write_paper, write_report

__all__ = ["Entry", "write_paper", "write_report"]
