"""One kept HTTP/1.1 connection to a server through the filtering proxy, with limits on all that a server sends."""

import asyncio
import re
import ssl
from dataclasses import dataclass, field
from typing import Self

from domsieve.archive.http_exchange import Fields, fields_of, head_of
from domsieve.archive.packed import decoded
from domsieve.errors import NavigationError
from domsieve.renderer.fetching.request_address import RequestAddress
from domsieve.snapshot.cut import Cut

_HEAD_BYTES = 262_144
_HEAD_LINES = 1_000
_MOST_CODINGS = 5
_INTERIM = 5
_AT_ONCE = 65_536
_LENGTH = re.compile(r"[0-9]{1,15}")
_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")
_NO_BODY = (204, 304)
_BROKEN = "net::ERR_INVALID_HTTP_RESPONSE"
_EMPTY = "net::ERR_EMPTY_RESPONSE"


class ClosedError(Exception):
    """A kept connection was closed before a response began, so the request may be sent again."""


@dataclass(slots=True)
class Response:
    """A response as far as it has arrived; a caller whose time is over can use what is there.

    Parameters
    ----------
    status : HTTP status, 0 before a head has arrived.
    headers : by name in lower case; repeated ones are joined by commas.
    fields : the same, as pairs in their order.
    body : the parts of the body, with content codings.
    size : number of bytes in `body`.
    is_whole : whether the body is complete.
    is_too_long : whether the body was cut at the limit of bytes.
    """

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    fields: Fields = ()
    body: list[bytes] = field(default_factory=list)
    size: int = 0
    is_whole: bool = False
    is_too_long: bool = False

    def decoded(self, most_bytes: int) -> tuple[bytes, list[Cut]]:
        """Return the body without content codings, at most `most_bytes` after each of them."""
        body = b"".join(self.body)
        cuts: list[Cut] = []
        codings = [name.strip().lower() for name in self.headers.get("content-encoding", "").split(",")]
        for coding in reversed(codings[:_MOST_CODINGS]):
            body, more = decoded(body, coding, most_bytes)
            cuts += more
        return body, cuts


class Connection:
    """A connection to one scheme, host and port; use `open`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, prefix: str) -> None:
        self._reader, self._writer = reader, writer
        self._prefix = prefix
        self._is_used = False
        self.is_kept = False  # whether the connection can take another request

    @classmethod
    async def open(cls, address: RequestAddress, proxy_port: int, tls: ssl.SSLContext) -> Self:
        """Open a connection through the proxy on a port of this machine.

        Raises
        ------
        NavigationError : the proxy gives no tunnel, or the server has no valid certificate.
        """
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy_port, limit=_HEAD_BYTES)
        connection = cls(reader, writer, "" if address.scheme == "https" else f"http://{address.authority}")
        try:
            if address.scheme == "https":
                await connection._secure(address, tls)
        except BaseException:
            connection.close()
            raise
        return connection

    async def _secure(self, address: RequestAddress, tls: ssl.SSLContext) -> None:
        self._writer.write(
            f"CONNECT {address.place} HTTP/1.1\r\nHost: {address.place}\r\n\r\n".encode("ascii")
        )
        try:
            head = head_of(await self._head())
            if head is None or head.status != 200:
                raise NavigationError("net::ERR_TUNNEL_CONNECTION_FAILED", retry=True)
            await self._writer.start_tls(tls, server_hostname=address.host)
        except ssl.SSLCertVerificationError as error:
            raise NavigationError(f"net::ERR_CERT_INVALID ({error.verify_message})") from error
        except (ssl.SSLError, ConnectionError) as error:
            raise NavigationError("net::ERR_SSL_PROTOCOL_ERROR", retry=True) from error
        except ClosedError as error:
            raise NavigationError("net::ERR_TUNNEL_CONNECTION_FAILED", retry=True) from error

    def close(self) -> None:
        """Close the connection at once."""
        self.is_kept = False
        self._writer.transport.abort()

    async def get(
        self, address: RequestAddress, headers: Fields, response: Response, *, most_bytes: int
    ) -> None:
        """Send a GET request, and fill `response` as the answer arrives.

        Parameters
        ----------
        headers : all headers except Host, with names and values of Latin-1 characters.
        most_bytes : maximum size of the body; the rest is not read.

        Raises
        ------
        ClosedError : a kept connection was closed in the meantime.
        NavigationError : the server sends no HTTP response.
        """
        is_again, self._is_used, self.is_kept = self._is_used, True, False
        lines = [
            f"GET {self._prefix}{address.target} HTTP/1.1",
            f"Host: {address.authority}",
            *(f"{name}: {value}" for name, value in headers),
        ]
        try:
            self._writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
            raw = await self._response_head()
        except (ClosedError, ConnectionError) as error:
            if is_again:
                raise ClosedError from error
            raise NavigationError(_EMPTY, retry=True) from error
        head = head_of(raw)
        if head is None:
            raise NavigationError(_BROKEN)
        response.status, response.headers, response.fields = head.status, head.headers, fields_of(raw)[1]
        try:
            await self._body(response, most_bytes)
        except (ClosedError, ConnectionError, ValueError):
            return  # what arrived is used, and counts as incomplete
        is_closing = "close" in head.headers.get("connection", "").lower() or raw.startswith(b"HTTP/1.0")
        self.is_kept = response.is_whole and not is_closing and self._has_end(response)

    async def _response_head(self) -> bytes:
        for _ in range(_INTERIM):
            raw = await self._head()
            # Interim responses, such as 103, come before the response.
            if not raw.startswith((b"HTTP/1.1 1", b"HTTP/1.0 1")):
                return raw
        raise NavigationError(_BROKEN)

    async def _head(self) -> bytes:
        """Return the next head with the empty line at its end."""
        lines: list[bytes] = []
        size = 0
        while len(lines) < _HEAD_LINES and size < _HEAD_BYTES:
            try:
                line = await self._reader.readline()
            except ValueError as error:
                raise NavigationError("net::ERR_RESPONSE_HEADERS_TOO_BIG") from error
            if not line.endswith(b"\n"):
                if not lines:
                    raise ClosedError
                raise NavigationError(_BROKEN, retry=True)
            lines.append(line)
            size += len(line)
            if len(lines) == 1 and not line.startswith(b"HTTP/"):
                raise NavigationError(_BROKEN)
            if line in (b"\r\n", b"\n"):
                return b"".join(lines)
        raise NavigationError("net::ERR_RESPONSE_HEADERS_TOO_BIG")

    @staticmethod
    def _has_end(response: Response) -> bool:
        """Return whether the response says where it ends, so that another one may follow."""
        names = response.headers
        return response.status in _NO_BODY or "transfer-encoding" in names or "content-length" in names

    async def _body(self, response: Response, most_bytes: int) -> None:
        if response.status in _NO_BODY:
            response.is_whole = True
        elif "chunked" in response.headers.get("transfer-encoding", "").lower():
            await self._chunks(response, most_bytes)
        else:
            length = response.headers.get("content-length", "").partition(",")[0].strip()
            is_number = _LENGTH.fullmatch(length)
            await self._take(response, int(length) if is_number else None, most_bytes)
            response.is_whole = not response.is_too_long

    async def _chunks(self, response: Response, most_bytes: int) -> None:
        while not response.is_too_long:
            size = _SIZE.match(await self._reader.readline())
            if size is None:
                raise ValueError("not a chunk")
            length = int(size[0], 16)
            if not length:
                for _ in range(_HEAD_LINES):  # trailers
                    if await self._reader.readline() in (b"\r\n", b"\n", b""):
                        break
                response.is_whole = True
                return
            await self._take(response, length, most_bytes)
            if not response.is_too_long:
                await self._reader.readline()

    async def _take(self, response: Response, length: int | None, most_bytes: int) -> None:
        """Read bytes of the body, up to its end if the length is None.

        Raises
        ------
        ClosedError : the connection was closed before `length` bytes arrived.
        """
        left = length
        while left is None or left > 0:
            wanted = _AT_ONCE if left is None else min(left, _AT_ONCE)
            part = await self._reader.read(wanted)
            if not part:
                if left is None:
                    return
                raise ClosedError
            left = None if left is None else left - len(part)
            room = most_bytes - response.size
            response.body.append(part[:room])
            response.size += min(len(part), room)
            if len(part) > room:
                response.is_too_long = True
                return
