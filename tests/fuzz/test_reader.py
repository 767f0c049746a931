"""The reader of raw HTML: whatever comes is read in time, the same each time, and hidden text stays hidden."""

import re
from collections.abc import Callable
from html import escape

import numpy as np
from hypothesis import strategies as st

from domsieve.analysis.cleaning.hidden_text import drop_hidden
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.writers.text import write_text
from domsieve.errors import UsageError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.fault import fault_of
from domsieve.snapshot.page import Kind, Snapshot
from tests.fuzz.documents import ATTRIBUTES, URL, documents, plain_sources, soups, sources
from tests.fuzz.fuzzing import assert_in_proportion, fuzzed, only_long, within
from tests.fuzz.properties import letters

_TYPES = st.one_of(
    st.sampled_from(
        [
            "",
            "text/html",
            "text/html; charset=utf-8",
            'text/html;charset="shift_jis"',
            "x;charset=utf-16",
            "charset=",
        ]
    ),
    st.text(max_size=20),
)
_ENCODINGS = st.sampled_from(
    [None, None, "utf-8", "utf-16", "big5", "iso-2022-jp", "x-user-defined", "bogus", ""]
)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
# Encodings that a page may declare, and what can be written in them.
_LETTERS = {
    "utf-8": "aß中\U0001f41d\u05e9",
    "windows-1252": "aßé€ÿ",
    "iso-8859-1": "aßé€ÿ",
    "koi8-r": "aжЯ",
    "windows-1251": "aжЯ€",
    "shift_jis": "aあ漢ｱ",
    "euc-jp": "aあ漢",
    "gb18030": "a中\U0001f41dß",
    "gbk": "a中",
    "big5": "a中文",
    "euc-kr": "a한국",
    "iso-8859-7": "aλΩ",
    "windows-1255": "aשל",
    "macintosh": "aéß",
}
_PYTHON = {"windows-1252": "cp1252", "iso-8859-1": "cp1252", "shift_jis": "cp932", "macintosh": "mac_roman"}


def checked(page: Snapshot) -> None:
    """Fail unless a raw page is what its reader promises."""
    assert not any(map(_CONTROLS.search, (*page.strings, *page.tags)))
    assert page.tag_name(1) == "html"
    names = np.array(page.tags.to_list())[page.tag]
    inside = page.parent[page.kind == Kind.TEXT]
    assert not {"script", "style", "iframe", "noembed", "noframes"} & set(names[inside].tolist())
    assert len(set(page.strings)) == len(page.strings)
    assert not page.has_layout
    assert page.provenance.complete == (not page.provenance.reasons)


@fuzzed(36, source=sources, content_type=_TYPES, encoding=_ENCODINGS)
def test_every_source_is_read(source: bytes, content_type: str, encoding: str | None) -> None:
    def read() -> Snapshot:
        return parse_html(source, url=URL, content_type=content_type, encoding=encoding)

    try:
        page = within(2 + len(source) / 20_000, read)
    except UsageError:
        assert encoding in {"bogus", "", "x-user-defined"}
        return
    checked(page)
    assert page.digest() == read().digest()
    fault_of(page)


@fuzzed(24, source=st.binary(max_size=200))
def test_bytes_of_any_kind_are_read(source: bytes) -> None:
    checked(parse_html(source, url=URL))


@fuzzed(
    12,
    label=st.sampled_from(sorted(_LETTERS)),
    places=st.lists(st.integers(0, 4), min_size=1, max_size=20),
    where=st.integers(0, 3),
)
def test_a_declared_encoding_is_heeded(label: str, places: list[int], where: int) -> None:
    known = _LETTERS[label]
    said = "".join(known[place % len(known)] for place in places)
    declared = (
        f"<meta charset={label}>",
        f"<meta http-equiv=content-type content='text/html; charset={label}'>",
    )
    head = declared[where] if where < 2 else ""
    body = f"<!doctype html><html><head>{head}<title>t</title></head><body><p>{said}</p>"
    page = parse_html(
        body.encode(_PYTHON.get(label, label)),
        url=URL,
        content_type=f"text/html; charset={label}" if where == 2 else "",
        encoding=label if where == 3 else None,
    )
    assert write_text(page, NoCleaning().transform(page)) == f"{said}\n"


_HIDING_TAGS = frozenset({"datalist", "head", "noscript", "script", "style", "template", "title"})
_HIDING_RULES = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)


def hides(page: Snapshot, node: int) -> bool:
    """Return whether an element hides what is in it, as people write it."""
    given = page.attributes(node)
    return (
        page.tag_name(node) in _HIDING_TAGS
        or "hidden" in given
        or bool(_HIDING_RULES.search(given.get("style", "")))
    )


@fuzzed(30, source=plain_sources)
def test_hidden_text_is_left_out(source: bytes) -> None:
    page = parse_html(source, url=URL)
    verdict = NoCleaning().transform(page)
    twice = drop_hidden(page, verdict, hidden="layout")
    hidden = np.zeros(len(page), np.bool_)
    for node in range(1, len(page)):
        hidden[node] = hidden[page.parent[node]] or hides(page, node)
    assert not (hidden & verdict.kept).any()
    assert not (hidden & twice.kept).any()


@fuzzed(
    18,
    hider=st.sampled_from(
        [
            "hidden",
            "HIDDEN=''",
            "style='display:none'",
            "style='color:red; visibility: hidden'",
            "STYLE=DISPLAY:NONE",
        ]
    ),
    given=st.lists(
        st.sampled_from([text for text in ATTRIBUTES if "='" not in text and "style" not in text])
    ),
    tag=st.sampled_from(["div", "span", "p", "b", "section", "td", "x-y", "pre"]),
    inside=st.text("ab <>/&\"'=;:", max_size=20),
)
def test_other_attributes_do_not_unhide(hider: str, given: list[str], tag: str, inside: str) -> None:
    bare = [text for text in given if "'" not in text and text.count('"') % 2 == 0]
    table = "<table><tr>" * (tag == "td")
    start = f"<{tag} {' '.join((hider, *bare))}>"
    source = f"<!doctype html><body><p>seen</p>{table}{start}secret {escape(inside)}</{tag}>"
    page = parse_html(source.encode("utf-8", "replace"), url=URL)
    assert write_text(page, NoCleaning().transform(page)) == "seen\n"


@fuzzed(18, source=plain_sources)
def test_all_texts_are_of_the_source(source: bytes) -> None:
    text = source.decode()
    if re.search("&|\r|\x00", text):  # entities and line ends are other characters
        return
    page = parse_html(source, url=URL, encoding="utf-8")
    said = set(letters("".join(page.text_of(node) for node in range(len(page)))))
    assert said <= {*text, "\ufffd"}


@only_long
@fuzzed(1, fragment=documents, before=soups)
def test_time_grows_with_size(fragment: str, before: str) -> None:
    def work(size: int) -> Callable[[], object]:
        source = (before + fragment * size).encode("utf-8", "replace")
        return lambda: parse_html(source, url=URL)

    assert_in_proportion(work, 1 + 20_000 // (1 + len(fragment)))
