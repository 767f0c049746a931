"""Results as they are sent: downloads in chunks, and job events as server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import BinaryIO

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from domsieve.service.jobs.values import Event, JobFile
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.problems import ProblemError

_KEEP_ALIVE_S = 15.0


class EventStream(StreamingResponse):
    """The events of a job behind that of a number, until the job ends, the client goes or the service stops."""

    def __init__(self, gateway: Gateway, job: str, *, client: str, after: int) -> None:
        super().__init__(
            event_stream(gateway, job, client=client, after=after),
            media_type="text/event-stream",
            headers={"X-Accel-Buffering": "no"},
        )
        self._streams, self._client = gateway.streams, client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, as one of the client's streams."""
        with self._streams.one(self._client):
            await super().__call__(scope, receive, send)


async def event_stream(
    gateway: Gateway, job: str, *, client: str, after: int, keep_alive_s: float = _KEEP_ALIVE_S
) -> AsyncIterator[str]:
    """Yield the events of a job as text, and a comment where none comes for `keep_alive_s` seconds."""
    yield "retry: 2000\n\n"
    while True:
        seen = gateway.now()
        try:
            found = await gateway.ask(gateway.store.get, job, client)
            events = await gateway.ask(gateway.store.events, job, client, after=after)
        except ProblemError:
            return  # deleted meanwhile
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
    """Return what is said of a file that is sent: how long it is, and that it is to be saved."""
    return {
        "Content-Length": str(file.size_bytes),
        "Content-Disposition": f'{"inline" if shown else "attachment"}; filename="{file.name}"',
    }


class Download(StreamingResponse):
    """A result, read piece by piece as it is taken, so that a slow reader costs a piece of memory.

    Parameters
    ----------
    gateway : has the result.
    job, name : which one.
    client : whose it is, and who may fetch so many at the same time.
    media_type, headers : of the answer.
    """

    def __init__(
        self,
        gateway: Gateway,
        job: str,
        name: str,
        *,
        client: str,
        media_type: str,
        headers: Mapping[str, str],
    ) -> None:
        super().__init__(self._pieces(), media_type=media_type, headers=headers)
        self._gateway, self._job, self._name, self._client = gateway, job, name, client
        self._opened: BinaryIO

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the result, as one of the client's downloads."""
        with self._gateway.downloads.one(self._client):
            store = self._gateway.store
            _, self._opened = await self._gateway.ask(store.open, self._job, self._client, self._name)
            with self._opened:
                await super().__call__(scope, receive, send)

    async def _pieces(self) -> AsyncIterator[bytes]:
        while piece := await asyncio.to_thread(self._opened.read, _PIECE_BYTES):
            yield piece
