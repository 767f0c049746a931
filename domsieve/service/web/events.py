"""What happens to a job as server-sent events. The store is read again after each change, so none is lost."""

import json
from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from domsieve.service.jobs.values import Event
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
