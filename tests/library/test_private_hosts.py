"""A URL may be a stranger's: what is private is refused, unless the caller opened just that."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import domsieve
from domsieve.errors import NavigationError
from domsieve.options import CaptureOptions
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.renderer.network.egress import Egress
from domsieve.snapshot.store import PageStore
from domsieve.tasks import renderer_factory
from examples.loopback import folder_served

CALLS = ["clean", "records", "compare", "render"]
TWINS = [*CALLS, *(f"{name}_async" for name in CALLS)]
BODY = "<h1>Swifts</h1><p>A hundred days, and a hundred more.</p>"


def called(name: str, page: Any, **how: Any) -> Any:
    """Return what a call returns, awaited where it is to be."""
    call: Callable[..., Any] = getattr(domsieve, name)
    if not name.endswith("_async"):
        return call(page, **how)

    async def main() -> Any:
        return await call(page, **how)

    return asyncio.run(main())


OTHERS = domsieve.NetworkOptions(private_hosts=["127.0.0.1:1", "10.0.0.1"])


class StandIn:
    """A port of this machine that counts who comes; none should."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.port: int = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"

    def connections(self) -> int:
        """Return how many came since it was last asked."""
        count = 0
        while True:
            try:
                self._listener.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1


@pytest.fixture
def inside() -> Iterator[StandIn]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield StandIn(listener)


def test_the_stand_in_counts(inside: StandIn) -> None:
    socket.create_connection(("127.0.0.1", inside.port)).close()
    assert (inside.connections(), inside.connections()) == (1, 0)


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("url", ["http://-1.0.0.1/", "http://1_0.0.0.1/", "http://%/", "http://a..b/"])
def test_a_url_without_a_host_is_refused_before_a_browser_starts(
    name: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, cache: bool
) -> None:
    monkeypatch.setattr(renderer_factory.RendererFactory, "renderer", None)
    how = {"cache": tmp_path} if cache else {}
    with pytest.raises(NavigationError, match="Not a valid address: its host or port cannot be"):
        called(name, url, **how)


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f.1", "[::ffff:127.0.0.1]", "user@127.0.0.1"])
def test_a_private_url_is_refused(name: str, host: str, inside: StandIn, tmp_path: Path) -> None:
    url = f"http://{host}:{inside.port}/secret"
    for how in ({}, {"cache": tmp_path}, {"network": OTHERS}):
        with pytest.raises(domsieve.PolicyError, match="only public addresses are opened") as caught:
            called(name, url, **how)
        assert (caught.value.reason, caught.value.url) == ("private", url)
        assert str(caught.value).count("private_hosts=") == str(caught.value).count("allow_private=") == 1
    assert inside.connections() == 0


@pytest.mark.parametrize("name", [name for name in TWINS if "render" not in name])
def test_of_several_urls_the_private_ones_are_refused(name: str, inside: StandIn) -> None:
    results = called(name, [inside.url, f"{inside.url}again", inside.url])
    assert [result.url for result in results] == [inside.url, f"{inside.url}again", inside.url]
    for result in results:
        assert isinstance(result.error, domsieve.PolicyError)
        assert result.error.url == result.url
        assert result.error.message.count("private_hosts=") == 1
    assert inside.connections() == 0


class Names:
    """Answers for every name with the same addresses, without any as if there were no network."""

    def __init__(self) -> None:
        self.addresses: list[str] = []
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> list[str]:  # noqa: ARG002
        self.asked.append(host)
        if not self.addresses:
            raise OSError("There is no network.")
        return self.addresses


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    names = Names()
    monkeypatch.setattr(renderer_factory, "Egress", lambda **how: Egress(resolver=names.resolve, **how))
    return names


def test_names_that_are_private_here_are_refused(names: Names) -> None:
    names.addresses = ["10.0.0.7"]
    urls = [f"http://wiki.example/{number}" for number in range(3)]
    errors = [result.error for result in domsieve.clean(urls)]
    assert ["wiki.example is at 10.0.0.7" in str(error) for error in errors] == [True] * 3
    assert names.asked == ["wiki.example"], "a host is asked for once"


def test_a_cached_page_passes_the_guard_and_needs_no_network(names: Names, tmp_path: Path) -> None:
    url = "http://wiki.example/"
    page = parse_html(BODY.encode(), url=url)
    options = CaptureOptions().canonical()
    page = replace(page, provenance=structs.replace(page.provenance, producer="rendered", options=options))
    with PageStore(tmp_path) as store:
        store.put(page)
    for addresses in ([], ["93.184.216.34"]):
        names.addresses = addresses
        assert domsieve.render(url, cache=tmp_path).digest() == page.digest()
    names.addresses = ["10.0.0.7"]
    with pytest.raises(domsieve.PolicyError, match=r"wiki\.example is at 10\.0\.0\.7"):
        domsieve.render(url, cache=tmp_path)
    opened = domsieve.render(
        url, cache=tmp_path, network=domsieve.NetworkOptions(private_hosts=["wiki.example:80"])
    )
    assert opened.digest() == page.digest()


@pytest.mark.browser
@pytest.mark.parametrize("name", TWINS)
def test_private_hosts_opens_that_host_and_port(name: str, inside: StandIn, tmp_path: Path) -> None:
    frame = f'{BODY}<iframe src="{inside.url}"></iframe><img src="{inside.url}picture">'
    (tmp_path / "index.html").write_text(frame, encoding="utf-8")
    with folder_served(tmp_path) as base:
        opened = [base.removeprefix("http://")]
        result = called(
            name, f"{base}/index.html", network=domsieve.NetworkOptions(private_hosts=iter(opened))
        )
        with pytest.raises(domsieve.PolicyError):
            called(name, inside.url, network=domsieve.NetworkOptions(private_hosts=opened))
    if name.startswith("compare"):
        assert result.error is None
    else:
        snapshot = result if name.startswith("render") else result.snapshot
        assert "A hundred days" in domsieve.clean(snapshot, method="none").text
        assert f"127.0.0.1:{inside.port}" in " ".join(snapshot.provenance.refused)
    assert inside.connections() == 0


@pytest.mark.browser
def test_what_an_opened_page_leads_on_to_stays_refused(inside: StandIn, tmp_path: Path) -> None:
    leads = f'{BODY}<meta http-equiv="refresh" content="0;url={inside.url}">'
    (tmp_path / "index.html").write_text(leads, encoding="utf-8")
    with folder_served(tmp_path) as base:
        url, opened = f"{base}/index.html", [base.removeprefix("http://")]
        for how in ({}, {"cache": tmp_path / "cache"}):
            with pytest.raises(domsieve.PolicyError, match=f"It redirected to {inside.url}") as caught:
                called("clean", url, network=domsieve.NetworkOptions(private_hosts=opened), **how)
            assert caught.value.message.count("private_hosts=") == 1
    assert inside.connections() == 0


@pytest.mark.browser
@pytest.mark.parametrize("how", [{"allow_private": True}, {"private_hosts": ["127.1"]}], ids=["all", "host"])
def test_what_it_leads_to_may_be_opened(how: Any, inside: StandIn, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(f'{BODY}<img src="{inside.url}">', encoding="utf-8")
    with folder_served(tmp_path) as base:
        snapshot = domsieve.render(f"{base}/index.html", network=domsieve.NetworkOptions(**how))
    assert snapshot.provenance.refused == ()
    assert inside.connections() > 0


@pytest.mark.browser
def test_the_cache_gives_nobody_what_was_opened_once(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(BODY, encoding="utf-8")
    with folder_served(tmp_path) as base:
        url, opened = f"{base}/index.html", [base.removeprefix("http://")]
        first = domsieve.render(
            url, cache=tmp_path / "cache", network=domsieve.NetworkOptions(private_hosts=opened)
        )
    again = domsieve.render(
        url, cache=tmp_path / "cache", network=domsieve.NetworkOptions(private_hosts=opened)
    )
    assert again.digest() == first.digest()
    for name in CALLS:
        with pytest.raises(domsieve.PolicyError, match="only public addresses"):
            called(name, url, cache=tmp_path / "cache")
    with PageStore(tmp_path / "cache") as store:
        assert [record.url for record in store.records()] == [url]


@pytest.mark.browser
def test_the_cache_leads_nobody_to_what_was_opened_once(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(BODY, encoding="utf-8")
    with folder_served(tmp_path) as elsewhere, folder_served(tmp_path) as base:
        leads = f'<meta http-equiv="refresh" content="0;url={elsewhere}/index.html">'
        (tmp_path / "leads.html").write_text(leads, encoding="utf-8")
        url, opened = f"{base}/leads.html", [base.removeprefix("http://")]
        here = domsieve.NetworkOptions(private_hosts=["127.0.0.1"])
        both = domsieve.clean(url, cache=tmp_path / "cache", network=here)
        assert both.snapshot.provenance.final_url == f"{elsewhere}/index.html"
        with pytest.raises(domsieve.PolicyError, match=f"It redirected to {elsewhere}"):
            domsieve.clean(
                url, cache=tmp_path / "cache", network=domsieve.NetworkOptions(private_hosts=opened)
            )
