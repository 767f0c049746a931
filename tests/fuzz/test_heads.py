"""Heads of HTTP in any bytes and pieces: what could be read in two ways is refused, and no byte passes undecided."""

import asyncio
import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any

import h11
from hypothesis import strategies as st

from domsieve.renderer.network._proxy_ends import Client, End
from domsieve.renderer.network._proxy_head import HeadError, parse_head
from domsieve.renderer.network.egress import Caps, Egress, Factory
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.network.upstream import Upstream
from domsieve.service.web.connections import StrictConnection
from tests.fuzz.fuzzing import fuzzed

HEAD_BYTES = 1_500
PLACES = {"a.example": "93.184.216.34", "b.example": "93.184.216.35", "private.example": "10.0.0.7"}
_ENDS = (rb"\r\n", rb"\r?\n", rb"\r\n|\n|\r")

FIELDS = st.sampled_from(
    (
        b"Host: a.example",
        b"Host: other.example",
        b"Content-Length: 5",
        b"Content-Length: 0",
        b"Content-Length: +5",
        b"Content-Length: 5, 5",
        b"Content-Length: 05",
        b"Content-Length : 5",
        b"Content-Length:\t5 ",
        b" Content-Length: 5",
        b"content-length: 99999999999999999999",
        b"Transfer-Encoding: chunked",
        b"Transfer-Encoding: identity",
        b"Transfer-Encoding:\x0bchunked",
        b"transfer-encoding: gzip, chunked",
        b"X: 1\r\n\tContent-Length: 7",
        b"X: 1\nContent-Length: 7",
        b"X: 1\rContent-Length: 7",
        b"X: \0",
        b"Proxy-Authorization: x",
        b"Connection: close, content-length",
        b"Expect: 100-continue",
        b"Upgrade: websocket",
        b":",
        b"",
    )
) | st.binary(max_size=12)
TARGETS = st.sampled_from(
    (
        b"http://a.example/",
        b"http://a.example:80/x?y#z",
        b"http://b.example",
        b"http://private.example/",
        b"http://10.0.0.7/",
        b"http://A.example:8080/",
        b"http://[::1]/",
        b"http://user@a.example/",
        b"http://a.example\\@b.example/",
        b"https://a.example/",
        b"a.example:443",
        b"private.example:443",
        b"a.example",
        b"/",
        b"*",
        b"http:///",
        b"http://a.example:99999/",
    )
) | st.binary(max_size=9).map(lambda raw: b"http://a.example/" + raw)
HEADS = st.builds(
    lambda method, target, version, fields, end: b"%s %s %s\r\n%s%s" % (method, target, version, fields, end),
    st.sampled_from((b"GET", b"POST", b"CONNECT", b"GET ", b"G\tT", b"")),
    TARGETS,
    st.sampled_from((b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2", b"HTTP/1.1 x")),
    st.lists(FIELDS, max_size=3).map(lambda fields: b"".join(field + b"\r\n" for field in fields)),
    st.sampled_from((b"\r\n", b"\r\n", b"\r\n", b"\n", b"")),
)
STREAMS = st.lists(
    st.one_of(
        HEADS,
        HEADS,
        st.sampled_from(
            (
                b"hello",
                b"0\r\n\r\n",
                b"5\r\nhello\r\n0\r\n\r\n",
                b"\r\n",
                b"GET http://b.example/ HTTP/1.1\r\n\r\n",
            )
        ),
        st.binary(max_size=20),
        st.just(b"X: " + b"x" * 2_000),
    ),
    max_size=4,
).map(b"".join)
CUTS = st.lists(st.integers(0, 400), max_size=6)


def pieces_of(data: bytes, cuts: list[int]) -> Iterator[bytes]:
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for start, end in pairwise(places):
        yield data[start:end]


def readings(head: bytes) -> set[tuple[str, int]]:
    """Return how programs of all manners read what follows a head, which is given without its empty line."""
    found: set[tuple[str, int]] = set()
    for end in _ENDS:
        for is_folded in (False, True):
            text = re.sub(rb"(?:%s)[ \t]+" % end, b" ", head) if is_folded else head
            fields = [line.partition(b":") for line in re.split(end, text)[1:]]
            named = [(name.strip().lower(), value.strip()) for name, _, value in fields]
            lengths = [value for name, value in named if name == b"content-length"]
            codings = [value for name, value in named if name == b"transfer-encoding"]
            if codings:
                found.add(("chunked" if b"chunked" in codings[-1] else "coded", 0))
            for value in lengths:
                digits = re.match(rb"\+?([0-9]+)", value)
                found.add(("length", int(digits[1]) if digits else 0))
            if not lengths and not codings:
                found.add(("length", 0))
    return found


class Wire(asyncio.Transport):
    """A connection that leads nowhere and keeps what is sent."""

    def __init__(self, end: End) -> None:
        super().__init__()
        self.end, self.sent = end, bytearray()
        self.is_paused = self.has_closed = False
        end.connection_made(self)

    def write(self, data: Any) -> None:
        assert not self.has_closed
        self.sent += data

    def write_eof(self) -> None:
        pass

    def is_closing(self) -> bool:
        return self.has_closed

    def close(self) -> None:
        if not self.has_closed:
            self.has_closed = True
            asyncio.get_running_loop().call_soon(self.end.connection_lost, None)

    def abort(self) -> None:
        self.close()

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False

    def hear(self, data: bytes) -> None:
        """Let data come in, as far as it is read."""
        if not self.has_closed:
            self.end.data_received(data)

    def hear_end(self) -> None:
        if not self.has_closed and not self.end.eof_received():
            self.close()


async def settled() -> None:
    for _ in range(12):
        await asyncio.sleep(0)


Said = tuple[list[tuple[tuple[str, int], bytes]], bytes, bool]


async def through_the_proxy(
    pieces: Collection[bytes], answer: bytes, *, is_proxied: bool, answer_cut: int
) -> Said:
    """Send pieces to the proxy; return what its servers got, what the client got, and whether that was ended."""
    servers: list[tuple[tuple[str, int], Wire]] = []
    asked: list[str] = []

    async def resolve(name: str, _: int) -> Collection[str]:
        asked.append(name)
        if name not in PLACES:
            raise OSError("no such name")
        return [PLACES[name]]

    async def dial(factory: Factory, address: str, port: int) -> asyncio.Transport:
        end = factory()
        assert isinstance(end, End)
        wire = Wire(end)
        servers.append(((address, port), wire))
        if is_proxied:
            asyncio.get_running_loop().call_soon(lambda: asyncio.get_running_loop().call_soon(consent, wire))
        return wire

    def consent(wire: Wire) -> None:
        if wire.sent.startswith(b"CONNECT "):
            wire.hear(answer)

    via = Upstream("10.9.9.9", 3128, "user:word") if is_proxied else None
    egress = Egress(
        resolver=resolve,
        dialer=dial,
        caps=Caps(head_bytes=HEAD_BYTES),
        upstreams=(lambda *_: via) if via else None,
    )
    proxy = Proxy(egress)
    client = Wire(Client(proxy))
    for piece in pieces:
        for _ in range(40):
            if not client.is_paused:
                break
            await asyncio.sleep(0)
        client.hear(piece)
        await settled()
    for place, wire in servers:
        assert place[0] in ({"10.9.9.9"} if via else {PLACES["a.example"], PLACES["b.example"]})
        if not is_proxied:
            wire.hear(answer[:answer_cut])
            wire.hear(answer[answer_cut:])
        await settled()
    is_ended = client.has_closed
    client.hear_end()
    for _, wire in servers:
        wire.hear_end()
    await settled()
    assert client.has_closed
    assert all(wire.has_closed for _, wire in servers)
    assert not proxy.connections
    assert not proxy._waiting
    return [(place, bytes(wire.sent)) for place, wire in servers], bytes(client.sent), is_ended


def requests_in(stream: bytes, *, is_absolute: bool) -> list[bytes]:
    """Return the requests of a stream that a server got, each of which can be read in one way only."""
    found: list[bytes] = []
    while stream:
        head, end, rest = stream.partition(b"\r\n\r\n")
        assert end, stream
        (kind, size), *more = readings(head)
        assert (kind, more) == ("length", []), head
        hosts = [line[5:].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"host:")]
        assert len(hosts) == 1, head
        assert head.count(b"\r\n") == head.count(b"\n") == head.count(b"\r")
        target = head.split(b" ")[1]
        assert target.startswith(b"http://" + hosts[0] if is_absolute else b"/")
        assert is_absolute or b"\r\nproxy-" not in head.lower()
        found.append(head)
        stream = rest[size:]
    return found


@fuzzed(
    30,
    stream=STREAMS,
    cuts=CUTS,
    answer=st.sampled_from((b"", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"HT")),
)
def test_what_passes_the_proxy_was_decided_on(stream: bytes, cuts: list[int], answer: bytes) -> None:
    whole = asyncio.run(through_the_proxy([stream], answer, is_proxied=False, answer_cut=1))
    assert (
        asyncio.run(through_the_proxy([*pieces_of(stream, cuts)], answer, is_proxied=False, answer_cut=5))
        == whole
    )
    servers, told, _ = whole
    for (_, port), got in servers:
        assert port in {80, 443, 8080}
        if told.startswith(b"HTTP/1.1 200 Connection established\r\n\r\n"):
            assert stream.endswith(got)
        else:
            requests_in(got, is_absolute=False)
            assert len(got) <= len(stream) + 60 * got.count(b"\r\n\r\n")
    assert len(servers) <= 1


@fuzzed(
    20,
    stream=STREAMS,
    cuts=CUTS,
    answer=st.sampled_from(
        (b"HTTP/1.1 200 OK\r\n\r\nearly", b"HTTP/1.1 407 No\r\n\r\n", b"HTTP/1.1 2", b"x" * 70_000)
    ),
)
def test_what_passes_to_a_further_proxy_was_decided_on(stream: bytes, cuts: list[int], answer: bytes) -> None:
    whole = asyncio.run(through_the_proxy([stream], answer, is_proxied=True, answer_cut=0))
    assert (
        asyncio.run(through_the_proxy([*pieces_of(stream, cuts)], answer, is_proxied=True, answer_cut=0))
        == whole
    )
    for _, got in whole[0]:
        head, _, rest = got.partition(b"\r\n\r\n")
        if got.startswith(b"CONNECT "):
            assert b"\r\nProxy-Authorization: Basic " in head
            assert stream.endswith(rest)
            assert not rest or answer.startswith(b"HTTP/1.1 200")
        else:
            requests_in(got, is_absolute=True)


@fuzzed(
    20,
    after=STREAMS,
    cuts=CUTS,
    status=st.sampled_from((b"101", b"200", b"1010", b"301")),
    cut=st.integers(0, 30),
)
def test_after_an_upgrade_bytes_pass_only_when_the_server_agrees(
    after: bytes, cuts: list[int], status: bytes, cut: int
) -> None:
    asked = b"GET http://a.example/ HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
    answer = b"HTTP/1.1 " + status + b" Some words\r\n\r\n"
    servers, told, _ = asyncio.run(
        through_the_proxy([asked, *pieces_of(after, cuts)], answer, is_proxied=False, answer_cut=cut)
    )
    ((_, got),) = servers
    assert told.startswith(answer) or answer.startswith(told)  # nonsense ends the connection
    first, _, rest = got.partition(b"\r\n\r\n")
    assert b"\r\nHost: a.example\r\n" in first
    if status == b"101":
        assert rest == after
    else:
        requests_in(rest, is_absolute=False)


@fuzzed(100, head=HEADS)
def test_a_head_is_read_in_one_way_or_refused(head: bytes) -> None:
    try:
        read = parse_head(head.removesuffix(b"\r\n\r\n"))
    except HeadError as error:
        assert error.status[:3] in {"400", "501"}  # noqa: PT017
        return
    assert 0 <= read.port <= 99_999
    if read.is_tunnel:
        assert (read.rewritten, read.absolute, read.body_bytes) == (b"", b"", 0)
        return
    for written in (read.rewritten, read.absolute):
        assert written.endswith(b"\r\n\r\n")
        assert written.count(b"\r\n\r\n") == 1
        assert readings(written[:-4]) == {("length", read.body_bytes)}
    assert requests_in(
        read.rewritten + b"x" * read.body_bytes if read.body_bytes < 100 else b"", is_absolute=False
    ) or (read.body_bytes >= 100)


Events = list[tuple[Any, ...]]


def heard(pieces: Collection[bytes]) -> Events:
    """Return what a server hears on a connection: requests, their bodies, and that it was ended."""
    connection = StrictConnection(65_536)
    events: Events = []
    body = b""
    for piece in [*pieces, b""]:
        try:
            connection.receive_data(piece)
            while True:
                event = connection.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    break
                if isinstance(event, h11.Request):
                    events.append(("request", event.method, event.target, [*event.headers.raw_items()]))
                elif isinstance(event, h11.Data):
                    body += event.data
                elif isinstance(event, h11.EndOfMessage):
                    events.append(("body", body))
                    body = b""
                    connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
                    connection.send(h11.EndOfMessage())
                    if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                        return events
                    connection.start_next_cycle()
                else:
                    return events
        except h11.RemoteProtocolError:
            return [*events, ("refused",)]
        if connection.their_state in {h11.CLOSED, h11.ERROR}:
            break
    return events


SERVED = st.builds(
    lambda method, version, fields, end, rest: (
        b"%s / %s\r\nHost: a\r\n%s%s%s" % (method, version, fields, end, rest)
    ),
    st.sampled_from((b"GET", b"POST", b"DELETE", b"P\tST")),
    st.sampled_from((b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0")),
    st.lists(FIELDS, max_size=3).map(lambda fields: b"".join(field + b"\r\n" for field in fields)),
    st.sampled_from((b"\r\n", b"\r\n", b"\n")),
    st.sampled_from((b"", b"hello", b"0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n")) | st.binary(max_size=20),
)


@fuzzed(75, stream=st.lists(SERVED, max_size=3).map(b"".join) | st.binary(max_size=60), cuts=CUTS)
def test_requests_to_the_service_end_in_one_place_or_are_refused(stream: bytes, cuts: list[int]) -> None:
    events = heard([stream])
    assert heard([*pieces_of(stream, cuts)]) == events
    rest = stream.lstrip(b"\r\n")
    for event in events:
        if event[0] == "request":
            head, end, rest = rest.partition(b"\r\n\r\n")
            assert end
            ((kind, size),) = readings(head)
            assert kind in {"length", "chunked"}
        elif event[0] == "body":
            if kind == "length":
                assert event[1] == rest[:size]
                rest = rest[size:]
            else:
                break  # where chunks end, h11 says
            rest = rest.lstrip(b"\r\n")
