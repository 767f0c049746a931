"""The proxies in the environment, for networks that can be left only through a proxy."""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]

from domsieve.errors import UsageError

_PORT = 80
_SCHEMES = {"ws": "http", "wss": "https"}


@dataclass(frozen=True, slots=True)
class Upstream:
    """An upstream proxy, which the user trusts.

    Parameters
    ----------
    host, port : its address.
    credentials : ``USER:PASSWORD``; empty for none.
    """

    host: str
    port: int
    credentials: str = ""

    @property
    def field(self) -> bytes:
        """The Proxy-Authorization header with its line end; empty without credentials."""
        if not self.credentials:
            return b""
        return b"Proxy-Authorization: Basic " + base64.b64encode(self.credentials.encode()) + b"\r\n"


Upstreams = Callable[[str, str, int], Upstream | None]
"""Returns the proxy for a scheme, host and port; None without one."""


def environment_proxies() -> Upstreams | None:
    """Return the proxies of ``HTTP_PROXY``, ``HTTPS_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``; None without any.

    Raises
    ------
    UsageError : a proxy is not an http proxy.
    """
    settings = getproxies_environment()
    found = {name: _parse(settings[name]) for name in ("http", "https", "all") if settings.get(name)}
    if not found:
        return None

    def choose(scheme: str, host: str, port: int) -> Upstream | None:
        if proxy_bypass_environment(f"{host}:{port}", settings):
            return None
        return found.get(_SCHEMES.get(scheme, scheme)) or found.get("all")

    return choose


def _parse(text: str) -> Upstream:
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme != "http":
        raise UsageError("The proxy in the environment is not an http proxy; give one as http://host:port.")
    credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else ""
    return Upstream(host, port or _PORT, credentials)
