"""What a page changes when it is pictured: style sheets may ask what can be scrolled, and boxes may move."""

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urljoin

import msgspec
import numpy as np

from domsieve.renderer.page.pixels._parts import F64, OUTWARDS, meet, shadow_px
from domsieve.renderer.page.pixels._scene import SHOWING, Scene
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture
from domsieve.snapshot.page import Kind

# Boxes that move by less are not moved.
_STILL_PX = 1.0

# What drawings show elsewhere.
_REFERRED = frozenset({"mask", "pattern", "symbol", "clippath", "marker", "defs", "filter"})

# How far images of borders reach beyond their box at most. A guess.
_OUTSET_PX = 40.0

# Of what is in a box, these show another part where the box is larger or somewhere else.
_BY_BOX = frozenset({"background-image", "border-image", "clip-path", "filter", "mask-image", "perspective"})

# What may paint beyond a box.
_BEYOND = frozenset(
    {
        "filter",
        "-webkit-box-reflect",
        "border-image",
        "box-shadow",
        "text-shadow",
        "outline",
        "outline-offset",
    }
    | {"overflow-x", "overflow-y"}
)
# These paint beyond their box if it does not cut them.
_REPLACED = frozenset({"img", "video", "canvas", "svg", "object", "embed", "iframe"})

# More boxes than these that change are a page that changes as a whole.
_MOST_CHANGED = 100

# The elements with which pictures choose an address, and the attributes with media queries.

# Elements that are pictures or have some, beside img, and the attributes with their addresses.
_PICTURED, _ADDRESSES = (
    frozenset({"input", "video", "image", "embed", "object"}),
    ("src", "poster", "href", "xlink:href", "data"),
)

_Drawn = dict[int, tuple[tuple[str, ...], list[float]]]


def mark_changed(scene: Scene, before: PixelCapture, after: PixelCapture, names: Sequence[str]) -> bool:
    """Mark the texts of a scene as unsure that differ in two captures, or of which what may cover them does.

    The overflow of the root and the body may differ: a lock was released. Returns whether what differs may cover
    texts anywhere.

    Parameters
    ----------
    before, after : the captures.
    names : their computed properties.

    Raises
    ------
    ValueError : the page has changed its structure.
    """
    for capture in (before, after):
        if [len(one.nodes.node_type) for one in capture.documents] != np.diff(scene.starts).tolist():
            raise ValueError("The page has changed its structure.")
    lock = [number for number, name in enumerate(names) if name in {"overflow-x", "overflow-y"}]
    by_box = [number for number, name in enumerate(names) if name in _BY_BOX]
    beyond = {name: number for number, name in enumerate(names) if name in _BEYOND}
    size = scene.kind.size
    restyled, moved, boxes = np.zeros(size, np.bool_), np.zeros(size, np.bool_), np.full((size, 4), np.nan)
    for number, start in enumerate(scene.starts[:-1].tolist()):
        first, second = _drawn(before, number), _drawn(after, number)
        for node in first.keys() | second.keys():
            one, other, at = first.get(node), second.get(node), start + node
            if one:
                left, top, width, height = one[1]
                styles = {name: one[0][number] for name, number in beyond.items()} if one[0] else {}
                reach = _reach_px(styles, scene.names[at])
                boxes[at] = left - reach, top - reach, left + width + reach, top + height + reach
            if not one or not other:
                restyled[at] = moved[at] = True
                continue
            if one[0] != other[0]:
                may_differ = lock if scene.names[at] in {"html", "body"} else ()
                restyled[at] = any(
                    a != b
                    for at, (a, b) in enumerate(zip(one[0], other[0], strict=True))
                    if at not in may_differ
                )
            moved[at] = max(abs(a - b) for a, b in zip(one[1], other[1], strict=True)) > _STILL_PX
            restyled[at] |= moved[at] and any(one[0][number] not in {"none", ""} for number in by_box)
    scene.unsure |= restyled | scene.below(restyled) | (moved & (scene.kind == Kind.TEXT))
    # A frame in which something changes may cover what is around it.
    changed = restyled | moved
    above = scene.parent[scene.starts[:-1]]
    for number in range(above.size - 1, 0, -1):  # inner frames are later
        own = scene.document_of == number
        if above[number] >= 0 and changed[own].any():
            changed[above[number]] = True
    covers = np.flatnonzero(changed & ~np.isnan(boxes[:, 0]) & (scene.kind != Kind.TEXT))
    if covers.size > _MOST_CHANGED:
        scene.unsure[:] = True
        return False
    x, y, x_end, y_end = boxes.T
    is_frame = np.zeros(size, np.bool_)
    is_frame[above[above >= 0]] = True
    for node in covers.tolist():
        left, top, right, bottom = boxes[node].tolist()
        meets = (x < right) & (x_end > left) & (y < bottom) & (y_end > top)
        meets &= (scene.document_of == scene.document_of[node]) & ~scene.below_one(node)
        meets[node] = False
        scene.unsure |= meets | scene.below(meets & is_frame)
    is_far = boxes[:, 0] == -np.inf
    return bool((changed & (is_far | scene.below(is_far))).any())


def skip_invisible(scene: Scene, capture: PixelCapture, names: Sequence[str]) -> None:
    """Tell a scene which texts `SHOWING` makes invisible, so that no picture is taken of them.

    Parameters
    ----------
    capture, names : a capture of the state to be pictured, and its computed properties, with `SHOWING` in them.
    """
    opacity, visibility = (names.index(name) for name in SHOWING)
    clear, hidden = np.zeros((2, scene.kind.size), np.bool_)
    known: dict[bytes, tuple[bool, bool]] = {}
    for document, start in zip(capture.documents, scene.starts, strict=False):
        for node, raw in zip(document.layout.node_index, document.layout.styles, strict=True):
            key = bytes(raw)
            if key not in known:
                row = msgspec.json.decode(key)
                known[key] = (
                    bool(row) and capture.strings[row[opacity]] == "0",
                    bool(row) and (capture.strings[row[visibility]] != "visible"),
                )
            clear[start + node], hidden[start + node] = known[key]
    scene.absent = scene.below(clear & (scene.kind == Kind.ELEMENT)) | (hidden & (scene.kind == Kind.TEXT))


def mark_under(scene: Scene, places: Iterable[F64]) -> None:
    """Mark the texts of a scene as unsure that are where something is that may change at any time.

    Parameters
    ----------
    places : corners (n, 2) of each such thing in CSS px of the page.
    """
    for corners in places:
        first, last = corners.min(axis=0), corners.max(axis=0)
        meets = (scene.box[:, :2] < last).all(axis=1) & (scene.box[:, 2:] > first).all(axis=1)
        scene.unsure[scene.owner[meets]] = True


def mark_painted(scene: Scene) -> None:
    """Mark the texts of a scene as unsure that meet what a paint worklet draws: it may draw otherwise each time."""
    if not scene.painted.size:
        return
    painted, stays = np.zeros((2, scene.kind.size), np.bool_)
    painted[scene.painted], stays[scene.floats] = True, True
    scene.unsure |= painted | scene.below(painted)
    stays |= scene.below(stays)
    fixed, scrolled_by = scene.fixed_of[scene.owner], scene.scrolled_by()
    boxed = ~np.isnan(scene.bounds[:, 0]) & (scene.kind != Kind.TEXT)
    for node in scene.painted[boxed[scene.painted]].tolist():
        edges = scene.bounds[node] + (_OUTSET_PX + scene.reach_px[node]) * OUTWARDS
        if (scroller := int(scrolled_by[node])) >= 0:  # it may come to all places of the box that scrolls it
            port = scene.scrollers[scroller].port
            edges = np.append(np.minimum(edges[:2], port[:2]), np.maximum(edges[2:], port[2:]))
        if stays[node]:  # it may come to all places below each other
            edges[1::2] = -np.inf, np.inf
        meets = meet(scene.box, edges) & (fixed == scene.fixed_of[node])
        scene.unsure[scene.owner[meets]] = True


class Missing(NamedTuple):
    """What readers may see of a page, although it was not there when the page was captured.

    Parameters
    ----------
    places : left, top, right and bottom, in px of the page, of pictures that had not come, or are gone.
    awaited : the addresses of pictures that had not come, and whether the page surely shows them.
    media : the addresses of videos and sounds that had not come.
    framing : the browser's ids of the elements whose frames had not come.
    is_cut : whether its last nodes were removed, or loading was stopped: what is not there may cover any text.
    unknown : the frames for which something has not come without which browsers do not paint, or a style sheet was
        refused that readers may have, or that show what readers do not see: pictures of them as they were, in a view
        transition that does not end, or what is for browsers without scripts.
    is_anywhere : whether pictures may also be shown by parts of elements that captures do not have.
    is_loose : whether pictures have not come that may be larger than their boxes are now.
    """

    places: Sequence[Sequence[float]] = ()
    awaited: Mapping[str, bool] = MappingProxyType({})
    media: frozenset[str] = frozenset()
    framing: frozenset[int] = frozenset()
    is_cut: bool = False
    unknown: frozenset[str] = frozenset()
    is_anywhere: bool = False
    is_loose: bool = False


def mark_missing(scene: Scene, missing: Missing) -> bool:
    """Mark the texts of a scene as unsure that are where something is missing, all if it is not known where.

    Returns whether it may come elsewhere, too: it has no size yet, or sticks to the window.
    """
    frames = [scene.capture.strings[one.frame_id] for one in scene.capture.documents]
    unknown = scene.starts[:-1][np.isin(frames, [*missing.unknown])]
    scene.unsure |= scene.below(np.isin(np.arange(scene.ids.size), unknown))
    mark_under(scene, scene.bounds[scene.parent[unknown]][scene.parent[unknown] >= 0].reshape(-1, 2, 2))
    mark_under(scene, (np.array(place, np.float64).reshape(2, 2) for place in missing.places))
    found: dict[str, list[int]] = {address: [] for address in missing.awaited}
    for number, start in enumerate(scene.starts[:-1].tolist() if found else ()):
        for node, address in _pictured(scene, number, found):
            found[address].append(start + node)
    # Servers may leave pictures unanswered that scripts ask for to count readers: these are nowhere.
    is_unknown = any(missing.awaited[address] and not nodes for address, nodes in found.items())
    is_unknown |= bool(found) and (missing.is_anywhere or "feimage" in scene.names)
    framing = np.flatnonzero(np.isin(scene.ids, [*missing.framing])).tolist()
    # Those without a box are shown nowhere.
    every = itertools.chain(framing, *found.values())
    late = [node for node in every if not np.isnan(scene.bounds[node, 0])]
    # The background of these is that of the page.
    is_unknown |= any(
        scene.names[node] in ("html", "body") or _paints_elsewhere(scene, node) for node in late
    )
    scene.unsure |= is_unknown
    for node in late:
        # What it shows has another size than the texts in its place.
        if scene.names[node] == "object":
            is_placed = scene.style(node, "position")[0] in {"absolute", "fixed"}
            scene.unsure |= scene.below_one(node) | (not is_placed)
    mark_under(scene, (scene.bounds[late] + scene.reach_px[late][:, None] * OUTWARDS).reshape(-1, 2, 2))
    return missing.is_loose or any(
        "url(" in scene.style(node, "content")[0] or _sticks(scene, node) for node in late
    )


def _sticks(scene: Scene, node: int) -> bool:
    """Return whether an element, or one around it, stays in the window for a part of the way."""
    while node >= 0:
        if scene.style(node, "position")[0] == "sticky":
            return True
        node = int(scene.parent[node])
    return False


def _paints_elsewhere(scene: Scene, node: int) -> bool:
    """Return whether what an element shows may be seen far from its box."""
    name = scene.names[node]
    border, marker = scene.style(node, "border-image", "list-style-image")
    _, _, outset = border.partition(" / ")[2].partition(" / ")
    if name == "image" and "use" in scene.names:
        return True
    if "url(" in marker or not set("123456789").isdisjoint(outset):
        return True
    while node >= 0:
        effect, reflection = scene.style(node, "filter", "-webkit-box-reflect")
        is_shifted = "drop-shadow" in effect or "url(" in effect or reflection not in ("none", "")
        if is_shifted or scene.names[node] in _REFERRED:
            return True
        node = int(scene.parent[node])
    return False


def _pictured(scene: Scene, number: int, addresses: Collection[str]) -> Iterable[tuple[int, str]]:
    """Yield the nodes of a document with pictures of these addresses, without fragment, each with its address."""
    strings, document = scene.capture.strings, scene.capture.documents[number]
    sources = document.nodes.current_source
    for node, value in zip(sources.index, sources.value, strict=True):
        if (source := strings[value].partition("#")[0]) in addresses:
            yield node, source
    start, end = scene.starts[number : number + 2].tolist()
    for node in range(start, end):
        if scene.names[node] in _PICTURED:
            values = scene.attributes(node)
            given = (values[name].strip().partition("#")[0] for name in _ADDRESSES if name in values)
            asked = {urljoin(strings[document.base], one) for one in given}
            yield from ((node - start, address) for address in asked & set(addresses))
    known: dict[tuple[str, ...], list[str]] = {}
    for node, (styles, _) in _drawn(scene.capture, number).items():
        if styles not in known:
            urls = " ".join(value for value in styles if "url(" in value)
            known[styles] = [
                address for address in addresses if f'url("{address}")' in urls or f'url("{address}#' in urls
            ]
        yield from ((node, address) for address in known[styles])


def _reach_px(styles: Mapping[str, str], tag: str) -> float:
    """Return how far an element may paint beyond its box, given its name."""
    effect = styles.get("filter", "") + styles.get("-webkit-box-reflect", "") + styles.get("border-image", "")
    is_cut = "visible" not in {styles.get("overflow-x"), styles.get("overflow-y")}
    if any(word in effect for word in ("drop-shadow", "url(", "gradient")) or (
        tag in _REPLACED and not is_cut
    ):
        return np.inf
    reach = (shadow_px(styles.get(name, "")) for name in ("text-shadow", "outline", "outline-offset"))
    return shadow_px(styles.get("box-shadow", ""), 4) + sum(reach)


def _drawn(capture: PixelCapture, number: int) -> _Drawn:
    """Return the computed styles and the box of each node of a document that has any."""
    layout = capture.documents[number].layout
    rows: dict[bytes, tuple[str, ...]] = {}
    found: _Drawn = {}
    for node, raw, bounds in zip(layout.node_index, layout.styles, layout.bounds, strict=True):
        key = bytes(raw)
        if key not in rows:
            rows[key] = tuple(
                capture.strings[value] if value >= 0 else "" for value in msgspec.json.decode(raw)
            )
        found.setdefault(node, (rows[key], bounds))
    return found
