"""Recording and rendering from archives on the command line."""

import json
import zipfile
from pathlib import Path

import pytest

from domsieve.archive import Recording
from examples.serve import serve_demo
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["render"], "Say which pages"),
        (["render", "--fixed-time", "http://a.example/"], "give --from, too"),
        (["render", "--archive-credentials", "http://a.example/"], "give both"),
        (["render", "--archive", "out.warc", "http://a.example/"], "ends with .wacz"),
        (["render", "--from", "none.wacz"], "cannot be read"),
    ],
)
def test_wrong_calls_are_refused(words: list[str], said: str, tmp_path: Path) -> None:
    result = run(*words, cache=tmp_path)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
