"""Put the parts of a page that React streams in their places, as its script does in a browser.

React sends a page before all its parts are ready. A part that comes later is in a hidden element, and a script moves
it. A boundary encloses what is shown until then, a placeholder is alone:

    <!--$?--><template id="B:0"></template>Loading …<!--/$-->
    <template id="P:1"></template>
    <div hidden id="S:0">A part</div>
    <script>$RC=function(b,c){…};$RC("B:0","S:0")</script>

``$RC(boundary, part)``, and ``$RR`` if the part has style sheets, replace all that the boundary encloses.
``$RS(part, placeholder)`` replaces the placeholder. They are in ``fizz-instruction-set`` of React's sources.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import cast

from lxml import etree

from domsieve.budget import check

_SIGN, _SIGNS = b"$R", (b"$RC(", b"$RR(", b"$RS(")
_CALL = re.compile(r"\$R([CRS])\(\s{0,9}\"([^\"\\]{1,99})\"\s{0,9},\s{0,9}\"([^\"\\]{1,99})\"")
_DEFINITION = re.compile(r"\$R([CRS])\s{0,9}=|function\s{1,9}\$R([CRS])\b")
_SCRIPT_TYPES = frozenset(("", "module", "text/javascript", "application/javascript"))
_BEGINS = frozenset(("$", "$?", "$~", "$!", "&"))
_ENDS = frozenset(("/$", "/&"))
# Guesses that bound the work, because lxml moves a subtree in the time of its size.
_MOST_PARTS, _MOST_ANCESTORS, _MOST_SIBLINGS = 500, 256, 2_048
_REPLACED = "streamed-part"  # elements that only their content remains of


def may_stream(data: bytes) -> bool:
    """Return whether a document may have streamed parts; if so, parse it with its comments."""
    return _SIGN in data and any(sign in data for sign in _SIGNS)


def place_streamed_parts(root: etree._Element) -> None:
    """Move all streamed parts, then remove the comments of the page.

    A part moves only if the page defines and calls React's function, and has both elements. All others stay hidden.
    """
    trees = [root, *root.itersiblings("*")]
    by_id = {str(element.get("id")): element for tree in reversed(trees) for element in _with_id(tree)}
    moved = 0
    for place_id, part_id, with_fallback in _calls(trees):
        check()
        place, part = by_id.get(place_id), by_id.get(part_id)
        if place is not None and part is not None and _can_move(part, place) and moved < _MOST_PARTS:
            del by_id[place_id], by_id[part_id]
            _replace(place, part, with_fallback=with_fallback)
            moved += 1
    for tree in trees:
        etree.strip_tags(tree, _REPLACED, etree.Comment)


def _calls(trees: list[etree._Element]) -> Iterator[tuple[str, str, bool]]:
    """Yield the ids of the place and of the part of each call, and whether it replaces a boundary."""
    defined: set[str] = set()
    for script in [script for tree in trees for script in tree.iter("script")]:
        text = script.text or ""
        if "$R" not in text or script.get("type", "").strip().lower() not in _SCRIPT_TYPES:
            continue
        defined.update(*_DEFINITION.findall(text))
        for name, first, second in _CALL.findall(text):
            if name in defined:
                yield (second, first, False) if name == "S" else (first, second, True)


def _with_id(tree: etree._Element) -> list[etree._Element]:
    """Return the elements with an id, the last first."""
    found = [element for element in tree.iter("*") if element.get("id")]
    found.reverse()
    return found


def _can_move(part: etree._Element, place: etree._Element) -> bool:
    """Return whether a part can move; React writes no text behind one, which lxml would move with it."""
    above = list(islice(place.iterancestors(), _MOST_ANCESTORS))
    return (
        place.tag == "template"
        and part.getparent() is not None
        and not (part.tail or "").strip()
        and part is not place
        and len(above) < _MOST_ANCESTORS
        and part not in above
    )


def _replace(place: etree._Element, part: etree._Element, *, with_fallback: bool) -> None:
    """Put a part in the place of a ``template``, and remove what is shown until then."""
    fallback = _fallback(place) if with_fallback else None
    if fallback is not None:
        place.tail = None
        for element in fallback:
            cast("etree._Element", element.getparent()).remove(element)
    part.tag = place.tag = _REPLACED
    part.tail = None
    place.text = None
    place[:] = [part]


def _fallback(place: etree._Element) -> list[etree._Element] | None:
    """Return the elements and comments from a boundary's ``template`` to its end; None if it has no end.

    In a browser the parent always has the end. The parser here may close the parent earlier, and then more than the
    fallback would be removed.
    """
    depth = 0
    found: list[etree._Element] = []
    for element in islice(place.itersiblings(), _MOST_SIBLINGS):
        said = element.text if isinstance(element, etree._Comment) else None
        if said in _ENDS:
            if not depth:
                return found
            depth -= 1
        elif said in _BEGINS:
            depth += 1
        found.append(element)
    return None
