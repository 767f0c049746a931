"""The filtering proxy with real connections on loopback, and with peers of bad manners."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from resource import RLIM_INFINITY
from typing import Any

import pytest

from domsieve.renderer.network.egress import Caps, Egress, Route, offline
from domsieve.renderer.network.proxy import Proxy

LIMIT_S = 180  # of a whole test, for one that hangs
Answer = Callable[[bytes, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def hello(_: bytes, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")


@dataclass
class World:
    """A proxy, and a server that notes the heads it gets."""

    proxy: Proxy
    port: int
    heads: list[bytes] = field(default_factory=list)
    connections: int = 0
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    @property
    def place(self) -> bytes:
        return f"127.0.0.1:{self.port}".encode()

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.proxy.port)
        self.writers.append(writer)
        return reader, writer

    async def ask(self, *pieces: bytes) -> bytes:
        """Return all that comes for what is sent, until the proxy or the server ends it."""
        reader, writer = await self.open()
        for piece in pieces:
            writer.write(piece)
            with contextlib.suppress(ConnectionError):
                await writer.drain()
        data = b""
        with contextlib.suppress(ConnectionError):
            data = await reader.read()
        writer.close()
        return data

    def get(self, *fields: bytes, path: bytes = b"/") -> bytes:
        return b"\r\n".join((b"GET http://" + self.place + path + b" HTTP/1.1", *fields, b"", b""))


@contextlib.asynccontextmanager
async def world(
    answer: Answer = hello, caps: Caps | None = None, egress: Egress | None = None
) -> AsyncIterator[World]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        here.connections += 1
        here.writers.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                here.heads.append(head)
                await answer(head, reader, writer)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1_000_000)
    async with server, Proxy(egress or offline(caps=caps)) as proxy:
        here = World(proxy, server.sockets[0].getsockname()[1])
        try:
            yield here
        finally:
            for writer in here.writers:
                writer.transport.abort()
            await asyncio.sleep(0.01)
    assert not proxy.connections, "nothing stays open"


def run(test: Coroutine[Any, Any, None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(LIMIT_S):
            await test

    asyncio.run(limited())


async def answer_of(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n")


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)


def test_requests_are_sent_on_in_origin_form_over_one_connection() -> None:
    async def test() -> None:
        async with world() as here:
            reader, writer = await here.open()
            for path in (b"/a?b", b"/c"):
                fields = (
                    b"Host: other.example",
                    b"Proxy-Connection: keep-alive",
                    b"Proxy-Authorization: x",
                    b"X-A: 1",
                )
                writer.write(here.get(*fields, path=path))
                assert await answer_of(reader) + await reader.readexactly(5) == (
                    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
                )
            writer.close()
            assert here.heads == [
                b"GET " + path + b" HTTP/1.1\r\nHost: " + here.place + b"\r\nX-A: 1\r\n\r\n"
                for path in (b"/a?b", b"/c")
            ]
            assert here.connections == 1

    run(test())


def test_a_tunnel_passes_both_ways_and_half_closes() -> None:
    async def echo(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head + await reader.read())
        writer.close()

    async def test() -> None:
        async with world(echo) as here:
            reader, writer = await here.open()
            # What follows the request is sent on, too.
            writer.write(b"CONNECT " + here.place + b" HTTP/1.1\r\nHost: x\r\n\r\nfirst\r\n\r\n")
            assert await answer_of(reader) == b"HTTP/1.1 200 Connection established\r\n\r\n"
            writer.write(b"x" * 3_000_000)
            writer.write_eof()
            assert await reader.read() == b"first\r\n\r\n" + b"x" * 3_000_000
            writer.close()

    run(test())


def test_an_upgraded_connection_is_a_tunnel() -> None:
    async def upgrade(_: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        writer.write(await reader.readexactly(2))

    async def test() -> None:
        async with world(upgrade) as here:
            reader, writer = await here.open()
            writer.write(here.get(b"Connection: Upgrade", b"Upgrade: websocket"))
            assert b" 101 " in await answer_of(reader)
            writer.write(b"\x81\x00")
            assert await reader.readexactly(2) == b"\x81\x00"
            writer.close()

    run(test())


def test_an_upgrade_that_is_turned_down_opens_no_tunnel() -> None:
    async def test() -> None:
        async with world() as here, world() as other:
            reader, writer = await here.open()
            # What comes before the answer waits for it.
            writer.write(here.get(b"Connection: Upgrade", b"Upgrade: websocket") + here.get(path=b"/2"))
            for _ in range(2):
                assert b" 200 " in await answer_of(reader)
                assert await reader.readexactly(5) == b"hello"
            writer.write(b"CONNECT 10.0.0.1:443 HTTP/1.1\r\n\r\n")
            assert await reader.read() == b""
            assert [head.split()[1] for head in here.heads] == [b"/", b"/2"]
            assert here.proxy.refusal("https://10.0.0.1/")
            assert not other.heads

    run(test())


@pytest.mark.parametrize("fields", [(), (b"Connection: Upgrade", b"Upgrade: websocket")])
def test_nonsense_behind_a_request_ends_the_connection_without_a_word(fields: tuple[bytes, ...]) -> None:
    """What the proxy says could pass for a part of the server's answer."""

    async def test() -> None:
        async with world() as here:
            for nonsense in (b"nonsense\r\n\r\n", b"x" * 300_000):
                told = await here.ask(here.get(*fields), b"", nonsense)
                assert b"HTTP/1.1 4" not in told
                assert (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").startswith(told)

    run(test())


def test_the_answer_to_an_upgrade_may_come_in_pieces() -> None:
    async def upgrade(_: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in (b"HTTP/1.1 1", b"01 Switching Protocols\r\n\r\n"):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.02)
        writer.write(await reader.readexactly(2))

    async def test() -> None:
        async with world(upgrade) as here:
            reader, writer = await here.open()
            writer.write(here.get(b"Connection: Upgrade", b"Upgrade: websocket") + b"\x81\x00")
            assert b" 101 " in await answer_of(reader)
            assert await reader.readexactly(2) == b"\x81\x00"
            writer.close()

    run(test())


def test_a_connection_is_for_the_server_that_it_reached() -> None:
    """What the first one sends late could pass for the answer of the second one."""

    async def twice(_: bytes, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" * 2)

    async def test() -> None:
        async with world(twice) as here, world() as other:
            for elsewhere in (other.get(), b"CONNECT " + here.place + b" HTTP/1.1\r\n\r\n"):
                reader, writer = await here.open()
                writer.write(here.get())
                await answer_of(reader)
                await reader.readexactly(5)
                writer.write(elsewhere)
                rest = b""
                with contextlib.suppress(ConnectionError):
                    rest = await reader.read()
                assert rest.count(b"HTTP/1.1") <= 1, "of the server that was reached"
                assert not other.heads
            assert len(here.heads) == 2

    run(test())


def test_bodies_of_requests_are_passed_whole_and_hide_no_request() -> None:
    async def count(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        body = await reader.readexactly(size)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n%03d" % len(body.splitlines()))

    async def test() -> None:
        async with world(count) as here:
            inner = b"GET http://10.0.0.1/ HTTP/1.1\r\n\r\n"
            reader, writer = await here.open()
            for _ in range(2):
                head = here.get(b"Content-Length: %d" % len(inner)).replace(b"GET", b"POST", 1)
                for piece in (head[:40], head[40:] + inner[:5], inner[5:]):
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
                await answer_of(reader)
                assert await reader.readexactly(3) == b"002"
            writer.close()
            assert len(here.heads) == 2
            assert not here.proxy.refusal("http://10.0.0.1/")

    run(test())


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: P", 400),
        (b"GET https://P/ HTTP/1.1", 400),
        (b"GET ftp://P/ HTTP/1.1", 400),
        (b"GET http://P/ HTTP/2.0", 400),
        (b"GET  http://P/ HTTP/1.1", 400),
        (b"GET http://P/ a HTTP/1.1", 400),
        (b"GET http://P/\x01 HTTP/1.1", 400),
        (b"GET http://P/\xff HTTP/1.1", 400),
        (b"GET http://ok@P/ HTTP/1.1", 400),
        (b"GET http://P:1:2/ HTTP/1.1", 400),
        (b"GET http:/// HTTP/1.1", 400),
        (b"CONNECT 127.0.0.1 HTTP/1.1", 400),
        (b"CONNECT http://P/ HTTP/1.1", 400),
        (b"nonsense", 400),
        (b"", 400),
        (b"GET http://P/ HTTP/1.1\r\nA b: c", 400),
        (b"GET http://P/ HTTP/1.1\r\nA : c", 400),
        (b"GET http://P/ HTTP/1.1\r\nA: b\r\n c", 400),
        (b"GET http://P/ HTTP/1.1\r\nA: b\nC: d", 400),
        (b"GET http://P/ HTTP/1.1\r\nA: b\rC: d", 400),
        (b"GET http://P/ HTTP/1.1\r\nA: \0", 400),
        (b"POST http://P/ HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked", 400),
        (b"POST http://P/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3", 400),
        (b"POST http://P/ HTTP/1.1\r\nTransfer-Encoding: chunked", 501),
        (b"POST http://P/ HTTP/1.1\r\ntransfer-encoding: xchunked", 501),
        (b"POST http://P/ HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4", 400),
        (b"POST http://P/ HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3", 400),
        (b"POST http://P/ HTTP/1.1\r\nContent-Length: 3, 3", 400),
        (b"POST http://P/ HTTP/1.1\r\nContent-Length: 3_0", 400),
        (b"POST http://P/ HTTP/1.1\r\nContent-Length: -1", 400),
        (b"POST http://P/ HTTP/1.1\r\nContent-Length: +3", 400),
        (b"POST http://P/ HTTP/1.1\r\nContent-Length: 0x3", 400),
        (b"POST http://P/ HTTP/1.1\r\nContent-Length: ", 400),
    ],
)
def test_what_could_be_read_in_two_ways_reaches_no_server(head: bytes, status: int) -> None:
    async def test() -> None:
        async with world() as here:
            data = await here.ask(head.replace(b"//P", b"//" + here.place), b"\r\n\r\nxyz")
            assert data.startswith(b"HTTP/1.1 %d " % status)
            assert data.count(b"HTTP/1.1") == 1
            assert not here.connections

    run(test())


def test_refusals_say_why_and_the_connection_goes_on() -> None:
    async def test() -> None:
        async with world() as here:
            reader, writer = await here.open()
            writer.write(b"POST http://10.0.0.1/ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc")
            answer = await answer_of(reader)
            assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n")
            assert b"10.0.0.1 is elsewhere" in answer
            writer.write(here.get())
            assert await answer_of(reader) == b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
            writer.close()
            assert (await here.ask(b"CONNECT 10.0.0.2:443 HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 403 ")
            refusal = here.proxy.refusal("https://10.0.0.2/a")
            assert refusal is not None
            assert (refusal.reason, "elsewhere" in refusal.message) == ("elsewhere", True)
            assert here.proxy.refusal("http://10.0.0.2/a") is None
            listed = here.proxy.refusals(
                ["http://10.0.0.1/", "https://10.0.0.2", "http://10.0.0.3/", "data:,"]
            )
            assert [line.partition(": ")[0] for line in listed] == ["10.0.0.1:80", "10.0.0.2:443"]

    run(test())


@pytest.mark.parametrize("host", [b"-1.0.0.1", b"1_0.0.0.1", b"a..b", b"%ED%A0%80", b"%"])
def test_what_names_no_host_is_answered_and_closed(host: bytes) -> None:
    async def test() -> None:
        async with world() as here:
            for head in (b"GET http://%s/ HTTP/1.1" % host, b"CONNECT %s:443 HTTP/1.1" % host):
                data = await here.ask(head, b"\r\n\r\n", here.get())
                assert data.startswith(b"HTTP/1.1 403 ")
                assert b"has no valid host" in data
                assert data.count(b"HTTP/1.1") == 1
            assert not here.connections

    run(test())


def test_a_request_that_breaks_the_proxy_is_answered_and_closed(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Egress):
        async def decide(self, scheme: str, host: str, port: int) -> Route:  # noqa: ARG002
            raise RuntimeError("not foreseen")

    async def test() -> None:
        async with world(egress=Broken()) as here:
            for head in (here.get(), b"CONNECT a.example:443 HTTP/1.1\r\n\r\n"):
                data = await here.ask(head)
                assert data.startswith(b"HTTP/1.1 500 ")
                assert b"not foreseen" not in data

    run(test())
    assert "not foreseen" in caplog.text


def test_its_own_address_is_refused() -> None:
    async def test() -> None:
        async with world() as here:
            for host in (b"127.0.0.1", b"0x7f.1", b"[::ffff:127.0.0.1]", b"localhost"):
                data = await here.ask(b"CONNECT %s:%d HTTP/1.1\r\n\r\n" % (host, here.proxy.port))
                assert data.startswith(b"HTTP/1.1 403 ")

    run(test())


def test_a_server_that_cannot_be_reached_looks_like_one() -> None:
    async def test() -> None:
        async with world() as here:
            listener = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
            gone = listener.sockets[0].getsockname()[1]
            listener.close()
            await listener.wait_closed()
            assert await here.ask(b"GET http://127.0.0.1:%d/ HTTP/1.1\r\n\r\n" % gone) == b""
            assert (await here.ask(b"CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\n" % gone)).startswith(
                b"HTTP/1.1 502 "
            )
            assert here.proxy.failure(f"http://127.0.0.1:{gone}/") == "net::ERR_CONNECTION_REFUSED"

    run(test())


def test_a_body_that_ends_early_or_with_the_connection_does_so_for_the_browser() -> None:
    async def short(_: bytes, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort")
        writer.close()

    async def test() -> None:
        async with world(short) as here:
            assert (await here.ask(here.get())).endswith(b"\r\n\r\nshort")

    run(test())


def test_pipelined_requests_to_one_server_are_answered_in_order() -> None:
    async def test() -> None:
        async with world() as here:
            reader, writer = await here.open()
            writer.write(here.get(path=b"/1") + here.get(path=b"/2"))
            for _ in range(2):
                await answer_of(reader)
                assert await reader.readexactly(5) == b"hello"
            writer.close()
            assert [head.split()[1] for head in here.heads] == [b"/1", b"/2"]

    run(test())


def test_a_pipelined_request_elsewhere_gets_no_answer_of_another() -> None:
    async def never(_: bytes, reader: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        await reader.read()

    async def test() -> None:
        async with world(never) as here, world() as other:
            other.proxy = here.proxy
            assert await here.ask(here.get(), other.get()) == b""
            assert not other.heads

    run(test())


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
@pytest.mark.parametrize("piece", [b"X-A: b\r\n", b"x"])
def test_giant_heads(piece: bytes, end: bytes) -> None:
    async def test() -> None:
        async with world(caps=Caps(head_bytes=10_000)) as here:
            data = await here.ask(here.get()[:-2] + piece * 20_000 + end)
            assert data.startswith(b"HTTP/1.1 431 ") or data == b""
            assert not here.connections
            assert not here.proxy.connections

    run(test())


def test_an_address_of_64_kilobytes() -> None:
    async def test() -> None:
        async with world() as here:
            path = b"/" + b"a" * 65_536
            reader, writer = await here.open()
            writer.write(here.get(path=path))
            assert b" 200 " in await answer_of(reader)
            writer.close()
            assert here.heads[0].split()[1] == path

    run(test())


def test_slow_heads_and_silent_connections_are_ended() -> None:
    async def test() -> None:
        async with world(caps=Caps(head_s=0.2, idle_s=0.4)) as here:
            for start in (b"GET http://", b""):
                reader, writer = await here.open()
                writer.write(start)
                with contextlib.suppress(ConnectionError):
                    assert await reader.read() == b""
                writer.close()
            assert not here.connections

    run(test())


async def endless(_: bytes, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"x" * 65_536)
        await writer.drain()


@pytest.mark.parametrize("caps", [Caps(connection_bytes=1_000_000), Caps(total_bytes=1_000_000)])
def test_an_endless_body_is_ended(caps: Caps) -> None:
    async def test() -> None:
        async with world(endless, caps) as here:
            assert len(await here.ask(here.get())) <= 1_000_000
            later = await here.ask(here.get())
            assert bool(later) is (caps.total_bytes is None), "beyond the total nothing passes"

    run(test())


def test_a_metered_egress_counts_what_passes_all_its_proxies_and_nothing_else() -> None:
    async def answered(here: World) -> bool:
        reader, writer = await here.open()
        writer.write(here.get())
        try:
            return await reader.readexactly(10) == b"HTTP/1.1 2"
        except (asyncio.IncompleteReadError, ConnectionError):
            return False
        finally:
            writer.close()

    async def test() -> None:
        whole = offline()
        job = whole.metered(1_000)
        async with world(egress=job) as here, Proxy(job) as second:
            proxies = (here.proxy, second)
            while not job.is_used_up:
                for here.proxy in proxies:
                    assert await answered(here) is not job.is_used_up
            assert 1_000 < job.passed_bytes < 1_300
            assert not any([await answered(here) for here.proxy in proxies])
        assert whole.passed_bytes == whole.metered(1).passed_bytes == 0
        async with world(egress=whole) as here:
            assert await answered(here)

    run(test())


def test_a_slow_reader_holds_the_server_back() -> None:
    sent = 0

    async def flood(_: bytes, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        while not writer.is_closing():
            writer.write(b"x" * 65_536)
            await writer.drain()
            sent += 65_536

    async def test() -> None:
        async with world(flood) as here:
            _, writer = await here.open()
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(here.get())
            before = -1
            while before != sent or not sent:
                before = sent
                await asyncio.sleep(0.3)
            assert sent < 50_000_000, "only the buffers of the system are filled"
            writer.transport.abort()

    run(test())


def test_no_more_connections_than_it_bears() -> None:
    async def test() -> None:
        async with world(caps=Caps(connections=2)) as here:
            pairs = [await here.open() for _ in range(6)]
            ends = [asyncio.create_task(_end(reader)) for reader, _ in pairs]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for end in ends:
                end.cancel()
            for _, writer in pairs:
                writer.close()

    run(test())


@pytest.mark.parametrize("begun", [b"", b"GET http://a", b"CONNECT 10.0.0.1:443 HTTP/1.1\r\n"])
def test_connections_that_ask_for_nothing_make_room_for_those_that_do(begun: bytes) -> None:
    async def test() -> None:
        async with world(caps=Caps(connections=50, waiting=20)) as here:
            for _ in range(150):
                _, writer = await here.open()
                writer.write(begun)
            reader, writer = await here.open()
            writer.write(here.get())
            assert b" 200 " in await answer_of(reader)
            assert len(here.proxy.connections) < 50

    run(test())


@pytest.mark.parametrize(("files", "most"), [(RLIM_INFINITY, 40), (20, 10), (1_000_000, 40)])
def test_connections_leave_files_for_others(files: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("domsieve.renderer.network.proxy.getrlimit", lambda _: (files, files))

    async def test() -> None:
        async with world(caps=Caps(connections=20)) as here:
            for _ in range(60):
                await here.open()
            await until(lambda: len(here.proxy.connections) == most)
            reader, writer = await here.open()
            writer.write(here.get())
            assert b" 200 " in await answer_of(reader)

    run(test())


def test_refused_connections_that_stay_make_room(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with world(caps=Caps(connections=50, waiting=20)) as here:
            for _ in range(150):
                reader, writer = await here.open()
                writer.write(b"GET http://10.0.0.1/ HTTP/1.1\r\n\r\n")
                assert b" 403 " in await answer_of(reader)
            reader, writer = await here.open()
            writer.write(here.get())
            assert b" 200 " in await answer_of(reader)

    run(test())
    assert not caplog.records


def test_connections_that_rest_at_a_server_make_room() -> None:
    async def test() -> None:
        async with world(caps=Caps(connections=10, waiting=20)) as here:
            busy, asking = await here.open()
            for _ in range(40):
                asking.write(here.get())
                assert b" 200 " in await answer_of(busy)
                await busy.readexactly(5)
                reader, writer = await here.open()
                writer.write(here.get())
                assert b" 200 " in await answer_of(reader)

    run(test())


async def _end(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(ConnectionError):
        assert await reader.read() == b""


def test_clients_that_leave_take_their_servers_with_them() -> None:
    async def never(_: bytes, reader: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        await reader.read()

    async def test() -> None:
        async with world(never) as here:
            _, writer = await here.open()
            writer.write(here.get())
            await until(lambda: bool(here.heads))
            assert len(here.proxy.connections) == 2
            writer.transport.abort()
            await until(lambda: not here.proxy.connections)

    run(test())
