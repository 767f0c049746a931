"""Names of modes, block types, formats and fields, as callers write them.

The names of the methods are in their registry, `domsieve.analysis.registry`.
"""

from typing import Literal, get_args

Mode = Literal["site", "paper"]
"""Default parameters of a method: ``"site"`` is tuned for modern sites, ``"paper"`` is as published."""

Favor = Literal["balance", "precision", "recall"]
"""What ``"auto"`` favors: ``"precision"`` keeps less text, but surer; ``"recall"`` keeps more."""

HiddenText = Literal["layout", "pixels", "keep"]
"""What happens to hidden text: it is dropped, judged by layout or by pictures of the page, or it is kept."""

BlockKind = Literal[
    "comments", "related", "tables", "captions", "bylines", "share", "breadcrumbs", "navigation", "consent"
]
"""Types of blocks besides the main text, which callers can keep or drop."""

BLOCK_KINDS: tuple[BlockKind, ...] = get_args(BlockKind)
"""All block types; the number of a type is its position, counted from 1."""

WarningKind = Literal["headings_without_text", "text_cut", "hidden_content", "text_missing", "garbled_text"]
"""Kinds of damage in a result that warnings name."""

PageFormat = Literal["text", "markdown", "html", "json", "chunks"]
"""The formats of cleaned pages."""

SyncFormat = Literal["markdown", "text", "chunks"]
"""The formats of the files of a site that is followed."""

RecordFormat = Literal["csv", "jsonl", "parquet"]
"""The formats of records."""

FieldName = Literal["title", "description", "price", "number", "date", "link", "image"]
"""Roles of record fields, by which callers select fields."""

FIELD_NAMES: tuple[FieldName, ...] = get_args(FieldName)
"""All roles of record fields."""

DriverName = Literal["playwright", "pipe"]
"""What carries messages to the browser."""

StyleLevel = Literal["none", "html", "layout", "full"]
"""What distinguishes elements with equal tags: nothing, HTML attributes, computed layout, all computed CSS."""
