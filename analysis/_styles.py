"""Presentation styles: which display attributes make two element nodes equal (SST section 3, `attr`).

Four levels: ``none`` (tag names only), ``html`` (presentational attributes of the source, inline CSS and class
tokens), ``layout`` and ``full`` (computed CSS). A computed style holds only what sets the element apart: inherited
properties where they differ from the parent's, others where they differ from the default of the tag; used pixel
sizes never enter, since two equal blocks with different text would differ in them.
"""

import re
from typing import Literal

import numpy as np

from analysis._batch import Batch
from analysis._computed import computed_styles
from analysis._hash import U64, combine, hash_of, hashes_of

StyleLevel = Literal["none", "html", "layout", "full"]

_PLAIN = [
    "align",
    "valign",
    "bgcolor",
    "background",
    "color",
    "face",
    "size",
    "width",
    "height",
    "border",
    "cellpadding",
    "cellspacing",
    "hspace",
    "vspace",
    "nowrap",
    "colspan",
    "rowspan",
]
_PRESENTATIONAL = hashes_of([*_PLAIN, "style", "class"])
_CLASS, _STYLE = hash_of("class"), hash_of("style")
_STATES = re.compile(
    r"^(?:active|current|selected|first|last|odd|even|hover|open|close[d]?|highlight|item|alt|parent|ancestor)$"
    r"|current|active|selected"
)
_WIDE = re.compile(r"[\s;]*([\w-]+)\s*:\s*([^;]*)")
_SIZES = frozenset(
    [
        "width",
        "height",
        "min-width",
        "min-height",
        "max-width",
        "max-height",
        "top",
        "left",
        "right",
        "bottom",
    ]
)


def presentation_styles(batch: Batch, level: StyleLevel) -> U64:
    """Return the hash of each node's display attributes, shape (N,).

    0 is the empty set of attributes. Nodes that are not elements have none.
    """
    if level == "none":
        return np.zeros(batch.kind.size, np.uint64)
    if level == "html":
        return _html_styles(batch)
    return computed_styles(batch, level)


def _html_styles(batch: Batch) -> U64:
    name = batch.string_hash[batch.attr_name]
    chosen = np.flatnonzero(np.isin(name, _PRESENTATIONAL))
    pair = combine(name[chosen], batch.string_hash[batch.attr_value[chosen]])
    _, sample, which = np.unique(pair, return_index=True, return_inverse=True)
    at = chosen[sample]
    names = batch.strings.take(batch.attr_name[at].tolist())
    values = batch.strings.take(batch.attr_value[at].tolist())
    wordings = [_normalise(n, v) for n, v in zip(names, values, strict=True)]
    hashes = (
        np.where([not w for w in wordings], np.uint64(0), hashes_of(wordings))
        if wordings
        else np.zeros(0, np.uint64)
    )
    styles = np.zeros(batch.kind.size, np.uint64)
    # A sum forgets the order in which attributes stand in the source.
    np.add.at(styles, batch.attr_owner[chosen], hashes[which])
    return styles


def _normalise(name: str, value: str) -> str:
    """Return one canonical ``name=value``, empty when the attribute says nothing of the presentation."""
    if name == "class":
        tokens = {re.sub(r"\d+", "", token) for token in value.lower().split()}
        kept = sorted(t for t in tokens if t.strip("-_") and not _STATES.search(t))
        return "class=" + " ".join(kept) if kept else ""
    if name == "style":
        rules = {n.lower(): " ".join(v.lower().split()) for n, v in _WIDE.findall(value)}
        return (
            "style=" + ";".join(f"{n}:{v}" for n, v in sorted(rules.items()) if n not in _SIZES)
            if rules
            else ""
        )
    return f"{name}={' '.join(value.lower().split())}"
