"""Responses from an archive instead of the network; the browser can reach nothing else.

Each page has a guard of its own, so that it is known which page sent a request. The resolver of the guard knows only
the hosts of the archive, and its dialer always connects to one server on loopback. The server responds from the
archive, over TLS with a key of this run if the browser asks for TLS. So URLs stay the same, pages are not rewritten,
and no packet leaves the machine.

Chrome accepts the key because of ``--ignore-certificate-errors-spki-list``. A browser with this flag is never
connected to the network.
"""

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Collection, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from pathlib import Path

from domsieve.archive.responses import ANY_PAGE, Answer, Answers, Turns
from domsieve.errors import NavigationError
from domsieve.renderer.network.addresses import HostError, parse_host
from domsieve.renderer.network.certificate import Certificate, new_certificate
from domsieve.renderer.network.egress import Egress, Factory
from domsieve.renderer.network.proxy import Proxy

_LOOPBACK = "127.0.0.1"
_TLS_HELLO = b"\x16"
_HEAD_END = b"\r\n\r\n"
_HEAD_BYTES = 300_000
_POST_BYTES = 100_000_000
# Headers about later visits, and about how the body was sent to the browser that recorded the archive.
_LEFT_OUT = frozenset(
    {
        "strict-transport-security",
        "public-key-pins",
        "expect-ct",
        "alt-svc",
        "connection",
        "keep-alive",
        "proxy-connection",
        "upgrade",
        "trailer",
        "nel",
        "report-to",
        "reporting-endpoints",
        "content-encoding",
        "transfer-encoding",
        "content-length",
    }
)
# Dates by which caches judge age: recorded ones would make everything stale.
_DATES = frozenset({"date", "expires"})
_NO_BODY = frozenset({204, 205, 304})

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Staged:
    """A page that is ready to be rendered from an archive.

    Parameters
    ----------
    proxy : the proxy for all its traffic.
    captured_at : UTC time of its recording, ISO 8601; empty if unknown.
    """

    proxy: Proxy
    captured_at: str


class Replay:
    """An archive used instead of the network.

    Parameters
    ----------
    answers : the responses of the archive.

    Attributes
    ----------
    unknown : requests without a response in the archive.
    """

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.unknown = 0
        self._certificate: Certificate = new_certificate()
        self._tls = self._certificate.server_context()
        self._hosts = {_spelling(host) for host in answers.hosts}

    @classmethod
    def of(cls, path: Path) -> "Replay":
        """Open the archive in a file.

        Raises
        ------
        TargetError : it cannot be read, or contains no page.
        """
        return cls(Answers(path))

    @property
    def flags(self) -> tuple[str, ...]:
        """Command-line flags with which the browser accepts the key; it must not be connected to the network."""
        return (f"--ignore-certificate-errors-spki-list={self._certificate.pin}",)

    def nowhere(self) -> Egress:
        """Return an egress that reaches nothing, for requests that do not belong to a page."""
        return Egress(allow_private=True, resolver=_no_host, dialer=_no_connection)

    @contextlib.asynccontextmanager
    async def page(self, url: str) -> AsyncIterator[Staged]:
        """Provide the proxy for rendering a page.

        Raises
        ------
        NavigationError : the archive has no such page.
        """
        page = self.answers.page(url)
        if page is None:
            raise NavigationError("The archive does not contain this page.", url=url, stage="navigate")
        async with self.egress(page.page_id) as egress, Proxy(egress) as proxy:
            yield Staged(proxy, page.captured_at)

    @contextlib.asynccontextmanager
    async def egress(self, page_id: str = ANY_PAGE) -> AsyncIterator[Egress]:
        """Provide an egress that reaches only the responses of one page, or those that no page asked for."""
        async with _Server(self, self.answers.turns(page_id), self._tls) as server:

            async def dial(factory: Factory, _: str, __: int) -> asyncio.Transport:
                loop = asyncio.get_running_loop()
                transport, _protocol = await loop.create_connection(factory, _LOOPBACK, server.port)
                return transport

            trusting = ssl.create_default_context(cadata=self._certificate.certificate)
            trusting.check_hostname = False
            yield Egress(allow_private=True, resolver=self._resolve, dialer=dial, tls=trusting)

    async def _resolve(self, host: str, _: int) -> Collection[str]:
        if host not in self._hosts:
            raise OSError(f"{host} is not in the archive")
        return (_LOOPBACK,)


class _Server:
    """A server for one page, on a free port of loopback; an asynchronous context manager."""

    def __init__(self, replay: Replay, turns: Turns, tls: ssl.SSLContext) -> None:
        self._replay, self._turns, self._tls = replay, turns, tls
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.port = 0

    async def __aenter__(self) -> "_Server":
        self._socket.bind((_LOOPBACK, 0))
        self._socket.listen(128)
        self._socket.setblocking(False)
        self.port = self._socket.getsockname()[1]
        self._do(self._accept())
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._socket.close()

    def _do(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(self._socket)
            self._do(self._serve(connection))

    async def _serve(self, connection: socket.socket) -> None:
        """Serve the requests of one connection."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_HEAD_BYTES, loop=loop)
        transport: asyncio.Transport | None = None
        try:
            first = await _first_byte(connection)
            is_safe = first == _TLS_HELLO
            protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
            transport, _ = await loop.connect_accepted_socket(
                lambda: protocol, connection, ssl=self._tls if is_safe else None
            )
            writer = asyncio.StreamWriter(transport, protocol, reader, loop)
            scheme = "https" if is_safe else "http"
            while await self._answer_one(reader, writer, scheme):
                pass
        except (OSError, ssl.SSLError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # the browser closed the connection, or does not speak HTTP
        except (
            Exception
        ):  # nobody above could handle it, and the connection would stay open without a response
            logger.exception("A request to an archive failed with an unexpected error")
        finally:
            if transport:
                transport.abort()
            else:
                connection.close()

    async def _answer_one(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, scheme: str
    ) -> bool:
        """Serve one request; return whether the connection can be used for another."""
        head = (await reader.readuntil(_HEAD_END)).decode("latin-1")
        line, *lines = head.split("\r\n")
        method, target, _ = line.split(" ", 2)
        fields = {
            name.strip().lower(): value.strip() for name, _, value in (one.partition(":") for one in lines)
        }
        if "upgrade" in fields or not target.startswith("/"):
            return False  # other protocols are not recorded
        length = int(fields.get("content-length", "0"))
        if not 0 <= length <= _POST_BYTES:
            return False
        body = await reader.readexactly(length)
        url = f"{scheme}://{_without_port(scheme, fields.get('host', ''))}{target}"
        async with self._turn:
            answer = await asyncio.to_thread(self._turns.next, method, url, body, fields.get("range", ""))
        if answer is None and method == "OPTIONS" and "access-control-request-method" in fields:
            answer = _consent(fields)
        if answer is None:
            self._replay.unknown += 1
            logger.debug("The archive has no response to %s %s", method, url)
            return False
        if answer.outcome == "unanswered":
            await reader.read()  # wait until the page gives up
            return False
        if not answer.status:
            return False
        writer.write(_head(answer, method))
        has_body = method != "HEAD" and answer.status not in _NO_BODY
        if has_body:
            writer.write(_chunk(answer.body) if answer.outcome in {"cut", "failed"} else answer.body)
        await writer.drain()
        if answer.outcome == "cut":
            await reader.read()
        if answer.outcome == "failed":
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        return answer.outcome in {"whole", "lost"}


def _head(answer: Answer, method: str) -> bytes:
    reason = answer.reason
    if not reason:
        with contextlib.suppress(ValueError):
            reason = HTTPStatus(answer.status).phrase
    later = _later(answer.asked_at)
    lines = [f"HTTP/1.1 {answer.status} {reason}"]
    for name, value in answer.headers:
        if name.lower() not in _LEFT_OUT and name.strip():
            lines.append(f"{name}: {_moved(value, later) if name.lower() in _DATES else value}")
    if answer.outcome in {"cut", "failed"}:
        lines.append("Transfer-Encoding: chunked")
    elif method != "HEAD" and answer.status not in _NO_BODY:
        lines.append(f"Content-Length: {len(answer.body)}")
    # An archive from strangers may contain line breaks in headers.
    return "\r\n".join((*(line.replace("\r", " ") for line in lines), "", "")).encode("utf-8", "replace")


def _chunk(body: bytes) -> bytes:
    """Return a part of a chunked body."""
    return f"{len(body):x}\r\n".encode() + body + b"\r\n" if body else b""


def _consent(fields: dict[str, str]) -> Answer:
    """Return a CORS response that allows every origin; archives may not contain preflight requests."""
    return Answer(
        "whole",
        204,
        "No Content",
        (
            ("Access-Control-Allow-Origin", fields.get("origin", "*")),
            ("Access-Control-Allow-Credentials", "true"),
            ("Access-Control-Allow-Methods", fields["access-control-request-method"]),
            ("Access-Control-Allow-Headers", fields.get("access-control-request-headers", "")),
        ),
    )


def _later(asked_at: str) -> timedelta:
    """Return the time since something was recorded."""
    try:
        then = datetime.fromisoformat(asked_at)
    except ValueError:
        return timedelta()
    return datetime.now(UTC) - (then if then.tzinfo else then.replace(tzinfo=UTC))


def _moved(value: str, later: timedelta) -> str:
    """Return an HTTP date moved by `later`; other values are returned unchanged."""
    try:
        return format_datetime((parsedate_to_datetime(value) + later).astimezone(UTC), usegmt=True)
    except (ValueError, TypeError, OverflowError):
        return value


def _without_port(scheme: str, host: str) -> str:
    default = ":443" if scheme == "https" else ":80"
    return host.lower().removesuffix(default)


def _spelling(host: str) -> str:
    try:
        return str(parse_host(host))
    except HostError:
        return host


async def _first_byte(connection: socket.socket) -> bytes:
    """Return the first byte that arrives, without removing it from the connection."""
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    came = asyncio.Event()
    loop.add_reader(connection, came.set)
    try:
        await came.wait()
    finally:
        loop.remove_reader(connection)
    return connection.recv(1, socket.MSG_PEEK)


async def _no_host(host: str, _: int) -> Collection[str]:
    raise OSError(f"{host} is not in the archive")


async def _no_connection(_: Factory, __: str, ___: int) -> asyncio.Transport:
    raise OSError("nothing is reached")
