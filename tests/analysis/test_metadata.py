"""Metadata of pages: each source, which one counts, hostile input, and what may leave the page."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from domsieve.analysis.metadata._authors import author_names
from domsieve.analysis.metadata._dates import find_dates, find_exact_date
from domsieve.analysis.metadata.json_values import DEEPEST, read_json
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.metadata.values import Metadata
from domsieve.budget import AnalysisBudget, budgeted
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import LONGEST_JSON_LD, Snapshot

URL = "https://www.example.org/news/1"


def page(body: str = "", head: str = "", *, html: str = "<html>", url: str = URL) -> Snapshot:
    source = f"{html}<head>{head}</head><body>{body}</body></html>"
    return parse_html(source.encode(), url=url, encoding="utf-8")


def read(body: str = "", head: str = "", **options: str) -> Metadata:
    return read_metadata(page(body, head, **options))


def ld(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


def meta(**named: str) -> str:
    return "".join(
        f'<meta property="{name.replace("_", ":", 1)}" content="{text}">' for name, text in named.items()
    )


ARTICLE: Mapping[str, Any] = {
    "@context": "https://schema.org",
    "@type": "NewsArticle",
    "headline": "Rain in the hills",
    "author": {"@type": "Person", "name": "Ann Lee"},
    "datePublished": "2025-03-04T05:06:07Z",
    "dateModified": "2025-03-05",
    "description": "It rained &amp; rained.",
    "inLanguage": "en_gb",
    "image": {"@type": "ImageObject", "url": "/rain.jpg"},
    "keywords": ["rain", "hills, wet"],
    "license": "https://example.org/licence",
    "publisher": {"@type": "Organization", "name": "The Hill Post"},
    "mainEntityOfPage": {"@id": URL},
}


class TestJsonLd:
    def test_an_article_says_it_all(self) -> None:
        found = read("", ld(ARTICLE))
        assert found == Metadata(
            title="Rain in the hills",
            authors=("Ann Lee",),
            published="2025-03-04T05:06:07+00:00",
            modified="2025-03-05",
            language="en-GB",
            description="It rained & rained.",
            site_name="The Hill Post",
            canonical_url=URL,
            image="https://www.example.org/rain.jpg",
            page_type="NewsArticle",
            keywords=("rain", "hills", "wet"),
            licence="https://example.org/licence",
            url=URL,
            sources={
                "title": "json-ld headline",
                "authors": "json-ld author",
                "published": "json-ld datePublished",
                "modified": "json-ld dateModified",
                "language": "json-ld inLanguage",
                "description": "json-ld description",
                "site_name": "json-ld publisher",
                "canonical_url": "json-ld url",
                "image": "json-ld image",
                "page_type": "json-ld @type",
                "keywords": "json-ld keywords",
                "licence": "json-ld license",
            },
        )

    @pytest.mark.parametrize(
        "value",
        [
            [ARTICLE],
            {"@graph": [{"@type": "WebSite", "name": "The Hill Post"}, ARTICLE]},
            {"@type": "WebPage", "mainEntity": ARTICLE},
            f"<!--\n{json.dumps(ARTICLE)}\n//-->",
            f"//<![CDATA[\n{json.dumps(ARTICLE)}\n//]]>",
            json.dumps(ARTICLE)[:-1] + ",}",
            json.dumps(ARTICLE).replace("Rain in the hills", "Rain in the hills\n"),
            json.dumps(ARTICLE).replace("&amp; rained", "\\' rained"),
            json.dumps(ARTICLE) + ";",
            json.dumps({"@type": "WebSite"}) + json.dumps(ARTICLE),
        ],
    )
    def test_it_is_found_in_graphs_lists_and_broken_text(self, value: Any) -> None:
        found = read("", ld(value))
        assert (found.title, found.authors) == ("Rain in the hills", ("Ann Lee",))

    def test_references_are_followed(self) -> None:
        graph = [
            {**ARTICLE, "author": {"@id": "#ann"}},
            {"@type": "Person", "@id": "#ann", "givenName": "Ann", "familyName": "Lee"},
        ]
        assert read("", ld({"@graph": graph})).authors == ("Ann Lee",)

    def test_of_a_list_of_articles_none_is_the_page(self) -> None:
        others = [{**ARTICLE, "headline": f"Story {n}", "mainEntityOfPage": f"{URL}{n}"} for n in range(5)]
        assert read("", ld(others)).title == ""
        assert read("", ld([*others, ARTICLE])).title == "Rain in the hills"

    @pytest.mark.parametrize(
        "value",
        [
            "{",
            "[]",
            "null",
            "nonsense",
            '{"@type": 7, "headline": []}',
            '{"@type": "Article", "author": [[{}]]}',
            '{"@graph": {"@graph": 1}}',
            '{"@type": ["Article", 3], "name": {"a": 1}, "datePublished": true}',
        ],
    )
    def test_what_says_nothing_is_no_error(self, value: str) -> None:
        found = read("<h1>Rain</h1>", ld(value))
        assert (found.title, found.authors, found.published) == ("Rain", (), "")


class TestMetaElements:
    def test_open_graph(self) -> None:
        head = meta(og_title="Rain", og_site_name="The Post", og_type="article", og_url="/news/1?x=1#y")
        head += meta(og_image="rain.png", article_published_time="2025-03-04", article_author="Ann Lee")
        found = read("", head)
        assert (found.title, found.site_name, found.page_type) == ("Rain", "The Post", "article")
        assert found.canonical_url == "https://www.example.org/news/1?x=1#y"
        assert found.image == "https://www.example.org/news/rain.png"
        assert (found.published, found.authors) == ("2025-03-04", ("Ann Lee",))
        assert found.sources["title"] == "og:title"

    def test_dublin_core_and_citations(self) -> None:
        names = {
            "DC.title": "Rain",
            "citation_author": "Lee, Ann",
            "DC.date": "2025-03-04",
            "dc.rights": "CC BY 4.0",
            "DC.language": "de",
        }
        found = read("", "".join(f'<meta name="{name}" content="{text}">' for name, text in names.items()))
        assert (found.title, found.authors, found.published) == ("Rain", ("Ann Lee",), "2025-03-04")
        assert (found.licence, found.language) == ("CC BY 4.0", "de")

    def test_plain_names_and_links(self) -> None:
        head = '<meta name="author" content="Ann Lee and Bo Kim"><meta name=description content="Wet.">'
        head += '<meta name="keywords" content="rain, Rain, hills"><link rel="canonical" href="/rain">'
        head += '<link rel="license" href="https://example.org/by">'
        found = read("", head, html='<html lang="pt-br">')
        assert found.authors == ("Ann Lee", "Bo Kim")
        assert (found.description, found.keywords) == ("Wet.", ("rain", "hills"))
        assert found.canonical_url == "https://www.example.org/rain"
        assert (found.licence, found.language) == ("https://example.org/by", "pt-BR")
        assert found.sources["language"] == "html lang"

    @pytest.mark.parametrize(
        "address", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//", "http://"]
    )
    def test_addresses_that_lead_elsewhere_are_none(self, address: str) -> None:
        head = f'<link rel="canonical" href="{address}"><meta property="og:image" content="{address}">'
        found = read("", head)
        assert (found.canonical_url, found.image) == ("", "")


class TestMicrodata:
    def test_of_an_article(self) -> None:
        body = """<article itemscope itemtype="https://schema.org/BlogPosting"><h2 itemprop="headline">Rain</h2>
        <span itemprop="author" itemscope itemtype="https://schema.org/Person"><a itemprop="url" href="/ann">
        <span itemprop="name">Ann Lee</span></a>, our weather desk</span>
        <time itemprop="datePublished" datetime="2025-03-04">last week</time>
        <div itemprop="comment" itemscope itemtype="https://schema.org/Comment"><b itemprop="author">Troll</b></div>
        </article>"""
        found = read(body)
        assert (found.title, found.authors, found.published) == ("Rain", ("Ann Lee",), "2025-03-04")
        assert found.sources["authors"] == "microdata author"

    def test_rdfa(self) -> None:
        body = """<div vocab="https://schema.org/" typeof="Article"><h2 property="headline">Rain</h2>
        <span property="author">Ann Lee</span><time property="datePublished">2025-03-04</time></div>"""
        found = read(body)
        assert (found.title, found.authors, found.published) == ("Rain", ("Ann Lee",), "2025-03-04")


class TestPage:
    def test_the_heading_that_the_title_holds_is_the_title(self) -> None:
        head = "<title>Rain in the hills – The Post</title>"
        found = read("<h1>The Post</h1><h1>Rain in the hills</h1>", head)
        assert (found.title, found.sources["title"]) == ("Rain in the hills", "h1")

    def test_without_a_heading_the_name_of_the_site_is_cut_off(self) -> None:
        found = read("<p>Wet.", "<title>Rain | The Post</title>")
        assert (found.title, found.sources["title"]) == ("Rain", "title")

    def test_a_drawing_has_a_title_of_its_own(self) -> None:
        assert read("<svg><title>Logo</title></svg><p>Wet.").title == ""

    @pytest.mark.parametrize(
        "byline",
        [
            "<p>By Ann Lee</p>",
            "<p>Written by Ann Lee on 4 March 2025</p>",
            '<p class="byline">Ann Lee | 4 March 2025</p>',
            '<div><a rel="author" href="/ann">Ann Lee</a></div>',
            '<span class="post-author-name">Ann Lee</span>',
            "<p>Von Ann Lee</p>",
        ],
    )
    def test_authors_beside_the_title(self, byline: str) -> None:
        assert read(f"<h1>Rain</h1>{byline}<p>It rained.</p>").authors == ("Ann Lee",)

    def test_a_line_near_the_title_that_names_a_thing_names_no_author(self) -> None:
        assert read("<h1>Rain</h1><a href=/by-subject>By subject</a><p>It rained.</p>").authors == ()
        assert read('<h1>Rain</h1><b class="author">by anna77x</b><p>It rained.</p>').authors == ("anna77x",)

    def test_who_comments_is_no_author(self) -> None:
        comments = "".join(f'<div class="comment"><b class="author">Troll {n}</b></div>' for n in range(9))
        assert read(f"<h1>Rain</h1>{'<p>It rained.</p>' * 30}{comments}").authors == ()

    @pytest.mark.parametrize(
        "shown",
        [
            '<time datetime="2025-03-04T05:06">last week</time>',
            "<p>Published on March 4th, 2025</p>",
            '<span class="entry-date">4. März 2025</span>',
            "<p>2025年3月4日</p>",
            "<p>Updated: 9 May 2025 | Published: 4 March 2025</p>",
        ],
    )
    def test_dates_beside_the_title(self, shown: str) -> None:
        assert read(f"<h1>Rain</h1>{shown}<p>It rained.</p>").published[:10] == "2025-03-04"

    def test_what_was_updated_is_not_published(self) -> None:
        found = read("<h1>Rain</h1><p>Last updated 4 March 2025</p>")
        assert (found.published, found.modified) == ("", "2025-03-04")

    def test_the_address_tells_a_day(self) -> None:
        found = read("<p>Wet.", url="https://example.org/2025/03/04/rain")
        assert (found.published, found.sources["published"]) == ("2025-03-04", "address")

    def test_what_is_known_of_the_capture(self) -> None:
        snapshot = page("<h1>Rain</h1><p>4 March 2025, 5 April 2025")
        captured = replace(
            snapshot,
            provenance=msgspec.structs.replace(
                snapshot.provenance, status=200, captured_at="2025-03-20T00:00:00Z"
            ),
        )
        found = read_metadata(captured)
        assert (found.url, found.status, found.captured_at) == (URL, 200, "2025-03-20T00:00:00Z")
        later = page("<h1>Rain</h1><p>5 April 2025")
        dated = replace(
            later, provenance=msgspec.structs.replace(later.provenance, captured_at="2025-03-20T00:00:00Z")
        )
        assert read_metadata(dated).published == ""

    def test_of_a_page_of_nothing(self) -> None:
        assert read("", url="") == Metadata()


class TestHostile:
    def test_json_as_deep_as_it_likes(self) -> None:
        assert read_json("[" * 200_000) == []
        assert read_json("[" * DEEPEST + "]" * DEEPEST) != []
        assert read_json("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)) == []
        assert read_json('"' + "[" * 200_000 + '"') == ["[" * 200_000]
        deep = '{"a":' * 100_000 + "1" + "}" * 100_000
        assert read("<h1>Rain</h1>", ld(deep) + ld(ARTICLE)).authors == ("Ann Lee",)

    def test_things_that_name_each_other_end(self) -> None:
        graph = [{"@type": "Article", "@id": "a", "author": {"@id": "a"}, "mainEntity": {"@id": "a"}}]
        assert read("", ld({"@graph": graph})).authors == ()

    def test_megabytes_are_cut(self) -> None:
        long = "very long " * 30_000
        head = meta(og_title=long, og_description=long, og_site_name=long, og_image="/" + "a" * 300_000)
        head += f'<meta name="keywords" content="{",".join(f"k{n}" for n in range(50_000))}">'
        head += f'<meta name="author" content="{", ".join(f"Ann{n} Lee" for n in range(50_000))}">'
        found = read("", head)
        assert found.image == ""
        assert (len(found.title), len(found.description), len(found.site_name)) == (499, 1_999, 99)
        assert [len(found.keywords), len(found.authors)] == [50, 50]
        assert all(len(name) <= 100 for name in found.authors)
        assert len(msgspec.json.encode(found)) < 50_000

    def test_controls_and_ends_of_lines_are_gone(self) -> None:
        said = {**ARTICLE, "headline": "Rain\u0000\n\u2028of\u0085a\x1b[31m", "author": "Ann\u0007 Lee"}
        found = read("", ld(said))
        assert found.title == "Rain of a [31m"
        assert found.authors == ("Ann Lee",)

    def test_a_million_elements_keep_to_the_budget(self) -> None:
        body = '<b class="author date" itemprop="author" itemscope>By Ann 4 March 2025</b>' * 30_000
        with budgeted(AnalysisBudget()):
            assert read(f"<h1>Rain</h1>{body}").published == "2025-03-04"

    def test_long_json_is_not_kept(self) -> None:
        long = {**ARTICLE, "articleBody": "a" * LONGEST_JSON_LD}
        assert read("", ld(long)).title == ""


@pytest.mark.parametrize(
    ("text", "language", "date"),
    [
        ("2025-03-04T05:06:07.123Z", "", "2025-03-04T05:06:07+00:00"),
        ("2025-03-04 05:06:07 +0100", "", "2025-03-04T05:06:07+01:00"),
        ("20250304", "", "2025-03-04"),
        ("Tue, 04 Mar 2025 05:06:07 GMT", "", "2025-03-04"),
        ("3/4/2025", "en-US", "2025-03-04"),
        ("4/3/2025", "fr", "2025-03-04"),
        ("4.3.2025", "en", "2025-03-04"),
        ("31/3/2025", "en", "2025-03-31"),
        ("4 de marzo de 2025", "es", "2025-03-04"),
        ("1741064767", "", "2025-03-04T05:06:07+00:00"),
        ("2025-02-30", "", ""),
        ("٤/٣/٢٠٢٥", "ar", "2025-03-04"),
        ("௪/௩/௨௦௨௫", "ta", ""),
        ("1234-05-06", "", ""),
        ("2025", "", ""),
    ],
)
def test_dates_are_read_as_people_write_them(text: str, language: str, date: str) -> None:
    assert find_exact_date(text, language=language) == date


def test_dates_come_in_their_order() -> None:
    found = find_dates("Published 4 March 2025, updated 2025-04-05")
    assert [one.date for one in found] == ["2025-03-04", "2025-04-05"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("By Ann Lee, MD, and Bo Kim", ("Ann Lee", "Bo Kim")),
        ("Posted by: admin", ()),
        ("Ann Lee · 4 March 2025", ("Ann Lee",)),
        ("ann@example.org", ()),
        ("https://example.org/ann", ()),
        ("By the time that it rained in the hills for so long", ()),
        ("August 2025", ()),
    ],
)
def test_names_are_told_from_what_surrounds_them(text: str, names: tuple[str, ...]) -> None:
    assert author_names(text) == names
