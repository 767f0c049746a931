"""Requests of any kind to the service as an ASGI application, without a server in between."""

import asyncio
import string
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st
from starlette.types import ASGIApp

_OF_NAMES = "!#$%&'*+-.^_`|~" + string.digits + string.ascii_letters  # RFC 9110, section 5.6.2

HEADERS = st.lists(
    st.sampled_from(
        (
            ["accept", "text/html"],
            ["accept", "text/markdown, */*;q=0.1"],
            ["accept", "q=;;,"],
            ["accept", "text/plain;q=9e99"],
            ["prefer", "wait=1"],
            ["prefer", "wait=99999999999"],
            ["idempotency-key", "a"],
            ["idempotency-key", "\u00e9"],
            ["last-event-id", "7"],
            ["last-event-id", "9" * 18],
            ["content-type", "application/json"],
            ["content-type", "application/x-www-form-urlencoded"],
            ["content-type", "multipart/form-data; boundary=x"],
            ["content-type", "application/json; charset=utf-7"],
            ["content-length", "\u0665"],
            ["content-length", "99999999999999999999"],
            ["origin", "http://localhost"],
            ["origin", "http://["],
            ["sec-fetch-site", "cross-site"],
            ["cookie", "session=x; session=y; ="],
            ["authorization", "Bearer x"],
            ["x-forwarded-for", "1.2.3.4, x"],
            ["range", "bytes=5-1"],
            ["host", "x"],
        )
    )
    | st.tuples(st.text(_OF_NAMES, min_size=1, max_size=8), st.text(max_size=8)).map(list),
    max_size=3,
)
"""Headers that callers send; the server refuses other names before the application is asked."""


def scope_of(method: str, path: str, query: str = "", headers: Iterable[list[str]] = ()) -> dict[str, Any]:
    """Return the scope of a request from this machine, addressed to localhost unless a header says otherwise."""
    named = list(headers)
    if not any(name.lower() == "host" for name, _ in named):
        named.insert(0, ["host", "localhost"])
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("utf-8", "replace"),
        "root_path": "",
        "query_string": query.encode("utf-8", "replace"),
        "headers": [
            (name.lower().encode("utf-8", "replace"), value.encode("utf-8", "replace"))
            for name, value in named
        ],
        "client": ("127.0.0.1", 5),
        "server": ("127.0.0.1", 8090),
    }


async def asked(
    app: ASGIApp, scope: dict[str, Any], body: bytes, *, stays: bool = False
) -> tuple[int, dict[str, str], bytes]:
    """Return what the application answers to a caller who sends all and goes away, or waits for the answer."""
    sent: list[dict[str, Any]] = []
    ended = asyncio.Event()
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        if stays:
            await ended.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(dict(message))
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            ended.set()

    await app(scope, receive, send)
    first, *rest = sent
    assert [message["type"] for message in sent] == ["http.response.start"] + ["http.response.body"] * len(
        rest
    )
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in first["headers"]}
    return first["status"], headers, b"".join(message.get("body", b"") for message in rest)
