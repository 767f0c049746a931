"""Dates of pages: the languages and forms they are written in, and which of several dates counts."""

import json

import pytest

from domsieve.analysis.metadata._dates import find_dates
from domsieve.analysis.metadata._page_dates import date_of_address
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.metadata.values import Metadata
from domsieve.renderer.html_parser.parser import parse_html

URL = "https://www.example.org/news/rain"
TITLE = "<h1>Rain in the hills</h1>"
FILLER = "<p>It rained for a long time, and the river rose.</p>" * 60


def read(body: str, head: str = "", *, language: str = "en-GB", url: str = URL) -> Metadata:
    source = f"<html lang='{language}'><head>{head}</head><body>{body}</body></html>"
    return read_metadata(parse_html(source.encode(), url=url, encoding="utf-8"))


def meta(name: str, date: str) -> str:
    return f'<meta name="{name}" content="{date}">'


def article(**dates: str) -> str:
    thing = {"@type": "NewsArticle", "headline": "Rain in the hills", **dates}
    return f'<script type="application/ld+json">{json.dumps(thing)}</script>'


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("4. ožujka 2025.", "hr"),
        ("4. marca 2025", "sk"),
        ("4 Μαρτίου 2025", "el"),
        ("2025 m. kovo 4 d.", "lt"),
        ("2025. gada 4. marts", "lv"),
        ("4. märts 2025", "et"),
        ("4 мар 2025", "ru"),
        ("4 март 2025 г.", "bg"),
        ("4 de març del 2025", "ca"),
        ("2025. márc. 4.", "hu"),
        ("ngày 4 tháng 3, 2025", "vi"),
        ("4 مارس 2025", "ar"),
        ("Tue Mar 4 05:06:07 CET 2025", "en"),
        ("04 | 03 | 2025", "de"),
        ("4. 3. 2025", "cs"),
        ("۲۰۲۵/۰۳/۰۴", "fa"),
        ("০৪-০৩-২০২৫", "bn"),
    ],
)
def test_days_are_read_in_many_languages_and_forms(text: str, language: str) -> None:
    assert [one.date for one in find_dates(text, language=language)] == ["2025-03-04"]


def test_one_name_is_two_months() -> None:
    assert find_dates("4. listopada 2025", language="hr")[0].date == "2025-10-04"
    assert find_dates("4 listopada 2025", language="pl")[0].date == "2025-11-04"


@pytest.mark.parametrize("text", ["Fassung 4.3.25.1", "10:04.3.25", "4.3.25 €"])
def test_not_all_figures_are_short_dates(text: str) -> None:
    assert find_dates(text, language="de", short_years=True) == []
    assert find_dates("Wien, 4.3.25", language="de") == []


@pytest.mark.parametrize(
    ("path", "language", "day"),
    [
        ("/2025/03/04/rain", "", "2025-03-04"),
        ("/2025-03/04/c_112.htm", "", "2025-03-04"),
        ("/2025/0304/112.htm", "", "2025-03-04"),
        ("/rain_04-03-2025", "de", "2025-03-04"),
        ("/news/04-03-2025", "de", "2025-03-04"),
        ("/web/20260101123456/https://example.com/2025/03/04/rain", "", "2025-03-04"),
        ("/web/20260101123456id_/example.com/2025/03/04/rain", "", "2025-03-04"),
        ("/web/20260101123456/http://example.com/rain", "", ""),
        ("/rain-202503041234567", "", ""),
        ("/2025/03/rain", "", ""),
    ],
)
def test_addresses_hold_days(path: str, language: str, day: str) -> None:
    assert date_of_address(f"https://example.org{path}", language=language, latest="") == day


class TestLabels:
    @pytest.mark.parametrize(
        "line",
        [
            "Veröffentlicht am 04.03.2025",
            "Publié le 4 mars 2025",
            "Pubblicato il 4 marzo 2025",
            "Dieser Artikel wurde am 4. März 2025 von Ann Lee geschrieben",
            "Opublikowano: 4 marca 2025",
            "Post time: 04.03.2025",
            "Listed on 04.03.2025",
        ],
    )
    def test_a_day_of_publication_is_found_below_a_long_text(self, line: str) -> None:
        found = read(f"{TITLE}{FILLER}{FILLER}{FILLER}<div>{line}</div>", language="de")
        assert (found.published, found.sources["published"]) == ("2025-03-04", "text with a label")

    @pytest.mark.parametrize(
        "line",
        [
            "Letzte Änderung: 04.03.2025",
            "Stand: 4. März 2025",
            "Stand vom 4. März 2025",
            "Last checked: 04.03.2025",
            "Mis à jour le 4 mars 2025",
            "Última actualización: 4 de marzo de 2025",
            "Обновлено 4 марта 2025",
            "<span>Aktualisiert:</span><div>4.3.2025</div>",
        ],
    )
    def test_a_day_of_change_is_not_that_of_publication(self, line: str) -> None:
        for body in (f"{TITLE}<p>{line}</p>", f"{TITLE}{FILLER}{FILLER}{FILLER}<footer>{line}</footer>"):
            found = read(body, language="de")
            assert (found.published, found.modified) == ("", "2025-03-04")

    def test_equal_labels_of_several_days_are_those_of_other_things(self) -> None:
        lines = "<p>Reviewed on 4 March 2025</p><p>Reviewed on 5 March 2025</p>"
        found = read(f"{TITLE}{FILLER}{FILLER}{FILLER}{lines}")
        assert (found.published, found.modified) == ("", "")

    def test_themes_call_every_date_of_an_entry_updated(self) -> None:
        found = read(f'{TITLE}<span class="entry-date updated">4 March 2025</span>')
        assert (found.published, found.modified) == ("2025-03-04", "")

    @pytest.mark.parametrize(
        "line",
        [
            '<span class="joinDate">Joined 4 March 2025</span>',
            "<p>© 4 March 2025</p>",
            "<p>Closed since 4 March 2025</p>",
            f"<p>On 4 March 2025 the river rose {'and rose ' * 10}in the hills.</p>",
            f"<p>{'The river rose ' * 5} on 4 March 2025 in the hills.</p>",
            "<p>The next meeting is on 4 March 2025 at seven in the town hall.</p>",
        ],
    )
    def test_other_dates_are_not_those_of_the_page(self, line: str) -> None:
        found = read(f"{TITLE}{line}")
        assert (found.published, found.modified) == ("", "")

    def test_a_paragraph_can_begin_with_place_and_date(self) -> None:
        text = "The river rose in the hills. " * 20
        assert read(f"{TITLE}<p>Bad Ems, 04.03.2025 – {text}</p>").published == "2025-03-04"
        assert read(f"{TITLE}<p>(04.03.2025) {text}</p>").published == "2025-03-04"
        assert read(f"{TITLE}<p>04.03.2025 „{text}“</p>").published == "2025-03-04"

    def test_short_years_are_read_where_only_a_date_can_be(self) -> None:
        assert read(f'{TITLE}<p class="date">News, 04.03.25</p>').published == "2025-03-04"
        assert read(f"{TITLE}<p>Wien, 04.03.25</p>").published == "2025-03-04"
        assert read(f"{TITLE}<p>von Maria Theresia Musterfrau, 04.03.25</p>").published == "2025-03-04"
        assert read(f"{TITLE}<p>The hills run on the new version 4.3.25</p>").published == ""


class TestPlaces:
    def test_a_layout_named_after_its_sidebar_is_no_sidebar(self) -> None:
        body = f'<div class="layout-with-sidebar"><h2>Rain</h2><p class="date">4 March 2025</p>{FILLER}</div>'
        assert read(body).published == "2025-03-04"

    def test_a_title_without_a_heading_is_found_by_its_text(self) -> None:
        head = "<title>Rain in the hills and in the valleys | The Post</title>"
        menu = "<p>Menu</p>" * 200
        body = f"{menu}<div>Rain in the hills and in the valleys</div><p>4 March 2025</p>{FILLER}"
        assert read(body, head).published == "2025-03-04"

    def test_a_date_on_a_line_of_its_own_counts_in_pages_without_a_title(self) -> None:
        far = f"{FILLER}{FILLER}{FILLER}<p>Tuesday, 4 March 2025</p>"
        found = read(far)
        assert (found.published, found.sources["published"]) == ("2025-03-04", "line of a date")
        assert read(f"{far}<p>5 March 2025</p>").published == ""
        assert read(f"{FILLER}{FILLER}{FILLER}<aside><p>4 March 2025</p></aside>").published == ""
        assert read(f"{TITLE}{far}").published == ""

    def test_a_date_far_behind_that_of_a_change_is_one_of_other_things(self) -> None:
        updated = f"{TITLE}<p>Updated 9 March 2025</p>"
        assert read(f"{updated}<p>4 March 2025</p>").published == "2025-03-04"
        assert read(f"{updated}{'<p>It rained.</p>' * 30}<p>4 March 2025</p>").published == ""


class TestStatements:
    def test_the_day_that_the_page_shows_chooses_between_statements(self) -> None:
        head = meta("article:published_time", "2025-03-09T10:00:00Z") + article(datePublished="2025-03-04")
        assert read(TITLE, head).published == "2025-03-09T10:00:00+00:00"
        assert read(f"{TITLE}<p>4 March 2025</p>", head).published == "2025-03-04"

    def test_a_shown_day_of_change_chooses_nothing(self) -> None:
        head = article(datePublished="2025-03-04", dateModified="2025-03-09")
        head += meta("pubdate", "2025-03-09")
        head = meta("article:published_time", "2025-03-04") + head
        assert read(f"{TITLE}<p>9 March 2025</p>", head).published == "2025-03-04"
        assert read(f"{TITLE}<p>Published 9 March 2025</p>", head).published == "2025-03-09"

    def test_the_same_moment_is_given_in_local_time(self) -> None:
        head = meta("article:published_time", "2025-03-03T23:30:00Z")
        head += article(datePublished="2025-03-04T01:30:00+02:00")
        found = read(TITLE, head)
        assert (found.published, found.sources["published"]) == (
            "2025-03-04T01:30:00+02:00",
            "json-ld datePublished",
        )

    def test_a_shown_local_day_replaces_a_time_in_utc(self) -> None:
        head = meta("article:published_time", "2025-03-05T02:00:00Z")
        found = read(f"{TITLE}<p class='date'>4 March 2025</p>", head)
        assert (found.published, found.sources["published"]) == ("2025-03-04", "class of a date")
        late = meta("article:published_time", "2025-03-05T20:00:00Z")
        assert read(f"{TITLE}<p class='date'>4 March 2025</p>", late).published[:10] == "2025-03-05"

    def test_vague_statements_yield_to_others(self) -> None:
        head = meta("date", "2025-03-01")
        assert read(TITLE, head).published == "2025-03-01"
        assert read(TITLE, head + article(datePublished="2025-03-04")).published == "2025-03-04"
        assert read(f"{TITLE}<p class='date'>4 March 2025</p>", head).published == "2025-03-04"

    def test_a_vague_statement_after_a_change_is_not_the_publication(self) -> None:
        found = read(f"{TITLE}<p>Stand: 4. März 2025</p>", meta("date", "2025-03-05"), language="de")
        assert (found.published, found.modified) == ("", "2025-03-04")

    def test_a_page_that_is_published_again_keeps_the_earlier_day_that_it_shows(self) -> None:
        head = article(datePublished="2025-11-05")
        assert read(f"{TITLE}<p>4 March 2025</p>", head).published == "2025-03-04"
        for body in ("4 November 2025", "11 May 2025", "9 December 2025"):
            assert read(f"{TITLE}<p>{body}</p>", head).published == "2025-11-05"
        paper = meta("citation_date", "2025-11-05")
        assert read(f"{TITLE}<p>4 March 2025</p>", paper).published == "2025-11-05"

    def test_metas_of_other_things_yield_to_the_article(self) -> None:
        teaser = '<div itemscope><meta itemprop="datePublished" content="2025-03-01"></div>'
        assert read(f"{teaser}{TITLE}").published == "2025-03-01"
        body = f"{teaser}{TITLE}{article(datePublished='2025-03-04')}"
        assert read(body).published == "2025-03-04"

    @pytest.mark.parametrize("name", ["bt:pubdate", "pub_date", "date_created", "dateposted", "my:uploaded"])
    def test_systems_have_names_of_their_own_for_publication(self, name: str) -> None:
        assert read(TITLE, meta(name, "2025-03-04")).published == "2025-03-04"

    @pytest.mark.parametrize("name", ["last_updated", "update_time", "revision_date"])
    def test_systems_have_names_of_their_own_for_changes(self, name: str) -> None:
        assert read(TITLE, meta(name, "2025-03-04")).modified == "2025-03-04"

    def test_a_page_that_is_published_again_keeps_the_day_in_its_address(self) -> None:
        head = article(datePublished="2025-03-09")
        for found in (
            read(TITLE, head, url="https://example.org/2025/3/4/rain"),
            read(TITLE, f'{head}<link rel="canonical" href="/2025/03/04/rain">'),
            read('<h1><a href="/2025/03/04/rain">Rain in the hills</a></h1>', head),
        ):
            assert found.published == "2025-03-04"
        for path in ("2025/3/10/rain", "version-2025-3-4"):
            assert read(TITLE, head, url=f"https://example.org/{path}").published == "2025-03-09"

    @pytest.mark.parametrize(
        ("url", "language", "date"),
        [
            ("https://example.co.uk/rain", "en", "2025-03-04"),
            ("https://example.de/rain", "", "2025-03-04"),
            ("https://example.com/rain", "en", "2025-04-03"),
            ("https://example.io/rain", "en", "2025-04-03"),
            ("https://example.co.uk/rain", "en-US", "2025-04-03"),
            ("https://example.com/web/20260101123456/http://example.co.uk/rain", "en", "2025-03-04"),
        ],
    )
    def test_the_country_of_the_address_decides_the_order_of_figures(
        self, url: str, language: str, date: str
    ) -> None:
        assert read(f"{TITLE}<p>04/03/2025</p>", language=language, url=url).published == date
