"""Who calls: a bearer token, or for browsers a cookie that was made of one.

A cookie says name, end and a mark that only the holder of the token can make, so nothing is kept of it here: it
outlives a restart, and taking the token out of the file ends it.
"""

import hashlib
import hmac
import time
from collections.abc import Iterator, Mapping

from starlette.datastructures import Headers
from starlette.responses import Response

from domsieve.service.web.settings import client_of, host_name, is_loopback

_COOKIE = "domsieve_session"
# Browsers take it from this very host alone, so that no neighbour can put its own session in the place of another.
_SECURE_COOKIE = f"__Host-{_COOKIE}"
_LASTS_S = 7 * 86_400


def client_of_request(headers: Headers, tokens: Mapping[str, str], *, scheme: str) -> str | None:
    """Return the client who sends these headers, None if it is nobody known."""
    given = headers.get("authorization")
    if given is not None:
        scheme, _, token = given.partition(" ")
        return client_of(token.strip(), tokens) if scheme.casefold() == "bearer" else None
    names = (_SECURE_COOKIE,) if is_secure(headers, scheme) else (_SECURE_COOKIE, _COOKIE)
    cookies = [*_cookies(headers.get("cookie", ""))]
    known = (
        _client_of_cookie(value, tokens) for wanted in names for name, value in cookies if name == wanted
    )
    return next((client for client in known if client is not None), None)


def open_session(response: Response, client: str, *, token: str, headers: Headers, scheme: str) -> None:
    """Give the browser a cookie that stands for a token."""
    end = str(int(time.time()) + _LASTS_S)
    secure = is_secure(headers, scheme)
    response.set_cookie(
        _SECURE_COOKIE if secure else _COOKIE,
        f"{client}/{end}/{_mark(client, end, token)}",
        max_age=_LASTS_S,
        path="/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )


def close_session(response: Response, *, headers: Headers, scheme: str) -> None:
    """Take the cookie back."""
    secure = is_secure(headers, scheme)
    for name in (_COOKIE, _SECURE_COOKIE):
        response.delete_cookie(
            name, path="/", secure=secure or name != _COOKIE, httponly=True, samesite="strict"
        )


def is_secure(headers: Headers, scheme: str) -> bool:
    """Return whether a cookie may only go over TLS: everywhere but on this machine itself.

    What a proxy says can make it stricter alone, so it need not be one we know.
    """
    name = host_name(headers.get("host", "")) or ""
    return scheme == "https" or headers.get("x-forwarded-proto") == "https" or not is_loopback(name)


def _cookies(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and values of a Cookie header; ours hold nothing that is escaped.

    Not by `http.cookies`, which takes seconds for 32 kB of backslashes in some versions of Python.
    """
    for part in text.split(";"):
        name, _, value = part.strip().partition("=")
        yield name, value.strip('"')


def _client_of_cookie(value: str, tokens: Mapping[str, str]) -> str | None:
    client, _, rest = value.partition("/")
    end, _, mark = rest.partition("/")
    token = tokens.get(client)
    if token is None or not (end.isascii() and end.isdecimal() and len(end) <= 12):
        return None
    right = hmac.compare_digest(mark.encode(), _mark(client, end, token).encode())
    return client if right and int(end) > time.time() else None


def _mark(client: str, end: str, token: str) -> str:
    said = f"domsieve session 1\n{client}\n{end}".encode()
    return hmac.new(token.encode(), said, hashlib.sha256).hexdigest()
