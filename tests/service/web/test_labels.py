"""The log, the form and the words of the web page, without a server."""

import io
import json
import logging

import pytest

from domsieve.service._logs import JsonLines
from domsieve.service.jobs.job_values import Event, Job
from domsieve.service.jobs.requests import (
    CleanRequest,
    CompareRequest,
    PageRequest,
    RecordsRequest,
    SiteRequest,
)
from domsieve.service.web.forms import DEFAULTS, FormError, choices_of, fields_from, read_form, request_from
from domsieve.service.web.labels import (
    about_of,
    confidence_of,
    event_line,
    facts_of,
    judged_of,
    page_count,
    size,
    verdict_of,
)

NASTY = 'a\r\n{"level": "error"}\x1b[31m\u202e\u2028\x7f\ud800'


def test_nothing_that_a_stranger_sends_forges_a_line_of_the_log() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    record = logging.makeLogRecord({"msg": NASTY, "facts": {"path": NASTY}, "levelname": "INFO"})
    handler.emit(record)
    (line,) = stream.getvalue().splitlines()
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["path"] == NASTY


class TestForm:
    def test_takes_what_belongs_to_the_choice(self) -> None:
        fields = read_form(
            b"kind=records&url=example.org%2Fshop&records_method=mdr&clean_method=sst&scroll=1"
        )
        assert request_from(fields) == RecordsRequest.model_validate(
            {
                "url": "https://example.org/shop",
                "method": "mdr",
                "format": "jsonl",
                "scroll": True,
            }
        )

    def test_of_a_site(self) -> None:
        fields = {"kind": "site", "url": "http://example.org", "site_pages": "7", "window": "390x844"}
        asked = request_from(fields)
        assert isinstance(asked, SiteRequest)
        assert (asked.pages, asked.viewport_width, asked.method) == (7, 390, "auto")

    @pytest.mark.parametrize("kind", ["clean", "site"])
    def test_of_what_is_favored(self, kind: str) -> None:
        fields = {"kind": kind, "url": "a.org", "favor": "recall"}
        asked = request_from(fields)
        assert isinstance(asked, CleanRequest | SiteRequest)
        assert asked.favor == "recall"
        other = request_from({**fields, f"{kind}_method": "none"})
        assert isinstance(other, CleanRequest | SiteRequest)
        assert (other.method, other.favor) == ("none", None)

    @pytest.mark.parametrize("kind", ["clean", "site"])
    @pytest.mark.parametrize("hidden", ["layout", "pixels", "keep"])
    def test_of_hidden_text(self, kind: str, hidden: str) -> None:
        asked = request_from({"kind": kind, "url": "a.org", "hidden": hidden})
        assert isinstance(asked, CleanRequest | SiteRequest)
        assert asked.hidden == hidden
        assert fields_from(kind, asked.model_dump())["hidden"] == hidden
        with pytest.raises(FormError, match="Hidden text: choose one from the list") as caught:
            request_from({"kind": kind, "url": "a.org", "hidden": "all"})
        assert caught.value.field == "hidden"

    def test_of_parameters_of_the_method(self) -> None:
        fields = {"kind": "site", "url": "a.org", "site_method": "sst"}
        text = "threshold=0.2\npresence=true\nmerge_similarity=none"
        asked = request_from({**fields, "params": text})
        assert isinstance(asked, SiteRequest)
        assert asked.params == {"threshold": 0.2, "presence": True, "merge_similarity": None}
        assert fields_from("site", asked.model_dump())["params"] == text
        with pytest.raises(FormError, match="no parameter 'thresold'") as caught:
            request_from({**fields, "params": "thresold=0.2"})
        assert caught.value.field == "params"

    @pytest.mark.parametrize("kind", ["clean", "site"])
    def test_of_kinds_of_blocks(self, kind: str) -> None:
        fields = {"kind": kind, "url": "a.org", "block_tables": "drop", "block_comments": "keep"}
        asked = request_from(fields)
        assert isinstance(asked, CleanRequest | SiteRequest)
        assert (asked.keep_kinds, asked.drop_kinds) == (("comments",), ("tables",))

    @pytest.mark.parametrize("kind", ["clean", "records", "compare", "report", "site"])
    def test_as_it_is_shown_first_is_good_for_all(self, kind: str) -> None:
        assert request_from({**DEFAULTS, "url": "example.org", "kind": kind}).kind == kind

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({}, "Give the address"),
            ({"url": "ftp://example.org"}, "http:// or https://"),
            ({"url": "a.org", "kind": "evil"}, "Choose"),
            (
                {"url": "a.org", "kind": "site", "site_pages": "0"},
                "Pages: write a whole number from 1 to 200[.]",
            ),
            ({"url": "a.org", "kind": "site", "site_pages": "many"}, "Pages"),
            ({"url": "a.org", "kind": "site", "site_pages": "2", "site_method": "sst"}, "at least 5 pages"),
            ({"url": "a.org", "time_s": "nan"}, "Seconds a page may take"),
            ({"url": "a.org", "time_s": "2_0"}, "Seconds a page may take"),
            ({"url": "a.org", "time_s": "+20"}, "Seconds a page may take"),
            ({"url": "a.org", "time_s": "2e1"}, "Seconds a page may take"),
            ({"url": "a.org", "kind": "site", "site_pages": "\u0663"}, "Pages"),
            ({"url": "a.org", "window": "1_280x800"}, "Window: choose"),
            ({"url": "-1.0.0.1"}, "“-1.0.0.1” is not the address"),
            ({"url": "%\ud800"}, "is not the address"),
            ({"url": "a.org", "locale": "../../etc"}, "Language: write a language tag such as de"),
            ({"url": "a.org", "time_s": "61"}, "Seconds a page may take: write a number from 1 to 60[.]"),
            ({"url": "a.org", "settle": "never"}, "When a page is complete: choose one from the list"),
            (
                {"url": "a.org", "wait_for": "." * 501},
                "Wait for what this CSS selector matches: write a CSS selector",
            ),
            (
                {"url": "a.org", "click": "a\n" * 21},
                "Click what these CSS selectors match: write up to 20 CSS selectors",
            ),
            (
                {"url": "a.org", "clean_format": "chunks", "max_words": "5"},
                "a whole number from 20 to 10,000",
            ),
            ({"url": "a.org", "select": "p..q"}, "Only these parts: "),
            (
                {"url": "a.org", "kind": "site", "depth": "x"},
                "Clicks from the first page: write a whole number",
            ),
            ({"url": "two words"}, "it has spaces"),
            ({"url": "https://user:word@example.org/"}, "Leave the user name and password out"),
            ({"url": "a" * 9000}, "longer than 8,192 characters"),
            ({"url": "a.org", "window": "99999x1"}, "Window: choose"),
            ({"url": "a.org", "block_tables": "eat"}, "each kind of blocks"),
        ],
    )
    def test_says_what_cannot_be(self, fields: dict[str, str], said: str) -> None:
        with pytest.raises(FormError, match=said):
            request_from({"kind": "clean", **fields})

    @pytest.mark.parametrize(
        ("wrong", "field"),
        [
            ({"url": "ftp://a.org"}, "url"),
            ({"url": "a.org", "time_s": "0"}, "time_s"),
            ({"url": "a.org", "kind": "site", "site_pages": "0"}, "site_pages"),
            ({"url": "a.org", "window": "1x1"}, "window"),
            ({"url": "a.org", "clean_format": "exe"}, "clean_format"),
            ({"url": "a.org", "block_tables": "eat"}, "block_tables"),
        ],
    )
    def test_names_the_field_that_is_wrong(self, wrong: dict[str, str], field: str) -> None:
        with pytest.raises(FormError) as caught:
            request_from({"kind": "clean", **wrong})
        assert caught.value.field == field

    @pytest.mark.parametrize(
        "request_of_a_job",
        [
            CleanRequest.model_validate(
                {
                    "url": "http://a.org/",
                    "method": "auto",
                    "favor": "recall",
                    "format": "chunks",
                    "max_words": 50,
                    "metadata": True,
                    "keep_kinds": ("comments",),
                    "drop_kinds": ("tables",),
                    "viewport_width": 1000,
                    "viewport_height": 700,
                    "locale": "de-DE",
                    "settle": "load",
                    "settle_extra_s": 0.5,
                    "time_s": 30,
                    "scroll": True,
                    "refresh": True,
                    "keep_errors": True,
                    "click": (".more", "#tab"),
                    "wait_for": ".results",
                    "max_age_days": 2.5,
                    "select": ("main", "article"),
                    "drop": (".comments",),
                }
            ),
            RecordsRequest(url="http://a.org/", method="mdr", format="csv", fields=("title", "image")),
            CompareRequest(url="http://a.org/", twice=True),
            SiteRequest.model_validate(
                {
                    "url": "http://a.org/",
                    "method": "sst",
                    "pages": 7,
                    "seed": 3,
                    "format": "text",
                    "include": ("/a/*",),
                    "exclude": ("/a/b*",),
                    "depth": 3,
                }
            ),
        ],
    )
    def test_filled_in_from_a_job_asks_for_the_same(self, request_of_a_job: PageRequest) -> None:
        kept = json.loads(json.dumps(request_of_a_job.model_dump()))
        assert request_from(fields_from(request_of_a_job.kind, kept)) == request_of_a_job

    def test_offers_the_window_of_the_job_it_is_filled_in_from(self) -> None:
        assert "1000x700" in {choice.value for choice in choices_of({"window": "1000x700"})["window"]}
        assert choices_of({"window": "<b>"})["window"] == choices_of({})["window"]

    def test_is_empty_for_html_that_came_along(self) -> None:
        assert fields_from("clean_html", {"html": "<p>", "url": ""}) == {}

    @pytest.mark.parametrize("body", [b"\xff", b"a=%ff", b"&".join([b"a=1"] * 101)])
    def test_that_is_none_is_refused(self, body: bytes) -> None:
        with pytest.raises(FormError):
            read_form(body)


class TestWords:
    def test_of_events(self) -> None:
        def said(kind: str, **data: object) -> str:
            line = event_line(Event(1, "2026-01-02T03:04:05.000+00:00", kind, data))
            return line["said"] if line else ""

        assert said("state", state="running", attempt=2) == "A worker started it, attempt 2"
        assert said("state", state="queued", lost=1) == "Its worker was lost; waiting for another one"
        assert said("site", said="http://example.org: 0 s") == "http://example.org: 0 s"
        assert said("unknown", number=3, what="\x1b[31mred\u202e") == "Unknown: 3 · \\x1b[31mred\\u202e"

    def test_of_what_came_out(self) -> None:
        found = {
            "url": "http://example.org/",
            "nodes": 1234,
            "complete": True,
            "reasons": [],
            "share": 0.25,
            "raw": {"words": 3},
            "metadata": {"title": "T"},
            "expected_f1": 0.9,
            "marks": [],
        }
        assert facts_of(found, url="http://example.org/") == [
            ("nodes", "1,234"),
            ("complete", "yes"),
            ("share", "0.25"),
            ("raw words", "3"),
        ]

    def test_of_what_a_page_says_of_itself(self) -> None:
        metadata = {
            "title": "A\u202eB",
            "authors": ["Ann", "Bob"],
            "language": "",
            "sources": {"title": "h1"},
        }
        assert about_of(metadata) == [("Title", "A\\u202eB"), ("By", "Ann, Bob")]
        assert about_of(None) == []
        product = {
            "name": "Kettle",
            "price": "24.50",
            "currency": "GBP",
            "availability": "",
            "nodes": {"name": 1},
        }
        assert about_of({"product": product}) == [("Product", "Kettle, 24.50 GBP")]

    @pytest.mark.parametrize(
        ("expected", "said"),
        [
            (0.934, (93, "high")),
            (0.8951, (90, "high")),
            (0.748, (75, "fair")),
            (0.8, (80, "fair")),
            (0.2, (20, "low")),
            (1, (100, "high")),
        ],
    )
    def test_of_confidence(self, expected: float, said: tuple[int, str]) -> None:
        found = confidence_of({"expected_f1": expected})
        assert found is not None
        assert (found.percent, found.word) == said

    @pytest.mark.parametrize(
        ("pages", "said"),
        [
            (6, "judged with 6 pages of this site"),
            (1, "judged with 1 page of this site"),
            (0, ""),
            (None, ""),
        ],
    )
    def test_of_pages_of_the_site_that_had_a_say(self, pages: int | None, said: str) -> None:
        assert judged_of({"site_pages": pages}) == said
        assert facts_of({"site_pages": pages}, url="") == []

    def test_of_no_confidence(self) -> None:
        assert confidence_of({}) is None
        assert confidence_of({"expected_f1": "0.9"}) is None
        damaged = confidence_of({"expected_f1": 0.98, "warnings": [{"kind": "text_cut"}]})
        assert damaged is not None
        assert damaged.word == "fair"

    def test_of_jobs(self) -> None:
        def job(kind: str, **values: object) -> Job:
            at = "2026-01-02T03:04:05.000+00:00"
            return Job(id="0", kind=kind, client="a", request={}, state="running", created_at=at, **values)  # type: ignore[arg-type]

        assert page_count(job("clean", done_pages=1, total_pages=1)) == ""
        assert page_count(job("site", done_pages=3)) == "3 pages"
        assert page_count(job("site", done_pages=3, total_pages=9)) == "3 of 9 pages"
        assert verdict_of(job("compare", summary={"browser_needed": True})) == "This page needs a browser."
        assert verdict_of(job("clean", summary={"browser_needed": True})) == ""

    @pytest.mark.parametrize(
        ("count", "said"), [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (2_500_000, "2.5 MB")]
    )
    def test_of_sizes(self, count: int, said: str) -> None:
        assert size(count) == said
