"""Identify clients: by a bearer token, or for browsers by the cookie of a session.

A cookie is only a random number. Browsers send it to every port of a host, so a program at another port may learn it.
But the session ends when the user signs out, after some time without use, and with this service, and the cookie is
worthless elsewhere. Only its digest is kept, in memory.
"""

import hashlib
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import Response

from domsieve.service.web.settings import client_of, host_name, is_loopback

_COOKIE = "domsieve_session"
# With this prefix, browsers accept the cookie only from this host, so that no other host can replace a session.
_ONLY_HOST = "__Host-"
_IDLE_S = 12 * 3_600.0
_LASTS_S = 7 * 86_400.0
_OF_CLIENT = 50


@dataclass(slots=True)
class _Session:
    """A session: its client, when it began, and when it was last used."""

    client: str
    began: float
    used: float


class Sessions:
    """The sessions of users who signed in.

    Parameters
    ----------
    tokens : token of each client by its name.
    clock : returns seconds that never decrease.
    """

    def __init__(self, tokens: Mapping[str, str], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens = tokens
        self._clock = clock
        self._held: dict[bytes, _Session] = {}

    def client(self, headers: Headers, *, scheme: str) -> str | None:
        """Return the client that sent these headers; None if it is unknown."""
        given = headers.get("authorization")
        if given is not None:
            kind, _, token = given.partition(" ")
            return client_of(token.strip(), self._tokens) if kind.casefold() == "bearer" else None
        for key in _keys(headers, scheme):
            if (session := self._valid(key)) is not None:
                session.used = self._clock()
                return session.client
        return None

    def open(self, response: Response, client: str, *, headers: Headers, scheme: str) -> None:
        """Start a session of a client and set its cookie; end the session that the browser had."""
        self._end(headers, scheme)
        held = [key for key in [*self._held] if (own := self._valid(key)) and own.client == client]
        if len(held) >= _OF_CLIENT:
            del self._held[min(held, key=lambda key: self._held[key].used)]
        value, now = secrets.token_urlsafe(32), self._clock()
        self._held[_digest(value)] = _Session(client, now, now)
        response.set_cookie(
            _names(headers, scheme)[0],
            value,
            path="/",
            secure=is_secure(headers, scheme),
            httponly=True,
            samesite="strict",
        )

    def close(self, response: Response, *, headers: Headers, scheme: str) -> None:
        """End the session of a browser, and delete its cookie."""
        self._end(headers, scheme)
        secure = is_secure(headers, scheme)
        for name in _names(headers, scheme):
            response.delete_cookie(
                name,
                path="/",
                secure=secure or name.startswith(_ONLY_HOST),
                httponly=True,
                samesite="strict",
            )

    def _end(self, headers: Headers, scheme: str) -> None:
        for key in _keys(headers, scheme):
            self._held.pop(key, None)

    def _valid(self, key: bytes) -> _Session | None:
        session, now = self._held.get(key), self._clock()
        if session is not None and (now - session.used > _IDLE_S or now - session.began > _LASTS_S):
            del self._held[key]
            return None
        return session


def is_secure(headers: Headers, scheme: str) -> bool:
    """Return whether the cookie must be sent only over TLS, which is the case except on this machine.

    Headers of a proxy can only make this stricter, so the proxy need not be trusted.
    """
    name = host_name(headers.get("host", "")) or ""
    return scheme == "https" or headers.get("x-forwarded-proto") == "https" or not is_loopback(name)


def _names(headers: Headers, scheme: str) -> tuple[str, ...]:
    """Return the possible names of the cookie, the current one first. They contain the port that browsers see."""
    _, colon, port = headers.get("host", "").rpartition(":")
    name = f"{_COOKIE}_{port}" if colon and port.isascii() and port.isdecimal() else _COOKIE
    return (_ONLY_HOST + name,) if is_secure(headers, scheme) else (name, _ONLY_HOST + name)


def _keys(headers: Headers, scheme: str) -> Iterator[bytes]:
    """Yield the keys of the sessions in the cookies of a request."""
    names = _names(headers, scheme)
    yield from (_digest(value) for name, value in _cookies(headers.get("cookie", "")) if name in names)


def _cookies(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and values of a Cookie header; ours need no unescaping.

    `http.cookies` takes seconds for 32 kB of backslashes in some versions of Python.
    """
    for part in text.split(";"):
        name, _, value = part.strip().partition("=")
        yield name, value.strip('"')


def _digest(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).digest()
