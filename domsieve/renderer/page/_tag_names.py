"""What the names of elements in a capture mean: which of them are those of HTML, SVG and MathML."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.snapshot.page import Kind

OF_DOCUMENT = "title", "base"
"""What these elements say, they do not say in shadow trees."""

_XHTML = "http://www.w3.org/1999/xhtml"
_DRAWN = frozenset({"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"})
# Elements of these names show what their texts do not say, but not in SVG and MathML.
_HTML_ONLY = frozenset(
    {"audio", "base", "body", "button", "canvas", "details", "embed", "html", "iframe", "img", "input"}
)
_HTML_ONLY |= {
    "lite-youtube",
    "marquee",
    "noscript",
    "object",
    "select",
    "summary",
    "textarea",
    "title",
    "video",
}
# The names of elements of SVG with capitals, but for those of filters, which begin with "fe".
_SVG_NAMES = frozenset({"animateMotion", "animateTransform", "clipPath", "foreignObject"})
_SVG_NAMES |= {"linearGradient", "radialGradient", "textPath"}


def strays_of(
    is_html: NDArray[np.bool_], is_body: NDArray[np.bool_], parent: NDArray[Any], kind: NDArray[Any]
) -> NDArray[np.bool_]:
    """Return which nodes (N,) are named like the root of a page or its body, but are others in its tree.

    Parameters
    ----------
    is_html, is_body : those with these names (N,).
    parent, kind : the node above each, and its kind (N,).
    """
    is_root = is_html & (kind[parent] == Kind.DOCUMENT)
    bodies = np.flatnonzero(is_body & is_root[parent])
    is_stray = (is_html & ~is_root) | is_body
    is_stray[bodies[np.unique(parent[bodies], return_index=True)[1]]] = False
    return np.asarray(is_stray)


def looks_like_xml(names: Sequence[int], kinds: Sequence[int], strings: Sequence[str]) -> bool:
    """Return whether a document seems to be XML: in others, the names of HTML elements are in capitals."""
    first = next((name for name, kind in zip(names, kinds, strict=True) if kind == Kind.ELEMENT), -1)
    return first >= 0 and not strings[first].isupper()


def tag_of(name: str) -> str:
    """Return the name of a node of a document in HTML in lower case.

    It gets a colon if it looks like that of HTML, but is of SVG or MathML, whose names are in lower case.
    """
    return f":{name}" if name in _HTML_ONLY else name.lower()


def tags_in_xml(
    names: Sequence[int],
    kinds: Sequence[int],
    parents: Sequence[int],
    attributes: Sequence[Sequence[int]],
    strings: Sequence[str],
) -> list[str]:
    """Return the names of all nodes of a document in XML, in lower case, by their namespaces.

    Those of HTML, SVG and MathML have no prefix. They get a colon if they say nothing to browsers: names in capitals,
    and those that only HTML has. Names of other languages have their prefix, or only the colon.

    Parameters
    ----------
    names, kinds, parents, attributes : of the nodes in depth-first order, with the numbers of `strings`.
    """
    declares = [one == "xmlns" or one.startswith("xmlns:") for one in strings]
    spaces: dict[str, str] = {}  # by prefix, where the walk is
    opened: list[tuple[int, dict[str, str]]] = []  # nodes, and the namespaces that they replaced
    found = []
    for node, (number, kind, above, flat) in enumerate(zip(names, kinds, parents, attributes, strict=True)):
        name = strings[number] if number >= 0 else ""
        while opened and opened[-1][0] != above:
            spaces.update(opened.pop()[1])
        replaced: dict[str, str] = {}
        for key, value in zip(flat[::2], flat[1::2], strict=True):
            if declares[key]:
                prefix = strings[key][6:]
                replaced.setdefault(prefix, spaces.get(prefix, ""))
                spaces[prefix] = strings[value] if value >= 0 else ""
        prefix, _, local = name.rpartition(":")
        space = spaces.get(prefix, "")
        is_element = kind == Kind.ELEMENT and not name.startswith("::")
        found.append(_tag(name, local, space) if is_element else name.lower())
        opened.append((node, replaced))
    return found


def _tag(name: str, local: str, space: str) -> str:
    """Return the tag of an element by its name, also without its prefix, and its namespace."""
    if space != _XHTML and space not in _DRAWN:
        return name.lower() if ":" in name else f":{name.lower()}"
    tag = local.lower()
    # Scripts make drawings without a declaration.
    is_strange = tag != local and local not in _SVG_NAMES and not local.startswith("fe")
    if space in _DRAWN:
        is_strange |= tag in _HTML_ONLY
    return f":{tag}" if is_strange else tag
