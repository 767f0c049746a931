"""Fetch a small file of a site, such as robots.txt or a sitemap, without a browser."""

import asyncio
import contextlib
import ipaddress
import ssl
import threading
import urllib.request
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, replace
from http.client import HTTPException, HTTPMessage
from typing import IO
from urllib.error import HTTPError, URLError

from domsieve.errors import NavigationError, PolicyError
from domsieve.renderer.net_errors import explained
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.sampling._page_urls import Site, normalized

AGENT = "domsieve"
_STEP_LIMIT_S = 10.0
_LIMIT_S = 30.0
_FORBIDDEN = 403
# Allowance for buffers of the system, which may read more of a response than wanted, and for TLS.
_UNREAD_BYTES = 32_000_000


@dataclass(frozen=True, slots=True)
class Answer:
    """The response of a server: the HTTP status, and the body up to the requested length."""

    status: int
    body: bytes


async def fetch(url: str, *, max_bytes: int, egress: Egress | None = None) -> Answer:
    """Return the response of a server, following redirects on the same site.

    A redirect to another site is returned, not followed. All traffic goes through a filtering proxy, like that of the
    browser.

    Parameters
    ----------
    url : http or https.
    max_bytes : maximum length of the body.
    egress : where connections may go; None means public addresses only.

    Raises
    ------
    PolicyError : the server may not be reached.
    NavigationError : there is no response within thirty seconds.
    """
    egress = egress or Egress()
    async with Proxy(egress) as proxy:
        # The client would read without limit if a server sent a negative chunk size.
        most = min(proxy.caps.connection_bytes, max_bytes + _UNREAD_BYTES)
        proxy.caps = replace(proxy.caps, connection_bytes=most)
        try:
            answer = await _fetch(url, proxy.url, max_bytes, egress.tls)
        except NavigationError as error:
            if refusal := proxy.refusal(url):
                raise PolicyError(refusal.message, reason=refusal.reason, url=url) from error
            if fault := proxy.failure(url):
                raise NavigationError(
                    f"It cannot be fetched: {explained(fault)}.",
                    url=url,
                    retry=True,
                    timed_out="TIMED_OUT" in fault,
                ) from error
            raise
        if answer.status == _FORBIDDEN and (refusal := proxy.refusal(url)):
            raise PolicyError(refusal.message, reason=refusal.reason, url=url)
        if egress.heard:
            egress.heard(url, answer.status, answer.body)
        return answer


async def _fetch(url: str, proxy: str, max_bytes: int, tls: ssl.SSLContext | None) -> Answer:
    result: Future[Answer] = Future()

    # A daemon, because a thread that waits for a slow server can neither be stopped nor joined.
    def work() -> None:
        try:
            answer = _get(url, proxy, max_bytes, tls)
        except (OSError, HTTPException, ValueError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            with contextlib.suppress(InvalidStateError):
                result.set_exception(NavigationError(f"It cannot be fetched: {reason}.", url=url, retry=True))
        else:
            with contextlib.suppress(InvalidStateError):
                result.set_result(answer)

    threading.Thread(target=work, name=f"fetch {url}", daemon=True).start()
    try:
        async with asyncio.timeout(_LIMIT_S):
            return await asyncio.wrap_future(result)
    except TimeoutError as error:
        message = f"It cannot be fetched: the server took more than {_LIMIT_S:g} s."
        raise NavigationError(message, url=url, retry=True, timed_out=True) from error


def is_this_machine(host: str) -> bool:
    """Return whether `host` is a name or an address of this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class _Through(urllib.request.BaseHandler):
    """Sends everything through a proxy; urllib's own handler allows exceptions in the environment."""

    handler_order = 100

    def __init__(self, proxy: str) -> None:
        self._place = proxy.partition("://")[2]

    def http_open(self, request: urllib.request.Request) -> None:
        """Redirect the request to the proxy, and leave it to the next handler."""
        request.set_proxy(self._place, "http")

    https_open = http_open


class _SameSite(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        here, there = normalized(req.full_url), normalized(newurl)
        if here is None or there is None or not Site.of(here).is_twin(Site.of(there)):
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _get(url: str, proxy: str, max_bytes: int, tls: ssl.SSLContext | None) -> Answer:
    # Built by hand, because the default opener also reads files and FTP.
    opener = urllib.request.OpenerDirector()
    handlers = (
        _Through(proxy),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=tls),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _SameSite(),
    )
    for handler in handlers:
        opener.add_handler(handler)
    request = urllib.request.Request(url, headers={"User-Agent": AGENT})
    try:
        with opener.open(request, timeout=_STEP_LIMIT_S) as response:
            return Answer(response.status, response.read(max_bytes)[:max_bytes])
    except HTTPError as error:
        with error:
            return Answer(error.code, b"")
