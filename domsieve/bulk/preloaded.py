"""What every worker needs, to be loaded once for all of them."""

import numpy as np
from lxml import etree

from domsieve.analysis import AutoCleaner, SiteStyleTree, block_columns, read_metadata, write_text
from domsieve.renderer import parse_html

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
