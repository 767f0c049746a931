"""Imports that all workers need, so that the pool imports them only once."""

import numpy as np
from lxml import etree

from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.writers.evidence import block_columns
from domsieve.analysis.writers.text import write_text
from domsieve.renderer.html_parser.parser import parse_html

__all__ = [
    "AutoCleaner",
    "SiteStyleTree",
    "block_columns",
    "etree",
    "np",
    "parse_html",
    "read_metadata",
    "write_text",
]
