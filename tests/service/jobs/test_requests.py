"""What the service may be asked for, and what it refuses before a job is made."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from domsieve.analysis.registry import MethodParams
from domsieve.errors import UsageError
from domsieve.options import CaptureOptions, Scope
from domsieve.service.jobs.request_fields import HTML_CHARACTERS
from domsieve.service.jobs.requests import (
    REQUESTS,
    CleanHtmlRequest,
    CleanRequest,
    CompareRequest,
    RecordsHtmlRequest,
    RecordsRequest,
    ReportRequest,
    SiteRequest,
    request_of,
    shown,
)
from domsieve.types import HiddenText

URL = "http://site.example/"


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "HTTPS://Site.Example:8443/a?b#/c",
        "http://[::1]:8080",
        "http://münchen.example/ä",
        "http://2130706433/",
        "http://site.example:80?q",
        "http://site.example/" + "x" * 8000,
    ],
)
def test_addresses_of_pages(url: str) -> None:
    assert CleanRequest(url=url).url == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "site.example",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://",
        "http:///path",
        "http://user:secret@site.example/",
        "http://ok@10.0.0.1/",
        "http://site.example\\@10.0.0.1/",
        "http://site.example/a b",
        "http://site.example/\r\nx: y",
        "http://site.example/\x1b[31m",
        "http://site.example:99999/",
        "http://site.example:x/",
        "http://[::",
        "http://[1.2.3]x/",
        "http://site.example/\ud800",
        "http://a\u2100b.example/",
        "http://site.example/" + "x" * 8192,
        " http://site.example/",
        "http://site.example/\n",
        "http://-1.0.0.1/",
        "http://+1.0.0.1/",
        "http://1_0.0.0.1/",
        "http://1.2.3.4.5/",
        "http://256.0.0.1/",
        "http://%/",
        "http://%\ud800/",
        "http://%ED%A0%80/",
        "http://a..b/",
        "http://-/",
    ],
)
def test_what_is_no_address_of_a_page_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        CleanRequest(url=url)


@pytest.mark.parametrize(
    "values",
    [
        {"viewport_width": 319},
        {"viewport_height": 2161},
        {"viewport_width": "800"},
        {"viewport_width": 800.5},
        {"viewport_width": True},
        {"locale": "de_DE"},
        {"locale": "de-DE\n"},
        {"settle": "never"},
        {"settle_extra_s": 10.1},
        {"time_s": 0},
        {"time_s": float("nan")},
        {"time_s": float("inf")},
        {"scroll": "yes"},
        {"click": "a"},
        {"click": [" "]},
        {"click": ["a"] * 21},
        {"wait_for": ""},
        {"select": "main"},
        {"select": ["main["]},
        {"select": ["a:hover"]},
        {"drop": [""]},
        {"drop": ["p::before"]},
        {"drop": ["p"] * 21},
        {"max_age_days": -1},
        {"max_age_days": float("inf")},
        {"include": ["/docs/*"]},
        {"method": "wobm"},
        {"format": "pdf"},
        {"user_agent": "x"},
        {"cookies": {}},
        {"arguments": ["--no-sandbox"]},
        {"kind": "site"},
    ],
)
def test_values_out_of_range_and_unknown_fields_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CleanRequest(url=URL, **values)


def test_only_the_learned_cleaner_favors() -> None:
    assert CleanRequest(url=URL, favor="recall").favor == "recall"
    assert SiteRequest(url=URL, method="auto", favor="precision").favor == "precision"
    for request in (CleanRequest, SiteRequest):
        with pytest.raises(ValidationError, match="favor is for the method auto, not for sst"):
            request(url=URL, method="sst", favor="recall")


def test_params_are_those_of_the_method() -> None:
    asked = SiteRequest(
        url=URL, method="sst", params={"threshold": 0.2, "leaf_height": 2.0, "presence": True}
    )
    assert asked.method_params() == MethodParams(given={"threshold": 0.2, "leaf_height": 2, "presence": True})
    assert CleanRequest(url=URL, favor="recall").method_params() == MethodParams(given={"favor": "recall"})
    assert RecordsRequest(url=URL, params={"max_length": 4}).method_params().given == {"max_length": 4}
    refused: list[tuple[type[CleanRequest | SiteRequest | RecordsRequest], dict[str, Any], str]] = [
        (CleanRequest, {"params": {"threshold": 0.2}}, "AutoCleaner has no parameter 'threshold'; it has "),
        (CleanRequest, {"params": {"favor": "recall"}}, "favor is not one of the params"),
        (CleanRequest, {"method": "tps", "params": {"mode": "paper"}}, "mode is not one of the params"),
        (CleanRequest, {"method": "tps", "params": {"has_text": " "}}, "has_text is ' '; it may be a text"),
        (CleanRequest, {"method": "entropy", "params": {"threshold": [1]}}, "valid"),
        (SiteRequest, {"method": "sst", "params": {"threshold": 2}}, "it may be a number from 0 to 1"),
        (SiteRequest, {"method": "sst", "params": {"merge_similarity": 0.9}}, 'needs siblings="style"'),
        (RecordsRequest, {"params": {"thresold": 2}}, "did you mean 'threshold'"),
        (RecordsRequest, {"method": "mdr", "params": {"similarity": "tree", "threshold": 2}}, "at most 1"),
    ]
    for model, values, message in refused:
        with pytest.raises(ValidationError, match=message):
            model(url=URL, **values)


def test_a_site_method_needs_pages_to_learn_from() -> None:
    assert SiteRequest(url=URL, pages=5, method="sst").pages == 5
    assert SiteRequest(url=URL, pages=1, method="tps").pages == 1
    with pytest.raises(ValidationError, match="at least 5 pages"):
        SiteRequest(url=URL, pages=4, method="sst")


def test_parquet_without_the_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("domsieve.service.jobs.requests._has", lambda _: False)
    with pytest.raises(ValidationError, match="Parquet needs pyarrow"):
        RecordsRequest(url=URL, format="parquet")


def test_fields_of_records_are_asked_for_by_name() -> None:
    assert RecordsRequest(url=URL, fields=("price", "title", "price")).fields == ("price", "title")
    for wrong in (("prise",), ("title",) * 21, "title"):
        with pytest.raises(ValidationError):
            RecordsRequest(url=URL, fields=wrong)  # type: ignore[arg-type]


def test_options_and_budget_of_a_page() -> None:
    request = CleanRequest.model_validate(
        {
            "url": URL,
            "viewport_width": 390,
            "viewport_height": 844,
            "locale": "de-DE",
            "settle": "load",
            "scroll": True,
            "time_s": 7,
            "click": ("#agree", "button.more"),
            "wait_for": "main",
        }
    )
    assert request.capture_options() == CaptureOptions(
        viewport_px=(390, 844),
        locale="de-DE",
        settle="load",
        scroll=True,
        click=("#agree", "button.more"),
        wait_for="main",
    )
    assert request.budget().time == timedelta(seconds=7)


def test_comparisons_and_reports_keep_what_they_need() -> None:
    assert CompareRequest(url=URL).capture_options() == CaptureOptions(both_versions=True)
    assert ReportRequest(url=URL).capture_options() == CaptureOptions(screenshot=True)


def test_a_request_that_an_older_program_kept_may_be_none_any_more() -> None:
    for kind, values in (("clean", {"url": "http://-1.0.0.1/"}), ("clean", {"url": URL, "x": 1}), ("x", {})):
        with pytest.raises(UsageError, match="send a new one"):
            request_of(kind, values)


@pytest.mark.parametrize("kind", sorted(REQUESTS))
def test_a_request_that_was_kept_is_the_same_again(kind: str) -> None:
    examples = [{"url": URL, "fields": {"title": "x"}}]
    needed: dict[str, dict[str, Any]] = {"sync": {"store": "docs"}, "learn_fields": {"examples": examples}}
    more = needed.get(kind, {})
    request = REQUESTS[kind].model_validate({"url": URL, "settle_extra_s": 1.5, **more})  # type: ignore[index]
    assert request_of(kind, request.model_dump(mode="json")) == request


def test_kinds_of_blocks_are_asked_for_by_name() -> None:
    values = {"url": URL, "keep_kinds": ["tables", "comments", "tables"], "drop_kinds": ["share"]}
    request = request_of("clean", values)
    assert isinstance(request, CleanRequest)
    assert (request.keep_kinds, request.drop_kinds) == (("comments", "tables"), ("share",))
    assert request_of("clean", request.model_dump(mode="json")) == request
    assert SiteRequest(url=URL).keep_kinds == ()


@pytest.mark.parametrize("model", [CleanRequest, SiteRequest])
@pytest.mark.parametrize(
    "kinds",
    [
        {"keep_kinds": ["comment"]},
        {"keep_kinds": "comments"},
        {"drop_kinds": None},
        {"drop_kinds": [["comments"]]},
        {"keep_kinds": ["share"] * 10},
    ],
)
def test_wrong_kinds_of_blocks(model: type[CleanRequest | SiteRequest], kinds: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model(url=URL, **kinds)


@pytest.mark.parametrize("model", [CleanRequest, SiteRequest])
def test_only_pixels_are_a_property_of_the_capture(model: type[CleanRequest | SiteRequest]) -> None:
    assert model(url=URL).hidden == "layout"
    for hidden in get_args(HiddenText):
        request = model(url=URL, hidden=hidden)
        assert request.capture_options().pixels == (hidden == "pixels")
        assert request_of(model.kind, request.model_dump(mode="json")) == request
    with pytest.raises(ValidationError):
        model(url=URL, hidden="visible")  # type: ignore[arg-type]


def test_html_that_comes_along_has_no_pixels() -> None:
    assert CleanHtmlRequest(html="<p>", hidden="keep").hidden == "keep"
    with pytest.raises(ValidationError, match="HTML is not rendered, so there are no pixels; give url"):
        CleanHtmlRequest(html="<p>", url=URL, hidden="pixels")


@pytest.mark.parametrize("model", [CleanHtmlRequest, RecordsHtmlRequest])
@pytest.mark.parametrize("url", ["", URL])
def test_html_that_comes_along_is_kept_with_its_job_and_left_out_of_lists(
    model: type[CleanHtmlRequest | RecordsHtmlRequest], url: str
) -> None:
    request = model(html="<p>Words.", url=url)
    values = request.model_dump(mode="json")
    assert request_of(model.kind, values) == request
    assert shown(values).keys() == values.keys() - {"html"}


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"html": ""},
        {"html": "x" * (HTML_CHARACTERS + 1)},
        {"html": "x", "url": "file:///etc/passwd"},
        {"html": "x", "url": "http://a b/"},
        {"html": "x", "url": "http://256.256.256.256/"},
    ],
)
def test_html_that_is_too_long_or_of_no_address_is_refused(values: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        CleanHtmlRequest(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "kind", [CleanRequest, SiteRequest, RecordsRequest, CleanHtmlRequest, RecordsHtmlRequest]
)
def test_parts_of_pages_are_chosen_as_on_the_command_line(kind: Any) -> None:
    html = {"html": "<p>"} if kind in {CleanHtmlRequest, RecordsHtmlRequest} else {}
    request = kind(url=URL, select=["main"], drop=[".share", "aside"], **html)
    selection = request.selection()
    assert (selection.select, selection.drop) == (("main",), (".share", "aside"))
    assert kind(url=URL, **html).selection() is None
    with pytest.raises(ValidationError, match="not a CSS selector"):
        kind(url=URL, drop=["a:hover"], **html)


@pytest.mark.parametrize("kind", [CompareRequest, ReportRequest])
def test_what_compares_whole_pages_chooses_no_parts(kind: Any) -> None:
    with pytest.raises(ValidationError):
        kind(url=URL, select=["main"])


def test_captures_may_be_too_old() -> None:
    assert CleanRequest(url=URL).since() is None
    now = datetime.now(UTC)
    week = CleanRequest(url=URL, max_age_days=7).since()
    assert week is not None
    assert timedelta() <= week - (now - timedelta(days=7)) < timedelta(hours=1)
    anew = CleanRequest(url=URL, max_age_days=7, refresh=True).since()
    assert anew is not None
    assert anew >= now


def test_a_sample_has_the_pages_that_match() -> None:
    scope = SiteRequest.model_validate(
        {"url": URL, "include": ("/docs/*",), "exclude": ("*[?]sort=*",), "depth": 2}
    ).scope()
    assert scope == Scope(include=("/docs/*",), exclude=("*[?]sort=*",), depth=2)
    assert SiteRequest(url=URL).scope() == Scope()
    for wrong in ({"depth": -1}, {"include": [""]}, {"exclude": ["a"] * 21}, {"include": "/docs/*"}):
        with pytest.raises(ValidationError):
            SiteRequest(url=URL, **wrong)


@pytest.mark.parametrize("kind", REQUESTS)
def test_the_description_has_all_limits(kind: Any) -> None:
    # Limits that pydantic checks but cannot describe are written under its own names.
    described = json.dumps(REQUESTS[kind].model_json_schema())
    assert not [name for name in ("ge", "gt", "le", "lt", "multiple_of") if f'"{name}": ' in described]
