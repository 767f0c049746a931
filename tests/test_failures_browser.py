"""Pages of bad servers fail the commands and the library as they should, with Chrome."""

import json
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

import domsieve
from domsieve.errors import PageError
from domsieve.renderer import renderer
from domsieve.renderer._limits import Limits
from tests.command import page, result_files, run
from tests.renderer.bad_server import Server, send, serving
from tests.renderer.conftest import HandClock

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Paths of pages that failed, and why.
FAILED = {"/absent": "status", "/broken": "status", "/image": "", "/lying": "binary", "/nothing": "empty"}


def broken(handler: BaseHTTPRequestHandler) -> None:
    send(handler, page(7).encode(), status=500)


def lying(handler: BaseHTTPRequestHandler) -> None:
    send(handler, b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n" + bytes(range(128, 256)) * 9)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        running.pages |= {
            "/fine": page(1),
            "/broken": broken,
            "/lying": lying,
            "/nothing": "<!doctype html><body>",
        }
        yield running


def test_pages_that_failed_fail_the_command_and_are_kept(server: Server, tmp_path: Path) -> None:
    urls = {path: server.url(path) for path in [*FAILED, "/fine"]}
    rendered = run("render", *urls.values(), "--json", cache=tmp_path)
    assert rendered.exit_code == 1
    told = {line["url"]: line for line in map(json.loads, rendered.stdout.splitlines())}
    assert [path for path, url in urls.items() if "error" not in told[url]] == ["/fine"]
    kept = {path for path, url in urls.items() if "page_id" in told[url]}
    assert kept == {*urls} - {"/image"}  # of which no document came
    assert "HTTP 404" in told[urls["/absent"]]["error"]

    cleaned = run("clean", *urls.values(), "--output-dir", tmp_path / "out", cache=tmp_path)
    assert cleaned.exit_code == 1
    assert f"{len(FAILED)} of {len(urls)} pages failed." in cleaned.stderr
    assert len(result_files(tmp_path / "out")) == 1
    assert run("clean", urls["/absent"], cache=tmp_path).exit_code == 3
    all_the_same = run("clean", urls["/broken"], "--keep-errors", cache=tmp_path)
    assert all_the_same.exit_code == 0
    assert "word7a" in all_the_same.stdout
    assert "counts as failed: The server answers HTTP 500" in all_the_same.stderr


def test_a_page_that_never_comes_fails_and_one_cut_with_text_is_cleaned(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = run("clean", server.url("/silent"), "--timeout", "2", cache=tmp_path)
    assert late.exit_code == 3
    assert late.stdout == ""
    clock = HandClock()

    def reached(handler: BaseHTTPRequestHandler) -> None:
        clock.run_out_elsewhere()
        send(handler, b"")

    server.pages["/reached"] = reached
    monkeypatch.setattr(renderer, "Limits", partial(Limits, clock=clock))
    held = run("clean", server.url("/held"), "--timeout", "99", cache=tmp_path)
    assert held.exit_code == 0
    assert held.stdout.strip() == "held"
    assert "It is incomplete: time: 99 s are used up" in held.stderr


def test_the_library_says_why(server: Server) -> None:
    paths = [path for path, reason in FAILED.items() if reason]
    results = domsieve.clean(
        [server.url(path) for path in paths],
        network=domsieve.NetworkOptions(
            private_hosts=[server.url("").partition("//")[2]], timeout=timedelta(seconds=60)
        ),
    )
    for path, result in zip(paths, results, strict=True):
        assert isinstance(result.error, PageError)
        assert result.error.reason == FAILED[path]


def test_a_site_that_failed_is_said_to(server: Server, tmp_path: Path) -> None:
    result = run("site", server.url("/broken"), cache=tmp_path)
    assert result.exit_code == 3
    assert "HTTP 500" in result.stderr
    assert server.url("/broken") in run("cache", "list", cache=tmp_path).stdout
