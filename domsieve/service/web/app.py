"""The ASGI application: routes, checks before them, and error responses."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.routing import Match

from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import Overload
from domsieve.service.jobs.request_fields import wrong_form
from domsieve.service.web.api import api, files, only_known
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.guard import Guard
from domsieve.service.web.html_pages import Pages, html_pages
from domsieve.service.web.load_shedding import Held, Requests
from domsieve.service.web.metrics import METRICS_TYPE, Figures, Traffic
from domsieve.service.web.openapi import describe, problems
from domsieve.service.web.problems import Invalid, ProblemError, problem_response
from domsieve.service.web.schemas import Health
from domsieve.service.web.sessions import Sessions
from domsieve.service.web.settings import Settings
from domsieve.service.web.stores import stores

_STATIC = Path(__file__).parent / "static"
_ERRORS_TOLD = 20
_OF_PROGRAMS = ("/v1/", "/metrics", "/static/")
# Health needs no token, but metrics read all jobs.
_HELD_S = 1.0


def create_app(
    settings: Settings,
    store: JobStore,
    *,
    figures: Callable[[], Figures] = Figures,
    is_well: Callable[[], bool] = lambda: True,
    watched: Callable[[], object] | None = None,
    overload: Callable[[], Overload | None] = lambda: None,
) -> FastAPI:
    """Return the application.

    Parameters
    ----------
    settings : the settings of the service.
    store : the jobs, from which workers take them.
    figures : returns the metrics of the workers; those of the jobs are added here.
    is_well : returns whether the workers can work; called in a thread.
    watched : returns a value that changes whenever the store changes; None means that of the store itself, which
        waits for writers of this process.
    overload : returns why the machine is too busy for another job; None if it is not.
    """
    gateway = Gateway(settings, store, version=watched or store.database.version, overload=overload)
    sessions = Sessions(settings.tokens)
    traffic = Traffic(Held(lambda: _with_jobs(figures(), gateway), seconds=_HELD_S))
    can_work = Held(lambda: bool(store.counts()) and is_well(), seconds=_HELD_S)
    app = FastAPI(title="domsieve", docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.gateway = gateway
    app.include_router(api(gateway))
    app.include_router(files(gateway))
    app.include_router(stores(gateway))
    document: dict[str, Any] = {}

    def described() -> dict[str, Any]:
        if not document:
            document.update(describe(app, version=_version(), tokens=bool(settings.tokens)))
        return document

    app.openapi = described  # type: ignore[method-assign]
    pages = Pages(has_tokens=bool(settings.tokens))
    app.include_router(html_pages(gateway, sessions, pages, described))
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")

    @app.get(
        "/v1/health",
        summary="Is the service well?",
        tags=["service"],
        dependencies=[Depends(only_known)],
        responses={
            503: {"model": Health, "description": "It is not: its workers or its store do not work."},
            **problems(403, 421, 422, 500),
        },
    )
    def health(response: Response) -> Health:
        """Return whether jobs are accepted and processed. Needs no token."""
        if can_work() and not gateway.is_stopping:
            return Health(status="ok")
        response.status_code = 503
        return Health(status="failing")

    @app.get(
        "/metrics",
        summary="Metrics",
        tags=["service"],
        response_class=Response,
        dependencies=[Depends(only_known)],
        responses={
            200: {"content": {METRICS_TYPE: {"schema": {"type": "string"}}}},
            **problems(401, 403, 421, 422, 429, 500),
        },
    )
    def metrics() -> Response:
        """Return metrics in the text format of Prometheus."""
        return Response(traffic.text(), media_type=METRICS_TYPE)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        problem = ProblemError(error.status_code, _sentence(error)).problem
        headers = dict(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(
                _methods_at(app, request)
            )  # the framework lists only those of one route
        if _shows_pages(request):
            page = pages.failed(request, problem)
            page.headers.update(headers)
            return page
        return problem_response(problem, headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        errors = [_invalid(one) for one in error.errors()[:_ERRORS_TOLD]]
        refusal = ProblemError(422, "; ".join(f"{one.where}: {one.what}" for one in errors), errors=errors)
        return problem_response(refusal.problem)

    app.add_middleware(
        Guard,
        settings=settings,
        sessions=sessions,
        requests=Requests(settings.requests_per_minute),
        traffic=traffic,
    )
    return app


def _shows_pages(request: Request) -> bool:
    """Return whether a browser asks, which gets errors as HTML pages."""
    return not request.url.path.startswith(_OF_PROGRAMS) and "text/html" in request.headers.get("accept", "")


def _with_jobs(figures: Figures, gateway: Gateway) -> Figures:
    store = gateway.store
    oldest = store.oldest_queued()
    waited = 0.0 if oldest is None else (datetime.now(UTC) - datetime.fromisoformat(oldest)).total_seconds()
    return replace(
        figures,
        jobs=store.outcomes(),
        oldest_queued_s=max(0.0, waited),
        refused=dict(gateway.refused),
    )


def _methods_at(app: FastAPI, request: Request) -> list[str]:
    at = {"type": "http", "path": request.url.path, "root_path": ""}
    methods = {
        method
        for method in ("DELETE", "GET", "POST")
        if any(route.matches({**at, "method": method})[0] is Match.FULL for route in app.routes)
    }
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))


def _sentence(error: HTTPException) -> str:
    if error.status_code == HTTPStatus.NOT_FOUND:
        return "There is nothing at this address."
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return "This address does not take this method."
    return str(error.detail)


def _invalid(error: Mapping[str, Any]) -> Invalid:
    place = [str(part) for part in error.get("loc", ())]
    where = ".".join(place)
    what = str(error.get("msg", ""))
    if error.get("type") == "string_pattern_mismatch":
        what = wrong_form(place[-1] if place else "")
    return Invalid(where=where[:200], what=what.removeprefix("Value error, ")[:300])


def _version() -> str:
    try:
        return version("domsieve")
    except PackageNotFoundError:  # in a checkout
        return "0"
