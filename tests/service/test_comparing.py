"""Compare: the right advice per prefix, and figures that a count of our own agrees with."""

import asyncio
import json
import os
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from domsieve.tasks.page_comparison import prefix_of
from examples.loopback import folder_served
from examples.serve import serve_demo
from experiments.corpora.javascript_sites import serve_corpus
from tests.command import fill, run
from tests.service import mixed_site, rotating_site
from tests.service.seen import count, gather

DRAWN = (
    "docsify-docx",
    "docsify-iot",
    "docsify-pino",
    "redoc-adyen",
    "swagger-vonage",
    "tiddlywiki-tw5",
)
STATIC = ("docs-rustbook", "docs-postgresql", "uci-www_cs_uci_edu")


def lines_of(urls: Sequence[str], cache: Path) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return what compare says of pages by URL, and of the only site by prefix."""
    result = run("compare", *urls, "--json", cache=cache)
    assert result.exit_code == 0, result.stderr
    *pages, site = map(json.loads, result.stdout.splitlines())
    return {page["url"]: page for page in pages}, {entry["prefix"]: entry for entry in site["advice"]}


def overlap(wanted: Counter[str], found_in: Counter[str]) -> dict[str, int]:
    both = sum(min(number, found_in[word]) for word, number in wanted.items())
    return {"wanted": sum(wanted.values()), "found_in": sum(found_in.values()), "both": both}


def check_counts(page: dict[str, Any], raw: Counter[str], rendered: Counter[str]) -> None:
    """Hold the figures of a page against words that were gathered in another way."""
    cleaned = {side: count(page[side]["cleaned"]) for side in ("raw", "rendered")}
    assert page["visible"] == overlap(rendered, raw)
    assert page["content"] == overlap(cleaned["rendered"] or rendered, raw)
    assert page["content_of_raw"] == overlap(cleaned["raw"] or raw, rendered)
    assert (page["raw"]["words"], page["rendered"]["words"]) == (raw.total(), rendered.total())


def check_advice(advice: dict[str, dict[str, Any]], pages: dict[str, dict[str, Any]]) -> None:
    """Hold the advice against sums over the pages."""
    for prefix, entry in advice.items():
        members = [page for page in pages.values() if prefix in {"*", page["prefix"]}]
        both, wanted = (sum(page["content"][name] for page in members) for name in ("both", "wanted"))
        assert (entry["content"]["both"], entry["content"]["wanted"]) == (both, wanted)
        assert entry["recall"] == pytest.approx(both / wanted if wanted else 1)
        assert entry["browser_needed"] == (both < 0.95 * wanted)
        assert entry["pages"] == len(members)


@pytest.mark.parametrize(
    ("url", "prefix"),
    [
        ("http://a.example", "/"),
        ("http://a.example/", "/"),
        ("http://a.example/about.html", "/"),
        ("http://a.example/news", "/news"),
        ("http://a.example/news/2025/x.html?y=/z", "/news"),
        ("http://a.example/v1.2/x", "/v1.2"),
        ("http://a.example/app#/shop/1?x", "#/shop"),
        ("http://a.example/#!/shop", "#/shop"),
        ("http://a.example/#tag/pets", "#/tag"),
        ("http://a.example/news/1#comments", "/news"),
    ],
)
def test_a_prefix_is_the_first_step_of_path_or_route(url: str, prefix: str) -> None:
    assert prefix_of(url) == prefix


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Any, Any]:
    cache = tmp_path_factory.mktemp("cache")
    with mixed_site.serving() as base:
        pages, advice = lines_of([base + path for path in mixed_site.paths()], cache)
    return base, cache, pages, advice


@pytest.mark.browser
class TestMixedSite:
    def test_a_browser_is_needed_where_a_script_draws(self, compared: tuple[str, Path, Any, Any]) -> None:
        _, _, pages, advice = compared
        assert {prefix for prefix, entry in advice.items() if entry["browser_needed"]} == {
            "*",
            "/shop",
            "/forum",
        }
        assert set(advice) == {"*", "/shop", "/forum", "/news", "/guides"}
        check_advice(advice, pages)

    def test_the_figures_equal_a_count_over_the_texts_it_was_made_of(
        self, compared: tuple[str, Path, Any, Any]
    ) -> None:
        base, _, pages, _ = compared
        for url, page in pages.items():
            _, section, number = url.removeprefix(base).split("/")
            raw, rendered = map(count, mixed_site.seen_texts(section, int(number)))
            check_counts(page, raw, rendered)
            title, texts = mixed_site.texts_of(section, int(number))
            drawn = section in mixed_site.BY_SCRIPT
            content = count(" ".join((title, *texts)))
            assert [entry["delivered"] for entry in page["data"]] == (
                [overlap(content, rendered - raw)["both"]] if drawn else []
            )

    def test_blocks_add_up_and_say_what_the_script_did(self, compared: tuple[str, Path, Any, Any]) -> None:
        for page in compared[2].values():
            words: Counter[str] = Counter()
            for block in page["blocks"]:
                words[block["change"]] += block["words"]
            shown = sum(words[name] for name in ("in source", "changed", "moved", "created"))
            assert shown == page["rendered"]["words"]
            assert words["hidden"] == 5 * 1
            if page["prefix"] in {"/news", "/guides"}:
                assert words == {"in source": page["raw"]["words"], "created": 2, "hidden": 5}
            else:
                assert words["created"] + words["changed"] > 90

    def test_it_works_again_from_the_cache_alone(self, compared: tuple[str, Path, Any, Any]) -> None:
        base, cache, pages, advice = compared
        site = base.removeprefix("http://")
        again = run("compare", site, "--json", "--browser", "/no/browser", cache=cache)
        assert again.exit_code == 0, again.stderr
        *lines, last = map(json.loads, again.stdout.splitlines())
        assert {line["url"]: line for line in lines} == pages
        assert {entry["prefix"]: entry for entry in last["advice"]} == advice
        text = run("compare", site, cache=cache).stdout
        assert "  /shop                   4 pages  browser needed" in text
        assert "  /news                   4 pages  raw source is enough" in text


@pytest.mark.browser
class TestTwoLoads:
    def test_what_rotates_is_marked_and_nothing_comes_from_a_cache(self, tmp_path: Path) -> None:
        with rotating_site.serving() as site:
            url = f"{site.base}/"
            once = run("compare", url, "--json", cache=tmp_path)
            assert site.loads == 1
            twice = run("compare", url, "--twice", "--json", cache=tmp_path)
            assert site.loads == 3
            again = run("compare", url, "--json", "--browser", "/no/browser", cache=tmp_path)
        for result in (once, twice, again):
            assert result.exit_code == 0, result.stderr
        before, page, after = (json.loads(result.stdout.splitlines()[0]) for result in (once, twice, again))
        assert {*page} - {*before} == {"loads", "other_page_id"}
        # The greeting would differ if the loads shared a context.
        assert [(b["seen"], b["text"], b["other_text"]) for b in page["loads"]["blocks"]] == [
            ("both", rotating_site.ADVERTS[1], rotating_site.ADVERTS[0]),
            ("both", f"{rotating_site.FOOT} 0003", f"{rotating_site.FOOT} 0002"),
        ]
        seen = page["loads"]["visible"]
        assert seen["wanted"] - seen["both"] == 7
        assert page["styled"]
        assert len({page["page_id"], page["other_page_id"], before["page_id"]}) == 3
        # The page is found again, with its other side; what rotates is content then.
        assert rotating_site.ADVERTS[1] not in page["rendered"]["cleaned"]
        of_content = {"rendered", "content", "loads", "other_page_id"}
        assert {name: page[name] for name in {*page} - of_content} == {
            name: after[name] for name in {*after} - of_content
        }
        listed = run("cache", "list", "--json", cache=tmp_path).stdout.splitlines()
        assert sum(json.loads(line)["producer"] == "rendered" for line in listed) == 3

    def test_it_is_said_in_lines_for_people(self, tmp_path: Path) -> None:
        with rotating_site.serving() as site:
            lines = run("compare", f"{site.base}/", "--twice", cache=tmp_path).stdout.splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("  in both loads: "))
        assert lines[first].endswith("; 2 texts differ")
        assert lines[first + 1 : first + 3] == [
            "    Boots made to last ≠ Kettles and tents, half the price",
            "    …every age. Request 0002 ≠ …every age. Request 0001",
        ]

    def test_a_page_that_stays_differs_in_nothing(self, tmp_path: Path) -> None:
        with mixed_site.serving() as base:
            result = run("compare", f"{base}/shop/1", "--twice", "--json", cache=tmp_path)
        page = json.loads(result.stdout.splitlines()[0])
        assert page["loads"]["blocks"] == []
        assert page["other_page_id"] == page["page_id"]
        assert page["styled"]

    def test_a_page_that_cannot_be_loaded_fails_once(self, tmp_path: Path) -> None:
        with rotating_site.serving() as site:
            urls = (f"{site.base}/", "http://127.0.0.1:9/")
            result = run("compare", *urls, "--twice", "--json", cache=tmp_path)
        assert result.exit_code == 1
        assert [json.loads(line).get("url") for line in result.stdout.splitlines()] == [urls[0], None]


def test_two_loads_of_what_has_one_are_refused(tmp_path: Path) -> None:
    (record,) = fill(tmp_path, ["http://example.org/"])
    result = run("compare", record.page_id, "--twice", cache=tmp_path)
    assert result.exit_code == 2
    assert "--twice loads pages again; give URLs" in result.stderr


@pytest.mark.browser
def test_the_demo_site_needs_a_browser_everywhere(tmp_path: Path) -> None:
    routes = ("/", "/articles/swifts", "/articles/owl-pellets", "/sightings", "/shop#/product/hand-lens")
    with serve_demo() as base:
        urls = [base + route for route in routes]
        pages, advice = lines_of(urls, tmp_path)
        found = asyncio.run(gather(urls))
    assert all(entry["browser_needed"] for entry in advice.values())
    assert set(advice) == {"*", "/", "/articles", "/sightings", "#/product"}
    check_advice(advice, pages)
    for url, page in pages.items():
        check_counts(page, *found[url])


@pytest.mark.browser
@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_a_site_drawn_by_script_needs_a_browser(name: str, tmp_path: Path) -> None:
    data, modules = Path(os.environ.get("DOMSIEVE_DATA", ""), "js"), os.environ.get("DOMSIEVE_NODE_MODULES")
    if not (data / name).exists() or not modules:
        pytest.skip("DOMSIEVE_DATA names no folder with js/, or DOMSIEVE_NODE_MODULES none with its packages")
    routes = json.loads((data / name / "routes.json").read_text("utf-8"))
    with serve_corpus(data / name, Path(modules)) as address:
        urls = [address + entry["route"] for entry in routes[:: len(routes) // 3][:3]]
        pages, advice = lines_of(urls, tmp_path)
        found = asyncio.run(gather(urls, wait_ms=3000))
    assert all(entry["browser_needed"] for entry in advice.values())
    check_advice(advice, pages)
    for url, page in pages.items():
        check_counts(page, *found[url])


@pytest.mark.browser
@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", STATIC)
def test_a_static_site_needs_no_browser(name: str, tmp_path: Path) -> None:
    archive = Path(os.environ.get("DOMSIEVE_DATA", "")) / "sites" / f"{name}.zip"
    if not archive.exists():
        pytest.skip(f"DOMSIEVE_DATA names no folder with sites/{name}.zip")
    with zipfile.ZipFile(archive) as pages:
        names = sorted(
            entry for entry in pages.namelist() if entry.startswith("pages/") and entry.endswith(".html")
        )
        chosen = names[:: len(names) // 8][:8]
        for entry in chosen:
            pages.extract(entry, tmp_path / "site")
    with folder_served(tmp_path / "site" / "pages") as base:
        urls = [f"{base}/{entry.removeprefix('pages/')}" for entry in chosen]
        compared, advice = lines_of(urls, tmp_path / "cache")
        found = asyncio.run(gather(urls))
    assert not any(entry["browser_needed"] for entry in advice.values())
    check_advice(advice, compared)
    for url, page in compared.items():
        check_counts(page, *found[url])
