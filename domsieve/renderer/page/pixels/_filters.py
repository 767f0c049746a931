"""What filters of SVG make of letters: whether they take them apart, and where they draw copies of them."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from domsieve.renderer.page.pixels._css_text import unescaped
from domsieve.renderer.page.pixels.pixel_capture import PixelDocument

# Filters of SVG that change colours, blur, or make letters bolder, which pictures tell. All others can move parts of
# letters apart.
_INNER = frozenset(
    (
        *("fedistantlight", "fefunca", "fefuncb", "fefuncg", "fefuncr", "femergenode"),
        *("fepointlight", "fespotlight"),
    )
)
_CLEAR_FILTERS = _INNER | {
    *("feblend", "fecolormatrix", "fecomponenttransfer", "fecomposite", "fediffuselighting", "fedropshadow"),
    *("feflood", "fegaussianblur", "femerge", "femorphology", "feoffset", "fespecularlighting"),
}
_ANIMATING = frozenset({"animate", "set"})
# These draw a second input.
_OF_TWO = frozenset({"feblend", "fecomposite", "fedisplacementmap"})
# Those that have the letters by themselves. What else has no name of a result is the result before.
_SOURCES = frozenset({"SourceGraphic", "SourceAlpha", "FillPaint", "StrokePaint"})
# https://www.w3.org/TR/css-syntax-3/#number-token-diagram
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
# Shadows have these by themselves: Filter Effects Module Level 1, section 9.12.
_OF_SHADOWS = {"dx": "2", "dy": "2", "stddeviation": "2"}
# So many copies are followed. A guess.
_MOST_COPIES = 32
_FAR_PX = 10_000.0
# What is blurred by so many px, or by this share of how far it is away, is a shadow and no copy.
_SOFT_PX, _SOFT = 2.0, 0.04

_ADDRESS = re.compile(r"""url\((?:"((?:\\[\s\S]|[^"\\])*)"|([^)"]*))""")

Copy = tuple[float, float, float]
"""How far to the right and down letters are drawn, and how much they are blurred, in px."""
_HERE: Copy = (0.0, 0.0, 0.0)


class Filters:
    """The filters of SVG of a page.

    Parameters
    ----------
    documents, strings : of the capture.
    names : the names of the nodes of all documents, in lower case.

    Attributes
    ----------
    unclear : the ids of those that may take letters apart.
    """

    def __init__(
        self, documents: Sequence[PixelDocument], strings: Sequence[str], names: Sequence[str]
    ) -> None:
        copies: dict[str, list[Copy]] = {}
        unclear, start = set(), 0
        for document in documents:
            parents = document.nodes.parent_index
            ids: dict[int, str] = {}
            parts: dict[int, list[tuple[str, dict[str, str]]]] = {}
            of: dict[int, int] = {}
            for node, parent in enumerate(parents):
                name = names[start + node]
                if name != "filter" and parent not in ids:
                    continue
                flat = [strings[at] for at in document.nodes.attributes[node]]
                said = {key.lower(): value for key, value in zip(flat[::2], flat[1::2], strict=True)}
                ids[node] = said.get("id", "") if name == "filter" else ids[parent]
                of[node] = node if name == "filter" else of[parent]
                parts.setdefault(of[node], []).append((name, said))
                if name.startswith("fe") and name not in _CLEAR_FILTERS:
                    unclear.add(ids[node])
            for node, own in parts.items():
                copies.setdefault(ids[node], []).extend(_copies(own))
            start += len(parents)
        self.unclear = frozenset(unclear)
        self._apart_px = {name: _apart_px(own) for name, own in copies.items()}

    def is_unclear(self, value: str) -> bool:
        """Return whether a computed ``filter`` has one that may take letters apart, or is of another file."""
        return any(
            not address.startswith("#") or address[1:] in self.unclear for address in _addresses(value)
        )

    def distance_px(self, value: str) -> float:
        """Return how far apart a computed ``filter`` draws letters twice, both sharp; 0 if it does not."""
        return max((self._apart_px.get(address[1:], 0.0) for address in _addresses(value)), default=0.0)


def _apart_px(copies: Sequence[Copy]) -> float:
    most_blur = max(_SOFT_PX, _SOFT * _spread(copies))
    return _spread([copy for copy in copies if copy[2] < most_blur])


def _spread(copies: Sequence[Copy]) -> float:
    """Return how far the farthest two copies are apart, to the side or down, in px."""
    sides = [[copy[axis] for copy in copies] for axis in (0, 1)]
    return max(max(side, default=0.0) - min(side, default=0.0) for side in sides)


def _addresses(value: str) -> list[str]:
    """Return the addresses in a computed ``filter``, as they are written and decoded."""
    found = [unescaped(quoted or plain) for quoted, plain in _ADDRESS.findall(value)]
    return [*found, *map(unquote, found)]


def _copies(parts: Sequence[tuple[str, Mapping[str, str]]]) -> list[Copy]:
    """Return where a filter draws letters: what it paints in the end is what its last part makes.

    Parameters
    ----------
    parts : the filter and the elements in it, in order: their names and attributes.
    """
    source: list[Copy] = [_HERE]
    results: dict[str, list[Copy]] = {}
    last, before, merging = source, source, ""
    in_boxes = parts[0][1].get("primitiveunits", "").lower() == "objectboundingbox"
    for name, said in parts[1:]:
        if name in _ANIMATING:
            return [*source, (_FAR_PX, 0.0, 0.0)]
        if name == "femergenode":
            last = results[merging] = _distinct(last + _input(said, "in", results, before))
        if not name.startswith("fe") or name in _INNER:
            continue
        before, merging = last, said.get("result", "")
        own = _input(said, "in", results, before)
        if name in {"feflood", "femerge"}:
            own = []
        elif name in _OF_TWO:
            own = own + _input(said, "in2", results, before)
        blur = _blur(said.get("stddeviation", _OF_SHADOWS["stddeviation"] if name == "fedropshadow" else "0"))
        if name in {"feoffset", "fedropshadow"}:
            initial = _OF_SHADOWS if name == "fedropshadow" else {}
            right, down = (_number(said.get(key, initial.get(key, "0"))) for key in ("dx", "dy"))
            if in_boxes:
                right, down = right * _FAR_PX, down * _FAR_PX
            moved = [(x + right, y + down, max(soft, blur)) for x, y, soft in own]
            own = own + moved if name == "fedropshadow" else moved
        elif name == "fegaussianblur":
            own = [(x, y, max(soft, blur)) for x, y, soft in own]
        last = results[merging] = _distinct(own)
    return last


def _input(
    said: Mapping[str, str], name: str, results: Mapping[str, list[Copy]], before: list[Copy]
) -> list[Copy]:
    """Return what a part takes: a result or the source by its name, else the result of the part before."""
    if (named := said.get(name, "")) in _SOURCES:
        return [_HERE]
    return results.get(named, before) if named else before


def _distinct(copies: Sequence[Copy]) -> list[Copy]:
    """Return each copy once; if there are too many, some of them and one far away."""
    found = [*dict.fromkeys(copies)]
    return found if len(found) <= _MOST_COPIES else [*found[:_MOST_COPIES], (_FAR_PX, 0.0, 0.0)]


def _number(value: str) -> float:
    """Return a number as browsers read it, 0 for all else."""
    found = float(value) if _NUMBER.fullmatch(value.strip()) else 0.0
    return found if abs(found) < _FAR_PX else _FAR_PX


def _blur(value: str) -> float:
    """Return the smaller of one or two deviations: letters that are blurred one way can be read the other."""
    return min((_number(one) for one in value.replace(",", " ").split()), default=0.0)
