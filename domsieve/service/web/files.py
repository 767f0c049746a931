"""Downloads, and the report as a document of its own. What a page gave us is never shown as ours."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from domsieve.service.web.api import FileName, JobId, only_known
from domsieve.service.web.downloads import Download, headers_of
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
        headers = headers_of(facts, shown=shown)
        response: Response = (
            Response(media_type=facts.content_type, headers=headers)
            if request.state.head
            else Download(gateway, job, name, client=client, media_type=facts.content_type, headers=headers)
        )
        return with_policy(response, REPORT_POLICY) if shown else response

    return router
