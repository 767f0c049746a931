"""The way out through a proxy that the environment names."""

import asyncio
from collections.abc import Sequence

import pytest

from domsieve.errors import NavigationError, PolicyError, UsageError
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.network.upstream import Upstream, environment_proxies

_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


class TestEnvironment:
    def test_none(self) -> None:
        assert environment_proxies() is None

    def test_by_scheme_with_exceptions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://us%65r:p%40ss@proxy.example:3128")
        monkeypatch.setenv("all_proxy", "other.example")
        monkeypatch.setenv("NO_PROXY", "example.org,.inside.example")
        choose = environment_proxies()
        assert choose
        upstream = Upstream("proxy.example", 3128, "user:p@ss")
        assert choose("http", "example.com", 80) == choose("ws", "example.com", 80) == upstream
        assert choose("https", "example.com", 443) == Upstream("other.example", 80)
        assert choose("http", "www.inside.example", 80) is None
        assert choose("https", "example.org", 443) is None

    @pytest.mark.parametrize("value", ["socks5://a:1", "https://a", "http://", "http://a:b"])
    def test_others_than_http_proxies(self, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
        monkeypatch.setenv("https_proxy", value)
        with pytest.raises(UsageError, match="not an http proxy"):
            environment_proxies()


async def resolve(host: str, port: int) -> Sequence[str]:
    known = {"inside.test": "10.0.0.1", "public.test": "93.184.216.34"}
    if host not in known:
        raise OSError("no such name")
    return [known[host]]


def egress(port: int, *named: tuple[str, int]) -> Egress:
    return Egress(
        named=named, resolver=resolve, upstreams=lambda *_: Upstream("127.0.0.1", port, "user:pass")
    )


@pytest.mark.parametrize("host", ["outside.test", "public.test", "8.8.8.8"])
def test_what_is_public_or_unknown_goes_through_it(host: str) -> None:
    route = asyncio.run(egress(1).decide("http", host, 80))
    assert route.via
    assert route.host == host


@pytest.mark.parametrize(
    "host", ["inside.test", "10.0.0.1", "localhost", "intranet", "169.254.169.254", "[::1]"]
)
def test_what_is_known_to_be_private_is_refused(host: str) -> None:
    with pytest.raises(PolicyError):
        asyncio.run(egress(1).decide("http", host, 80))


@pytest.mark.parametrize("host", ["inside.test", "127.0.0.1", "localhost"])
def test_what_was_named_and_is_private_goes_straight(host: str) -> None:
    assert asyncio.run(egress(1, (host, 80)).decide("http", host, 80)).via is None


def through(request: bytes, answer: bytes) -> tuple[bytes, bytes, str]:
    """Return what the further proxy was asked, what the client got, and the fault noted."""

    async def run() -> tuple[bytes, bytes, str]:
        asked = b""

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal asked
            asked = await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server, Proxy(egress(server.sockets[0].getsockname()[1])) as proxy, asyncio.timeout(120):
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
            writer.write(request)
            got = await reader.read()
            writer.close()
            await writer.wait_closed()
            return asked, got, proxy.failure("http://outside.test:443")

    return asyncio.run(run())


def test_plain_requests_in_absolute_form() -> None:
    asked, got, _ = through(
        b"GET http://outside.test/a HTTP/1.1\r\nX-A: b\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nx"
    )
    fields = b"Proxy-Authorization: Basic dXNlcjpwYXNz\r\nHost: outside.test\r\nX-A: b\r\n\r\n"
    assert asked == b"GET http://outside.test/a HTTP/1.1\r\n" + fields
    assert got == b"HTTP/1.1 200 OK\r\n\r\nx"


def test_tunnels() -> None:
    consent = b"HTTP/1.1 200 OK\r\nVia: x\r\n\r\nfirst"
    asked, got, _ = through(b"CONNECT outside.test:443 HTTP/1.1\r\n\r\n", consent)
    place = b"outside.test:443"
    assert asked.startswith(
        b"CONNECT " + place + b" HTTP/1.1\r\nHost: " + place + b"\r\nProxy-Authorization: "
    )
    assert got == b"HTTP/1.1 200 Connection established\r\n\r\nfirst"


@pytest.mark.parametrize("answer", [b"HTTP/1.1 403 No\r\n\r\n", b"nonsense\r\n\r\n", b"", b"x" * 100_000])
def test_tunnels_that_it_refuses(answer: bytes) -> None:
    _, got, fault = through(b"CONNECT outside.test:443 HTTP/1.1\r\n\r\n", answer)
    assert got.startswith(b"HTTP/1.1 502 ")
    assert fault == "net::ERR_TUNNEL_CONNECTION_FAILED"


def test_one_that_is_not_there() -> None:
    async def run() -> None:
        refusing = Egress(resolver=resolve, dialer=_refuse, upstreams=lambda *_: Upstream("127.0.0.1", 3128))
        await refusing.connect(await refusing.decide("http", "outside.test", 80), asyncio.Protocol)

    with pytest.raises(NavigationError, match="PROXY_CONNECTION_FAILED"):
        asyncio.run(run())


async def _refuse(*_: object) -> asyncio.Transport:
    raise ConnectionRefusedError
