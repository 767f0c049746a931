"""The HTTP server: limits of connections, and a shutdown that loses no accepted job."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import h11
import uvicorn
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from domsieve.errors import UsageError
from domsieve.service.web.connections import Connections, Network, Place, StrictConnection
from domsieve.service.web.problems import PROBLEM_JSON, Problem, ProblemError

_HEAD_BYTES = 32_768
_HEAD_S = 15.0
_READER_S = 60.0
_KEEP_ALIVE_S = 15
_CONNECTIONS = 512
# Limits for unknown clients: in all, and for one address.
_STRANGERS = 128
_OF_ADDRESS = 32
_GRACE_S = 10
_BROKEN = ProblemError(400, "This is not an HTTP/1.1 request, or its head is too long.").problem
_CROWDED = ProblemError(503, "Too many connections are open.", fault="service", retry_s=5).problem


class _Connection(H11Protocol):
    """A connection that is closed if its client sends no request or does not read the response.

    Parameters
    ----------
    all_connections : all connections of the service.
    options : those of the base class.
    """

    _head: asyncio.TimerHandle | None = None
    _reader: asyncio.TimerHandle | None = None
    _place: Place | None = None

    def __init__(self, all_connections: Connections, **options: Any) -> None:
        super().__init__(**options)
        self.conn = StrictConnection(_HEAD_BYTES)
        self._all = all_connections
        self._inner, self.app = self.app, self._answer

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process a request. Its state contains the place of the connection, for the check of the client."""
        if self._place is not None:
            self._all.note_head(self._place, self.client, Headers(scope=scope))
            scope["state"]["place"] = self._place
        await self._inner(scope, receive, send)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._place = self._all.enter(self.client, self._give_up)
        if self._place is None:
            self._give_up()
        self._await_request()

    def on_response_complete(self) -> None:
        if self._place is not None:
            self._place.is_idle = True
        super().on_response_complete()
        self._await_request()

    def _give_up(self) -> None:
        """Close this connection to make room for another."""
        last: RequestResponseCycle | None = self.cycle
        is_answering = last is not None and not last.response_complete
        if is_answering or self.transport.get_write_buffer_size():
            self.transport.abort()
            return
        if last is None:  # a client between two requests gets no response
            self.transport.write(_raw(_CROWDED))
        self.transport.close()

    def _await_request(self) -> None:
        """Close the connection unless the head of the next request arrives in time."""
        if self._head is not None:
            self._head.cancel()
        self._head = self.loop.call_later(_HEAD_S, self._no_request, self.cycle)

    def _no_request(self, last: RequestResponseCycle | None) -> None:
        if self.cycle is last and (last is None or last.response_complete):
            self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reader = self.loop.call_later(_READER_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._head, self._reader):
            if timer is not None:
                timer.cancel()
        if self._place is not None:
            self._all.leave(self._place)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (the name is the base class's)
        """Respond to an invalid request with a problem; `msg` is not used, because it would quote the sender."""
        if self.conn.our_state is h11.IDLE or self.conn.our_state is h11.SEND_RESPONSE:
            self.transport.write(_raw(_BROKEN))
        self.transport.close()


def _raw(problem: Problem) -> bytes:
    body = problem.model_dump_json(exclude_none=True).encode()
    head = (
        f"HTTP/1.1 {problem.status} {problem.title}\r\ncontent-type: {PROBLEM_JSON}\r\n"
        f"content-length: {len(body)}\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


class Server(uvicorn.Server):
    """Serves an application until SIGTERM or SIGINT.

    Parameters
    ----------
    app : the application.
    stopping : called when the shutdown begins, so that streams and waiting end.
    proxies : trusted proxies, whose headers name the client.
    """

    def __init__(
        self, app: ASGIApp, *, stopping: Callable[[], None], proxies: Sequence[Network] = ()
    ) -> None:
        connections = Connections(_CONNECTIONS, _STRANGERS, _OF_ADDRESS, proxies)
        super().__init__(
            uvicorn.Config(
                app,
                http=cast("type[asyncio.Protocol]", partial(_Connection, connections)),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=_GRACE_S,
                h11_max_incomplete_event_size=_HEAD_BYTES,
            )
        )
        self._stopping = stopping

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams and waiting, then let running requests finish."""
        self._stopping()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Stop; a second signal stops at once. The signal is not raised again, so that we control the shutdown."""
        super().handle_exit(sig, frame)
        self._captured_signals.clear()


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Raises
    ------
    UsageError : the port is in use or not permitted, or this machine does not have the address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host.strip("[]"), port))
        listener.listen(256)
    except OSError as error:
        listener.close()
        raise UsageError(
            f"Cannot listen at {host} port {port}: {error.strerror}. Choose another address or port.",
            parameter="port",
        ) from error
    listener.setblocking(False)
    return listener
