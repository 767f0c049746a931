"""The heads of requests to the filtering proxy: parsed strictly, and rewritten for the server.

Heads that two programs could read differently are refused, so that no request hides in the body of another
(RFC 9112, 11.2).
"""

import re
from dataclasses import dataclass

_METHOD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]++):[ \t]*+([^\0\r\n]*+)")
_TARGET = re.compile(rb"[!-~]+")
_AUTHORITY = re.compile(rb"(\[[^\[\]/?#@]*\]|[^\[\]/?#@:]+)(?::([0-9]{0,5}))?")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_VERSIONS = (b"HTTP/1.1", b"HTTP/1.0")
_HTTP = b"http://"


class HeadError(ValueError):
    """A head is not a valid request to a proxy.

    Parameters
    ----------
    status : HTTP status and reason of the response.
    """

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a request.

    Parameters
    ----------
    host, port : the server, as spelled in the request.
    is_tunnel : whether it asks for a tunnel (CONNECT).
    is_upgrade : whether it asks to switch protocols.
    body_bytes : length of the body that follows.
    rewritten : the head to send to the server; empty for tunnels.
    absolute : the head to send to an upstream proxy; empty for tunnels.
    """

    host: str
    port: int
    is_tunnel: bool
    is_upgrade: bool
    body_bytes: int
    rewritten: bytes
    absolute: bytes


def parse_head(data: bytes) -> Head:
    """Parse the head of a request, given without the empty line at its end.

    Raises
    ------
    HeadError : it is not a valid head, or it is ambiguous.
    """
    line, *lines = data.split(b"\r\n")
    parts = line.split(b" ")
    if len(parts) != 3 or not _METHOD.fullmatch(parts[0]) or parts[2] not in _VERSIONS:
        raise HeadError("400 Bad Request")
    method, target, version = parts
    if not _TARGET.fullmatch(target):
        raise HeadError("400 Bad Request")
    fields = [_field(each) for each in lines]
    if method == b"CONNECT":
        host, port = _authority(target, None)
        return Head(host, port, True, False, 0, b"", b"")
    if target[: len(_HTTP)].lower() != _HTTP:
        raise HeadError("400 Bad Request")
    authority, path = _split(target[len(_HTTP) :])
    host, port = _authority(authority, 80)
    kept = [
        name + b": " + value
        for name, value in fields
        if name.lower() != b"host" and not name.lower().startswith(b"proxy-")
    ]
    rest = b"\r\n".join((b" " + version, b"Host: " + authority, *kept, b"", b""))
    rewritten = method + b" " + path + rest
    absolute = method + b" " + _HTTP + authority + path + rest
    names = {name.lower() for name, _ in fields}
    return Head(host, port, False, b"upgrade" in names, _body_bytes(fields), rewritten, absolute)


def _field(line: bytes) -> tuple[bytes, bytes]:
    match = _FIELD.fullmatch(line)
    if not match:
        raise HeadError("400 Bad Request")
    return match[1], match[2]


def _split(rest: bytes) -> tuple[bytes, bytes]:
    end = next((i for i, byte in enumerate(rest) if byte in b"/?#"), len(rest))
    path = rest[end:].partition(b"#")[0]
    return rest[:end], path if path.startswith(b"/") else b"/" + path


def _authority(text: bytes, default: int | None) -> tuple[str, int]:
    match = _AUTHORITY.fullmatch(text)
    if not match or (not match[2] and default is None):
        raise HeadError("400 Bad Request")
    return match[1].decode("ascii"), int(match[2]) if match[2] else default or 0


def _body_bytes(fields: list[tuple[bytes, bytes]]) -> int:
    lengths = [value.strip(b" \t") for name, value in fields if name.lower() == b"content-length"]
    if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)):
        raise HeadError("400 Bad Request")
    if any(name.lower() == b"transfer-encoding" for name, _ in fields):
        # Browsers send no chunked requests over HTTP/1, and two ways to tell the end of a body can contradict each
        # other.
        raise HeadError("400 Bad Request" if lengths else "501 Not Implemented")
    return int(lengths[0]) if lengths else 0
