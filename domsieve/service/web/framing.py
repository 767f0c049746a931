"""Where a request ends: heads that two programs could read in two ways are refused (RFC 9112, 11.2).

A server in front of the service may see one request where this one sees two, and the second would pass unchecked.
What `h11` refuses by itself is not looked for here: codings besides chunked, chunks whose sizes are no hexadecimal
digits or that do not end where they say.
"""

import re
from typing import Any

import h11

# Lines that end otherwise than by CRLF, or go on in the next one: some take them for part of the line before.
_ODD_LINES = re.compile(rb"(?<!\r)\n|\r(?!\n)|\n[ \t]")
_LENGTHS = re.compile(rb"^content-length:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_CODINGS = re.compile(rb"^transfer-encoding:", re.IGNORECASE | re.MULTILINE)
_LENGTH = re.compile(rb"[0-9]{1,18}")


class StrictConnection(h11.Connection):
    """The state of a connection of a server.

    Parameters
    ----------
    longest_head : bytes of a request's head. `h11` itself counts only what has not yet come whole.
    """

    def __init__(self, longest_head: int) -> None:
        super().__init__(h11.SERVER, longest_head)
        self._longest_head = longest_head

    def next_event(self) -> Any:
        """Return what comes next; see `h11.Connection`.

        Raises
        ------
        h11.RemoteProtocolError : it is no request, is too long, or could be read in two ways.
        """
        if self.their_state is not h11.IDLE:
            return super().next_event()
        before, _ = self.trailing_data
        event = super().next_event()
        if isinstance(event, h11.Request):
            after, _ = self.trailing_data
            head = before[: len(before) - len(after)]
            if len(head) > self._longest_head:
                raise h11.RemoteProtocolError("The head of the request is too long.")
            if _is_ambiguous(head, event.http_version):
                raise h11.RemoteProtocolError("The end of the request could be read in two ways.")
        return event


def _is_ambiguous(head: bytes, version: bytes) -> bool:
    lengths = [value.strip(b" \t") for value in _LENGTHS.findall(head)]
    codings = len(_CODINGS.findall(head))
    return (
        _ODD_LINES.search(head) is not None
        or len(lengths) > 1
        or not all(map(_LENGTH.fullmatch, lengths))
        or bool(codings and (lengths or version == b"1.0"))
    )
