"""Recording and rendering from archives on the command line."""

import json
import zipfile
from pathlib import Path

import pytest

from domsieve.archive.recording import Recording
from examples.serve import serve_demo
from tests.archive.made import page_record, url_of, written
from tests.command import run

browser = pytest.mark.browser


@browser
@pytest.mark.slow
def test_pages_are_recorded_once_and_rendered_with_the_site_gone(tmp_path: Path) -> None:
    archive, cache = tmp_path / "out.wacz", tmp_path / "cache"
    with serve_demo() as base:
        urls = [f"{base}/articles/swifts", f"{base}/shop"]
        # The run that is interrupted has the first page, and the cache has both.
        first = run("render", urls[0], "--driver", "pipe", "--archive", tmp_path / "other.wacz", cache=cache)
        assert first.exit_code == 0, first.stderr
        (tmp_path / "other.wacz").unlink()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Recording, "finish", _interrupt)
            broken = run("render", urls[0], "--driver", "pipe", "--archive", archive, cache=cache)
            assert isinstance(broken.exception, KeyboardInterrupt | SystemExit)
        assert not archive.exists()
        done = run("render", *urls, "--driver", "pipe", "--archive", archive, cache=cache)
        assert done.exit_code == 0, done.stderr
        assert f"{archive}: 1 page from an earlier run.\n" in done.stderr
        assert "[1/1] " in done.stderr
        assert f"{archive}: 2 pages" in done.stderr
        again = run("render", *urls, "--driver", "pipe", "--archive", archive, cache=cache)
        assert again.exit_code == 2
        assert "archives are not overwritten" in again.stderr
    with zipfile.ZipFile(archive) as file:
        listed = [json.loads(line) for line in file.read("pages/pages.jsonl").splitlines()[1:]]
    assert {page["url"] for page in listed} == {*urls}
    assert all(page["title"] for page in listed)
    other = tmp_path / "other"
    replayed = run("render", "--from", archive, "--driver", "pipe", "--json", cache=other)
    assert replayed.exit_code == 0, replayed.stderr
    found = {page["url"]: page for page in map(json.loads, replayed.stdout.splitlines())}
    listing = run("cache", "list", "--json", cache=cache).stdout.splitlines()
    live = {page["url"]: page for page in map(json.loads, listing)}
    assert {url: page["nodes"] for url, page in found.items()} == {url: live[url]["nodes"] for url in urls}
    # What was rendered from an archive is never taken for a page of the network.
    assert run("render", urls[0], "--driver", "pipe", cache=other).exit_code == 3
    missing = run("render", f"{base}/none", "--from", archive, "--driver", "pipe", cache=other)
    assert missing.exit_code == 3
    assert "The archive does not contain this page." in missing.stderr


def _interrupt(_: Recording) -> None:
    raise KeyboardInterrupt


@browser
def test_addresses_in_a_file_are_rendered_from_an_archive(tmp_path: Path) -> None:
    archive = written(tmp_path, b"".join(page_record(number) for number in range(1, 6)))
    urls = tmp_path / "urls.txt"
    urls.write_text(f"# Two pages and none\n{url_of(2)}\n\n{url_of(4)}\n{url_of(9)}\n")
    done = run("render", "--from", archive, "--input-file", urls, "--json", cache=tmp_path / "cache")
    assert done.exit_code == 1
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["url"], "nodes" in line) for line in lines] == [
        (url_of(2), True),
        (url_of(4), True),
        (url_of(9), False),
    ]
    assert f"{url_of(9)} failed: The archive does not contain this page." in done.stderr
    done = run("render", "--from", archive, "--json", cache=tmp_path / "cache")
    assert len(done.stdout.splitlines()) == 5


@browser
def test_pages_that_a_sitemap_lists_are_rendered_from_an_archive(tmp_path: Path) -> None:
    # The archive has no robots.txt, and nobody is asked for one.
    archive = written(tmp_path, b"".join(page_record(number) for number in range(1, 6)))
    sitemap = tmp_path / "sitemap.xml"
    listed = "".join(f"<url><loc>{url_of(number)}</loc></url>" for number in (1, 3, 5))
    sitemap.write_text(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>')
    done = run("clean", sitemap, "--from", archive, "--json", cache=tmp_path / "cache")
    assert done.exit_code == 0, done.stderr
    found = {json.loads(line)["url"] for line in done.stdout.splitlines()}
    assert found == {url_of(1), url_of(3), url_of(5)}


def test_an_archive_has_one_load_of_each_page(tmp_path: Path) -> None:
    archive = written(tmp_path, page_record(1))
    done = run("compare", "--twice", "--from", archive, cache=tmp_path / "cache")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--twice needs the network" in done.stderr
