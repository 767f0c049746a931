"""Checks of every request before the routes: its host, its origin, its client and its length.

This is one ASGI layer, so that every response has its headers, including those to internal errors.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domsieve.errors import StorageError
from domsieve.service._logs import log
from domsieve.service.web.connections import Place
from domsieve.service.web.load_shedding import Requests
from domsieve.service.web.metrics import Traffic
from domsieve.service.web.problems import Problem, ProblemError, problem_response
from domsieve.service.web.sessions import Sessions
from domsieve.service.web.settings import LOCAL, MCP_PATH, Settings

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with `no-referrer`, our own forms would have no origin
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
    "Content-Security-Policy": _DATA_POLICY,
}
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OPEN = frozenset({"/v1/health", "/login", "/openapi.json", "/docs"})
_OF_PROGRAMS = frozenset({"/metrics", MCP_PATH})
# Paths where GET makes a job. Links, pictures and redirects of other sites could lead a browser there.
_FOR_COMMANDS = frozenset({"/v1/clean"})
_URL_BYTES = 8192
_LENGTH_DIGITS = 18
_STATIC = "/static/"
_LOGGED = 300  # characters of a path


@dataclass(slots=True)
class _Sent:
    """What has been sent of a response."""

    status: int = 0


class Guard:
    """Passes a request to `app`, or refuses it.

    Parameters
    ----------
    app : handles accepted requests; the name of the client is in ``request.state.client``.
    settings : the settings of the service.
    sessions : the sessions of users who signed in.
    requests : counts requests by client.
    traffic : records how long each request took.
    """

    def __init__(
        self, app: ASGIApp, *, settings: Settings, sessions: Sessions, requests: Requests, traffic: Traffic
    ) -> None:
        self._app = app
        self._settings = settings
        self._sessions = sessions
        self._requests = requests
        self._traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and pass it on or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started, sent = time.monotonic(), _Sent()
        state = scope.setdefault("state", {})
        state["head"] = scope["method"] == "HEAD"
        asked: Scope = {**scope, "method": "GET"} if state["head"] else scope
        sender = self._sender(send, sent, head=state["head"])
        try:
            await self._answer(asked, receive, sender)
        except ProblemError as error:
            await problem_response(error.problem, error.headers)(asked, receive, sender)
        except StorageError as error:
            log("store_failed", level=logging.ERROR, path=scope["path"][:_LOGGED], reason=error.message)
            failure = ProblemError(
                503, "The jobs cannot be read or written now.", fault="service", retry_s=10
            )
            if not sent.status:
                await problem_response(failure.problem, failure.headers)(asked, receive, sender)
        except Exception:
            # The outermost layer: unexpected errors are our fault, and are reported without details.
            log("request_failed", level=logging.ERROR, path=scope["path"][:_LOGGED], trace=True)
            if not sent.status:
                await problem_response(_unforeseen())(asked, receive, sender)
        finally:
            taken = time.monotonic() - started
            route = getattr(asked.get("route"), "path", None) or "none"
            self._traffic.answered(scope["method"], route, sent.status, taken)
            if not scope["path"].startswith(_STATIC):
                log(
                    "request",
                    method=scope["method"],
                    path=scope["path"][:_LOGGED],
                    status=sent.status,
                    client=state.get("client"),
                    ms=round(taken * 1000),
                )

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        if not self._settings.serves(headers.get("host", "")) or len(headers.getlist("host")) != 1:
            raise ProblemError(
                421, "The Host header names another service. Its operator can allow this name."
            )
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _URL_BYTES:
            raise ProblemError(414, f"The address of the request is longer than {_URL_BYTES} bytes.")
        for_commands = method in _SAFE and path in _FOR_COMMANDS
        check_origin(headers, is_safe=method in _SAFE, for_commands=for_commands)
        is_open = path in _OPEN or path.startswith(_STATIC)
        is_closed = bool(self._settings.tokens)
        shown = without_cookies(headers) if for_commands else headers
        client = self._sessions.client(shown, scheme=scope["scheme"]) if is_closed else LOCAL
        place: Place | None = scope["state"].get("place")
        if place is not None and not place.belongs_to(client):
            raise ProblemError(
                429, "This client has too many connections open.", retry_s=5, headers={"Connection": "close"}
            )
        if client is None and not is_open:
            self._requests.take("?")  # names of clients do not contain this character
            if not path.startswith("/v1/") and path not in _OF_PROGRAMS and method == "GET":
                await RedirectResponse("/login", status_code=303)(scope, receive, send)
                return
            raise ProblemError(
                401,
                "Send a token: Authorization: Bearer ….",
                headers={"WWW-Authenticate": 'Bearer realm="domsieve"'},
            )
        if not is_open or method not in _SAFE:
            self._requests.take(client or "?")
        scope["state"]["client"] = client
        body = await self._body(headers, receive, limit=self._settings.longest_body(path))
        await self._app(scope, _replay(body, receive), send)

    async def _body(self, headers: Headers, receive: Receive, *, limit: int) -> bytes:
        too_long = ProblemError(413, f"The body of the request is longer than {limit} bytes.")
        said = headers.get("content-length", "0")
        # At most as many digits as `int` accepts; the server has checked that they are digits.
        if said.isascii() and said.isdecimal() and (len(said) > _LENGTH_DIGITS or int(said) > limit):
            raise too_long
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._settings.body_s):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ProblemError(400, "The connection closed before the request was complete.")
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > limit:
                        raise too_long
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError as error:
            raise ProblemError(
                408, f"The body of the request did not arrive in {self._settings.body_s:g} s.", retry_s=1
            ) from error

    def _sender(self, send: Send, sent: _Sent, *, head: bool) -> Send:
        async def forward(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent.status = message["status"]
                out = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    out.setdefault(name, value)
            elif head:
                message = {**message, "body": b""}
            await send(message)

        return forward


def check_origin(headers: Headers, *, is_safe: bool, for_commands: bool = False) -> None:
    """Refuse requests that another site makes the browser of a user send. Programs do not send these headers.

    Links to the service work. Everything else is refused, so that other sites cannot use up the limits of the user.

    Parameters
    ----------
    headers : of the request.
    is_safe : whether the method of the request changes nothing.
    for_commands : refuse all requests of browsers. A link of a result is followed from our own page, and an address
        that a user typed may redirect, so browsers do not say which requests another site caused.

    Raises
    ------
    ProblemError : the request comes from another site, or from a browser.
    """
    site = headers.get("sec-fetch-site")
    if for_commands and (site is not None or "origin" in headers):
        raise ProblemError(403, "This address is for commands such as curl. In a browser, use the form at /.")
    is_own = site in {None, "same-origin", "none"}
    if is_safe:
        is_link = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
        if not is_own and not is_link:
            raise ProblemError(
                403, "Pages of other sites may link here, but may not load anything from here."
            )
        return
    origin = headers.get("origin")
    if not is_own or (origin is not None and _place(origin) != headers.get("host", "").casefold()):
        raise ProblemError(403, "Pages of other sites may not send requests that change anything.")


def without_cookies(headers: Headers) -> Headers:
    """Return the headers without cookies, which browsers send by themselves."""
    return Headers(raw=[(name, value) for name, value in headers.raw if name != b"cookie"])


def _place(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.casefold()
    except ValueError:
        return None


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that returns a body that was read already, and then what `receive` returns."""
    waiting = True

    async def replayed() -> Message:
        nonlocal waiting
        if waiting:
            waiting = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return replayed


def _unforeseen() -> Problem:
    return Problem(
        title="Internal Server Error",
        status=500,
        detail="The service made a mistake; its log says more.",
        fault="service",
        retry=False,
    )


def with_policy(response: Response, policy: str) -> Response:
    """Return a response with another content security policy than that for data."""
    response.headers["Content-Security-Policy"] = policy
    return response
