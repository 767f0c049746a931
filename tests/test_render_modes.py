"""`--render` on a site that scripts draw in part: the example manual."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import domsieve
from examples.manual import manual_served
from tests.archive.made import page_record, written
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


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a file with a session that has local storage."""
    file = tmp_path_factory.mktemp("session") / "state.json"
    file.write_text('{"origins": [{"origin": "http://a.example", "localStorage": []}]}')
    return str(file)


NEEDING = [
    "--click .more",
    "--wait-for main",
    "--scroll",
    "--screenshot",
    "--viewport 400x800",
    "--storage-state SESSION",
    "--hidden pixels",
    "--param style=layout",
    "--param style=full",
    "--method sst",
]
NOWHERE = "http://127.0.0.1:9/"
"""A port that is refused before anything connects to it."""


@pytest.mark.parametrize("option", [*NEEDING, "--from ARCHIVE", "--from ARCHIVE --fixed-time"])
def test_options_that_need_a_browser_are_refused_with_never(
    option: str, session: str, tmp_path: Path
) -> None:
    archive = written(tmp_path, page_record(1))
    words = option.replace("SESSION", session).replace("ARCHIVE", str(archive)).split()
    result = run("clean", NOWHERE, "--render", "never", *words, cache=tmp_path)
    assert result.exit_code == 2, result.stderr
    assert f"{words[0]} needs a browser, and render is never" in result.stderr


def test_so_is_an_archive_of_what_is_rendered(tmp_path: Path) -> None:
    archive = tmp_path / "a.wacz"
    result = run("site", NOWHERE, "--render", "never", "--archive", archive, cache=tmp_path)
    assert result.exit_code == 2, result.stderr
    assert "--archive needs a browser, and render is never" in result.stderr
    assert not archive.exists()


@pytest.mark.parametrize("option", NEEDING)
def test_with_auto_they_are_said_to_render_all(option: str, session: str, tmp_path: Path) -> None:
    words = option.replace("SESSION", session).split()
    result = run("clean", NOWHERE, "--render", "auto", *words, cache=tmp_path)
    assert f"{words[0]} needs a browser, so all pages are rendered." in result.stderr


def test_clean_says_how_each_page_was_loaded_if_it_is_to_say_more(base: str, caches: dict[str, Path]) -> None:
    site = base.partition("://")[2]
    said = run("clean", site, "-v", cache=caches["auto"]).stderr
    for path, page in cleaned(base, caches["auto"]).items():
        how = "rendered" if page["rendered"] else "fetched"
        assert f"{base}{path}: {how}; {page['reason']}\n" in said
    assert "static: " not in run("clean", site, cache=caches["auto"]).stderr


def test_compare_explains_the_decision_about_each_page(base: str, caches: dict[str, Path]) -> None:
    site = base.partition("://")[2]
    pages = cleaned(base, caches["auto"])
    result = run("compare", site, "--json", cache=caches["auto"])
    assert result.exit_code == 0, result.stderr
    *lines, last = map(json.loads, result.stdout.splitlines())
    found = {line["url"].removeprefix(base): line for line in lines}
    assert found.keys() == pages.keys()
    for path, line in found.items():
        if not pages[path]["rendered"]:
            assert (line["rendered"], line["reason"]) == (False, pages[path]["reason"])
        elif path.startswith("/reference/"):
            assert line["need"]["outcome"] == "needed"
            assert line["need"]["signs"] == ["its source shows 0 words"]
        else:
            assert line["need"] == {"outcome": "enough", "why": "", "signs": []}
            # The two versions are those of the same page.
            assert line["raw"]["cleaned"].split()[:3] == line["rendered"]["cleaned"].split()[:3]
    advice = {one["prefix"]: one["browser_needed"] for one in last["advice"]}
    assert advice == {"*": True, "/": False, "/guide": False, "/reference": True}
    told = run("compare", site, cache=caches["auto"]).stdout
    assert "  only fetched: static: " in told
    assert "  for --render auto: the source is enough\n" in told
    assert (
        "  for --render auto: a browser is needed: the source shows 0 % of the content; a sign of it: "
        in told
    )


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
