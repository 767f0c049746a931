"""Results as they are sent: piece by piece. What a page gave us is for saving, and never shown as ours."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import BinaryIO

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from domsieve.service.jobs.values import JobFile
from domsieve.service.web.gateway import Gateway

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
