"""The algorithms of the papers on Snapshots, and the writers of their results. Imports only `snapshot`."""

from analysis._evidence import Block, dropped_blocks, text_blocks, write_json
from analysis._html import write_html
from analysis._markdown import write_markdown
from analysis._model_file import load_model, save_model
from analysis._none import NoCleaning
from analysis._simplify import simplified
from analysis._sst import Mode, SiteStyleTree
from analysis._styles import StyleLevel
from analysis._text import write_text
from analysis._tps import TagPathFilter, noise_removed
from analysis._tps_search import Region, Round, largest_region, prune, tag_path_codes
from analysis._verdict import Verdict

__all__ = [
    "Block",
    "Mode",
    "NoCleaning",
    "Region",
    "Round",
    "SiteStyleTree",
    "StyleLevel",
    "TagPathFilter",
    "Verdict",
    "dropped_blocks",
    "largest_region",
    "load_model",
    "noise_removed",
    "prune",
    "save_model",
    "simplified",
    "tag_path_codes",
    "text_blocks",
    "write_html",
    "write_json",
    "write_markdown",
    "write_text",
]
