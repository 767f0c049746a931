"""A folder that follows a site, without a browser: what is new, changed, moved or gone, and what is left alone."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.changing_site import Article, ChangingSite, sentence
from domsieve.errors import DomsieveError, StorageError, UsageError
from domsieve.files import digest_of
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.sampling.events import SampleEvent
from domsieve.tasks.renderer_factory import RendererFactory
from domsieve.tasks.site_sync.change_log import ChangeLog
from domsieve.tasks.site_sync.state import SyncSettings
from domsieve.tasks.site_sync.syncing import place_of, sync_folder
from domsieve.tasks.site_sync.values import PageChange, SyncResult
from domsieve.tasks.site_sync.visiting import is_audited
from examples.loopback import running
from tests.command import run

NAMES = ["ash", "birch", "cedar", "fir", "larch", "oak", "pine", "yew"]


class Silent:
    def __init__(self) -> None:
        self.sentences: list[str] = []

    def visited(self, event: SampleEvent) -> None:
        pass

    def said(self, sentence: str) -> None:
        self.sentences.append(sentence)

    def stage(self, what: str, pages: int) -> None:
        pass

    def advanced(self) -> None:
        pass


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    with running(ChangingSite(NAMES)) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "site"


def sync(
    site: ChangingSite | None, folder: Path, report: Silent | None = None, **chosen: object
) -> SyncResult:
    """Do a run without a browser."""
    source = f"{site.base}/" if site else folder
    path, given, names = place_of(source, folder if site else None, **chosen)
    factory = RendererFactory(
        options=CaptureOptions(render="never"), budget=Budget(), private_hosts=(("127.0.0.1", None),)
    )
    return asyncio.run(sync_folder(path, given, lambda _: factory, chosen=names, report=report or Silent()))


def urls(site: ChangingSite, changes: list[PageChange]) -> list[str]:
    return [change.url.removeprefix(site.base) for change in changes]


def lines(path: Path) -> list[dict[str, Any]]:
    return [*map(json.loads, path.read_text("utf-8").splitlines())]


def manifest(folder: Path) -> dict[str, dict[str, Any]]:
    return {str(entry["file"]): entry for entry in lines(folder / "manifest.jsonl")}


def check_agrees(folder: Path) -> None:
    """Check that the manifest has exactly the files of the folder, as they are."""
    entries = manifest(folder)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*.md") if "gone" not in path.parts}
    assert files == {*entries}
    for name, entry in entries.items():
        assert digest_of((folder / name).read_bytes()) == entry["content_hash"]


def test_the_first_run_writes_every_page(site: ChangingSite, folder: Path) -> None:
    result = sync(site, folder)
    assert urls(site, result.added) == sorted(site.articles)
    check_agrees(folder)
    text = (folder / "oak.md").read_text("utf-8")
    assert text.startswith("# About oak\n")
    assert "Imprint" not in text
    assert (folder / "changes.html").exists()
    assert (folder / "changes.atom").exists()
    assert len((folder / "changes.jsonl").read_text("utf-8").splitlines()) == len(site.articles)


def test_nothing_changes_on_a_site_that_does_not(site: ChangingSite, folder: Path) -> None:
    sync(site, folder)
    before = {path: path.read_bytes() for path in folder.glob("*.md")}
    result = sync(site, folder)
    assert (result.changes, len(result.unchanged), result.failed) == ([], len(site.articles), [])
    assert {path: path.read_bytes() for path in folder.glob("*.md")} == before


def test_an_edit_is_found_in_its_passage(site: ChangingSite, folder: Path) -> None:
    sync(site, folder, format="chunks")
    before = {one["id"]: one["text"] for one in lines(folder / "oak.jsonl")}
    site.articles["/oak"].second[1] += " And one more sentence."
    [change] = sync(None, folder).changes
    assert (change.kind, change.url) == ("changed", f"{site.base}/oak")
    [passage] = change.passages
    assert (passage.kind, passage.headings[-1]) == ("edited", "More")
    assert passage.id in before
    assert passage.new == before[passage.id].replace(
        site.articles["/oak"].second[1].removesuffix(" And one more sentence."),
        site.articles["/oak"].second[1],
    )
    after = {one["id"]: one["text"] for one in lines(folder / "oak.jsonl")}
    assert {*after} == {*before}
    assert after[passage.id] == passage.new


def test_menus_and_footers_are_no_content(site: ChangingSite, folder: Path) -> None:
    sync(site, folder)
    for article in site.articles.values():
        article.footer = "Legal notice, contact and privacy"
    result = sync(site, folder)
    assert result.changes == []


def test_pages_are_added_and_gone_after_two_runs(site: ChangingSite, folder: Path) -> None:
    sync(site, folder)
    old = site.articles.pop("/fir")
    site.articles["/beech"] = type(old).of("beech")
    report = Silent()
    first = sync(site, folder, report)
    assert urls(site, first.added) == ["/beech"]
    assert first.gone == []
    assert (folder / "fir.md").exists()
    assert any("/fir is missing" in sentence for sentence in report.sentences)
    second = sync(site, folder)
    assert urls(site, second.gone) == ["/fir"]
    assert (folder / "gone" / "fir.md").exists()
    check_agrees(folder)


def test_a_page_that_comes_back_was_never_gone(site: ChangingSite, folder: Path) -> None:
    sync(site, folder)
    old = site.articles.pop("/fir")
    sync(site, folder)
    site.articles["/fir"] = old
    assert sync(site, folder).changes == []
    site.articles.pop("/fir")
    assert sync(site, folder).gone == []


def test_a_page_with_a_new_address_has_moved(site: ChangingSite, folder: Path) -> None:
    sync(site, folder, format="chunks")
    ids = [line["id"] for line in lines(folder / "fir.jsonl")]
    site.articles["/trees-fir"] = site.articles.pop("/fir")
    result = sync(site, folder)
    assert [(change.kind, change.was) for change in result.changes] == [("moved", f"{site.base}/fir")]
    assert [line["id"] for line in lines(folder / "trees-fir.jsonl")] == ids
    assert not (folder / "fir.jsonl").exists()


def test_failed_pages_keep_their_content(site: ChangingSite, folder: Path) -> None:
    sync(site, folder)
    site.statuses["/oak"] = 500
    for _ in range(3):
        result = sync(site, folder)
        assert [page.url for page in result.failed] == [f"{site.base}/oak"]
        assert result.changes == []
    check_agrees(folder)


def test_files_of_users_are_left_alone(site: ChangingSite, folder: Path) -> None:
    sync(site, folder)
    (folder / "oak.md").write_text("my own notes", "utf-8")
    (folder / "mine.md").write_text("mine", "utf-8")
    site.articles["/oak"].first[0] = sentence("another", 40)
    result = sync(site, folder)
    assert urls(site, result.changed) == ["/oak"]
    assert result.kept == ["oak.md"]
    site.articles.pop("/oak")
    sync(site, folder)
    assert sync(site, folder).kept == ["oak.md"]
    assert (folder / "oak.md").read_text("utf-8") == "my own notes"
    assert (folder / "mine.md").read_text("utf-8") == "mine"


def test_lost_files_are_written_again(site: ChangingSite, folder: Path) -> None:
    sync(site, folder)
    (folder / "oak.md").unlink()
    assert sync(site, folder).changes == []
    check_agrees(folder)


def test_unchanged_pages_are_not_sent_again(site: ChangingSite, folder: Path) -> None:
    site.etags = True
    sync(site, folder)
    sync(site, folder)
    site.requests.clear()
    assert sync(site, folder).changes == []
    sent = {path for path, status in site.requests if status == 200}
    assert {path for path, status in site.requests if status == 304} == {*site.articles}
    assert sent == {path for path in site.articles if is_audited(f"{site.base}{path}", run=3)}


def test_pages_that_the_sitemap_calls_unchanged_are_not_requested(site: ChangingSite, folder: Path) -> None:
    site.listed = dict.fromkeys(site.articles, "2026-01-01")
    sync(site, folder)
    site.listed["/oak"] = "2026-01-02"
    site.requests.clear()
    assert sync(site, folder).changes == []
    asked = {path for path, _ in site.requests} & {*site.articles}
    audited = {path for path in site.articles if is_audited(f"{site.base}{path}", run=2)}
    assert asked == {"/", "/oak"} | audited  # the sitemap is read after the first page


def test_a_feed_that_the_site_names_tells_what_is_new_and_what_has_not_changed(
    site: ChangingSite, folder: Path
) -> None:
    site.fed = dict.fromkeys(site.articles, "2026-01-01T00:00:00Z")
    sync(site, folder)
    site.articles["/elm"] = Article.of("elm")
    site.unlinked = {"/elm"}
    site.articles["/oak"].second[1] += " And one more sentence."
    site.fed |= dict.fromkeys(["/elm", "/oak"], "2026-01-02T00:00:00Z")
    site.requests.clear()
    result = sync(site, folder)
    assert (urls(site, result.added), urls(site, result.changed)) == (["/elm"], ["/oak"])
    asked = {path for path, _ in site.requests} & {*site.articles}
    audited = {path for path in site.articles if is_audited(f"{site.base}{path}", run=2)}
    assert asked == {"/", "/elm", "/oak"} | audited


def test_an_unfinished_first_run_is_finished_with_the_folder_alone(site: ChangingSite, folder: Path) -> None:
    site.statuses["/"] = 500
    with pytest.raises(DomsieveError):
        sync(site, folder, format="text", pages=4)
    site.statuses.clear()
    with pytest.raises(DomsieveError):  # nothing is settled yet, so a wrong address can be corrected
        sync(None, folder, format="pdf")
    result = sync(None, folder)
    assert len(result.added) == 4
    assert {entry["format"] for entry in manifest(folder).values()} == {"text"}
    with pytest.raises(UsageError, match="was begun with pages 4, not 5"):
        sync(None, folder, pages=5)


@pytest.mark.parametrize("how", ["etags", "sitemap"])
def test_a_lie_is_found_within_twenty_runs_and_believed_no_more(
    site: ChangingSite, folder: Path, how: str
) -> None:
    if how == "etags":
        site.etags = True
    else:
        site.listed = dict.fromkeys(site.articles, "2026-01-01")
    sync(site, folder)
    sync(site, folder)
    site.lies = True
    changed = ["/birch", "/oak", "/yew"]
    for path in changed:
        site.articles[path].first[1] = sentence(f"new {path}", 40)
    found: list[str] = []
    for _ in range(20):
        result = sync(site, folder)
        found += urls(site, result.changed)
        if found:
            break
    # Once one is found, all others are looked at in the same run.
    assert found == changed
    site.articles["/ash"].first[1] = sentence("again", 40)
    assert urls(site, sync(site, folder).changed) == ["/ash"]


def test_contradictions_are_refused(site: ChangingSite, folder: Path) -> None:
    sync(site, folder, depth=3, include=("/*",))
    with pytest.raises(UsageError, match="was begun with format markdown, not text"):
        sync(site, folder, format="text")
    with pytest.raises(UsageError, match="was begun with depth 3, not 5"):
        sync(None, folder, depth=5)
    assert sync(None, folder, depth=3).changes == []
    path, given, names = place_of("http://127.0.0.1:9/", folder)
    other = sync_folder(path, given, lambda _: pytest.fail("no run"), chosen=names, report=Silent())
    with pytest.raises(UsageError, match="was begun with source"):
        asyncio.run(other)


def test_passwords_never_enter_the_folder(folder: Path) -> None:
    with pytest.raises(UsageError, match="password"):
        SyncSettings.of("https://user:secret@example.org/")


def test_a_folder_that_is_none_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither an http or https address nor a folder"):
        place_of(folder, None)
    with pytest.raises(UsageError, match="was not made by an earlier run"):
        sync(None, tmp_path)


def test_a_second_run_on_the_folder_is_refused(site: ChangingSite, folder: Path) -> None:
    from domsieve.tasks.page_folder import PageFolder

    sync(site, folder)
    with PageFolder(folder), pytest.raises(StorageError, match="Another run"):
        sync(site, folder)


def test_credentials_are_not_written(site: ChangingSite, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    result = run(
        "sync",
        f"{site.base}/",
        "--output-dir",
        str(folder),
        "--render",
        "never",
        "--header",
        "Authorization: Bearer tops3cret",
        "--cookie",
        "session=tops3cret",
        cache=tmp_path / "cache",
    )
    assert result.exit_code == 0, result.stderr
    for path in folder.rglob("*"):
        if path.is_file():
            assert b"tops3cret" not in path.read_bytes(), path


def test_the_command_tells_what_changed(site: ChangingSite, folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    arguments = ("--render", "never")
    result = run("sync", f"{site.base}/", "--output-dir", str(folder), *arguments, cache=cache)
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, len(site.articles))
    result = run("sync", str(folder), "--exit-code", *arguments, cache=cache)
    assert (result.exit_code, result.stdout) == (0, "")
    site.articles["/oak"].first[0] += " More."
    result = run("sync", str(folder), "--json", "--exit-code", *arguments, cache=cache)
    assert result.exit_code == 6
    [line] = map(json.loads, result.stdout.splitlines())
    assert (line["kind"], line["url"], line["file"]) == ("changed", f"{site.base}/oak", "oak.md")
    assert [one["kind"] for one in line["passages"]] == ["edited"]


def test_the_list_of_changes_is_divided_by_size(tmp_path: Path) -> None:
    from domsieve.tasks.page_folder import PageFolder

    def change(run: int) -> PageChange:
        return PageChange(
            run=run,
            at="2026-01-01T00:00:00+00:00",
            kind="changed",
            url="https://example.org/",
            file="index.md",
        )

    size = len(msgspec.json.encode(change(1))) + 1
    with PageFolder(tmp_path / "site") as folder:
        log = ChangeLog(folder, most_bytes=3 * size)
        for number in range(1, 8):
            log.add([change(number)], source="https://example.org/", finished_run=number - 1)
        # What a run wrote that did not finish is dropped.
        log.add([change(7)], source="https://example.org/", finished_run=6)
        found = {
            path.name: [line["run"] for line in lines(path)] for path in folder.root.glob("changes*.jsonl")
        }
    assert found == {"changes.3.jsonl": [1, 2, 3], "changes.6.jsonl": [4, 5, 6], "changes.jsonl": [7]}


@pytest.mark.slow
def test_a_run_may_be_killed_at_any_moment(site: ChangingSite, folder: Path) -> None:
    command = [sys.executable, "-m", "domsieve.cli", "sync", f"{site.base}/", "--output-dir", str(folder)]
    command += ["--render", "never", "--quiet"]
    rng = random.Random(5)
    for number in range(6):
        site.articles["/oak"].first[0] = sentence(f"version {number}", 40)
        process = subprocess.Popen(
            command, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(rng.uniform(0.3, 2.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
        sync(site, folder)
        check_agrees(folder)
        assert sentence(f"version {number}", 40) in (folder / "oak.md").read_text("utf-8")


def test_the_page_of_changes_shows_the_newest_run_unfolded(site: ChangingSite, folder: Path) -> None:
    sync(site, folder)
    assert "<details open>" not in (folder / "changes.html").read_text("utf-8")
    for name in NAMES:
        site.articles[f"/{name}"].first[0] += " And one more sentence."
    sync(site, folder)
    newest, _, older = (folder / "changes.html").read_text("utf-8").partition("Run 1,")
    assert newest.count("<details open>") == len(NAMES)
    assert "<details open>" not in older


def test_a_depth_that_is_given_again_is_compared_with_the_first_one(
    site: ChangingSite, tmp_path: Path
) -> None:
    words = ["sync", f"{site.base}/", "--output-dir", str(tmp_path / "site"), "--render", "never"]
    for more, code in ((["--depth", "3"], 0), (["--depth", "3"], 0), ([], 0), (["--depth", "16"], 2)):
        done = run(*words, *more, cache=tmp_path / "cache")
        assert done.exit_code == code, done.stderr
    assert "was begun with depth 3, not 16" in done.stderr
