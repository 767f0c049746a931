"""The web pages: the form, the list of jobs, a job, and the cache. Captured text is always escaped."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from domsieve.errors import UsageError
from domsieve.service.jobs.field_requests import MODEL_FILE, PAGE_FILE
from domsieve.service.jobs.job_values import OF_SITES, STATES, Job
from domsieve.service.jobs.requests import request_of
from domsieve.service.web.api import DOCUMENT_POLICIES
from domsieve.service.web.forms import (
    DEFAULTS,
    FIELD_FIELDS,
    KIND_FIELDS,
    KINDS,
    RENDERING_FIELDS,
    SCOPE_FIELDS,
    FormError,
    choices_of,
    fields_from,
    read_form,
    request_from,
)
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.guard import PAGE_POLICY, with_policy
from domsieve.service.web.labels import (
    KIND_NAMES,
    about_of,
    confidence_of,
    event_line,
    facts_of,
    judged_of,
    page_count,
    remarks_of,
    short_time,
    size,
    verdict_of,
)
from domsieve.service.web.openapi import reference
from domsieve.service.web.problems import Problem, ProblemError, explanation_of
from domsieve.service.web.sessions import Sessions
from domsieve.service.web.settings import client_of
from domsieve.service.web.shown_records import PICTURES_POLICY, record_number
from domsieve.service.web.shown_results import (
    PREVIEW_POLICY,
    SitePage,
    preview,
    shown_page,
    shown_result,
    site_index,
)
from domsieve.service.web.teaching import TAUGHT_ROWS, learning_from

_NEWEST, _PART, _EVENTS = 8, 30, 200
_NUMBER_DIGITS = 6
_NO_PAGE = "There is no such page of this job."
# States of jobs that can be repeated.
_UNDONE = frozenset({"failed", "cancelled"})


class Pages:
    """Renders the templates.

    Parameters
    ----------
    has_tokens : whether users sign in.
    """

    def __init__(self, *, has_tokens: bool) -> None:
        self._has_tokens = has_tokens
        self._templates = Environment(
            loader=FileSystemLoader(Path(__file__).parent / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(when=short_time, size=size)
        self._templates.globals.update(
            kinds=KINDS,
            kind_fields=KIND_FIELDS,
            field_fields=FIELD_FIELDS,
            rendering_fields=RENDERING_FIELDS,
            scope_fields=SCOPE_FIELDS,
            kind_names=KIND_NAMES,
            of_sites=OF_SITES,
            states=STATES,
            taught_rows=TAUGHT_ROWS,
        )

    def show(self, request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
        """Render a page."""
        common = {
            "client": getattr(request.state, "client", None),
            "has_tokens": self._has_tokens,
            "here": request.url.path,
        }
        text = self._templates.get_template(template).render(**common, **values)
        return with_policy(HTMLResponse(text, status_code=status), PAGE_POLICY)

    def failed(self, request: Request, problem: Problem) -> Response:
        """Return an error page."""
        return self.show(request, "error.html", status=problem.status, problem=problem)


def html_pages(
    gateway: Gateway, sessions: Sessions, pages: Pages, described: Callable[[], dict[str, Any]]
) -> APIRouter:
    """Return the routes of the web pages.

    Parameters
    ----------
    gateway : access to the jobs.
    sessions : the sessions of users who signed in.
    pages : renders the templates.
    described : returns the description of the API.
    """
    router = APIRouter(include_in_schema=False)
    show = pages.show
    previewing = asyncio.Lock()

    def failed(request: Request, error: ProblemError) -> Response:
        response = pages.failed(request, error.problem)
        response.headers.update(error.headers)
        return response

    async def start(
        request: Request, fields: dict[str, str], *, error: str = "", wrong: str = "", status: int = 200
    ) -> Response:
        newest = await gateway.ask(gateway.store.list, request.state.client, limit=_NEWEST)
        values = {**DEFAULTS, **{name: text for name, text in fields.items() if name in DEFAULTS}}
        return show(
            request,
            "start.html",
            status=status,
            values=values,
            choices=choices_of(values),
            error=error,
            wrong=wrong,
            jobs=newest,
        )

    @router.get("/")
    async def form(request: Request) -> Response:
        """Show the newest jobs and the form, filled in from the URL or from a job."""
        asked = {name: text for name, text in request.query_params.items() if name in DEFAULTS}
        if learned := request.query_params.get("learned"):
            try:
                job = await gateway.ask(gateway.store.get, learned, request.state.client)
                model = await gateway.ask(gateway.store.read, job.id, job.client, MODEL_FILE)
            except ProblemError as error:
                return failed(request, error)
            asked |= {"kind": "fields", "url": str(job.request["url"]), "fields_model": model.decode()}
        if again := request.query_params.get("again"):
            try:
                job = await gateway.ask(gateway.store.get, again, request.state.client)
            except ProblemError as error:
                return failed(request, error)
            asked = fields_from(job.kind, job.request)
        return await start(request, asked)

    @router.post("/")
    async def submit(request: Request) -> Response:
        """Create a job from the form and redirect to it."""
        fields: dict[str, str] = {}
        try:
            fields = read_form(await request.body())
            job = await gateway.add(request_from(fields), client=request.state.client, key=None)
        except FormError as error:
            return await start(request, fields, error=str(error), wrong=error.field, status=422)
        except ProblemError as error:
            response = await start(request, fields, error=error.problem.detail, status=error.problem.status)
            response.headers.update(error.headers)
            return response
        return _to(f"/jobs/{job.id}")

    @router.get("/jobs")
    async def jobs(request: Request) -> Response:
        """List jobs, page by page."""
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
        """Show the progress or the result of a job."""
        client = request.state.client
        try:
            found = await gateway.ask(gateway.store.get, job, client)
            events = await gateway.ask(gateway.store.events, job, client)
            first = record_number(request.query_params.get("from"))
            result = await shown_result(gateway, found, first=first)
            index = await site_index(gateway, found)
        except ProblemError as error:
            return failed(request, error)
        lines = [line for line in map(event_line, events) if line is not None]
        summary = found.summary or {}
        pictures = request.query_params.get("pictures") == "1"
        page = show(
            request,
            "job.html",
            job=found,
            count=page_count(found),
            lines=lines[-_EVENTS:],
            result=result,
            index=index,
            about=about_of(summary.get("metadata")),
            confidence=confidence_of(summary),
            judged=judged_of(summary),
            captured_at=summary.get("captured_at"),
            facts=facts_of(summary, url=str(found.request["url"])),
            explanation=explanation_of(found.problem) if found.problem else None,
            verdict=verdict_of(found),
            remarks=remarks_of(found),
            can_retry=found.state in _UNDONE,
            may_work=found.problem is None or bool(found.problem.get("retry")),
            can_ask_again=bool(fields_from(found.kind, found.request)),
            report=next(
                (
                    file
                    for file in found.files
                    if (found.kind, file.name) in DOCUMENT_POLICIES and file.name != PAGE_FILE
                ),
                None,
            ),
            taught=any(file.name == PAGE_FILE for file in found.files),
            pictures=pictures,
        )
        has_pictures = result.records is not None and result.records.has_pictures
        return with_policy(page, PICTURES_POLICY) if pictures and has_pictures else page

    async def page_of(job: str, client: str, number: str) -> tuple[Job, list[SitePage], SitePage]:
        found = await gateway.ask(gateway.store.get, job, client)
        listed = list((await site_index(gateway, found)).pages)
        is_number = number.isascii() and number.isdecimal() and len(number) <= _NUMBER_DIGITS
        if not is_number or not 0 < int(number) <= len(listed):
            raise ProblemError(404, _NO_PAGE)
        return found, listed, listed[int(number) - 1]

    @router.get("/jobs/{job}/pages/{number}")
    async def page(request: Request, job: str, number: str) -> Response:
        """Show the result of one page of a site."""
        try:
            found, listed, one = await page_of(job, request.state.client, number)
            result = await shown_page(gateway, found, one)
        except ProblemError as error:
            return failed(request, error)
        return show(request, "site_page.html", job=found, page=one, last=len(listed), result=result)

    @router.get("/jobs/{job}/preview")
    @router.get("/jobs/{job}/pages/{number}/preview")
    async def show_preview(request: Request, job: str) -> Response:
        """Show the rendered Markdown of a job, or of one page of a site, in a document without any rights."""
        client, number = request.state.client, request.path_params.get("number")
        try:
            if number is None:
                result = await shown_result(gateway, await gateway.ask(gateway.store.get, job, client))
            else:
                found, _, one = await page_of(job, client, number)
                result = await shown_page(gateway, found, one)
            if not result.is_markdown or result.text is None:
                raise ProblemError(404, "This result has no preview.")
        except ProblemError as error:
            return failed(request, error)
        # One at a time, because a hostile page takes seconds and other requests must not wait.
        async with previewing:
            text = await asyncio.to_thread(preview, result.text)
        response = with_policy(HTMLResponse(text), PREVIEW_POLICY)
        response.headers["X-Frame-Options"] = "SAMEORIGIN"
        return response

    @router.post("/jobs/{job}/teach")
    async def teach(request: Request, job: str) -> Response:
        """Learn the fields whose values were clicked on the page of a job, and redirect to the new job."""
        client = request.state.client
        try:
            found = await gateway.ask(gateway.store.get, job, client)
            asked = await asyncio.to_thread(learning_from, read_form(await request.body()), found.request)
            made = await gateway.add(asked, client=client, key=None)
        except FormError as error:
            return failed(request, ProblemError(422, str(error)))
        except ProblemError as error:
            return failed(request, error)
        return _to(f"/jobs/{made.id}")

    @router.post("/jobs/{job}/retry")
    async def retry(request: Request, job: str) -> Response:
        """Repeat a failed or cancelled job, and redirect to the new one."""
        client = request.state.client
        try:
            found = await gateway.ask(gateway.store.get, job, client)
            if found.state not in _UNDONE:
                raise ProblemError(409, "Only jobs that failed or were cancelled are tried again.")
            try:
                asked = await asyncio.to_thread(partial(request_of, found.kind, dict(found.request)))
            except UsageError as error:
                raise ProblemError(409, error.message) from error
            made = await gateway.add(asked, client=client, key=None)
        except ProblemError as error:
            return failed(request, error)
        return _to(f"/jobs/{made.id}")

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
        """List captures, page by page."""
        asked = request.query_params.get("before", "")
        before = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 16 else None
        found = await gateway.ask(gateway.store.pages, request.state.client, before=before, limit=_PART + 1)
        return show(request, "cache.html", pages=found[:_PART], more=len(found) > _PART)

    @router.get("/docs")
    async def docs(request: Request) -> Response:
        """Show the description of the API, made from its OpenAPI document, without scripts."""
        return show(request, "docs.html", api=reference(described()))

    @router.get("/login")
    async def login(request: Request) -> Response:
        """Ask for a token."""
        return show(request, "login.html", error="") if gateway.settings.tokens else _to("/")

    @router.post("/login")
    async def enter(request: Request) -> Response:
        """Exchange a token for a cookie."""
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


def _to(path: str) -> Response:
    """Redirect the browser, so that reloading the page does not send the form again."""
    return RedirectResponse(path, status_code=303)
