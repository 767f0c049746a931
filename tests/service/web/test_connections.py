"""Who keeps a connection when there are too many, and requests whose end could be read in two ways."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from ipaddress import ip_network
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from domsieve.errors import UsageError
from domsieve.service.web.connections import Connections, Place
from domsieve.service.web.settings import Settings
from tests.service.web.stage import PAGE, TOKENS, Stage, everything, stage

HALF = b"GET /v1/health HTTP/1.1\r\nHost: 127"
HEAD = "Host: 127.0.0.1\r\n"


class Hall:
    """Connections without sockets."""

    def __init__(self, most: int, strangers: int, of_address: int) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.gone: list[str] = []
        proxies = (ip_network("10.0.0.0/8"), ip_network("::1"))
        self.all = Connections(most, strangers, of_address, proxies, later=self.waiting.append)

    def enter(self, name: str, address: str = "1.2.3.4", port: int = 0) -> Place | None:
        return self.all.enter((address, port), lambda: self.gone.append(name))

    def known(self, name: str, client: str, *, is_idle: bool = False) -> tuple[Place, bool]:
        place = self.enter(name, f"9.9.9.{len(self.all)}")
        assert place is not None
        self.all.note_head(place, None, Headers())
        is_taken = place.belongs_to(client)
        place.is_idle = is_idle
        return place, is_taken

    def settle(self) -> list[str]:
        """Return who has gone now that all was read."""
        for call in self.waiting:
            call()
        self.waiting.clear()
        return self.gone


class TestPlaces:
    def test_strangers_of_one_address_take_them_from_each_other(self) -> None:
        hall = Hall(100, 100, 2)
        hall.enter("other", "4.3.2.1")
        for name in "abc":
            hall.enter(name)
        assert hall.gone == []  # those that come together are read first
        assert hall.settle() == ["a"]

    def test_who_has_shown_who_he_is_meanwhile_stays(self) -> None:
        hall = Hall(100, 50, 2)
        for name in "abc":
            place = hall.enter(name)
            assert place is not None
            assert place.belongs_to("anna")
        assert hall.settle() == []

    def test_the_address_that_holds_most_gives_way(self) -> None:
        hall = Hall(100, 3, 100)
        hall.enter("other", "4.3.2.1")
        for name in "abc":
            hall.enter(name)
        assert hall.settle() == ["a"]

    def test_whoever_asks_without_a_token_is_a_stranger_again(self) -> None:
        hall = Hall(100, 1, 100)
        place, _ = hall.known("a", "anna")
        hall.enter("b")
        assert place.belongs_to(None)
        assert len(hall.settle()) == 1

    def test_a_full_hall_takes_strangers_first_and_idle_ones_then(self) -> None:
        hall = Hall(4, 1, 100)
        hall.known("busy", "anna")
        hall.known("idle", "anna", is_idle=True)
        hall.known("own", "bert", is_idle=True)
        hall.enter("stranger")
        assert hall.enter("next") is not None
        assert hall.gone == ["stranger"]
        hall.known("more", "anna")
        assert hall.gone == ["stranger", "next", "idle"]

    def test_a_hall_full_of_busy_ones_takes_nobody(self) -> None:
        hall = Hall(2, 0, 100)
        for name in "ab":
            hall.known(name, "anna")
        assert hall.enter("c") is None
        assert hall.gone == []
        assert len(hall.all) == 2

    def test_the_client_that_holds_most_gets_no_more(self) -> None:
        hall = Hall(10, 8, 100)
        assert hall.known("a", "anna")[1]
        assert hall.known("b", "anna")[1]
        assert not hall.known("c", "anna")[1]
        assert hall.known("d", "bert")[1]

    def test_one_that_ends_leaves_its_place(self) -> None:
        hall = Hall(1, 1, 1)
        place = hall.enter("a")
        assert place is not None
        hall.all.leave(place)
        hall.all.leave(place)
        assert len(hall.all) == 0
        hall.enter("b")
        assert hall.settle() == []

    @pytest.mark.parametrize(
        ("peer", "forwarded", "address"),
        [
            ("10.0.0.1", ["1.1.1.1, 4.3.2.1"], "4.3.2.1"),
            ("10.0.0.1", ["4.3.2.1, 10.0.0.2"], "4.3.2.1"),
            ("10.0.0.1", ["1.1.1.1", "4.3.2.1"], "4.3.2.1"),
            ("::1", ["::ffff:4.3.2.1"], "4.3.2.1"),
            ("::ffff:10.0.0.1", ["2001:db8:1:2:3::4"], "2001:db8:1:2::/64"),
            ("10.0.0.1", ["4.3.2.1, what"], "10.0.0.1 7"),
            ("10.0.0.1", [], "10.0.0.1 7"),
            ("10.0.0.1", ["1.1.1.1," * 5_000], "10.0.0.1 7"),
            ("1.2.3.4", ["4.3.2.1"], "1.2.3.4"),
            ("2001:db8:1:2:3::4", [], "2001:db8:1:2::/64"),
        ],
    )
    def test_the_operators_proxies_say_whom_they_ask_for(
        self, peer: str, forwarded: list[str], address: str
    ) -> None:
        hall = Hall(10, 10, 10)
        place = hall.enter("a", peer, 7)
        assert place is not None
        fields = [(b"x-forwarded-for", value.encode()) for value in forwarded]
        hall.all.note_head(place, (peer, 7), Headers(raw=fields))
        assert place.address == address

    def test_what_is_no_proxy_is_refused(self) -> None:
        Settings(trusted_proxies=("127.0.0.1", "10.0.0.0/8", "::1")).check()
        with pytest.raises(UsageError) as raised:
            Settings(trusted_proxies=("10.0.0.1/8",)).check()
        assert raised.value.parameter == "trusted_proxy"


class TestFloods:
    def test_half_sent_heads_shut_nobody_out_who_has_a_token(self, tmp_path: Path) -> None:
        with stage(tmp_path, tokens=TOKENS) as made, ExitStack() as stack:
            early = made.as_client("anna")
            assert early.get("/v1/jobs").status_code == 200
            for _ in range(520):
                stack.enter_context(made.connect(HALF))
            assert early.get("/v1/jobs").status_code == 200
            for _ in range(184):
                with made.as_client("bert") as late:
                    assert late.get("/v1/jobs").status_code == 200
                stack.enter_context(made.connect(HALF))

    def test_half_sent_bodies_of_the_login_neither(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("domsieve.service.web.server._CONNECTIONS", 20)
        monkeypatch.setattr("domsieve.service.web.server._STRANGERS", 5)
        half = f"POST /login HTTP/1.1\r\n{HEAD}Content-Length: 50\r\n\r\ntoken=".encode()
        with stage(tmp_path, tokens=TOKENS) as made, ExitStack() as stack:
            for _ in range(30):
                stack.enter_context(made.connect(half))
            assert made.as_client("bert").get("/v1/jobs").status_code == 200

    def test_who_waits_for_an_answer_keeps_his_connection(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("domsieve.service.web.server._CONNECTIONS", 10)
        monkeypatch.setattr("domsieve.service.web.server._STRANGERS", 5)
        body = json.dumps({"url": PAGE})
        ask = f"POST /v1/clean HTTP/1.1\r\n{HEAD}Authorization: Bearer {TOKENS['anna']}\r\n"
        ask += f"Content-Length: {len(body)}\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
        with stage(tmp_path, work=None, tokens=TOKENS) as made, ExitStack() as stack:
            waiting = stack.enter_context(made.connect((ask + body).encode()))
            while not made.store.list("anna"):
                pass
            floods = [stack.enter_context(made.connect(HALF)) for _ in range(30)]
            everything(floods[0])  # it was ended
            made.store.cancel(made.store.list("anna")[0].id, "anna")
            assert everything(waiting).startswith(b"HTTP/1.1 409 ")

    def test_an_address_that_floods_pushes_out_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("domsieve.service.web.server._CONNECTIONS", 10)
        monkeypatch.setattr("domsieve.service.web.server._STRANGERS", 5)
        with stage(tmp_path) as made, ExitStack() as stack:
            other = stack.enter_context(made.connect(HALF, address="127.0.0.3"))
            floods = [stack.enter_context(made.connect(HALF, address="127.0.0.2")) for _ in range(30)]
            everything(floods[0])  # it was ended
            other.sendall(b".0.0.1\r\nConnection: close\r\n\r\n")
            assert everything(other).startswith(b"HTTP/1.1 200 ")

    def test_a_proxy_is_no_flood(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domsieve.service.web.server._OF_ADDRESS", 2)
        login = f"POST /login HTTP/1.1\r\n{HEAD}Connection: close\r\nContent-Length: 7\r\nX-Forwarded-For: "
        with stage(tmp_path, tokens=TOKENS, trusted_proxies=("127.0.0.1",)) as made, ExitStack() as stack:

            def half(address: str) -> socket.socket:
                return stack.enter_context(made.connect(f"{login}{address}\r\n\r\ntoken".encode()))

            others = [half(f"4.3.2.{number}") for number in range(10)]
            floods = [half("1.2.3.4") for _ in range(3)]
            assert everything(floods[0]) == b""
            for connection in (*others, *floods[1:]):
                connection.sendall(b"=x")
                assert everything(connection).startswith(b"HTTP/1.1 401 ")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("framing")) as made:
        yield made


class TestFraming:
    @pytest.mark.parametrize(
        "fields",
        [
            b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            b"transfer-encoding: Chunked\r\ncontent-length: 0\r\n",
            b"Content-Length: 5\r\nContent-Length: 6\r\n",
            b"Content-Length: 5\r\nContent-Length: 5\r\n",
            b"Content-Length: 5, 6\r\n",
            b"Content-Length: 5, 5\r\n",
            b"Content-Length: +5\r\n",
            b"Content-Length: -5\r\n",
            b"Content-Length: 5_0\r\n",
            b"Content-Length: 0x5\r\n",
            b"Content-Length: 5 0\r\n",
            b"Content-Length: \xb2\r\n",
            b"Content-Length:\r\n",
            b"Content-Length: " + b"9" * 30 + b"\r\n",
            b"Content-Length : 5\r\n",
            b"Content-Length:\r\n 5\r\n",
            b"X: a\r\n b\r\nContent-Length: 5\r\n",
            b"X: a\nContent-Length: 5\r\n",
            b"X: a\rContent-Length: 5\r\n",
            b"Transfer-Encoding: gzip, chunked\r\n",
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            b"Transfer-Encoding: chunked, identity\r\n",
            b"Transfer-Encoding: xchunked\r\n",
            b"Transfer-Encoding:\r\n chunked\r\n",
        ],
    )
    def test_a_head_that_could_be_read_in_two_ways_is_refused(self, service: Stage, fields: bytes) -> None:
        head = b"POST /v1/clean HTTP/1.1\r\nHost: 127.0.0.1\r\n" + fields + b"\r\n"
        self.refused(service, head + b"0\r\n\r\n")

    @pytest.mark.parametrize(
        "body",
        [
            b"+5\r\nhello\r\n0\r\n\r\n",
            b"-5\r\nhello\r\n0\r\n\r\n",
            b"0x5\r\nhello\r\n0\r\n\r\n",
            b"5_\r\nhello\r\n0\r\n\r\n",
            b" 5\r\nhello\r\n0\r\n\r\n",
            b"5\nhello\r\n0\r\n\r\n",
            b"5\r\nhelloo\r\n0\r\n\r\n",
            b"5\r\nhello0\r\n\r\n",
            b"\r\nhello\r\n0\r\n\r\n",
            b"5 6\r\nhello\r\n0\r\n\r\n",
            b"fffffffffffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        ],
    )
    def test_chunks_that_could_be_read_in_two_ways_are_refused(self, service: Stage, body: bytes) -> None:
        head = b"POST /v1/clean HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.refused(service, head + body)

    @pytest.mark.parametrize("name", [b"", b"a b", b"\xc2\x80", b"a\0"])
    def test_a_header_without_a_proper_name_is_refused(self, service: Stage, name: bytes) -> None:
        self.refused(service, b"GET /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n" + name + b": x\r\n\r\n")

    def test_chunks_are_not_of_http_1_0(self, service: Stage) -> None:
        head = b"POST /v1/clean HTTP/1.0\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.refused(service, head + b"0\r\n\r\n")

    def refused(self, service: Stage, request: bytes) -> None:
        """Send a request and another one behind it; the first is refused, and nothing is read after it."""
        before = len(service.store.list("local"))
        answer = service.send(request + b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"HTTP/1.1 2" not in answer
        assert b"connection: close" in answer
        assert len(service.store.list("local")) == before

    @pytest.mark.parametrize("length", [True, False])
    def test_requests_of_one_reading_are_answered_one_after_another(
        self, service: Stage, length: bool
    ) -> None:
        body = json.dumps({"url": PAGE}).encode()
        fields = b"Content-Length: %d\r\n" % len(body) if length else b"Transfer-Encoding: chunked\r\n"
        sent = body if length else b"%x;a=b\r\n%s\r\n0\r\nTrailer: x\r\n\r\n" % (len(body), body)
        head = b"POST /v1/clean HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" + fields
        health = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        answer = service.send(head + b"\r\n" + sent + health)
        assert answer.count(b"HTTP/1.1 200 ") == 2
