"""Parse the source of a page into a Snapshot, without a browser: no scripts, no computed styles, no boxes.

The tree is that of lxml with three corrections. As in browsers, nodes after ``</body>`` or ``</html>`` belong to the
body, and content in a head that is not closed begins the body. Characters that XML forbids become U+FFFD. After a few
passes over lxml's elements, everything is computed on columns.
"""

import os
import re
from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import cast

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from domsieve.archive.packed import PACKED_SUFFIXES, unpacked
from domsieve.budget import check, spending
from domsieve.errors import TargetError
from domsieve.renderer.html_parser._long_tags import with_few_attributes
from domsieve.renderer.html_parser._streamed_parts import may_stream, place_streamed_parts
from domsieve.renderer.html_parser.content import html_as_utf8, type_of, type_of_file
from domsieve.snapshot.cut import Cut
from domsieve.snapshot.page import (
    JSON_LD,
    LONGEST_JSON_LD,
    Kind,
    Provenance,
    Snapshot,
    is_json_ld,
    subtree_ends,
)
from domsieve.snapshot.strings import Interner, StringTable

HTML_SUFFIXES = (".htm", ".html", ".xhtml")
_FILE_SUFFIXES = (*HTML_SUFFIXES, *(page + packed for page in HTML_SUFFIXES for packed in PACKED_SUFFIXES))

# White space next to one of these separates nothing, because they start and end lines.
_BLOCK_NAMES = """
address article aside blockquote body br caption center col colgroup dd details dialog dir div dl dt fieldset
figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav
noframes ol optgroup option p plaintext pre search section summary table tbody td tfoot th thead tr ul xmp
"""
_BLOCK = frozenset(_BLOCK_NAMES.split())
# Elements of a head (HTML, 13.2.6.4.4); any other element begins the body.
_OF_HEAD = frozenset(
    (
        "base",
        "basefont",
        "bgsound",
        "link",
        "meta",
        "noframes",
        "noscript",
        "script",
        "style",
        "template",
        "title",
    )
)
_SKELETON = frozenset(("head", "html"))
_VERBATIM = frozenset(("listing", "plaintext", "pre", "textarea", "xmp"))
_FIRST_LINE_END_IS_MARKUP = frozenset(("listing", "pre", "textarea"))
# Their text is code or markup that is never displayed.
_SILENT = frozenset(("iframe", "noembed", "noframes", "script", "style"))
_NO_TEXT = frozenset((*_SILENT, "datalist", "noscript", "template", "title"))
_HIDING = re.compile(r"display\s{0,9}:\s{0,9}none", re.IGNORECASE)
_LEAST_WORDS = 60
_BLANKS = " \t\n\f\r"
_CONTROLS = bytes(code for code in (*range(32), 127) if chr(code) not in _BLANKS)
_NO_CHARACTERS = ("\ufffe".encode(), "\uffff".encode())
_REPLACED = dict.fromkeys((*_CONTROLS, 0xFFFE, 0xFFFF), "\ufffd")
# lxml reads form feeds, but refuses to write them.
_WRITTEN = {**_REPLACED, ord("\f"): " "}


def parse_html(source: bytes, *, url: str, content_type: str = "", encoding: str | None = None) -> Snapshot:
    """Parse HTML into a Snapshot with the producer ``"raw"``, in linear time.

    Comments, processing instructions and the doctype are dropped. Script and style elements lose their text, except
    that JSON-LD becomes an attribute. White space is kept next to inline elements, and everywhere in ``pre`` and
    similar elements. If a page shows fewer than 60 words and its ``noscript`` elements contain more, they are treated
    as ``div``, as in a browser without scripts. The page is incomplete if the parser gave up, which it does at 2,048
    levels of nesting.

    Parameters
    ----------
    source : the document as received, decompressed.
    url : address of the page, or its file name; recorded, but never opened.
    content_type : the Content-Type header; its charset overrides that of the document. If the source is certainly not
        HTML, its real type is recorded instead.
    encoding : a label that the caller is certain of, such as ``"utf-8"``; only a byte order mark overrides it.

    Raises
    ------
    UsageError : `encoding` is not a label of the Encoding standard.
    """
    with spending("parse", url):
        return _parsed(source, url, content_type, encoding)


def _parsed(
    source: bytes, url: str, content_type: str, encoding: str | None, cuts: Sequence[Cut] = ()
) -> Snapshot:
    data, encoding_name = html_as_utf8(source, content_type=content_type, encoding=encoding)
    content_type = type_of(source, data) or content_type
    root, more = _tree(data)
    cuts = (*cuts, *more)
    return read_tree(
        root,
        Provenance(
            url=url,
            final_url=url,
            producer="raw",
            content_type=content_type,
            encoding=encoding_name,
            complete=not cuts,
            reasons=tuple(map(str, cuts)),
        ),
    )


def read_html_file(path: Path | str, *, url: str | None = None, encoding: str | None = None) -> Snapshot:
    """Parse the HTML file at `path`; `url` is its address on the web, or None for the path itself.

    Files that are compressed with gzip, Zstandard or Brotli (ending ``.br``) are decompressed, within
    the limits for bodies in archives.

    Raises
    ------
    TargetError : the file does not exist or cannot be read.
    UsageError : `encoding` is not a label of the Encoding standard.
    """
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        raise TargetError(f"Cannot read the page '{path}': {error.strerror}.", stage="read") from error
    return parse_html_file(source, Path(path), url=url or str(path), encoding=encoding)


def parse_html_file(source: bytes, path: Path, *, url: str, encoding: str | None = None) -> Snapshot:
    """Parse the content of an HTML file like `read_html_file`; the ending of `path` identifies Brotli and text files.

    Raises
    ------
    UsageError : `encoding` is not a label of the Encoding standard.
    """
    with spending("parse", url):
        page, cuts = unpacked(source, path)
        return _parsed(page, url, type_of_file(page, path), encoding, cuts)


def file_stem(path: Path) -> Path:
    """Return the path of an HTML file without its ending; ``.html.gz`` counts as one ending."""
    if path.suffix.lower() in PACKED_SUFFIXES and path.stem.lower().endswith(HTML_SUFFIXES):
        path = path.with_suffix("")
    return path.with_suffix("")


def html_files(folder: Path | str) -> list[Path]:
    """Return all HTML files in and below `folder`, compressed or not, sorted by path.

    Links to folders are not followed.

    Raises
    ------
    TargetError : `folder` is not a folder, or a folder in it cannot be read.
    """

    def fail(error: OSError) -> None:
        raise TargetError(
            f"Cannot list the folder '{error.filename}': {error.strerror}.", stage="read"
        ) from error

    return sorted(
        Path(parent, name)
        for parent, _, names in os.walk(folder, onerror=fail)
        for name in names
        if name.lower().endswith(_FILE_SUFFIXES)
    )


def _tree(data: bytes) -> tuple[etree._Element, list[Cut]]:
    # Versions of the parser treat NUL differently.
    data = data.replace(b"\0", b"\xef\xbf\xbd")
    few, reasons = with_few_attributes(data)
    cuts = [Cut("other", reason) for reason in reasons]
    streams = may_stream(few)
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=not streams, remove_pis=True)
    root = etree.fromstring(few, parser)
    if root is None:  # only white space and comments
        return etree.Element("html"), cuts
    if streams:
        place_streamed_parts(root)
    _mend(root)
    _close_word_breaks(root)
    _show_noscript(root)
    # The parser continues after every error except a fatal one, so a fatal one is the last.
    last = parser.error_log.last_error
    if last is not None and last.level_name == "FATAL":
        what = last.message.partition(",")[0]  # without the parser's advice about its options
        cuts.append(Cut("other", f"The HTML parser gave up in line {last.line}: {what}."))
    return root, cuts


def _mend(root: etree._Element) -> None:
    """Move into the body what the parser put after it (siblings and further trees) and, wrongly, into the head."""
    _empty_head(root)
    body = root.find("body")
    if body is None:
        return
    _append_text(body, body.tail)
    body.tail = None
    body.extend(list(body.itersiblings()))
    texts: list[str] = []  # joined once, because there may be as many as trees
    for tree in list(root.itersiblings("*")):
        check()
        for part in (tree, *tree.iterchildren("head", "body")):
            texts.append(part.text or "")
            if nodes := [node for node in part if node.tag not in ("head", "body")]:
                _append_text(body, "".join(texts))
                texts.clear()
                body.extend(nodes)
    _append_text(body, "".join(texts))


def _empty_head(root: etree._Element) -> None:
    """Move content from the head to the body if the page has no tag that separates them.

    The parser does not know that ``main``, ``nav`` and other newer elements end the head.
    """
    head = root.find("head")
    first = None if head is None else next((child for child in head if child.tag not in _OF_HEAD), None)
    if first is None:
        return
    moved = [first, *first.itersiblings()]
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    text, body.text = body.text, None
    for place, element in enumerate(moved):
        body.insert(place, element)
    if text:
        moved[-1].tail = ((moved[-1].tail or "") + text).translate(_WRITTEN)


def _close_word_breaks(root: etree._Element) -> None:
    """Move out of each ``wbr`` what the parser put into it, because it does not know that the tag has no content."""
    for element in list(root.iter("wbr")):
        check()
        inside, text, tail = list(element), element.text, element.tail
        if inside:
            inside[-1].tail = ((inside[-1].tail or "") + (tail or "")).translate(_WRITTEN) or None
            tail = None
        element.text, element.tail = None, ((text or "") + (tail or "")).translate(_WRITTEN) or None
        for child in reversed(inside):
            element.addnext(child)


def _show_noscript(root: etree._Element) -> None:
    """Show ``noscript`` elements if they contain the page; most only say that the page needs scripts."""
    body = root.find("body")
    found = [] if body is None else list(body.iter("noscript"))
    if body is None or sum(_words(str(text)) for one in found for text in one.itertext()) < _LEAST_WORDS:
        return
    shown, walk = 0, etree.iterwalk(body, events=("start",))
    for _, element in walk:
        check()
        shown += _words(element.tail)
        if (
            element.tag in _NO_TEXT
            or element.get("hidden") is not None
            or _HIDING.search(element.get("style", ""))
        ):
            walk.skip_subtree()
        else:
            shown += _words(element.text)
        if shown >= _LEAST_WORDS:
            return
    for element in found:
        element.tag = "div"


def _words(text: str | None) -> int:
    return len(text.split()) if text else 0


def _append_text(body: etree._Element, text: str | None) -> None:
    last = next(body.iterchildren(reversed=True), None)  # len() would count them one by one
    if text and last is not None:
        last.tail = ((last.tail or "") + text).translate(_WRITTEN)
    elif text:
        body.text = ((body.text or "") + text).translate(_WRITTEN)


def read_tree(root: etree._Element, provenance: Provenance) -> Snapshot:
    """Convert a tree of lxml elements to a Snapshot.

    The E elements are first numbered on their own; `place` is the position of each among the N nodes. An element has
    up to two texts: its head, before its first child, and its tail, after its end.
    """
    check()
    elements = list(root.iter())
    index: dict[etree._Element | None, int] = {element: i for i, element in enumerate(elements)}
    above = [0, *(index[element.getparent()] for element in elements[1:])]
    names = [element.tag for element in elements]
    heads = _heads(elements, names)
    tails = [element.tail for element in elements]
    tags, strings = Interner(), Interner()
    tag = tags.ids(names)
    distinct = tags.table().to_list()
    attr_names, attr_values, attr_start = _attributes(elements)

    e = len(elements)
    parent, end, here = np.array(above, np.int32), subtree_ends(above), np.arange(e, dtype=np.int32)
    has_head = np.array([bool(text and text.strip(_BLANKS)) for text in heads], np.bool_)
    has_tail = np.array([bool(text and text.strip(_BLANKS)) for text in tails], np.bool_)
    # White space is kept between inline content, and wherever it is significant.
    block = _flags(distinct, _BLOCK)[tag]
    verbatim = _below(_flags(distinct, _VERBATIM)[tag], end)
    in_line = ~_flags(distinct, _SKELETON)[tag[parent]] & ~block
    in_line &= np.where(end < end[parent], ~np.append(block, np.True_)[end], ~block[parent])
    has_head |= np.fromiter(map(bool, heads), np.bool_, e) & (verbatim | ~block)
    has_head &= ~_flags(distinct, _SILENT)[tag]
    has_tail |= np.fromiter(map(bool, tails), np.bool_, e) & (verbatim[parent] | in_line)

    heads_before = np.concatenate(([0], np.cumsum(has_head)))
    tails_before = np.concatenate(([0], np.cumsum(has_tail)))
    tails_closed = np.cumsum(np.bincount(end[has_tail], minlength=e + 1))
    place = 1 + here + heads_before[:-1] + tails_closed[:-1]
    texts_within = heads_before[end] - heads_before[:-1] + tails_before[end] - tails_before[1:]
    place_end = place + end - here + texts_within
    places_of_texts = np.concatenate((place[has_head] + 1, place_end[has_tail]))
    n = 1 + e + places_of_texts.size

    columns = {name: np.full(n, -1, np.int32) for name in ("parent", "text", "style", "paint")}
    columns["parent"][place[1:]] = place[parent[1:]]
    columns["parent"][place[0]] = 0
    columns["parent"][places_of_texts] = np.concatenate((place[has_head], place[parent[has_tail]]))
    columns["end"] = np.arange(1, n + 1, dtype=np.int32)
    columns["end"][place] = place_end
    columns["end"][0] = n
    kind = np.full(n, Kind.TEXT, np.uint8)
    kind[place] = Kind.ELEMENT
    kind[0] = Kind.DOCUMENT
    columns["tag"] = np.full(n, tags("#text"), np.int32)
    columns["tag"][place] = tag
    columns["tag"][0] = tags("#document")

    # With ids in document order, neighbours are similar and stored pages small.
    order = np.argsort(places_of_texts)
    texts = [*compress(heads, has_head), *compress(tails, has_tail)]
    columns["text"][places_of_texts[order]] = strings.ids([texts[i] or "" for i in order.tolist()])
    columns["attr_name"], columns["attr_value"] = strings.ids(attr_names), strings.ids(attr_values)
    columns["attr_start"] = np.zeros(n + 1, np.int32)
    columns["attr_start"][place + 1] = np.diff(attr_start)
    np.cumsum(columns["attr_start"], out=columns["attr_start"])
    tag_table = _without_controls(tags.table(), columns, "tag")
    string_table = _without_controls(strings.table(), columns, "text", "attr_name", "attr_value")

    return Snapshot(
        **columns,
        kind=kind,
        box=np.full((n, 4), np.nan, np.float32),
        tags=tag_table,
        strings=string_table,
        style_names=(),
        styles=np.empty((0, 0), np.int32),
        provenance=provenance,
    )


def _heads(elements: list[etree._Element], names: list[str]) -> list[str | None]:
    heads = [element.text for element in elements]
    if not _FIRST_LINE_END_IS_MARKUP.isdisjoint(names):
        for number, name in enumerate(names):
            text = heads[number] if name in _FIRST_LINE_END_IS_MARKUP else None
            if text and text[0] in "\r\n":
                heads[number] = text[1 + text.startswith("\r\n") :]
    return heads


def _attributes(elements: list[etree._Element]) -> tuple[list[str], list[str], list[int]]:
    # Without lists of pairs, because thousands of new containers would trigger the garbage collector.
    names: list[str] = []
    values: list[str] = []
    starts = [0]
    for element in elements:
        if keys := cast("list[str]", element.keys()):
            names += keys
            values += cast("list[str]", element.values())
            if "type" in keys and element.tag == "script" and is_json_ld(element.get("type", "")):
                text = element.text or ""
                if 0 < len(text) <= LONGEST_JSON_LD:
                    names.append(JSON_LD)
                    values.append(text)
        starts.append(len(names))
    return names, values, starts


def _below(marked: NDArray[np.bool_], end: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which elements are `marked` or inside one that is."""
    starts = np.flatnonzero(marked)
    edges = np.bincount(starts, minlength=end.size + 1) - np.bincount(end[starts], minlength=end.size + 1)
    return np.asarray(np.cumsum(edges)[:-1] > 0)


def _flags(names: list[str], wanted: frozenset[str]) -> NDArray[np.bool_]:
    return np.array([name in wanted for name in names], np.bool_)


def _without_controls(table: StringTable, columns: dict[str, NDArray[np.int32]], *names: str) -> StringTable:
    """Replace control characters in a string table by U+FFFD, and update the columns in `names`."""
    data = table.blob.tobytes()
    if len(data.translate(None, _CONTROLS)) == len(data) and not any(code in data for code in _NO_CHARACTERS):
        return table
    interner = Interner()
    ids = interner.ids([text.translate(_REPLACED) for text in table])
    for name in names:
        columns[name] = np.where(columns[name] < 0, -1, ids[columns[name]])
    return interner.table()
