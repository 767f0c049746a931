"""Presentation styles: which display attributes make two element nodes equal (`attr` of SST).

Four levels: ``none`` (tag names only), ``html`` (presentational attributes of the source, inline CSS and class
tokens), ``layout`` and ``full`` (computed CSS). A computed style holds only what sets the element apart: inherited
properties where they differ from the parent's, others where they differ from the default of the tag; used pixel
sizes never enter, since two equal blocks with different text would differ in them.
"""

import re
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.columns.computed import computed_styles
from domsieve.analysis.columns.hash import U64, combine, hashes_of
from domsieve.analysis.columns.names import AttributeIs
from domsieve.analysis.columns.tables import grouping
from domsieve.vocabulary import StyleLevel

_DIGITS = re.compile(r"\d+")
_STATES = re.compile(
    r"^(?:active|current|selected|first|last|odd|even|hover|open|close[d]?|highlight|item|alt|parent|ancestor)$"
    r"|current|active|selected"
)
_RULE = re.compile(r"(?<![\w-])([\w-]++)\s*+:\s*+([^;]*+)")
_SIZES = frozenset(
    (
        *("width", "height", "min-width", "min-height", "max-width", "max-height"),
        *("top", "left", "right", "bottom"),
    )
)


def presentation_styles(batch: Batch, level: StyleLevel, *, of: NDArray[np.bool_] | None = None) -> U64:
    """Return the hash of each node's display attributes, shape (N,).

    0 is the empty set of attributes. Nodes that are not elements, or not among those asked for in `of` (N,),
    have none.
    """
    of = batch.elements() if of is None else of
    if level == "none":
        return np.zeros(batch.kind.size, np.uint64)
    if level == "html":
        return _html_styles(batch, of)
    return computed_styles(batch, level, of)


def _html_styles(batch: Batch, of: NDArray[np.bool_]) -> U64:
    chosen = np.flatnonzero(batch.attr_is & AttributeIs.PRESENTATIONAL)
    chosen = chosen[of[batch.attr_owner[chosen]]]
    name = batch.attr_name[chosen]
    pairs = grouping(combine(batch.hashes(name), batch.hashes(batch.attr_value[chosen])))
    names = batch.texts(name[pairs.sample])
    values = batch.texts(batch.attr_value[chosen[pairs.sample]])
    token = cache(_token)
    hashes = hashes_of([_normalised(n, v, token) for n, v in zip(names, values, strict=True)])
    styles = np.zeros(batch.kind.size, np.uint64)
    # A sum forgets the order in which attributes stand in the source.
    np.add.at(styles, batch.attr_owner[chosen], hashes[pairs.code])
    return styles


def _normalised(name: str, value: str, token: Callable[[str], str]) -> str:
    """Return one canonical ``name=value``, empty when the attribute says nothing of the presentation."""
    value = value.lower()
    if name == "class":
        tokens = sorted(set(map(token, value.split())) - {""})
        return "class=" + " ".join(tokens) if tokens else ""
    if name == "style":
        rules = {n: " ".join(v.split()) for n, v in _RULE.findall(value)}
        kept = (f"{n}:{v}" for n, v in sorted(rules.items()) if n not in _SIZES)
        return "style=" + ";".join(kept) if rules else ""
    return f"{name}={' '.join(value.split())}"


def _token(token: str) -> str:
    """Return a class token without its digits, empty when it names a state and no style."""
    token = _DIGITS.sub("", token)
    return token if token.strip("-_") and not _STATES.search(token) else ""
