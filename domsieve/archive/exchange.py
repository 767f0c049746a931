"""What a page asked for and what it was answered, as values: what recorders hand to archives.

Imports nothing of the project.
"""

from dataclasses import dataclass
from typing import Literal

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
