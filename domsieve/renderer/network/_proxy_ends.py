"""The two ends of a connection through the filtering proxy: the browser's and the server's.

Bytes of responses are forwarded as they arrive. If one side reads slowly, the proxy stops reading from the other.
"""

import asyncio
import logging
import re
from typing import Protocol, cast

from domsieve.errors import NavigationError, PolicyError
from domsieve.renderer.network._proxy_head import Head, HeadError, parse_head
from domsieve.renderer.network.egress import Caps, Route

_HEAD_END = b"\r\n\r\n"
_CONSENT = re.compile(rb"HTTP/1\.[01] 2[0-9][0-9](?: |\r|$)")
_CONSENT_S = 30.0
_LONGEST_CONSENT = 65_536
# The beginning of a response that agrees to switch protocols. Other responses are plain HTTP.
_SWITCHING = re.compile(rb"HTTP/1\.[01] 101(?: |\r|$)")
_STATUS_BYTES = len(b"HTTP/1.1 101 ")
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"

logger = logging.getLogger(__name__)


class Switch(Protocol):
    """The interface of the proxy that the ends use."""

    caps: Caps
    connections: "set[End]"

    def count(self, size: int) -> bool:
        """Count forwarded bytes; return whether the limit is exceeded."""
        ...

    def admit(self, client: "Client") -> None:
        """Count a connection that has not reached a server yet, and close others if there are too many."""
        ...

    def release(self, client: "Client") -> None:
        """Stop counting a connection as one that has not reached a server."""
        ...

    async def route(self, head: Head) -> Route:
        """Return the route of a request."""
        ...

    async def connect(self, head: Head, route: Route, server: "Server") -> None:
        """Open the connection of a route."""
        ...


class End(asyncio.Protocol):
    """One end of a connection through the proxy."""

    def __init__(self, proxy: Switch) -> None:
        self.proxy = proxy
        self.transport: asyncio.Transport | None = None
        self.peer: End | None = None
        self.has_ended = False  # it will send nothing more

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        self.transport = cast("asyncio.Transport", transport)
        self.proxy.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Let go of the connection, and of the other side's."""
        self.proxy.connections.discard(self)
        peer, self.peer = self.peer, None
        if peer and peer.peer is self:
            peer.peer = None
            # What it was sent before is still delivered.
            peer.close()

    def pause_writing(self) -> None:
        """Stop reading from the other side."""
        if self.peer:
            self.peer.hold(True)

    def resume_writing(self) -> None:
        """Read from the other side again."""
        if self.peer:
            self.peer.hold(False)

    def hold(self, is_held: bool) -> None:
        """Stop or continue reading from this end."""
        if self.transport and not self.transport.is_closing():
            (self.transport.pause_reading if is_held else self.transport.resume_reading)()

    def send(self, data: bytes) -> None:
        """Send to this end."""
        if self.transport and not self.transport.is_closing():
            self.transport.write(data)

    def close(self) -> None:
        """Close the connection after everything has been sent."""
        if self.transport:
            self.transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        if self.transport:
            self.transport.abort()


class Server(End):
    """A connection to a server, opened for a client."""

    def __init__(self, proxy: Switch, route: Route) -> None:
        super().__init__(proxy)
        self.route = route
        # Bytes after the response that opened a tunnel, or the beginning of the response to an upgrade.
        self.early = b""
        self._consent: asyncio.Future[None] | None = None

    async def tunnel(self) -> None:
        """Ask the upstream proxy for a tunnel to the server.

        Raises
        ------
        NavigationError : it refuses or fails.
        """
        route = self.route
        host = f"[{route.host}]" if ":" in route.host else route.host
        field = route.via.field if route.via else b""
        self._consent = asyncio.get_running_loop().create_future()
        place = f"{host}:{route.port}".encode()
        self.send(b"CONNECT " + place + b" HTTP/1.1\r\nHost: " + place + b"\r\n" + field + b"\r\n")
        try:
            async with asyncio.timeout(_CONSENT_S):
                await self._consent
        except (TimeoutError, ConnectionError) as error:
            self.abort()
            raise NavigationError("net::ERR_TUNNEL_CONNECTION_FAILED", retry=True) from error
        finally:
            self._consent = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the connection, and of the other side's."""
        super().connection_lost(exc)
        if self._consent and not self._consent.done():
            self._consent.set_exception(ConnectionResetError())

    def _await_consent(self, data: bytes, consent: asyncio.Future[None]) -> None:
        self.early += data
        head, found, early = self.early.partition(_HEAD_END)
        if found and not consent.done():
            self.early = early
            if _CONSENT.match(head):
                consent.set_result(None)
            else:
                consent.set_exception(ConnectionRefusedError())
        elif len(self.early) > _LONGEST_CONSENT:
            self.abort()

    def data_received(self, data: bytes) -> None:
        """Pass on what came."""
        if self._consent:
            self._await_consent(data, self._consent)
            return
        client = self.peer
        if isinstance(client, Client):
            is_asked = client.is_upgrading
            if is_asked:
                self.early += data
                if len(self.early) < _STATUS_BYTES:
                    return
                data, self.early = self.early, b""
            client.count(len(data))
            client.send(data)
            if is_asked:  # the client may send its next request at once, but only after this response
                client.upgrade(is_agreed=bool(_SWITCHING.match(data)))

    def eof_received(self) -> bool:
        """Tell the other side that nothing more comes; return whether answers still may."""
        client = self.peer
        self.has_ended = True
        if not isinstance(client, Client) or not client.is_tunnel or client.has_ended:
            return False
        if client.transport and not client.transport.is_closing():
            client.transport.write_eof()
        return True


class Client(End):
    """A connection from the browser."""

    def __init__(self, proxy: Switch) -> None:
        super().__init__(proxy)
        self.is_tunnel = False
        self.is_upgrading = False  # asked to switch protocols, and waits for the response
        self._place: tuple[str, int] | None = None  # the server of the connection, once there is one
        self._buffer = bytearray()
        self._looked_through = 0  # bytes at its start that contain no complete head
        self._body_bytes = 0
        self._head_at: float | None = None
        self.moved_at = 0.0
        self._bytes = 0
        self._opening: asyncio.Task[None] | None = None
        self._now = asyncio.get_running_loop().time

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        super().connection_made(transport)
        self.moved_at = self._now()
        self.proxy.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the connection, and of the other side's."""
        super().connection_lost(exc)
        self.proxy.release(self)
        if self._opening:
            self._opening.cancel()

    def is_overdue(self, now: float) -> bool:
        """Return whether nothing has been sent for too long, or the head arrives too slowly."""
        caps = self.proxy.caps
        is_slow = self._head_at is not None and now - self._head_at > caps.head_s
        return is_slow or now - self.moved_at > caps.idle_s

    def count(self, size: int) -> None:
        """Count forwarded bytes, and close the connection if the limit is exceeded."""
        self.moved_at = self._now()
        self._bytes += size
        is_over = self.proxy.count(size)
        if is_over or self._bytes > self.proxy.caps.connection_bytes:
            if self.peer:
                self.peer.abort()
            self.abort()

    def hold(self, is_held: bool) -> None:
        """Stop or continue reading from this end, unless reading is paused anyway."""
        if not self._opening and not self.is_upgrading:  # reading is paused meanwhile
            super().hold(is_held)

    def upgrade(self, *, is_agreed: bool) -> None:
        """Continue as the server responded: with a tunnel, or with further requests."""
        self.is_upgrading, self.is_tunnel = False, is_agreed
        super().hold(False)
        self._resume()

    def data_received(self, data: bytes) -> None:
        """Pass on what came."""
        self.count(len(data))
        if self.is_tunnel and self.peer:
            self.peer.send(data)
            return
        self._buffer += data
        self._advance()

    def eof_received(self) -> bool:
        """Tell the other side that nothing more comes; return whether answers still may."""
        self.has_ended = True
        if self.is_tunnel and self.peer and not self.peer.has_ended:
            if self.peer.transport and not self.peer.transport.is_closing():
                self.peer.transport.write_eof()
            return True
        # Browsers do not wait for a response on a connection whose sending side they have closed.
        return False

    def _advance(self) -> None:
        """Pass on what has come of a body, then take the next head."""
        while self._buffer and not self._opening and not self.is_upgrading and self._is_open:
            if self._body_bytes:
                piece = bytes(self._buffer[: self._body_bytes])
                del self._buffer[: len(piece)]
                self._body_bytes -= len(piece)
                if self.peer:
                    self.peer.send(piece)
                continue
            if self._head_at is None:
                self._head_at = self._now()
            end = self._buffer.find(_HEAD_END, self._looked_through)
            if max(end, len(self._buffer) if end < 0 else 0) > self.proxy.caps.head_bytes:
                self._refuse("431 Request Header Fields Too Large")
            elif end >= 0:
                self._take(end)
            else:
                # If a head arrives byte by byte, each byte is searched only once.
                self._looked_through = max(0, len(self._buffer) - len(_HEAD_END) + 1)
                return

    @property
    def _is_open(self) -> bool:
        return self.transport is not None and not self.transport.is_closing()

    def _take(self, end: int) -> None:
        data = bytes(self._buffer[:end])
        del self._buffer[: end + len(_HEAD_END)]
        self._looked_through = 0
        self._head_at = None
        try:
            head = parse_head(data)
        except HeadError as error:
            self._refuse(error.status)
            return
        self._body_bytes = head.body_bytes
        self.proxy.release(self)
        super().hold(True)
        self._opening = asyncio.create_task(self._open(head))

    async def _open(self, head: Head) -> None:
        """Send a request on, or answer it, and go on reading."""
        try:
            await self._serve(head)
        except (PolicyError, NavigationError) as error:
            if self._place:
                self.abort()  # as for another place, below; a new connection gets the reason
            elif isinstance(error, PolicyError):
                # No browser sends a request without a host, so nothing good follows it.
                last = head.is_tunnel or error.reason == "host"
                self._answer("403 Forbidden", reason=error.message, last=last)
            elif head.is_tunnel:
                self._answer("502 Bad Gateway", reason=error.message, last=True)
            else:
                # As without a proxy: no answer of ours may look like one of the server's.
                self.close()
        except Exception:  # the boundary of a request: it would leave the connection open and unanswered
            logger.exception("A request to %s broke the proxy", ascii(head.host))
            self._answer("500 Internal Server Error", last=True)
        self._opening = None
        if not self._place and self._is_open:
            self.proxy.admit(self)
        if not self.is_upgrading:
            super().hold(False)
        self._resume()

    def _resume(self) -> None:
        """Pass on what came meanwhile."""
        if self.is_tunnel and self.peer and self._buffer:
            self.peer.send(bytes(self._buffer))
            self._buffer.clear()
        self._advance()

    async def _serve(self, head: Head) -> None:
        route = await self.proxy.route(head)
        place = route.host, route.port
        if self._place and (self._place != place or head.is_tunnel):
            # The late words of one server must not be taken for the answer of another.
            self.abort()
            return
        server = self.peer
        if not isinstance(server, Server):
            server = Server(self.proxy, route)
            await self.proxy.connect(head, route, server)
            self.peer, server.peer, self._place = server, self, place
        if head.is_tunnel:
            self.is_tunnel = True
            self.send(_ESTABLISHED + server.early)
            return
        self.is_upgrading = head.is_upgrade and not head.body_bytes
        if route.via:
            server.send(head.absolute.replace(b"\r\n", b"\r\n" + route.via.field, 1))
        else:
            server.send(head.rewritten)

    def _refuse(self, status: str) -> None:
        """End the connection after something that is not a request; say why unless a server may be answering."""
        if self._place:
            self._buffer.clear()
            self.close()
        else:
            self._answer(status, last=True)

    def _answer(self, status: str, *, reason: str = "", last: bool = False) -> None:
        """Answer in the server's place, without a body that could be taken for content."""
        fields = [f"HTTP/1.1 {status}", "Content-Length: 0"]
        if reason:
            fields.append(f"Domsieve-Refused: {reason.encode('ascii', 'replace').decode()}")
        if last:
            fields.append("Connection: close")
        self.send("\r\n".join((*fields, "", "")).encode())
        if last:
            self._buffer.clear()
            self._body_bytes = 0
            self.close()
