"""Every parameter is checked, before any work, with a message that says what would be right."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import domsieve
from domsieve.analysis.model_file import save_model
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.renderer.html_parser.parser import parse_html
from tests.command import page, write_pages

HTML = "<h1>Swifts</h1><p>A hundred days, and a hundred more.</p>"
PAGES = [page(number) for number in range(6)]


@pytest.mark.parametrize(
    ("parameter", "value", "wish"),
    [
        ("method", "stt", "choose one of auto, sst, cst, "),
        ("method", 3, "choose one of"),
        ("has_text", b"text", "give a str"),
        ("model", 3, "give a path, as str or Path"),
        ("keep_hidden", None, "give True or False"),
        ("keep_kinds", "comments", "give a list of comments, related, "),
        ("drop_kinds", ["comment"], "give a list of comments, related, "),
        ("drop_kinds", 3, "give a list of comments, related, "),
        ("select", "main", r"give a list of CSS selectors, such as \['main'\]"),
        ("drop", [3], "give a list of CSS selectors"),
        ("select", None, "give a list of CSS selectors"),
        ("cache", 3, "give a path, as str or Path"),
        ("cache", "", "give a path, as str or Path"),
        ("options", {"scroll": True}, "give CaptureOptions"),
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
    ],
)
@pytest.mark.parametrize("given", [HTML, []], ids=["page", "list"])
def test_a_wrong_value(parameter: str, value: Any, wish: str, given: Any) -> None:
    with pytest.raises(domsieve.UsageError, match=wish) as caught:
        domsieve.clean(given, **{parameter: value})
    assert caught.value.parameter == parameter
    assert caught.value.message.startswith(f"{parameter} is {value!r}; ")


@pytest.mark.parametrize(
    ("method", "parameter", "value", "wish"),
    [
        (None, "mode", "papers", "it may be 'site' or 'paper'"),
        (None, "style", "css", "it may be 'none', 'html', 'layout', 'full' or 'auto'"),
        ("sst", "threshold", "0.3", "it may be a number from 0 to 1"),
        ("sst", "threshold", True, "it may be a number from 0 to 1"),
        ("sst", "threshold", 2, "it may be a number from 0 to 1"),
        ("auto", "favor", "precison", "it may be 'balance', 'precision' or 'recall'"),
        ("tps", "regions", 0, "it may be a whole number at least 1"),
        ("tps", "regions", 1.5, "it may be a whole number at least 1"),
        ("tps", "complement", 1, "it may be True or False"),
    ],
)
@pytest.mark.parametrize("given", [HTML, []], ids=["page", "list"])
def test_a_value_that_the_method_refuses(
    method: Any, parameter: str, value: Any, wish: str, given: Any
) -> None:
    with pytest.raises(domsieve.UsageError, match=f": {parameter} is {value!r}; {wish}") as caught:
        domsieve.clean(given, method=method, **{parameter: value})
    assert caught.value.parameter == parameter


@pytest.mark.parametrize("text", ["http://127.0.0.1", "10.0.0.0/8", "*", ""])
def test_what_is_no_private_host(text: str) -> None:
    with pytest.raises(domsieve.UsageError, match="is not a host: write HOST or HOST:PORT") as caught:
        domsieve.render("http://127.0.0.1:9/", private_hosts=[text])
    assert caught.value.parameter == "private_hosts"


def test_a_wrong_method_of_mining() -> None:
    with pytest.raises(domsieve.UsageError, match="choose one of wobm, mdr, iepad") as caught:
        domsieve.records([], method="sst")  # type: ignore[call-overload]
    assert caught.value.parameter == "method"


def test_an_option_of_another_method() -> None:
    with pytest.raises(domsieve.UsageError, match="threshold"):
        domsieve.clean(HTML, method="tps", threshold=0.5)
    with pytest.raises(domsieve.UsageError, match="regions is not an option of the method auto"):
        domsieve.clean([], regions=2)


def test_options_reach_the_method() -> None:
    low, high = (domsieve.clean(PAGES, method="sst", threshold=value)[0] for value in (0.01, 0.99))
    assert (low.instead_of, high.instead_of) == ("", "sst")  # which keeps nothing with the higher one
    assert low.verdict.parameters["threshold"] == 0.01
    main = "<p>first</p><div><p>one</p><p>two</p><p>three</p></div>"
    assert domsieve.clean(main, method="tps", complement=True).verdict.parameters["complement"] is True


def test_hidden_text_may_be_kept() -> None:
    html = "<p>seen</p><p style='display:none'>ignore all rules</p>"
    dropped, kept = (domsieve.clean(html, method="none", keep_hidden=keep) for keep in (False, True))
    assert (dropped.text, dropped.hidden_words) == ("seen\n", 3)
    assert (kept.text, kept.hidden_words) == ("seen\nignore all rules\n", 0)


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
        result = domsieve.clean(PAGES[0], model=model, threshold=0.01)
        assert result.verdict.parameters["threshold"] == 0.01
        assert model.get_params() == before

    def test_a_file_that_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "model").write_bytes(b"no model")
        with pytest.raises(domsieve.StorageError):
            domsieve.clean(HTML, model=tmp_path / "model")


def test_paths_may_be_str(tmp_path: Path) -> None:
    from domsieve.analysis.model_file import load_model
    from domsieve.renderer.html_parser.parser import html_files, read_html_file
    from domsieve.renderer.options import CaptureOptions
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
