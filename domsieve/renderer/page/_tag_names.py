"""What the names of elements in a capture mean: which of them are those of HTML, SVG and MathML."""

from collections.abc import Iterable, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.snapshot.page import Kind

OF_DOCUMENT = "title", "base"
"""What these elements say, they do not say in shadow trees."""

# The namespaces in which the names of elements mean what they do in HTML.
_SPACES = frozenset(
    {"http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}
)
# Elements of these names show what their texts do not say, but not in SVG and MathML.
_HTML_ONLY = frozenset(
    {"audio", "base", "body", "button", "canvas", "details", "embed", "html", "iframe", "img", "input"}
)
_HTML_ONLY |= {"lite-youtube", "marquee", "noscript", "object", "select", "summary", "textarea", "video"}
# The names of elements of SVG with capitals, but for those of filters, which begin with "fe".
_SVG_NAMES = frozenset({"animateMotion", "animateTransform", "clipPath", "foreignObject"})
_SVG_NAMES |= {"linearGradient", "radialGradient", "textPath"}


def prefixes_of(strings: Sequence[str], attributes: Iterable[Sequence[int]]) -> frozenset[str]:
    """Return the prefixes that stand for HTML, SVG or MathML wherever a page in XML declares them."""
    named = {number: name[6:] for number, name in enumerate(strings) if name.startswith("xmlns:")}
    spaces: dict[str, set[str]] = {}
    for flat in attributes if named else ():
        for name, value in zip(flat[::2], flat[1::2], strict=True):
            if name in named:
                spaces.setdefault(named[name], set()).add(strings[value] if value >= 0 else "")
    return frozenset(prefix for prefix, found in spaces.items() if found <= _SPACES)


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


def is_xml(names: Sequence[int], kinds: Sequence[int], strings: Sequence[str]) -> bool:
    """Return whether a document is XML: in others, the names of HTML elements are in capitals."""
    first = next((name for name, kind in zip(names, kinds, strict=True) if kind == Kind.ELEMENT), -1)
    return first >= 0 and not strings[first].isupper()


def tag_of(name: str, prefixes: Set[str], *, is_xml: bool) -> str:
    """Return the name of a node in lower case, in XML without one of these prefixes.

    It gets a colon if it looks like that of HTML, but says nothing to browsers: in XML with capitals, which only SVG
    has, and else without, as elements of SVG and MathML are written.
    """
    if not is_xml:
        return f":{name}" if name in _HTML_ONLY else name.lower()
    prefix, _, local = name.partition(":")
    name = local if local and prefix in prefixes else name
    is_strange = name != name.lower() and name not in _SVG_NAMES and not name.startswith("fe")
    return f":{name.lower()}" if is_strange else name.lower()
