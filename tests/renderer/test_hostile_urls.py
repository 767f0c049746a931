"""Addresses that mean to be read in two ways: the browser's reading counts, or the page is refused with one line."""

import base64
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from domsieve.errors import NavigationError, PolicyError
from domsieve.renderer.protocol import Rendering
from tests.command import run
from tests.renderer.bad_server import Server, send, serving
from tests.renderer.conftest import Studio
from tests.renderer.reading import visible_text

SPELLINGS = {
    "user": "http://name:secret@127.0.0.1:PORT/echo?here",
    "user that looks like a host": "http://example.test%2f@127.0.0.1:PORT/echo?here",
    "backslashes": "http://127.0.0.1:PORT\\echo?here",
    "a backslash before an at sign": "http://127.0.0.1:PORT\\@example.test/../echo?here",
    "full-width dots": "http://127\uff0e0\u30020\uff611:PORT/echo?here",
    "full-width digits": "http://\uff11\uff12\uff17.0.0.1:PORT/echo?here",
    "percent": "http://%31%32%37.0.0.1:PORT/echo?here",
    "trailing dot": "http://127.0.0.1.:PORT/echo?here",
    "upper case": "HTTP://127.0.0.1:PORT/echo?here",
    "dots in the path": "http://127.0.0.1:PORT/a/%2e%2e/./../echo?here",
    "zeros in the port": "http://127.0.0.1:000PORT/echo?here",
}
NO_ADDRESS = (
    "http://127.0.0.1:99999/",
    "http://127.0.0.1:-1/",
    "http://127.0.0.1:port/",
    "http://[::1/",
    "http://[::g]/",
    "http://",
    "http:\\\\127.0.0.1\\",
    "http:///",
    "http://?",
    "http://.../",
    "http://127.0.0.1:22/",
    "http://127.0.0.1:25/",
    "http://xn--a/",
    "http://\u0430\u0440\u0440le.test/",
    "http://" + "a" * 300 + ".test/",
)


@pytest.mark.browser
class TestRenderer:
    @pytest.mark.parametrize("name", SPELLINGS)
    def test_a_spelling_of_a_host_reaches_that_host(self, studio: Studio, name: str) -> None:
        url = SPELLINGS[name].replace("PORT", str(studio.server.port))
        studio.server.pages["/echo"] = "<p>words"
        page = studio.runner.run(studio.renderer().render(url)).snapshot
        assert page.provenance.status == 200
        assert visible_text(page) == "words"

    @pytest.mark.parametrize("url", NO_ADDRESS)
    def test_what_is_no_address_is_refused(self, studio: Studio, url: str) -> None:
        with pytest.raises((NavigationError, PolicyError)) as caught:
            studio.runner.run(studio.renderer().render(url))
        assert "\n" not in str(caught.value)

    def test_a_name_and_a_password_go_to_their_host_when_it_asks_and_nowhere_else(
        self, studio: Studio
    ) -> None:
        shown: dict[str, list[str | None]] = {"own": [], "other": []}

        def asks(whose: str) -> Callable[[BaseHTTPRequestHandler], None]:
            def answer(handler: BaseHTTPRequestHandler) -> None:
                shown[whose].append(handler.headers["Authorization"])
                if handler.headers["Authorization"]:
                    send(handler, f"<p>in</p><img src='{other.url('/asks')}'>".encode())
                else:
                    send(handler, b"<p>out", status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})

            return answer

        with serving() as other:
            studio.server.pages["/asks"], other.pages["/asks"] = asks("own"), asks("other")
            url = studio.server.url("/asks").replace("http://", "http://name:secret@")
            page = studio.runner.run(studio.renderer().render(url)).snapshot
        assert visible_text(page) == "in"
        assert page.provenance.url == url
        basic = "Basic " + base64.b64encode(b"name:secret").decode()
        assert shown == {"own": [None, basic], "other": [None]}

    def test_tabs_and_line_ends_are_dropped_as_browsers_do(self, studio: Studio) -> None:
        studio.server.pages["/echo"] = "<p>words"
        url = studio.server.url("/ec\tho\r\n")
        page = studio.runner.run(studio.renderer().render(url)).snapshot
        assert page.provenance.final_url == studio.server.url("/echo")

    def test_an_address_of_64_kb(self, studio: Studio) -> None:
        asked = []

        def echo(handler: object) -> None:
            asked.append(len(handler.path))  # type: ignore[attr-defined]
            send(handler, b"<p>words")  # type: ignore[arg-type]

        studio.server.pages["/echo"] = echo
        page = studio.render("/echo?" + "x" * 65_000).snapshot
        assert asked == [65_006]
        assert len(page.provenance.final_url) > 65_000
        assert visible_text(page) == "words"

    def test_an_address_of_three_megabytes_is_no_address(self, studio: Studio) -> None:
        (outcome,) = studio.render_all(["/echo?" + "x" * 3_000_000]).values()
        assert not isinstance(outcome, Rendering) or not outcome.snapshot.provenance.complete


class TestCommand:
    """The command line refuses before any browser starts."""

    @pytest.mark.parametrize(
        "url",
        [
            "http://127.0.0.1/\nx",
            "http://127.0.0.1/\tx",
            "http://127.0.0.1/\x1b[31mx",
            "http://127.0.0.1/\u202ex",
            "http://127.0.0.1/\udcff",
            "file:///etc/passwd",
            "FILE://localhost/etc/passwd",
            "view-source:http://127.0.0.1/",
            "view-source:file:///etc/passwd",
            "javascript://127.0.0.1/%0aalert(1)",
            "chrome://crash",
            "chrome://gpucrash",
            "ftp://127.0.0.1/",
            "blob:http://127.0.0.1/x",
            "filesystem:http://127.0.0.1/x",
            "data:text/html,<p>x",
            "about:blank",
            "custom://127.0.0.1/",
        ],
    )
    def test_other_schemes_and_unprintable_words(
        self, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DOMSIEVE_BROWSER", str(tmp_path / "none"))  # one that was wanted would be missed
        result = run("clean", url, cache=tmp_path)
        assert result.exit_code == 2
        assert "browser" not in result.stderr.lower()
        assert result.stdout == ""
        assert result.stderr.startswith("domsieve: ")
        assert result.stderr.count("\n") == 1
        assert result.stderr.isascii()

    @pytest.mark.browser
    def test_one_line_for_each_of_many(self, tmp_path: Path) -> None:
        with serving() as server:
            good = [server.url("/good"), server.url("/good?" + "x" * 60_000), with_user(server)]
            bad = ["http://[::1/", "http://127.0.0.1:99999/", "http://127.0.0.1:22/", "http:///good"]
            result = run("render", *good, *bad, "--timeout", "100", cache=tmp_path)
        assert result.exit_code == 1
        assert len(result.stdout.splitlines()) == len(good)
        for url in bad:
            lines = [line for line in result.stderr.splitlines() if f" {url} failed: " in line]
            assert len(lines) == 1, url
        assert "4 of 7 pages failed." in result.stderr


def with_user(server: Server) -> str:
    return server.url("/good").replace("http://", "http://name:secret@")
