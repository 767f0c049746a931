"""`--render` on a site that scripts draw in part: the example manual."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import domsieve
from examples.manual import manual_served
from tests.command import run

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with manual_served() as url:
        yield url


def crawled(base: str, cache: Path, mode: str) -> dict[str, dict[str, object]]:
    """Return what `site` prints about each page, by path."""
    result = run("site", f"{base}/", "--all", "--render", mode, "--json", cache=cache)
    assert result.exit_code == 0, result.stderr
    lines = map(json.loads, result.stdout.splitlines())
    return {line["url"].removeprefix(base): line for line in lines}


def cleaned(base: str, cache: Path) -> dict[str, dict[str, object]]:
    result = run("clean", base.partition("://")[2], "--json", cache=cache)
    lines = map(json.loads, result.stdout.splitlines())
    return {line["url"].removeprefix(base): line for line in lines}


@pytest.fixture(scope="module")
def caches(base: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a cache with the crawl of each mode."""
    found = {mode: tmp_path_factory.mktemp(mode) for mode in ("always", "auto", "never")}
    for mode, cache in found.items():
        crawled(base, cache, mode)
    return found


def test_auto_keeps_what_always_keeps(base: str, caches: dict[str, Path]) -> None:
    always, auto = cleaned(base, caches["always"]), cleaned(base, caches["auto"])
    assert {path: page["text"] for path, page in auto.items()} == {
        path: page["text"] for path, page in always.items()
    }


def test_auto_renders_what_scripts_draw_and_fetches_the_rest(base: str, caches: dict[str, Path]) -> None:
    pages = cleaned(base, caches["auto"])
    assert len(pages) == 10
    fetched = {path for path, page in pages.items() if not page["rendered"]}
    assert fetched
    assert all(path.startswith("/guide/") for path in fetched)
    for path in fetched:
        assert str(pages[path]["reason"]).startswith("static: ")
    assert all(page["reason"] for page in pages.values())


def test_always_gives_no_reason(base: str, caches: dict[str, Path]) -> None:
    assert {(page["rendered"], page["reason"]) for page in cleaned(base, caches["always"]).values()} == {
        (True, "")
    }


def test_never_fetches_all_and_says_what_that_means(base: str, caches: dict[str, Path]) -> None:
    pages = cleaned(base, caches["never"])
    assert pages
    assert {(page["rendered"], page["reason"]) for page in pages.values()} == {
        (False, "not rendered: hidden text cannot be judged")
    }
    assert pages["/reference/read"]["text"] == ""


def test_the_same_cache_gives_the_same_decisions_again(base: str, caches: dict[str, Path]) -> None:
    before = cleaned(base, caches["auto"])
    again = crawled(base, caches["auto"], "auto")
    assert {path: line["page_id"] for path, line in again.items() if path in before}
    assert cleaned(base, caches["auto"]) == before


def test_options_that_need_a_browser_render_all(base: str, tmp_path: Path) -> None:
    result = run("clean", f"{base}/guide/gaps", "--render", "auto", "--scroll", "--json", cache=tmp_path)
    assert "--scroll needs a browser" in result.stderr
    page = json.loads(result.stdout)
    assert (page["rendered"], page["reason"]) == (True, "")


def test_python_says_whether_and_why_a_page_was_rendered(base: str, tmp_path: Path) -> None:
    host = base.partition("://")[2]
    network = domsieve.NetworkOptions(private_hosts=[host])
    names = ("gaps", "install", "rolls", "share", "warnings", "datum")
    urls = [f"{base}/guide/{name}" for name in names]
    results = domsieve.clean(
        urls, cache=tmp_path, capture=domsieve.CaptureOptions(render="auto"), network=network
    )
    assert {result.rendered for result in results} == {True, False}
    assert all(result.reason for result in results)
    never = domsieve.clean(urls[0], capture=domsieve.CaptureOptions(render="never"), network=network)
    assert not never.rendered
    assert domsieve.render(
        urls[0], capture=domsieve.CaptureOptions(render="never"), network=network
    ).has_layout


def test_records_can_be_found_without_rendering(base: str, tmp_path: Path) -> None:
    result = run("records", f"{base}/", "--render", "never", "--method", "mdr", "--json", cache=tmp_path)
    assert result.exit_code == 0, result.stderr


def test_bulk_renders_adaptively(base: str, tmp_path: Path) -> None:
    out = tmp_path / "stores"
    result = run(
        "bulk", "render", f"{base}/", "--pages", "10", "--render", "auto", "--output-dir", out, cache=tmp_path
    )
    assert result.exit_code == 0, result.stderr
    cache = next(path for path in out.iterdir() if (path / "index.sqlite3").exists())
    assert {page["rendered"] for page in cleaned(base, cache).values()} == {True, False}
