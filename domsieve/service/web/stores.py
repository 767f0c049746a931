"""API routes that follow sites, and that show, read and delete the stores of a client."""

from pathlib import PurePosixPath
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, Body, Depends, Path, Query, Request, Response

from domsieve.analysis.writers.formats import PAGE_FORMATS
from domsieve.service.jobs.sync_request import STORE_PATTERN, SyncRequest
from domsieve.service.web.api import CHANGES_POLICY, Key, accepted, only_known
from domsieve.service.web.downloads import Download, disposition
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.guard import with_policy
from domsieve.service.web.openapi import SYNC, problems
from domsieve.service.web.schemas import JobView, StoreList, StoreView, store_view_of
from domsieve.tasks.site_sync.change_log import PAGE

StoreName = Annotated[str, Path(pattern=STORE_PATTERN, max_length=64, description="name of a store")]
StoreFile = Annotated[
    str,
    Path(
        pattern=r"^[^\x00-\x1f\x7f]+$",
        max_length=1_000,
        description="path of a file in the store: of a page as `manifest.jsonl` says, `manifest.jsonl` itself, or "
        "`changes.jsonl`, `changes.html` and `changes.atom`",
    ),
]
_READ: dict[int | str, dict[str, Any]] = problems(401, 403, 404, 414, 421, 422, 429, 500, 503)
_TYPES = {entry.ending: entry.media_type for entry in PAGE_FORMATS.values()} | {
    ".html": "text/html; charset=utf-8",
    ".atom": "application/atom+xml",
}


def stores(gateway: Gateway) -> APIRouter:
    """Return the routes under ``/v1`` for stores."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(only_known)], tags=["stores"])
    known = gateway.store.stores

    @router.post(
        "/sync",
        summary="Follow a site",
        status_code=202,
        response_model=JobView,
        responses=problems(400, 401, 403, 404, 408, 409, 413, 414, 421, 422, 429, 500, 503),
    )
    async def sync(
        request: Request,
        asked: Annotated[SyncRequest, Body(openapi_examples=SYNC)],
        key: Key = None,
    ) -> Response:
        """Bring a store in step with its site, and return what changed. Returns the job at once.

        The first run on a store visits the site and keeps its pages; later ones load only what may have changed. A
        store is kept until it is deleted, and one run at a time uses it.
        """
        job = await gateway.add(asked, client=request.state.client, key=key)
        return accepted(job)

    @router.get("/stores", summary="List stores", responses=_READ)
    async def listed(request: Request) -> StoreList:
        """Return the stores of this client, by name."""
        found = await gateway.ask(known.list, request.state.client)
        return StoreList(stores=[store_view_of(store) for store in found])

    @router.get("/stores/{store}", summary="Show a store", responses=_READ)
    async def one(request: Request, store: StoreName) -> StoreView:
        """Return a store."""
        return store_view_of(await gateway.ask(known.get, store, request.state.client))

    @router.delete(
        "/stores/{store}",
        summary="Delete a store",
        status_code=204,
        response_class=Response,
        responses=problems(400, 401, 403, 404, 408, 409, 413, 414, 421, 422, 429, 500, 503),
    )
    async def delete(request: Request, store: StoreName) -> Response:
        """Delete a store with all its files. While a job uses it, this is refused."""
        await gateway.ask(known.delete, store, request.state.client)
        return Response(status_code=204)

    @router.get(
        "/stores/{store}/files/{file:path}",
        summary="Download a file of a store",
        response_class=Response,
        responses={200: {"content": {"*/*": {}}, "description": "The file."}, **_READ},
    )
    async def file(
        request: Request,
        store: StoreName,
        file: StoreFile,
        download: Annotated[
            bool, Query(description="whether the page of changes is to be saved, not shown")
        ] = False,
    ) -> Response:
        """Return a file of a store as it is now. The page of changes is shown in a sandbox, others are downloads."""
        client = request.state.client
        media_type = _TYPES.get(PurePosixPath(file).suffix, "application/octet-stream")
        is_shown = file == PAGE and not download
        # Without a length, because a run may replace the file before it is opened.
        headers = {"Content-Disposition": disposition(_plain(PurePosixPath(file).name), shown=is_shown)}

        def open_file() -> BinaryIO:
            return known.open(store, client, file)

        response: Response
        if request.state.head:
            (await gateway.ask(open_file)).close()
            response = Response(media_type=media_type, headers=headers)
        else:
            response = Download(gateway, open_file, client=client, media_type=media_type, headers=headers)
        return with_policy(response, CHANGES_POLICY) if is_shown else response

    return router


def _plain(name: str) -> str:
    """Return a name for a header, which takes ASCII without quotes."""
    kept = frozenset("-._")
    return "".join(one if one.isascii() and (one.isalnum() or one in kept) else "_" for one in name)
