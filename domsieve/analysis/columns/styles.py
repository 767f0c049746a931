"""Presentation styles: which display attributes make two element nodes equal (`attr` of SST)."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import AttributeIs, Batch
from domsieve.analysis.columns.hash import U64, combine, hashes_of, mix
from domsieve.analysis.columns.tables import grouping
from domsieve.snapshot.page import MOMENTS, PIXELS
from domsieve.types import StyleLevel

Row = Mapping[str, str]

_BLOCK = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "main",
        "menu",
        "nav",
        "ol",
        "optgroup",
        "option",
        "p",
        "pre",
        "search",
        "section",
        "summary",
        "ul",
    ]
)
_DISPLAY = {
    **dict.fromkeys(_BLOCK, "block"),
    **dict.fromkeys(["button", "input", "meter", "progress", "select", "textarea"], "inline-block"),
    "li": "list-item",
    "table": "table",
    "thead": "table-header-group",
    "tbody": "table-row-group",
    "tfoot": "table-footer-group",
    "tr": "table-row",
    "td": "table-cell",
    "th": "table-cell",
    "caption": "table-caption",
    "col": "table-column",
    "colgroup": "table-column-group",
}
_BOLD = frozenset(["b", "strong", "th", "h1", "h2", "h3", "h4", "h5", "h6"])
_TRANSPARENT = re.compile(r"rgba\(.*, 0\)|transparent")
_LARGEST = 1e9  # larger than any real value; keeps a made-up one from becoming infinite
_NO_STYLES = frozenset((PIXELS, MOMENTS))
_SIDES = ("top", "right", "bottom", "left")


def computed_styles(batch: Batch, level: Literal["layout", "full"], of: NDArray[np.bool_]) -> U64:
    """Return the hash of the display attributes of each node, shape (N,).

    Parameters
    ----------
    level : ``"layout"`` for structure and spacing, ``"full"`` for colours, fonts and decoration as well.
    of : (N,), the nodes to hash. Other nodes, and nodes without layout, get 0.
    """
    own = _row_hashes(batch)
    node = np.flatnonzero(of & (own != 0))
    parent = batch.parent[node]
    above = np.where(parent >= 0, own[parent], np.uint64(0))
    kinds = grouping(combine(combine(own[node], above), batch.tag_hash[batch.tag[node]]))
    wordings = [_attributes_of(batch, int(n), level) for n in node[kinds.sample]]
    styles = np.zeros(batch.kind.size, np.uint64)
    styles[node] = hashes_of(wordings)[kinds.code]
    return styles


def _row_hashes(batch: Batch) -> U64:
    """Return a hash of each node's computed values, comparable between pages; 0 for nodes without layout."""
    # What pictures and other moments say is no style.
    names = [tuple(name for name in page.style_names if name not in _NO_STYLES) for page in batch.pages]
    rows = [
        page.styles[:, [page.style_names.index(name) for name in known]] + first
        for page, known, first in zip(batch.pages, names, batch.string_first[:-1], strict=True)
    ]
    values = batch.hashes(np.concatenate([row.ravel() for row in rows]))
    own: list[U64] = []
    done = 0
    for page, known, row in zip(batch.pages, names, rows, strict=True):
        properties = values[done : done + row.size].reshape(row.shape) + hashes_of(known)
        hashes = np.add.reduce(mix(properties), axis=1, dtype=np.uint64)
        own.append(np.append(hashes, np.uint64(0))[page.style])
        done += row.size
    return np.concatenate(own)


def _attributes_of(batch: Batch, node: int, level: str) -> str:
    index = int(batch.page[node])
    page, local = batch.pages[index], node - int(batch.first[index])
    above = int(page.parent[local])
    parent = page.computed_style(above) if above >= 0 else {}
    return display_attributes(page.tag_name(local), page.computed_style(local), parent, level=level)


def display_attributes(tag: str, style: Row, parent: Row, *, level: str) -> str:
    """Return the display attributes of one element as ``name:value;name:value``, in a fixed order.

    Parameters
    ----------
    tag : the element's tag, lower case.
    style, parent : computed values by property name, of the element and of its parent.
    level : ``"layout"`` or ``"full"``.
    """
    kept: list[str] = []

    def keep(name: str, value: str, default: str) -> None:
        if value != default:
            kept.append(f"{name}:{value}")

    def inherited(name: str, value: Callable[[Row], str]) -> None:
        own = value(style)
        if not parent or own != value(parent):
            kept.append(f"{name}:{own}")

    keep("display", style.get("display", ""), _DISPLAY.get(tag, "inline"))
    keep("position", style.get("position", "static"), "static")
    keep("float", style.get("float", "none"), "none")
    if "flex" in style.get("display", ""):
        keep("flex-direction", style.get("flex-direction", "row"), "row")
    inherited("text-align", lambda s: s.get("text-align", ""))
    if tag in {"ul", "ol", "li"}:
        inherited("list-style-type", lambda s: s.get("list-style-type", ""))
    inherited("font-size", lambda s: str(round(_number(s.get("font-size", "")))))
    if tag not in _BOLD:
        inherited("font-weight", _weight)
    inherited("white-space", lambda s: "nowrap" if "nowrap" in s.get("white-space", "") else "wrap")
    inherited("visibility", lambda s: s.get("visibility", "visible"))
    keep("background", _background(style, level), "none")
    for side in _SIDES:
        keep(f"border-{side}", _border(style, side, level), "none")
    if level == "full":
        inherited("color", lambda s: s.get("color", ""))
        inherited("font-family", lambda s: s.get("font-family", "").split(",")[0].strip(" \"'").lower())
        inherited("font-style", lambda s: s.get("font-style", ""))
        inherited("text-transform", lambda s: s.get("text-transform", ""))
        keep(
            "text-decoration",
            style.get("text-decoration-line", "none"),
            "underline" if tag == "a" else "none",
        )
        corners = style.get("border-radius", "0px").split()
        keep("radius", "some" if any(map(_number, corners)) else "none", "none")
        keep("shadow", "none" if style.get("box-shadow", "none") == "none" else "some", "none")
        keep("opacity", "0" if _number(style.get("opacity", "1")) == 0 else "1", "1")
    return ";".join(kept)


def _weight(style: Row) -> str:
    return "bold" if _number(style.get("font-weight", "400")) >= 600 else "normal"


def _background(style: Row, level: str) -> str:
    image, colour = style.get("background-image", "none"), style.get("background-color", "")
    opaque = bool(colour) and not _TRANSPARENT.fullmatch(colour)
    if level == "layout":
        return "some" if opaque or image != "none" else "none"
    picture = "" if image == "none" else "gradient" if "gradient" in image else "url"
    return " ".join(filter(None, (colour if opaque else "", picture))) or "none"


def _border(style: Row, side: str, level: str) -> str:
    # Chrome serialises a side as width, line and colour: "2px dashed rgb(255, 0, 0)".
    width, _, rest = style.get(f"border-{side}", "0px none").partition(" ")
    line, _, colour = rest.partition(" ")
    if line in {"none", "hidden", ""} or not _number(width) or _TRANSPARENT.fullmatch(colour):
        return "none"
    return "some" if level == "layout" else f"{line} {colour}"


def _number(value: str) -> float:
    match = re.match(r"-?\d*\.?\d+", value)
    return min(float(match[0]), _LARGEST) if match else 0.0


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

    Parameters
    ----------
    level : which attributes count; see the module.
    of : (N,), the nodes to hash; by default all elements. Other nodes, and nodes without attributes, get 0.
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
    # A sum does not depend on the order of the attributes in the source.
    np.add.at(styles, batch.attr_owner[chosen], hashes[pairs.code])
    return styles


def _normalised(name: str, value: str, token: Callable[[str], str]) -> str:
    """Return a canonical ``name=value``; empty if the attribute does not affect the presentation."""
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
    """Return a class token without digits; empty if it names a state, such as ``active``, rather than a style."""
    token = _DIGITS.sub("", token)
    return token if token.strip("-_") and not _STATES.search(token) else ""
