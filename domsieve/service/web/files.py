"""Downloads, and the report as a document of its own. What a page gave us is never shown as ours."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, BinaryIO

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from domsieve.service.web.api import FileName, JobId, only_known
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.guard import with_policy
from domsieve.service.web.openapi import problems

# The report's own policy, in its head, allows its one script and style by their hashes; both policies hold.
# Without `allow-same-origin` the document has no origin: it can read neither cookies nor what the service has.
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPORT = "report.html"
_PIECE_BYTES = 65_536


def files(gateway: Gateway) -> APIRouter:
    """Return the route of the results of jobs."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(only_known)])

    @router.get(
        "/jobs/{job}/files/{name}",
        summary="Download a result",
        tags=["jobs"],
        response_class=Response,
        responses={
            200: {
                "content": {"*/*": {}},
                "description": "The file.",
            },
            **problems(401, 403, 404, 414, 421, 422, 429, 500, 503),
        },
    )
    async def file(
        request: Request,
        job: JobId,
        name: FileName,
        download: Annotated[bool, Query(description="whether the report is to be saved, not shown")] = False,
    ) -> Response:
        """Return a file. All but the report are for saving; that is shown in a sandbox."""
        client = request.state.client
        facts = await gateway.ask(gateway.store.file, job, client, name)
        kind = (await gateway.ask(gateway.store.get, job, client)).kind
        shown = kind == "report" and name == REPORT and not download
        headers = {
            "Content-Length": str(facts.size_bytes),
            "Content-Disposition": f'{"inline" if shown else "attachment"}; filename="{facts.name}"',
        }
        response: Response = (
            Response(media_type=facts.content_type, headers=headers)
            if request.state.head
            else Download(gateway, job, name, client=client, media_type=facts.content_type, headers=headers)
        )
        return with_policy(response, REPORT_POLICY) if shown else response

    return router


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
