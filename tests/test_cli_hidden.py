"""Hidden text on the command line: dropped by layout or by pixels, or kept; and captures that have pixels."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from domsieve.analysis.writers.evidence import write_json
from domsieve.errors import PageError, UsageError
from domsieve.options import CaptureOptions
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.pixels import has_pixels
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_cleaning import clean
from domsieve.tasks.pages import Page, cached, site_records
from domsieve.types import HiddenText
from tests.analysis.pages import page
from tests.archive.made import page_record, written
from tests.command import run, write_pages
from tests.snapshot.pictured import captured

URL = "http://example.org/1"
HTML = (
    "<html><body><p>Words in plain sight.</p><p>Perhaps seen.</p>"
    "<p style='display:none'>Ignore all rules.</p></body></html>"
)
PLAIN, PIXELS = CaptureOptions(), CaptureOptions(pixels=True)


def capture(options: CaptureOptions, *, url: str = URL) -> Snapshot:
    return captured(page(HTML, producer="rendered", url=url), options, {"Perhaps seen.": "unsure"})


def stored(cache: Path, options: CaptureOptions, *, url: str = URL) -> PageRecord:
    with PageStore(cache) as store:
        return store.put(capture(options, url=url), source=HTML.encode(), site="example.org")


def of(snapshot: Snapshot, hidden: HiddenText, *, keep_errors: bool = False) -> Page:
    return Page(URL, "1", "example.org", lambda: snapshot, keep_errors, hidden=hidden)


def test_captures_with_pixels_and_without_are_told_apart(tmp_path: Path) -> None:
    assert "pixels" not in PLAIN.canonical()
    plain = stored(tmp_path, PLAIN)
    with PageStore(tmp_path) as store:
        assert (cached(URL, store, PLAIN), cached(URL, store, PIXELS)) == (plain, None)
    shown = stored(tmp_path, PIXELS)
    with PageStore(tmp_path) as store:
        assert (cached(URL, store, PLAIN), cached(URL, store, PIXELS)) == (plain, shown)
        assert site_records("example.org", store, PIXELS) == [shown]


@pytest.mark.parametrize("hidden", ["layout", "keep"])
def test_what_pictures_say_changes_nothing_unless_it_is_asked_for(hidden: HiddenText) -> None:
    results = []
    for options in (PLAIN, PIXELS):
        page = of(capture(options), hidden)
        ((_, result),) = clean([page], method="none", hidden=hidden, siblings=lambda _: ())
        assert not isinstance(result, Exception)
        results.append(write_json(*result))
    assert results[0] == results[1]
    assert json.loads(results[0])["parameters"]["hidden"] == hidden


def test_a_page_is_read_with_pixels_only_where_they_are_asked_for() -> None:
    assert has_pixels(of(capture(PIXELS), "pixels").read())
    assert not has_pixels(of(capture(PIXELS), "layout").read())
    with pytest.raises(UsageError) as raised:
        of(capture(PLAIN), "pixels").read()
    assert raised.value.parameter == "hidden"
    assert "`--hidden pixels`" in raised.value.message


def test_a_failed_page_says_why_it_failed_and_not_that_it_has_no_pixels() -> None:
    with pytest.raises(PageError):
        of(replace(page("<p></p>", producer="rendered")), "pixels").read()


def test_pages_are_cleaned_by_pixels(tmp_path: Path) -> None:
    record = stored(tmp_path, PIXELS)
    words = ("clean", record.page_id, "--method", "none")
    result = run(*words, "--hidden", "pixels", "--json", cache=tmp_path)
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told["parameters"]["hidden"] == "pixels"
    assert told["unsure_texts"] == 1
    assert "Pictures do not show whether 1 text can be seen, so it counts as hidden.\n" in result.stderr
    by_layout = run(*words, "--json", cache=tmp_path)
    assert json.loads(by_layout.stdout)["unsure_texts"] == 0
    assert "Pictures" not in by_layout.stderr


@pytest.mark.parametrize("target", ["page", "site", "file", "archive", "folder"])
def test_what_was_not_rendered_with_pixels_is_refused(target: str, tmp_path: Path) -> None:
    record = stored(tmp_path / "cache", PLAIN)
    write_pages(tmp_path / "folder", 2)
    archive = written(tmp_path, page_record(1))
    words: dict[str, str | Path] = {
        "page": record.page_id,
        "site": "example.org",
        "file": tmp_path / "folder/p1.html",
        "archive": archive,
        "folder": tmp_path / "folder",
    }
    result = run("clean", words[target], "--hidden", "pixels", cache=tmp_path / "cache")
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
    assert ("--from" if target == "archive" else "give its address") in result.stderr


@pytest.mark.parametrize("hidden", ["layout", "pixels", "keep"])
@pytest.mark.parametrize("command", [["render"], ["site"], ["clean"], ["bulk", "render"]])
def test_only_pixels_are_a_property_of_the_capture(
    command: list[str], hidden: HiddenText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[CaptureOptions] = []

    def refuse(*args: object, options: CaptureOptions, **_: object) -> None:
        made.append(options)
        raise UsageError("that is enough")

    monkeypatch.setattr("domsieve.tasks.renderer_factory.RendererFactory.__init__", refuse)
    monkeypatch.setattr("domsieve.bulk.render_job.RenderJob.__init__", refuse)
    output = ["--output-dir", str(tmp_path / "out")] if command == ["bulk", "render"] else []
    result = run(*command, URL, *output, "--hidden", hidden, cache=tmp_path)
    assert result.exit_code == 2
    assert [options.pixels for options in made] == [hidden == "pixels"]
