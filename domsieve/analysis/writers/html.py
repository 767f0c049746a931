"""Write the kept nodes of a page as a minimal HTML document: safe tags, safe attributes, absolute links.

Nothing active is written: no script, style, event handler, form control or frame, and no address other than http,
https and mailto. A browser that opens the document loads nothing, not even its pictures. The content of shadow roots
and frames is written in place, custom elements as ``div`` or ``span``.
"""

import re
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import below, prune
from domsieve.analysis.columns.flow import (
    BLOCK,
    CELL,
    NONE,
    SPACE,
    Flow,
    boundaries,
    text_flow,
    word_set,
)
from domsieve.analysis.columns.invisible import visible_page
from domsieve.analysis.columns.links import Addresses
from domsieve.analysis.columns.page_columns import document_of, has_tag, in_tag, of_html
from domsieve.analysis.metadata.values import Metadata
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers._front_matter import meta_elements
from domsieve.budget import check, spending
from domsieve.snapshot.page import Kind, Snapshot

BLOCK_TAGS = word_set(
    "address article aside blockquote caption dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header "
    "hgroup hr li main nav ol p pre section table tbody td tfoot th thead tr ul"
)
LINE_TAGS = word_set(
    "a abbr b bdi bdo br cite code data del dfn em i img ins kbd mark q rp rt ruby s samp small strong sub "
    "sup time u var wbr"
)
_MATH_TAGS = word_set(
    "math menclose merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt "
    "mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics"
)
VOID_TAGS = frozenset(["br", "hr", "img", "wbr"])
_ALONE = frozenset(["br", "hr", "img", "td", "th"])  # written even without text inside
_CONTROL_TAGS = word_set("input textarea")  # their text is a value of the form
_DROPPED_TAGS = word_set("head noscript script style template title")  # unless a style sheet displays them
_EVERYWHERE = frozenset(["dir", "lang"])
_ATTRIBUTES = {
    "a": frozenset(["href", "hreflang"]),
    "data": frozenset(["value"]),
    "del": frozenset(["datetime"]),
    "img": frozenset(["src", "alt", "width", "height"]),
    "ins": frozenset(["datetime"]),
    "li": frozenset(["value"]),
    "math": frozenset(["display"]),
    "mfrac": frozenset(["linethickness"]),
    "mspace": frozenset(["width"]),
    "ol": frozenset(["reversed", "start", "type"]),
    "td": frozenset(["colspan", "rowspan"]),
    "th": frozenset(["colspan", "rowspan", "scope"]),
    "time": frozenset(["datetime"]),
}
# A file opened from disk would load the pictures of the page and so tell its server who reads it.
_POLICY = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">\n'
_ADDRESSES = frozenset(["href", "src"])
# Browsers show little of a long title.
_LONGEST_TITLE = 120
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_SPACES = re.compile("[ \t\n\r\f]+")
_HELD_SPACE = re.compile("(?<![^ \n]) ")
# What no browser shows has the form that its attribute demands, or is not written: any other text would be hidden.
_NUMBER = re.compile(r"[+-]?[0-9]{1,12}(?:\.[0-9]{1,12})?(?:em|px|%)?")
# A day with or without a time, a time, a week, a day of any year, a time zone and a duration (HTML, section 2.3.5).
_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
_ZONE = r"(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})"
_TIME = re.compile(
    rf"[0-9]{{4}}(?:-[0-9]{{2}}(?:-[0-9]{{2}}(?:[Tt ]{_CLOCK}(?: ?{_ZONE})?)?)?)?|{_CLOCK}|{_ZONE}"
    r"|[0-9]{4}-W[0-9]{2}|(?:--)?[0-9]{2}-[0-9]{2}|P(?!$)(?:[0-9]{1,4}Y)?(?:[0-9]{1,4}M)?(?:[0-9]{1,4}W)?"
    r"(?:[0-9]{1,4}D)?(?:T(?!$)(?:[0-9]{1,4}H)?(?:[0-9]{1,4}M)?(?:[0-9]{1,6}(?:\.[0-9]{1,9})?S)?)?"
)
# A language, a script and a region (BCP 47, section 2.1), of those that are common.
_SCRIPTS = (
    "Arab|Armn|Beng|Cyrl|Deva|Ethi|Geor|Grek|Gujr|Guru|Hans|Hant|Hebr|Jpan|Khmr|Knda|Kore|Laoo|Latn|Mlym|Mong|Mymr|"
    "Orya|Sinh|Taml|Telu|Tfng|Thaa|Thai|Tibt"
)
_LANGUAGE = re.compile(
    rf"(?:(?:[a-z]{{2}}|ast|ceb|fil|gsw|haw|mul|nds|und|yue|zxx)(?:-(?:{_SCRIPTS}))?(?:-(?:[a-z]{{2}}|[0-9]{{3}}))?)?",
    re.IGNORECASE,
)
_WORD = re.compile("auto|block|inline|ltr|rtl|(?:col|row)(?:group)?|(?:reversed)?|[1ai]", re.IGNORECASE)
_NUMBERS = word_set("colspan height linethickness rowspan start value width")
_LANGUAGES = frozenset(["lang", "hreflang"])
_WORDS = word_set("dir display reversed scope type")
_MOST_STEPS = 16


class Source:
    """The columns of a page as lists, for writers that walk over the nodes one by one."""

    def __init__(self, page: Snapshot) -> None:
        self.strings = page.strings.to_list()
        self.names = page.tags.to_list()
        self.tag = page.tag.tolist()
        self.end = page.end.tolist()
        self.kind = page.kind.tolist()
        self.parent = page.parent.tolist()
        self._text = page.text.tolist()
        self._start = page.attr_start.tolist()
        self._name = page.attr_name.tolist()
        self._value = page.attr_value.tolist()
        self._addresses = Addresses(page)

    def text(self, node: int) -> str:
        """Return the text of a text node without control characters."""
        return without_controls(self.strings[self._text[node]])

    def flat(self, node: int) -> str:
        """Return the text of a text node with collapsed white space, and none at its ends."""
        return _SPACES.sub(" ", self.text(node)).strip(" ")

    def attributes(self, node: int) -> Iterator[tuple[str, str]]:
        """Yield the name and value of each attribute of `node`."""
        for i in range(self._start[node], self._start[node + 1]):
            yield self.strings[self._name[i]], self.strings[self._value[i]]

    def safe_attributes(self, node: int, tag: str) -> dict[str, str]:
        """Return the attributes of `node` that are allowed on `tag`, of the form that they must have.

        Addresses are made absolute.
        """
        safe = {}
        for name, value in self.attributes(node):
            if name in _EVERYWHERE or name in _ATTRIBUTES.get(tag, ()):
                if name in _ADDRESSES:
                    clean = self._addresses.absolute(node, value, linked=name == "href")
                else:
                    clean = without_controls(value) if _has_its_form(name, value) else None
                if clean is not None:
                    safe[name] = clean
        return safe

    def path(self, node: int) -> str:
        """Return the tag names from the root to `node`, with slashes between them; at most the last 16."""
        steps: list[str] = []
        while node > 0 and len(steps) < _MOST_STEPS:
            steps.append(self.names[self.tag[node]])
            node = self.parent[node]
        return "/".join(reversed([*steps, "…"] if node > 0 else steps))


def without_controls(text: str) -> str:
    """Return a text without control characters other than white space."""
    return text if text.isprintable() else _CONTROLS.sub("", text)


def _has_its_form(name: str, value: str) -> bool:
    """Return whether the value of an attribute has the form that it must have, if there is one."""
    if name in _NUMBERS:
        return _NUMBER.fullmatch(value) is not None
    if name in _LANGUAGES:
        return _LANGUAGE.fullmatch(value) is not None
    if name in _WORDS:
        return _WORD.fullmatch(value) is not None
    return name != "datetime" or _TIME.fullmatch(value) is not None


class Written(NamedTuple):
    """A text as it is written.

    Parameters
    ----------
    text : the text, with collapsed white space unless `pre`.
    gap : the widest boundary before it, `NONE` to `BLOCK`.
    pre : its white space is preserved.
    lines : number of line ends before it in preformatted text.
    """

    text: str
    gap: int
    pre: bool
    lines: int


def write_html(page: Snapshot, verdict: Verdict, *, metadata: Metadata | None = None) -> str:
    """Return the kept nodes as a minimal HTML document, with the title, language and direction of the page.

    An element is written if it contains kept text, an image, a line break or a table cell.

    Parameters
    ----------
    page : the page.
    verdict : verdict of a method on this page.
    metadata : metadata for the head of the document; None writes none.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("write", page.provenance.url):
        return _document(visible_page(page, verdict.kept), verdict, metadata)


def _document(page: Snapshot, verdict: Verdict, metadata: Metadata | None) -> str:
    source = Source(page)
    root = next((n for n, tag in enumerate(source.tag) if source.names[tag] == "html"), 0)
    start = start_tag("html", source.safe_attributes(root, "html"))
    title = escape(_page_title(page, source), quote=False)
    body = "".join(_body(page, verdict, source))
    meta = meta_elements(metadata) if metadata else ""
    return (
        f'<!DOCTYPE html>\n{start}\n<head>\n<meta charset="utf-8">\n{_POLICY}<title>{title}</title>\n{meta}</head>\n'
        f"<body>{body}\n</body>\n</html>\n"
    )


def _body(page: Snapshot, verdict: Verdict, source: Source) -> Iterator[str]:
    around = boundaries(page)
    texts = written_texts(source, text_flow(page, verdict.kept, around))
    tags = written_tags(page, around)
    in_formula = in_tag(page, "math")
    wide = (((around == BLOCK) | (around == CELL)) & ~in_formula).tolist()
    is_inside: list[bool] = in_formula.tolist()
    closing: list[tuple[int, str, bool]] = []
    inside_pre = 0
    broken = True  # a line ended after the last text
    nodes = written_nodes(page, verdict.kept, texts)
    spaced = _behind_spaces(nodes, texts)
    for node in nodes:
        check()
        while closing and closing[-1][0] <= node:
            _, finish, ends_line = closing.pop()
            broken |= ends_line
            yield finish
        if node in spaced and not is_inside[node]:
            yield " "
        if node in texts:
            yield (
                _in_pre(texts[node])
                if node < inside_pre
                else _in_flow(texts[node], broken=broken or is_inside[node])
            )
            broken = False
        elif (tag := tags[node]) and not (node < inside_pre and (tag == "br" or tag in BLOCK_TAGS)):
            start = start_tag(tag, source.safe_attributes(node, tag))
            finish = "" if tag in VOID_TAGS else f"</{tag}>"
            if tag in LINE_TAGS and wide[node]:
                start, finish = f"<div>{start}", f"{finish}</div>"
            ends_line = tag in BLOCK_TAGS or wide[node]
            yield f"\n{start}" if ends_line and node >= inside_pre else start
            broken |= ends_line or tag == "br"
            if tag == "pre":
                inside_pre = max(inside_pre, source.end[node])
            closing.append((source.end[node], finish, ends_line))
    while closing:
        yield closing.pop()[1]


def _behind_spaces(nodes: list[int], texts: dict[int, Written]) -> set[int]:
    """Return the nodes that need a space before them.

    The space before a text is written outside of all elements that begin with that text.
    """
    spaced = set()
    first = None
    for node in nodes:
        first = node if first is None else first
        if node in texts:
            if texts[node].gap == SPACE:
                spaced.add(first)
            first = None
    return spaced


def _in_pre(written: Written) -> str:
    # In preformatted text, only newlines end a line.
    text = "\n" * written.lines + ("\t" if written.gap == CELL else "") + written.text
    return escape(text, quote=False)


def _in_flow(written: Written, *, broken: bool) -> str:
    text = written.text
    if written.pre:  # in an element that preserves white space by style only
        text = _HELD_SPACE.sub("\u00a0", text)
    line_end = "<br>" if written.gap >= CELL and not broken else ""
    return line_end + escape(text, quote=False).replace("\n", "<br>")


def start_tag(tag: str, attributes: dict[str, str]) -> str:
    """Return a start tag with escaped attributes."""
    return "".join((f"<{tag}", *(f' {name}="{escape(value)}"' for name, value in attributes.items()), ">"))


def written_texts(source: Source, flow: Flow) -> dict[int, Written]:
    """Return the written text of each text node in the flow, without those that are empty.

    White space is collapsed, and removed at line ends. Only preformatted text contains newlines.
    """
    written = {}
    gaps = flow.gap.tolist()
    after = [*gaps, BLOCK][1:]
    widest = NONE
    columns = (flow.node.tolist(), flow.pre.tolist(), flow.lines.tolist(), gaps, after)
    for node, pre, lines, gap, gap_after in zip(*columns, strict=True):
        widest = max(widest, gap)
        text = source.text(node)
        if not pre:
            if "  " in text or not text.isprintable():  # the only printable ASCII white space is the space
                text = _SPACES.sub(" ", text)
            text = text.lstrip(" ") if gap else text
            text = text.rstrip(" ") if gap_after > SPACE else text
        if text:
            written[node] = Written(text, widest, pre, lines)
            widest = NONE
    return written


def written_nodes(page: Snapshot, kept: NDArray[np.bool_], texts: dict[int, Written]) -> list[int]:
    """Return the nodes to write, in document order.

    Parameters
    ----------
    page : a page of N nodes.
    kept : bool (N,), the kept nodes.
    texts : written texts by node.
    """
    names = page.tags.to_list()
    element = page.kind == Kind.ELEMENT
    dropped = np.array([name in _DROPPED_TAGS for name in names])[page.tag] & ~page.rendered()
    dropped |= np.array([name in _CONTROL_TAGS for name in names])[page.tag]
    dropped &= element
    dropped = below(dropped | (page.kind == Kind.PSEUDO), page.end.astype(np.int64))
    content = np.array([name in _ALONE for name in names])[page.tag] & element & kept
    content[list(texts)] = True
    chosen = prune(content & ~dropped, page.end)
    # Formulas are written with all their parts, of which the place says what they are.
    there = page.rendered() if page.has_layout else element
    chosen |= below(chosen & has_tag(page, "math"), page.end.astype(np.int64)) & element & there
    nodes: list[int] = np.flatnonzero(chosen & ~dropped).tolist()
    return nodes


def written_tags(page: Snapshot, around: NDArray[np.uint8]) -> list[str]:
    """Return the tag name that each of N nodes is written with; empty if only its children are written.

    Parameters
    ----------
    page : a page of N nodes.
    around : uint8 (N,), boundary of each node, `NONE` to `BLOCK`.
    """
    names = page.tags.to_list()
    safe = np.array([name if name in BLOCK_TAGS or name in LINE_TAGS else "" for name in names])[page.tag]
    plain = np.where((around == BLOCK) | (around == CELL), "div", "span")
    slot, root, body = (
        np.array([name == tag for name in names])[page.tag] for tag in ("slot", "html", "body")
    )
    root &= page.parent == 0
    # Other elements would end a formula there.
    is_math, in_formula = has_tag(page, *_MATH_TAGS), in_tag(page, "math")
    safe = np.where(in_formula & is_math, np.array(names)[page.tag], safe)
    hollow = (page.kind != Kind.ELEMENT) | (slot & (around == NONE)) | root | (body & root[page.parent])
    hollow |= in_formula & ~is_math
    tags: list[str] = np.where(hollow, "", np.where(safe == "", plain, safe)).tolist()
    return tags


def _page_title(page: Snapshot, source: Source) -> str:
    """Return the title that browsers show, with collapsed white space; empty if there is none."""
    titles = np.flatnonzero(has_tag(page, "title") & (document_of(page) == 0) & of_html(page)).tolist()
    if not titles:
        return ""
    texts = np.flatnonzero((page.kind == Kind.TEXT) & (page.parent == titles[0])).tolist()
    title = " ".join(map(source.flat, texts))
    return title if len(title) <= _LONGEST_TITLE else title[:_LONGEST_TITLE] + "…"
