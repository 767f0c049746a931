"""Markdown read back: whatever a page says and however it is nested, a reader finds its words and no other markup."""

import dataclasses
import re
from functools import partial
from html import escape
from typing import Any

from hypothesis import strategies as st

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.text import write_text
from domsieve.snapshot.page import Snapshot
from tests.analysis.test_markdown_reading import LINES, PAGES, TEMPTING
from tests.fuzz.documents import WORDS, documents, plain_sources
from tests.fuzz.dressing import read
from tests.fuzz.fuzzing import assert_in_proportion, fuzzed, only_long, within
from tests.fuzz.properties import assert_safe_markdown, letters, most_cpu_s

_layouts = st.integers(0, 1_000)
# What Markdown says otherwise than text does: formulas as TeX, notes and callouts by their signs, titles of media,
# and boxes of tasks.
_SAID_OTHERWISE = re.compile(
    "math|katex|tex|latex|callout|admonition|alert|note|<input|type=checkbox|<iframe|<video|<audio|<object|<embed"
    "|youtube|warning|#fn|#r|x-document|aside|tip|caution|danger|<source|<track",
    re.IGNORECASE,
)


def said(page: Snapshot, layout: int, *, exactly: bool = True) -> None:
    """Fail unless the Markdown of all that is shown has the words of its text, and no markup of the page.

    Blocks of Markdown go by tags, so that a layout which makes lines of blocks parts words otherwise.
    """
    verdict = NoCleaning().transform(page)
    markdown = within(2 * most_cpu_s(page), lambda: write_markdown(page, verdict))
    words = assert_safe_markdown(markdown)
    words = [word for word in words if word != "[!NOTE]"]
    text = write_text(page, verdict)
    if exactly and (layout == 0 or layout % 2):
        assert words == text.split(), markdown
    elif exactly:
        assert letters("".join(words)) == letters(text), markdown


@fuzzed(30, parts=st.lists(LINES, min_size=1, max_size=8), layout=_layouts)
def test_lines_are_read_back(parts: list[str], layout: int) -> None:
    source = f"<!doctype html><body><p>{''.join(parts)}</p>"
    said(read(source.encode("utf-8", "replace"), layout), layout)


@fuzzed(30, parts=st.lists(PAGES, min_size=1, max_size=6), layout=_layouts)
def test_blocks_are_read_back(parts: list[str], layout: int) -> None:
    said(read(f"<!doctype html><body>{''.join(parts)}".encode("utf-8", "replace"), layout), layout)


_runs = st.lists(
    st.one_of(
        st.sampled_from([*WORDS, *TEMPTING]),
        st.text("ab1 _*~`<>&[]()!#+-=|:;\\$./\"'\n\t中。", max_size=8),
        st.text(max_size=6),
    ),
    max_size=6,
).map("".join)


@fuzzed(
    30,
    texts=st.lists(_runs, min_size=1, max_size=6),
    tags=st.lists(
        st.sampled_from(
            [
                "p",
                "b",
                "i",
                "code",
                "pre",
                "h2",
                "li",
                "td",
                "a href=/x",
                "blockquote",
                "sub",
                "div",
                "span",
                "s",
            ]
        ),
        min_size=1,
        max_size=6,
    ),
)
def test_any_text_is_read_back(texts: list[str], tags: list[str]) -> None:
    body = "".join(
        f"<{tag}>{escape(text, quote=False)}</{tag.split(' ')[0]}>"
        for text, tag in zip(texts, tags * len(texts), strict=False)
    )
    page = read(f"<!doctype html><body>{body}".encode("utf-8", "replace"))
    said(page, 0)


@fuzzed(40, source=plain_sources, layout=_layouts)
def test_any_page_is_read_back(source: bytes, layout: int) -> None:
    page = read(source, layout)
    said(page, layout, exactly=not _SAID_OTHERWISE.search(source.decode("utf-8", "replace")))


@fuzzed(20, source=plain_sources)
def test_words_of_the_text_are_in_the_markdown(source: bytes) -> None:
    page = read(source)
    verdict = NoCleaning().transform(page)
    markdown, text = write_markdown(page, verdict), write_text(page, verdict)
    if not _SAID_OTHERWISE.search(source.decode("utf-8", "replace")):
        assert set(letters(text)) <= set(letters(markdown))


@only_long
@fuzzed(1, fragment=st.one_of(documents, PAGES, LINES, _runs.map(escape)), layout=_layouts)
def test_time_grows_with_size(fragment: str, layout: int) -> None:
    def work(size: int) -> partial[Any]:
        page = read((fragment * size).encode("utf-8", "replace"), layout)
        verdict = NoCleaning().transform(page)
        return partial(lambda: write_markdown(dataclasses.replace(page), verdict))

    assert_in_proportion(work, 1 + 5_000 // (1 + len(fragment)))
