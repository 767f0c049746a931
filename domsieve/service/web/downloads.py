"""How results are sent: the type that the Accept header asks for, downloads in chunks, and job events."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import BinaryIO

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from domsieve.analysis.writers.formats import PAGE_FORMATS
from domsieve.service.jobs.job_request import JobRequest
from domsieve.service.jobs.job_values import Event, Job, JobFile
from domsieve.service.jobs.requests import CleanRequest
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.problems import ProblemError

JSON = "application/json"
_TYPES: Mapping[str, str] = {
    name: entry.media_type.partition(";")[0] for name, entry in PAGE_FORMATS.items() if entry.is_prose
}
_FORMATS: Mapping[str, str] = {kind: form for form, kind in _TYPES.items()}
TEXTS = tuple(_FORMATS)
"""The media types of results that are sent as they are."""


def agreed(accept: str | None, offered: Sequence[str]) -> str:
    """Return the offered type that an Accept header prefers; the first one without a header.

    Of types with equal quality, the one that is named more exactly wins, and then the one that is named first.

    Raises
    ------
    ProblemError : no offered type is acceptable.
    """
    if accept is None or not accept.strip():
        return offered[0]
    ranges = [*map(_range, accept.split(","))]
    liked: list[tuple[float, int, int, int, str]] = []
    for place, kind in enumerate(offered):
        fits = [
            (exactness, -number, quality)
            for number, (pattern, quality) in enumerate(ranges)
            if (exactness := _exactness(pattern, kind))
        ]
        if fits:
            exactness, number, quality = max(fits)
            liked.append((quality, exactness, number, -place, kind))
    if not liked or max(liked)[0] <= 0:
        raise ProblemError(406, f"This result is available as {', '.join(offered)}.")
    return max(liked)[-1]


def _range(text: str) -> tuple[str, float]:
    """Return a media range and its quality; 0 for an invalid one."""
    pattern, *parameters = (part.strip().lower() for part in text.split(";"))
    quality = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            digits = value.strip().replace(".", "", 1)
            is_number = digits.isascii() and digits.isdigit() and len(digits) <= 4
            quality = min(float(value), 1.0) if is_number else 0.0
    return pattern, quality


def _exactness(pattern: str, kind: str) -> int:
    """Return how exactly a media range matches a type; 0 if it does not."""
    if pattern == kind:
        return 3
    if pattern == f"{kind.partition('/')[0]}/*":
        return 2
    return int(pattern == "*/*")


def offered_by(request: JobRequest) -> list[str]:
    """Return the media types for the result of a request; a given format is the only text among them."""
    if not isinstance(request, CleanRequest):
        return [JSON]
    if "format" in request.model_fields_set:
        return [JSON, *(_TYPES[form] for form in (request.format,) if form in _TYPES)]
    return [JSON, _TYPES["markdown"], _TYPES["text"]]


def in_format(request: JobRequest, kind: str) -> JobRequest:
    """Return the request with the format of the media type of its response."""
    if kind not in _FORMATS or "format" in request.model_fields_set:
        return request
    return request.model_copy(update={"format": _FORMATS[kind]})


def offered_of(job: Job) -> list[str]:
    """Return the media types for the result of a finished job."""
    kind = job.files[0].content_type.partition(";")[0].strip() if job.files else ""
    return [JSON, kind] if kind in _FORMATS and job.kind != "report" else [JSON]


_KEEP_ALIVE_S = 15.0


class EventStream(StreamingResponse):
    """The events of a job after a given one, until the job ends, the client leaves or the service stops."""

    def __init__(self, gateway: Gateway, job: str, *, client: str, after: int) -> None:
        super().__init__(
            event_stream(gateway, job, client=client, after=after),
            media_type="text/event-stream",
            headers={"X-Accel-Buffering": "no"},
        )
        self._streams, self._client = gateway.streams, client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events; they count as one of the streams of the client."""
        with self._streams.one(self._client):
            await super().__call__(scope, receive, send)


async def event_stream(
    gateway: Gateway, job: str, *, client: str, after: int, keep_alive_s: float = _KEEP_ALIVE_S
) -> AsyncIterator[str]:
    """Yield the events of a job as text, and a comment after every `keep_alive_s` seconds without one."""
    yield "retry: 2000\n\n"
    while True:
        seen = gateway.now()
        try:
            found = await gateway.ask(gateway.store.get, job, client)
            events = await gateway.ask(gateway.store.events, job, client, after=after)
        except ProblemError:
            return  # the job was deleted meanwhile
        for event in events:
            after = event.number
            yield _text(event)
        if found.has_ended or gateway.is_stopping:
            return
        if not await gateway.change(seen, seconds=keep_alive_s):
            yield ": still here\n\n"


def _text(event: Event) -> str:
    data = {"number": event.number, "at": event.at, "kind": event.kind, "data": dict(event.data)}
    return f"id: {event.number}\ndata: {json.dumps(data)}\n\n"


_PIECE_BYTES = 65_536


def headers_of(file: JobFile, *, shown: bool = False) -> dict[str, str]:
    """Return the headers of a file: its length, and whether to save it."""
    return {
        "Content-Length": str(file.size_bytes),
        "Content-Disposition": disposition(file.name, shown=shown),
    }


def disposition(name: str, *, shown: bool) -> str:
    """Return the header that says whether to show a file or to save it, under a name of plain ASCII."""
    return f'{"inline" if shown else "attachment"}; filename="{name}"'


class Download(StreamingResponse):
    """A file, read in chunks, so that a slow reader needs memory for one chunk only.

    Parameters
    ----------
    gateway : access to the results.
    open_file : opens the file; called in a thread.
    client : the owner, whose simultaneous downloads are limited.
    media_type, headers : of the response.
    """

    def __init__(
        self,
        gateway: Gateway,
        open_file: Callable[[], BinaryIO],
        *,
        client: str,
        media_type: str,
        headers: Mapping[str, str],
    ) -> None:
        super().__init__(self._pieces(), media_type=media_type, headers=headers)
        self._gateway, self._open_file, self._client = gateway, open_file, client
        self._opened: BinaryIO

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file; it counts as one of the downloads of the client."""
        with self._gateway.downloads.one(self._client):
            self._opened = await self._gateway.ask(self._open_file)
            with self._opened:
                await super().__call__(scope, receive, send)

    async def _pieces(self) -> AsyncIterator[bytes]:
        while piece := await asyncio.to_thread(self._opened.read, _PIECE_BYTES):
            yield piece
