"""HTTP exchanges: request and response as values, and the parsing of archived messages."""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from domsieve.archive.packed import decoded
from domsieve.budget import check
from domsieve.snapshot.cut import Cut

Fields = tuple[tuple[str, str], ...]
"""Headers as pairs of name and value, in their original order."""

Outcome = Literal["whole", "cut", "lost", "unanswered", "failed"]
"""How an exchange ended: with a complete body (may be empty), the beginning of a body, a body that the browser did
not hand out, without a response before the page was captured, or with a network error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An HTTP request and its response.

    Parameters
    ----------
    url : requested address, without fragment.
    method : HTTP method.
    kind : resource type in the browser's terms, such as ``"Document"`` or ``"Fetch"``.
    asked_at : UTC time of the request, ISO 8601 with milliseconds and ``Z``.
    request_headers, request_body : headers and body of the request.
    outcome : how the exchange ended, see `Outcome`.
    fault : the browser's error message, empty unless the exchange failed.
    status, reason : status line of the response; 0 and empty without a response.
    headers : headers of the response, as the server sent them.
    body : body of the response, without transfer and content codings.
    """

    url: str
    method: str
    kind: str
    asked_at: str
    request_headers: Fields = ()
    request_body: bytes = b""
    outcome: Outcome = "whole"
    fault: str = ""
    status: int = 0
    reason: str = ""
    headers: Fields = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """All exchanges of one page.

    Parameters
    ----------
    exchanges : in the order of the requests.
    missing : what could not be recorded, as pairs of name and number: web sockets, shared workers, …
    """

    exchanges: tuple[Exchange, ...] = ()
    missing: tuple[tuple[str, int], ...] = ()


_LONGEST_HEAD = 65_536
_MOST_LINES = 1_000
_MOST_HEADS = 5
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(r"HTTP/\d[.\d]{0,4} +(\d{3})(?: |$)")
_LONGEST_LENGTH = 15  # digits
_LONGEST_SIZE_LINE = 1_000
_SIZE = re.compile(rb"[ \t]{0,9}([0-9A-Fa-f]{1,15})[ \t]{0,9}(?:;[^\n]*)?\r?\n")
_MOST_CODINGS = 5
_CODED = frozenset({"content-encoding", "transfer-encoding", "content-length"})


class Head(NamedTuple):
    """Head of an HTTP response.

    Parameters
    ----------
    status : HTTP status.
    headers : by name in lower case; values of repeated headers are joined by commas.
    end : offset of the body in bytes.
    """

    status: int
    headers: dict[str, str]
    end: int


def head_of(content: bytes) -> Head | None:
    """Return the head of an HTTP response, or None if there is none; interim responses (1xx) are skipped."""
    start = 0
    for _ in range(_MOST_HEADS):
        blank = _BLANK_LINE.search(content, start, start + _LONGEST_HEAD)
        text = content[start : blank.start() if blank else start + _LONGEST_HEAD].decode("latin-1")
        first, *lines = text.split("\n")[:_MOST_LINES]
        status = _STATUS.match(first.rstrip("\r"))
        if status is None:
            return None
        start = blank.end() if blank else len(content)
        if not 100 <= int(status[1]) < 200:
            return Head(int(status[1]), _headers(lines), start)
    return None


def fields_of(head: bytes) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the reason phrase of a head, and its headers as pairs in their original order.

    Headers about codings are excluded, because bodies are stored without codings; so are their ``X-Orig-`` copies.
    """
    first, *lines = head.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")[:_MOST_LINES]
    fields = (line.partition(":") for line in lines if ":" in line and line[:1] not in {" ", "\t"})
    return (
        first.split(" ", 2)[2].strip() if first.count(" ") > 1 else "",
        tuple(
            (name.strip(), value.strip())
            for name, _, value in fields
            if name.strip().lower().removeprefix("x-orig-") not in _CODED
        ),
    )


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    name = ""
    for line in lines:
        text = line.rstrip("\r")
        if text[:1] in {" ", "\t"} and name:  # continues the previous line
            headers[name] += f" {text.strip()}"
            continue
        name, colon, value = text.partition(":")
        name = name.strip().lower() if colon else ""
        if name:
            headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
    return headers


def body_of(
    content: bytes,
    headers: dict[str, str],
    *,
    most_bytes: int,
    most_decoded_bytes: int | None = None,
    is_cut: bool,
) -> tuple[bytes, list[Cut]]:
    """Return the body of a response without codings, and the reasons why it is incomplete.

    Parameters
    ----------
    content : the bytes after the head.
    headers : headers of the response, see `Head`.
    most_bytes : maximum size of the body as stored; more is cut.
    most_decoded_bytes : maximum size after each content coding is undone; None for `most_bytes`.
    is_cut : the end of the body is known to be missing, which is not reported again.
    """
    cuts: list[Cut] = []
    if len(content) > most_bytes:
        content, is_cut = content[:most_bytes], True
        cuts.append(Cut("bytes", f"it holds more than {most_bytes:,} bytes"))
    codings = [name.strip().lower() for name in headers.get("content-encoding", "").split(",")]
    if "chunked" in headers.get("transfer-encoding", "").lower():
        content, more = dechunked(content)
    else:
        length = headers.get("content-length", "")
        is_number = length.isascii() and length.isdecimal() and len(length) <= _LONGEST_LENGTH
        short = is_number and len(content) < int(length) and not any(codings)
        more = [Cut("document", f"{len(content):,} of {int(length):,} bytes arrived")] if short else []
    cuts += [] if is_cut else more
    for coding in reversed(codings[:_MOST_CODINGS]):
        content, more = decoded(
            content, coding, most_bytes if most_decoded_bytes is None else most_decoded_bytes
        )
        cuts += [] if is_cut and all(cut.kind == "document" for cut in more) else more
    return content, cuts


def dechunked(content: bytes) -> tuple[bytes, list[Cut]]:
    """Return a chunked body without its chunk sizes, and the cuts if it is truncated; other bodies are unchanged."""
    parts: list[bytes] = []
    place = 0
    while True:
        check()
        size = _SIZE.match(content, place, place + _LONGEST_SIZE_LINE)
        if size is None:
            return (b"".join(parts), [_BROKEN]) if place else (content, [])
        start = size.end()
        end = start + int(size[1], 16)
        if end == start:
            return b"".join(parts), []
        parts.append(content[start:end])
        if end > len(content):
            return b"".join(parts), [_BROKEN]
        place = end + (2 if content.startswith(b"\r\n", end) else content.startswith(b"\n", end))


_BROKEN = Cut("document", "its chunks break off")
