"""HTTP exchanges: request and response as values, and the parsing of archived messages."""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from domsieve.archive.packed import decoded
from domsieve.budget import check
from domsieve.snapshot.cut import Cut

Fields = tuple[tuple[str, str], ...]
"""Headers by name and value, in their order."""

Outcome = Literal["whole", "cut", "lost", "unanswered", "failed"]
"""How an exchange ended: with a body, none among them; with the beginning of one; with one that the browser did not
hand out; without an answer when the page was captured; with an error of the network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and its answer.

    Parameters
    ----------
    url : asked for, without what stands behind ``#``.
    method : of HTTP.
    kind : the browser's name for what asked, such as ``"Document"`` or ``"Fetch"``.
    asked_at : UTC time, ISO 8601 with milliseconds and ``Z``.
    request_headers, request_body : what was sent.
    outcome : see `Outcome`.
    fault : why it failed, in the browser's words.
    status, reason : of the answer, 0 and empty without one.
    headers : of the answer, as its server gave them.
    body : of the answer, without transfer and content codings.
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
    """All that was asked for one page.

    Parameters
    ----------
    exchanges : in the order in which they were asked for.
    missing : what is not in them, by name with how often: web sockets, workers that several pages share, …
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
    """What an answer begins with.

    Parameters
    ----------
    status : of HTTP.
    headers : by their names in lower case; those of an equal name are joined by commas.
    end : bytes before the body.
    """

    status: int
    headers: dict[str, str]
    end: int


def head_of(content: bytes) -> Head | None:
    """Return the head of an answer, None where there is none; those of interim answers before it are passed over."""
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
    """Return the reason behind the status of a head, and its fields as they stand, those of equal names apart.

    Left out are the fields about codings, which are undone, and those that a recorder has put aside.
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
        if text[:1] in {" ", "\t"} and name:  # goes on from the line before
            headers[name] += f" {text.strip()}"
            continue
        name, colon, value = text.partition(":")
        name = name.strip().lower() if colon else ""
        if name:
            headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
    return headers


def body_of(
    content: bytes, headers: dict[str, str], *, most_bytes: int, is_cut: bool
) -> tuple[bytes, list[Cut]]:
    """Return the body of an answer without its codings, and why it is not whole.

    Parameters
    ----------
    content : what stands behind its head.
    headers : its headers.
    most_bytes : what it may hold, coded or not.
    is_cut : whether it is known that its end is missing, so that nothing more need be said of that.
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
        content, more = decoded(content, coding, most_bytes)
        cuts += [] if is_cut and all(cut.kind == "document" for cut in more) else more
    return content, cuts


def dechunked(content: bytes) -> tuple[bytes, list[Cut]]:
    """Return a body without the sizes of its chunks, and what was cut from it; as it is where it has none."""
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
