"""Metadata as YAML and as HTML: read back as the same strings, whatever they hold."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.metadata.values import Metadata
from domsieve.analysis.writers._front_matter import write_front_matter
from domsieve.analysis.writers.html import write_html
from domsieve.renderer.html_parser.parser import parse_html

texts = st.text(max_size=40)


def read_back(metadata: Metadata) -> dict[str, object]:
    text = write_front_matter(metadata)
    first, body, rest = text.split("---\n", 2)
    assert (first, rest) == ("", "\n")
    found = yaml.safe_load(body)
    assert isinstance(found, dict)
    return found


@settings(max_examples=300, deadline=None)
@given(
    texts, st.lists(texts.filter(bool), max_size=3), st.dictionaries(st.sampled_from(["title", "url"]), texts)
)
def test_front_matter_reads_back(title: str, names: list[str], sources: dict[str, str]) -> None:
    found = read_back(Metadata(title=title, authors=tuple(names), url="x", sources=sources))
    assert found.get("title", "") == title
    assert found.get("authors", []) == names
    assert found.get("sources", {}) == sources


@pytest.mark.parametrize(
    "text",
    [
        *(
            "yes",
            "null",
            "2025-03-04",
            "1e3",
            "0x10",
            "~",
            "- a",
            "a: b",
            "# no",
            "!!python/object:x",
            "&a",
            "*a",
            "{a",
        ),
        *(
            "---\nevil: 1",
            '"; evil: 1',
            "a\\",
            "a\u2028b\u0085c\x7f",
            "\ufeff",
            "\ud800",
            "😀",
            "''",
            " a ",
            "---",
            "...",
        ),
    ],
)
def test_no_text_is_taken_for_anything_else(text: str) -> None:
    wanted = text.replace("\ud800", "?")
    assert read_back(Metadata(title=text, keywords=(text,))) == {"title": wanted, "keywords": [wanted]}


def test_only_what_is_known_is_written() -> None:
    assert write_front_matter(Metadata()) == "---\n---\n\n"
    assert read_back(Metadata(status=404, published="2025-03-04")) == {
        "status": 404,
        "published": "2025-03-04",
    }


def test_html_says_it_in_its_head_and_runs_nothing() -> None:
    source = (
        '<head><meta name="author" content="Ann &quot;&gt;&lt;script&gt;x&lt;/script&gt; Lee"></head><p>Wet.'
    )
    page = parse_html(source.encode(), url="https://example.org/")
    text = write_html(page, NoCleaning().transform(page), metadata=read_metadata(page))
    assert "<script" not in text
    assert '<meta name="author" content="Ann &quot;&gt;' in text
    assert "meta name=" not in write_html(page, NoCleaning().transform(page))
