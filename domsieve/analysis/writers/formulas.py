"""Find the TeX source of formulas.

KaTeX and MediaWiki store it in an annotation of MathML, LaTeXML in ``alttext``, MathJax 4 in ``data-latex``, older
wikis and blogs in the description of an image. MathJax 2 stores it in scripts, whose text is not in a Snapshot.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.columns.page_columns import AttributeIndex
from domsieve.analysis.writers.media import Reader
from domsieve.budget import check
from domsieve.snapshot.page import Snapshot

_WRAPPERS = word_set(
    "katex katex-display mathjax mathjax_display mathjax_chtml mathjax_svg mathjax_mathml mathjax_svg_display "
    "mjx-chtml mjxc-display mwe-math-element ltx_math"
)
_DISPLAYED = word_set(
    "katex-display mathjax_display mathjax_svg_display mjxc-display mwe-math-element-block mwe-math-mathml-display"
)
_IMAGES = word_set("latex mwe-math-fallback-image-display mwe-math-fallback-image-inline tex")
_FORMULA_LEVELS = 8
_LONGEST = 20_000
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_SPACES = re.compile(r"\s+")
_DOLLAR = re.compile(r"(?<!\\)\$")
_STYLED = re.compile(r"\{\\(?:display|text)style (.*)\}")
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|\](?=[(:])")


@dataclass(frozen=True, slots=True)
class Formula:
    """One formula.

    Parameters
    ----------
    end : one past the last node of the elements that display it.
    tex : TeX in one line, safe between dollar signs in Markdown.
    displayed : it is a display formula, on a line of its own.
    """

    end: int
    tex: str
    displayed: bool


def formulas(page: Snapshot, reader: Reader, attributes: AttributeIndex) -> dict[int, Formula]:
    """Return the formulas of a page whose TeX is known, by the outermost node that displays them."""
    names = page.tags.to_list()
    with_tex = np.array([name in {"annotation", "math", "mjx-container", "img"} for name in names])
    candidates = np.flatnonzero(with_tex[page.tag]).tolist()
    if not candidates:
        return {}
    wrappers = attributes.found("class", _wrapper)
    found: dict[int, Formula] = {}
    for node, tex, displayed in _given(reader, candidates):
        check()
        clean = clean_tex(tex)
        root, displayed = _root(reader, node, wrappers, displayed=displayed)
        if clean and root not in found:
            found[root] = Formula(reader.end[root], clean, displayed)
    return found


def clean_tex(tex: str) -> str:
    """Return TeX in one line that is safe between dollar signs in Markdown, or an empty string if that is impossible.

    Spaces have no meaning in formulas, so a space is inserted where Markdown would read a tag or a link.
    """
    if len(tex) > _LONGEST:
        return ""
    tex = _SPACES.sub(" ", _COMMENT.sub("", tex)).strip(" ")
    if styled := _STYLED.fullmatch(tex):
        tex = styled[1].strip(" ")
    if _DOLLAR.search(tex) or tex.endswith("\\"):
        return ""
    return _MARKUP.sub(r"\g<0> ", tex).replace("*", r"\ast ").replace("`", "‘").strip(" ")


def _wrapper(value: str) -> bool | None:
    """Return whether a class is that of a display formula, or None if it is not that of a formula."""
    tokens = frozenset(value.lower().split())
    if _WRAPPERS.isdisjoint(tokens):
        return None
    return not _DISPLAYED.isdisjoint(tokens)


def _given(reader: Reader, nodes: list[int]) -> Iterator[tuple[int, str, bool]]:
    """Yield nodes with TeX, the TeX, and whether the node is marked as a display formula."""
    for node in nodes:
        tag, given = reader.names[reader.tag[node]], reader.given(node)
        if tag == "annotation" and "tex" in given.get("encoding", "").lower():
            yield node, _text(reader, node), False
        elif tag in {"math", "mjx-container"}:
            tex = given.get("data-latex") or given.get("alttext") or ""
            if tex:
                yield node, tex, given.get("display") in {"block", "true"}
        elif tag == "img" and not _IMAGES.isdisjoint(given.get("class", "").lower().split()):
            tex = given.get("alt", "").strip("$ ")
            if "\\" in tex or "^" in tex or "_" in tex or len(tex) < 4:
                yield node, tex, "display" in given["class"].lower()


def _text(reader: Reader, node: int) -> str:
    return "".join(
        reader.text(n) for n in range(node + 1, reader.end[node]) if reader.names[reader.tag[n]] == "#text"
    )


def _root(reader: Reader, node: int, wrappers: dict[int, bool], *, displayed: bool) -> tuple[int, bool]:
    """Return the outermost node that displays only the formula, and whether it is a display formula."""
    root = above = node
    for _ in range(_FORMULA_LEVELS):
        if above <= 0:
            break
        tag = reader.names[reader.tag[above]]
        if tag in {"math", "mjx-container"} or above in wrappers:
            root = above
            given = reader.given(above)
            displayed |= wrappers.get(above, False) or given.get("display") in {"block", "true"}
        above = reader.parent[above]
    return root, displayed
