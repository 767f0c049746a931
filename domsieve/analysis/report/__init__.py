"""The report on pages and what methods make of them: one HTML file that runs and loads nothing of the pages."""

from domsieve.analysis.report.document import ReportPart, Tile, write_report
from domsieve.analysis.report.view import PageView, Recurrences, TreeView, page_view, tree_view
from domsieve.analysis.trees.outline import Outliner, SiteOutline

__all__ = [
    "Outliner",
    "PageView",
    "Recurrences",
    "ReportPart",
    "SiteOutline",
    "Tile",
    "TreeView",
    "page_view",
    "tree_view",
    "write_report",
]
