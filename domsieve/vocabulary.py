"""The words that callers choose methods and modes by, each spelt here and nowhere else.

The command line, the service and the library share them. Imports nothing of the project, so that ``--help`` is quick;
a test holds the methods against the registry of `domsieve.analysis`.
"""

from typing import Literal, get_args

SiteMethod = Literal["auto", "sst", "cst", "entropy", "template"]
"""Cleaning methods that learn from the pages of a site; `auto` can do without."""

PageMethod = Literal["tps", "none"]
"""Cleaning methods that need but the page."""

Method = Literal[SiteMethod, PageMethod]
"""Every cleaning method."""

DEFAULT_METHOD: SiteMethod = "auto"
"""What cleans pages where no method is named."""

MiningMethod = Literal["wobm", "mdr", "iepad", "tps+mdr"]
"""Every method that finds records."""

Mode = Literal["site", "paper"]
"""The parameters of a method: ``"site"`` is ours for today's sites, ``"paper"`` what its authors published."""

Favor = Literal["balance", "precision", "recall"]
"""What the learned cleaner prefers: less and surer text, or more of it."""

BlockKind = Literal[
    "comments", "related", "tables", "captions", "bylines", "share", "breadcrumbs", "navigation", "consent"
]
"""What a block of a page may be besides its main text, by the names that callers keep and drop it by."""

BLOCK_KINDS: tuple[BlockKind, ...] = get_args(BlockKind)
"""All kinds of blocks, in the order of their numbers, which begin at 1."""

FieldName = Literal["title", "description", "price", "number", "date", "link", "image"]
"""What a field of records may hold, by the names that callers pick fields by."""

FIELD_NAMES: tuple[FieldName, ...] = get_args(FieldName)
"""All names that fields can be picked by."""

StyleLevel = Literal["none", "html", "layout", "full"]
"""What tells elements apart: tags alone, attributes of the source, computed layout, all of computed CSS."""
