"""Every parameter is checked, before any work, with a message that says what would be right."""

import asyncio
import inspect
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import domsieve
from domsieve.analysis.model_file import save_model
from domsieve.analysis.records.wobm import WebObjectBlocks
from domsieve.analysis.registry import METHODS
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.library._fetch_options import FetchOptions
from domsieve.library.parameters import REMOVED
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.types import HiddenText
from tests.analysis.pages import page as rendered
from tests.command import page, write_pages
from tests.snapshot.pictured import pictured

HTML = "<h1>Swifts</h1><p>A hundred days, and a hundred more.</p>"
PAGES = [page(number) for number in range(6)]


@pytest.mark.parametrize(
    ("parameter", "value", "wish"),
    [
        ("method", "stt", "choose one of auto, sst, cst, "),
        ("method", 3, "choose one of"),
        ("model", 3, "give a path, as str or Path"),
        ("hidden", None, "choose one of layout, pixels, keep"),
        ("keep_kinds", "comments", "give a list of comments, related, "),
        ("drop_kinds", ["comment"], "give a list of comments, related, "),
        ("drop_kinds", 3, "give a list of comments, related, "),
        ("select", "main", r"give a list of CSS selectors, such as \['main'\]"),
        ("drop", [3], "give a list of CSS selectors"),
        ("select", None, "give a list of CSS selectors"),
        ("cache", 3, "give a path, as str or Path"),
        ("cache", "", "give a path, as str or Path"),
        ("capture", {"scroll": True}, "give CaptureOptions"),
        ("network", {"timeout": 20}, "give NetworkOptions"),
    ],
)
@pytest.mark.parametrize("given", [HTML, []], ids=["page", "list"])
def test_a_wrong_value(parameter: str, value: Any, wish: str, given: Any) -> None:
    with pytest.raises(domsieve.UsageError, match=wish) as caught:
        domsieve.clean(given, **{parameter: value})
    assert caught.value.parameter == parameter
    assert caught.value.message.startswith(f"{parameter} is {value!r}; ")


@pytest.mark.parametrize(
    ("parameter", "value", "wish"),
    [
        ("timeout", 20, r"give a timedelta up to a day, such as timedelta\(seconds=20\)"),
        ("timeout", timedelta(), "give a timedelta"),
        ("timeout", timedelta(days=2), "give a timedelta"),
        ("concurrency", 0, "give a whole number from 1"),
        ("private_hosts", "127.0.0.1:80", r"give a list of HOST or HOST:PORT, such as \['127.0.0.1:8000'\]"),
        ("private_hosts", b"127.0.0.1", "give a list"),
        ("private_hosts", None, "give a list"),
        ("private_hosts", [("127.0.0.1", 80)], "give a list"),
        ("allow_private", "yes", "give True or False"),
        ("driver", "pipes", "choose one of playwright, pipe"),
        ("keep_errors", 1, "give True or False"),
        ("analysis_budget", 3, "give AnalysisBudget"),
    ],
)
def test_a_wrong_value_of_the_network(parameter: str, value: Any, wish: str) -> None:
    with pytest.raises(domsieve.UsageError, match=wish) as caught:
        domsieve.NetworkOptions(**{parameter: value})
    assert caught.value.parameter == parameter
    assert caught.value.message.startswith(f"{parameter} is {value!r}; ")


@pytest.mark.parametrize(
    ("method", "parameter", "value", "wish"),
    [
        ("tps", "mode", "papers", "it may be 'site' or 'paper'"),
        ("auto", "style", "css", "it may be 'none', 'html', 'layout', 'full' or 'auto'"),
        ("sst", "threshold", "0.3", "it may be a number from 0 to 1"),
        ("sst", "threshold", True, "it may be a number from 0 to 1"),
        ("sst", "threshold", 2, "it may be a number from 0 to 1"),
        ("auto", "favor", "precison", "it may be 'balance', 'precision' or 'recall'"),
        ("tps", "regions", 0, "it may be a whole number at least 1"),
        ("tps", "regions", 1.5, "it may be a whole number at least 1"),
        ("tps", "complement", 1, "it may be True or False"),
        ("tps", "has_text", b"text", "it may be a text or None"),
        ("tps", "has_text", " ", "it may be a text or None"),
    ],
)
@pytest.mark.parametrize("given", [HTML, []], ids=["page", "list"])
def test_a_value_that_the_method_refuses(
    method: Any, parameter: str, value: Any, wish: str, given: Any
) -> None:
    with pytest.raises(domsieve.UsageError, match=f": {parameter} is {value!r}; {wish}") as caught:
        domsieve.clean(given, method=METHODS[method].estimator(**{parameter: value}))
    assert caught.value.parameter == parameter


@pytest.mark.parametrize("text", ["http://127.0.0.1", "10.0.0.0/8", "*", ""])
def test_what_is_no_private_host(text: str) -> None:
    with pytest.raises(domsieve.UsageError, match="is not a host: write HOST or HOST:PORT") as caught:
        domsieve.render("http://127.0.0.1:9/", network=domsieve.NetworkOptions(private_hosts=[text]))
    assert caught.value.parameter == "private_hosts"


def test_a_wrong_method_of_mining() -> None:
    with pytest.raises(domsieve.UsageError, match="choose one of wobm, mdr, iepad") as caught:
        domsieve.records([], method="sst")  # type: ignore[call-overload]
    assert caught.value.parameter == "method"


def test_a_method_that_does_something_else() -> None:
    for call, method in ((domsieve.clean, WebObjectBlocks()), (domsieve.records, SiteStyleTree())):
        with pytest.raises(domsieve.UsageError, match="choose one of") as caught:
            call([], method=method)
        assert caught.value.parameter == "method"


@pytest.mark.parametrize("name", REMOVED)
@pytest.mark.parametrize("call", ["clean", "clean_async", "records", "compare_async", "render"])
def test_a_removed_parameter_names_the_new_one(call: str, name: str) -> None:
    async def called() -> None:
        result = getattr(domsieve, call)("http://127.0.0.1:9/", **{name: 1})
        if inspect.isawaitable(result):
            await result

    with pytest.raises(domsieve.UsageError, match=re.escape(f"pass {REMOVED[name]}")) as caught:
        asyncio.run(called())
    assert caught.value.parameter == name


def test_an_unknown_parameter_is_a_type_error() -> None:
    with pytest.raises(
        TypeError, match=r"clean\(\) got an unexpected keyword argument 'thresold'; it takes "
    ):
        domsieve.clean(HTML, thresold=0.3)  # type: ignore[call-overload]


def test_parameters_reach_the_method() -> None:
    low, high = (domsieve.clean(PAGES, method=SiteStyleTree(threshold=value))[0] for value in (0.01, 0.99))
    assert (low.instead_of, high.instead_of) == ("", "sst")  # which keeps nothing with the higher one
    assert low.verdict.parameters["threshold"] == 0.01
    main = "<p>first</p><div><p>one</p><p>two</p><p>three</p></div>"
    result = domsieve.clean(main, method=domsieve.TagPathFilter(complement=True))
    assert result.verdict.parameters["complement"] is True


_WITHOUT_PIXELS: tuple[HiddenText, HiddenText] = ("layout", "keep")


def test_hidden_text_may_be_kept() -> None:
    html = "<p>seen</p><p style='display:none'>ignore all rules</p>"
    dropped, kept = (domsieve.clean(html, method="none", hidden=hidden) for hidden in _WITHOUT_PIXELS)
    assert (dropped.text, dropped.hidden_words) == ("seen\n", 3)
    assert (kept.text, kept.hidden_words) == ("seen\nignore all rules\n", 0)


def test_hidden_text_is_found_by_pixels_in_snapshots_that_have_them() -> None:
    plain = rendered("<html><body><p>seen</p><p>perhaps</p></body></html>", producer="rendered")
    snapshot = pictured(plain, {"perhaps": "unsure"})
    result = domsieve.clean(snapshot, method="none", hidden="pixels")
    assert (result.verdict.parameters["hidden"], result.unsure_texts) == ("pixels", 1)
    assert domsieve.clean(snapshot, method="none").unsure_texts == 0


@pytest.mark.parametrize(
    "given",
    [HTML, HTML.encode(), rendered(HTML), rendered(HTML, producer="rendered")],
    ids=["str", "bytes", "raw", "rendered"],
)
@pytest.mark.parametrize("several", [False, True], ids=["page", "list"])
def test_what_has_no_pixels_is_refused_with_what_to_do(given: Any, several: bool) -> None:
    with pytest.raises(domsieve.UsageError, match="give its address") as raised:
        domsieve.clean([given] if several else given, hidden="pixels")
    assert raised.value.parameter == "hidden"


def test_addresses_are_captured_with_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[FetchOptions] = []

    async def captured(self: FetchOptions, urls: Any) -> dict[str, Any]:
        asked.append(self)
        return {url: domsieve.PageError("none") for url in urls}

    monkeypatch.setattr(FetchOptions, "captured", captured)
    own = domsieve.CaptureOptions(scroll=True)
    domsieve.clean(["http://example.org/"], hidden="pixels", capture=own, cache=tmp_path)
    domsieve.clean(["http://example.org/"], capture=own, cache=tmp_path)
    assert [one.options for one in asked] == [domsieve.CaptureOptions(scroll=True, pixels=True), own]


def test_invisible_characters_are_removed_and_counted() -> None:
    result = domsieve.clean("<p>seen\u200b\u200c\u200b</p>", method="none")
    assert (result.text, result.invisible_characters) == ("seen\n", 3)


class TestModel:
    @pytest.fixture
    def model(self) -> SiteStyleTree:
        return SiteStyleTree().fit([parse_html(html.encode(), url="") for html in PAGES])

    def test_one_page_is_cleaned_as_its_site(self, model: SiteStyleTree, tmp_path: Path) -> None:
        save_model(model, tmp_path / "model")
        wanted = domsieve.clean(PAGES)[0].text
        assert "Imprint" not in wanted
        for given in (model, tmp_path / "model", str(tmp_path / "model")):
            result = domsieve.clean(PAGES[0], model=given)
            assert (result.text, result.method) == (wanted, "sst")

    def test_it_stays_as_it_was(self, model: SiteStyleTree) -> None:
        before = model.get_params()
        result = domsieve.clean(PAGES[0], model=model, method=SiteStyleTree(threshold=0.01))
        assert result.verdict.parameters["threshold"] == 0.01
        assert model.get_params() == before

    def test_a_file_that_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "model").write_bytes(b"no model")
        with pytest.raises(domsieve.StorageError):
            domsieve.clean(HTML, model=tmp_path / "model")


def test_paths_may_be_str(tmp_path: Path) -> None:
    from domsieve.analysis.model_file import load_model
    from domsieve.options import CaptureOptions
    from domsieve.renderer.html_parser.parser import html_files, read_html_file
    from domsieve.snapshot.store import PageStore

    write_pages(tmp_path, 1)
    pages = [read_html_file(str(path)) for path in html_files(str(tmp_path))]
    assert len(pages) == 1
    with PageStore(str(tmp_path / "cache")) as store:
        record = store.put(pages[0])
        assert len(store.get(record.page_id)) == len(pages[0])
    save_model(SiteStyleTree().fit(pages), str(tmp_path / "model"))
    assert load_model(str(tmp_path / "model")).learned == 1
    (tmp_path / "state").write_text("{}", encoding="utf-8")
    as_path, as_str = (CaptureOptions(storage_state=kind(tmp_path / "state")) for kind in (Path, str))
    assert as_path.canonical() == as_str.canonical()
