"""The web page: a form, jobs, a job and the cache, made here from templates. Captured text is only ever text."""

import json
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from domsieve.service.jobs.values import STATES, Job
from domsieve.service.web.files import REPORT
from domsieve.service.web.forms import (
    CHOICES,
    DEFAULTS,
    KIND_FIELDS,
    KINDS,
    FormError,
    read_form,
    request_from,
)
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.guard import PAGE_POLICY, with_policy
from domsieve.service.web.labels import (
    KIND_NAMES,
    event_line,
    facts_of,
    page_count,
    remarks_of,
    short_time,
    size,
    verdict_of,
)
from domsieve.service.web.problems import ProblemError
from domsieve.service.web.schemas import text_file
from domsieve.service.web.sessions import Sessions
from domsieve.service.web.settings import client_of

_NEWEST, _PART, _EVENTS = 8, 30, 200
_SHOWN_BYTES = 200_000
_INDEX = "pages.json"


def html_pages(gateway: Gateway, sessions: Sessions) -> APIRouter:
    """Return the routes of the web page.

    Parameters
    ----------
    gateway : leads to the jobs.
    sessions : those who have signed in.
    """
    router = APIRouter(include_in_schema=False)
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(when=short_time, size=size)
    templates.globals.update(
        kinds=KINDS, kind_fields=KIND_FIELDS, choices=CHOICES, kind_names=KIND_NAMES, states=STATES
    )

    def show(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
        common = {
            "client": getattr(request.state, "client", None),
            "has_tokens": bool(gateway.settings.tokens),
            "here": request.url.path,
        }
        text = templates.get_template(template).render(**common, **values)
        return with_policy(HTMLResponse(text, status_code=status), PAGE_POLICY)

    def failed(request: Request, error: ProblemError) -> Response:
        response = show(request, "error.html", status=error.problem.status, problem=error.problem)
        response.headers.update(error.headers)
        return response

    async def start(
        request: Request, fields: dict[str, str], *, error: str = "", status: int = 200
    ) -> Response:
        newest = await gateway.ask(gateway.store.list, request.state.client, limit=_NEWEST)
        values = {**DEFAULTS, **{name: text for name, text in fields.items() if name in DEFAULTS}}
        return show(request, "start.html", status=status, values=values, error=error, jobs=newest)

    @router.get("/")
    async def form(request: Request) -> Response:
        """Show the form and the newest jobs. An address may be given, for bookmarks."""
        asked = {name: text for name, text in request.query_params.items() if name in {"url", "kind"}}
        return await start(request, asked)

    @router.post("/")
    async def submit(request: Request) -> Response:
        """Make a job of the form and lead to it."""
        fields: dict[str, str] = {}
        try:
            fields = read_form(await request.body())
            job = await gateway.add(request_from(fields), client=request.state.client, key=None)
        except FormError as error:
            return await start(request, fields, error=str(error), status=422)
        except ProblemError as error:
            response = await start(request, fields, error=error.problem.detail, status=error.problem.status)
            response.headers.update(error.headers)
            return response
        return _to(f"/jobs/{job.id}")

    @router.get("/jobs")
    async def jobs(request: Request) -> Response:
        """List jobs, a part at a time."""
        state = next((known for known in STATES if known == request.query_params.get("state")), None)
        try:
            found = await gateway.ask(
                gateway.store.list,
                request.state.client,
                state=state,
                before=request.query_params.get("before"),
                limit=_PART + 1,
            )
        except ProblemError as error:
            return failed(request, error)
        return show(request, "jobs.html", jobs=found[:_PART], more=len(found) > _PART, state=state)

    @router.get("/jobs/{job}")
    async def one(request: Request, job: str) -> Response:
        """Show a job: how far it is, or what came out."""
        client = request.state.client
        try:
            found = await gateway.ask(gateway.store.get, job, client)
            events = await gateway.ask(gateway.store.events, job, client)
            text, is_cut = await _text(gateway, found)
            index = await _index(gateway, found)
        except ProblemError as error:
            return failed(request, error)
        lines = [line for line in map(event_line, events) if line is not None]
        return show(
            request,
            "job.html",
            job=found,
            count=page_count(found),
            lines=lines[-_EVENTS:],
            text=text,
            is_cut=is_cut,
            facts=facts_of({**(found.summary or {}), **index}, url=str(found.request["url"])),
            verdict=verdict_of(found),
            remarks=remarks_of(found),
            report=next(
                (file for file in found.files if found.kind == "report" and file.name == REPORT), None
            ),
        )

    @router.post("/jobs/{job}/cancel")
    async def cancel(request: Request, job: str) -> Response:
        """Cancel a job."""
        try:
            await gateway.ask(gateway.store.cancel, job, request.state.client)
        except ProblemError as error:
            return failed(request, error)
        return _to(f"/jobs/{job}")

    @router.post("/jobs/{job}/delete")
    async def delete(request: Request, job: str) -> Response:
        """Delete a job."""
        try:
            await gateway.ask(gateway.store.delete, job, request.state.client)
        except ProblemError as error:
            return failed(request, error)
        return _to("/jobs")

    @router.get("/cache")
    async def cache(request: Request) -> Response:
        """List captures, a part at a time."""
        asked = request.query_params.get("before", "")
        before = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 16 else None
        found = await gateway.ask(gateway.store.pages, request.state.client, before=before, limit=_PART + 1)
        return show(request, "cache.html", pages=found[:_PART], more=len(found) > _PART)

    @router.get("/login")
    async def login(request: Request) -> Response:
        """Ask for a token."""
        return show(request, "login.html", error="") if gateway.settings.tokens else _to("/")

    @router.post("/login")
    async def enter(request: Request) -> Response:
        """Give a cookie for a token."""
        try:
            token = read_form(await request.body()).get("token", "").strip()
        except FormError:
            token = ""
        client = client_of(token, gateway.settings.tokens)
        if client is None:
            return show(request, "login.html", status=401, error="This service does not know that token.")
        response = _to("/")
        sessions.open(response, client, headers=request.headers, scheme=request.url.scheme)
        return response

    @router.post("/logout")
    async def leave(request: Request) -> Response:
        """End the session."""
        response = _to("/login")
        sessions.close(response, headers=request.headers, scheme=request.url.scheme)
        return response

    return router


async def _text(gateway: Gateway, job: Job) -> tuple[str | None, bool]:
    """Return the result to be shown as text, and whether its end is left out."""
    file = text_file(job)
    if file is None:
        return None, False
    data = await gateway.ask(gateway.store.read, job.id, job.client, file.name)
    return data[:_SHOWN_BYTES].decode("utf-8", "ignore"), len(data) > _SHOWN_BYTES


async def _index(gateway: Gateway, job: Job) -> dict[str, Any]:
    """Return the list of the pages of a site job."""
    if not any(file.name == _INDEX for file in job.files):
        return {}
    data = await gateway.ask(gateway.store.read, job.id, job.client, _INDEX)
    index: dict[str, Any] = json.loads(data)
    return {"pages": index.get("pages"), "failed": index.get("failed")}


def _to(path: str) -> Response:
    """Lead the browser on, so that loading the page again does not send the form again."""
    return RedirectResponse(path, status_code=303)
