"""Decide where connections may go, for the browser and for our own requests.

A name is resolved once. All of its addresses are checked, and the connection goes to one of these addresses. So a
name that changes its address between check and use (DNS rebinding) gains nothing. Redirects are new connections or
requests, so each is checked, too.
"""

import asyncio
import copy
import math
import re
import socket
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from domsieve.errors import NavigationError, PolicyError, UsageError
from domsieve.renderer.network.addresses import (
    Address,
    HostError,
    HostRules,
    held_address,
    is_local_name,
    is_localhost,
    is_loopback,
    parse_address,
    parse_host,
    why_not_public,
)
from domsieve.renderer.network.upstream import Upstream, Upstreams
from domsieve.urls import has_web_scheme

if TYPE_CHECKING:
    from ssl import SSLContext

Resolver = Callable[[str, int], Awaitable[Collection[str]]]
"""Returns the addresses of a name, for a port; raises OSError if it has none."""
Factory = Callable[[], asyncio.Protocol]
Dialer = Callable[[Factory, str, int], Awaitable[asyncio.Transport]]
"""Opens a connection to a literal address and port; raises OSError if that fails."""

NO_PLACE = "Not a valid address: its host or port cannot be."
"""The message about a URL without a valid host and port."""

_PLACE = re.compile(r"(?:\[[^\[\]]+\]|[^:/?#@\[\]\\\s]+)(:[0-9]{1,5})?")
_SCHEMES = {"http": 80, "https": 443, "ws": 80, "wss": 443}
# Chrome's list (net/base/port_util.cc), and data stores that would run commands from an HTTP request.
_UNSAFE = (
    "0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 "
    "123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 "
    "990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080 "
    "2375 3306 5432 6379 11211 27017"
)
_UNSAFE_PORTS = frozenset(map(int, _UNSAFE.split()))
_LOCALHOST = ("127.0.0.1", "::1")
_RESOLVE_LIMIT_S = 10.0
_SHORT_LIMIT_S = 2.0  # used if a proxy knows names that are unknown here, and for late names
_LATE_FOR_S, _MOST_LATE = 60.0, 1_000
_DIAL_LIMIT_S = 10.0
# Names whose servers never answer must not delay other pages: one page may look up 32 at a time.
_LOOKUPS = 128
# Chrome's names of connection errors, so that messages are the same with and without a proxy.
_NOT_RESOLVED = "net::ERR_NAME_NOT_RESOLVED"
_REFUSED = "net::ERR_CONNECTION_REFUSED"
_UNREACHABLE = "net::ERR_ADDRESS_UNREACHABLE"
_NO_PROXY = "net::ERR_PROXY_CONNECTION_FAILED"
_TIMED_OUT = "net::ERR_CONNECTION_TIMED_OUT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The limits of the proxy.

    Parameters
    ----------
    connection_bytes : bytes of one connection, in both directions together; beyond, it is closed.
    total_bytes : bytes of all connections, or None; beyond, all are closed and no new ones are opened.
    connections : number of open connections, at most half of what the system allows the process; beyond, the one that
        has been idle longest is closed.
    waiting : number of connections that have not reached a server; beyond, the one that has waited longest is closed.
    head_bytes : length of the head of a request, including its URL.
    head_s : seconds for a head to arrive, from its first byte.
    idle_s : seconds after which an idle connection is closed.
    """

    connection_bytes: int = 500_000_000
    total_bytes: int | None = None
    connections: int = 1_000
    waiting: int = 256
    head_bytes: int = 256_000
    head_s: float = 10.0
    idle_s: float = 180.0


@dataclass(frozen=True, slots=True)
class Route:
    """Where a connection for a host and port goes.

    Parameters
    ----------
    host : the normalized host.
    port : 1 to 65535.
    addresses : literal addresses, all checked, in the order in which to try them.
    via : an upstream proxy, which resolves the host itself; None without one.
    """

    host: str
    port: int
    addresses: tuple[str, ...]
    via: Upstream | None = None


class Egress:
    """Decides where connections may go, and opens them.

    Public addresses may be reached. Other addresses (this machine, private networks, link-local, reserved, in any
    spelling) may be reached only if they were named. A host with even one address that is not public is refused.

    Parameters
    ----------
    named : hosts and ports that may be private, because the user chose them; a port of None means any port. A named
        host that was public at first may not become private later, and the other way round.
    allow_private : whether every address may be reached.
    loopback_only : whether only addresses of this machine may be reached; names are not resolved.
    rules : hosts that may not be reached, or the only ones that may; they apply to private hosts, too.
    resolver : looks up the addresses of names; None means the system.
    dialer : opens connections; None means the event loop.
    caps : the limits of the proxy.
    upstreams : proxies on the way to public hosts. They resolve names that are unknown here. Names with a private
        address here are refused, and hosts that may be private are never sent to them.
    tls : the TLS context for files that we fetch ourselves; None means the system's.

    Attributes
    ----------
    heard : called for each file that we fetch ourselves, with its address, status and body.
    passed_bytes : bytes that the proxies of this egress have forwarded, in both directions together.
    """

    def __init__(
        self,
        *,
        named: Collection[tuple[str, int | None]] = (),
        allow_private: bool = False,
        loopback_only: bool = False,
        rules: HostRules | None = None,
        resolver: Resolver | None = None,
        dialer: Dialer | None = None,
        caps: Caps | None = None,
        upstreams: Upstreams | None = None,
        tls: "SSLContext | None" = None,
    ) -> None:
        self.tls = tls
        self.heard: Callable[[str, int, bytes], None] | None = None
        self.caps = caps or Caps()
        self.passed_bytes = 0
        self._rules = rules or HostRules()
        self._upstreams = upstreams
        self._named = frozenset((_spelling(host), port) for host, port in named)
        self._allow_private = allow_private
        self._loopback_only = loopback_only
        self._resolver = resolver or _Lookup()
        self._dialer = dialer or _dial
        self._was_private: dict[str, bool] = {}
        self._late: dict[str, float] = {}

    def metered(self, total_bytes: int) -> Self:
        """Return an egress with the same rules and its own limit of forwarded bytes."""
        other = copy.copy(self)
        other.caps = replace(self.caps, total_bytes=total_bytes)
        other.passed_bytes = 0
        return other

    @property
    def is_used_up(self) -> bool:
        """Whether the limit of forwarded bytes is exceeded."""
        return self.caps.total_bytes is not None and self.passed_bytes > self.caps.total_bytes

    def name(self, url: str) -> None:
        """Allow the host and port of a URL to be private from now on; texts that are not http URLs are ignored."""
        if place := place_of(url):
            self._named |= {place}

    async def decide_url(self, url: str) -> Route:
        """Return the route of a connection for a URL.

        Raises
        ------
        PolicyError, NavigationError : see `decide`.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise NavigationError(f"Not a valid address: {error}.", url=url) from error
        return await self.decide(parts.scheme, host, _SCHEMES.get(parts.scheme, 0) if port is None else port)

    async def decide(self, scheme: str, host: str, port: int) -> Route:
        """Return the route of a connection.

        Raises
        ------
        PolicyError : the connection may not be opened.
        NavigationError : the host has no address.
        """
        if scheme.lower() not in _SCHEMES:
            raise PolicyError(f"Only http and https are opened, not {scheme}.", reason="scheme")
        if port in _UNSAFE_PORTS or not 0 < port < 65_536:
            raise PolicyError(f"Port {port} belongs to another service, not to the web.", reason="port")
        try:
            found = parse_host(host)
        except HostError as error:
            raise PolicyError(f"The address has no valid host: {error}.", reason="host") from error
        # Before any lookup, because a lookup would reveal that the name was wanted.
        self._rules.check(found, None)
        spelling = str(found)
        named = self._allow_private or not self._named.isdisjoint({(spelling, port), (spelling, None)})
        via = self._upstreams(scheme.lower(), spelling, port) if self._upstreams else None
        try:
            limit_s = _SHORT_LIMIT_S if via else _RESOLVE_LIMIT_S
            addresses = await self._addresses(found, port, named, limit_s)
        except NavigationError:
            if via:
                self._rules.check(found, ())
                return Route(spelling, port, (), via)
            raise
        self._rules.check(found, addresses)
        kinds = {str(address): self._why_not(address) for address in addresses}
        refused = {address: kind for address, kind in kinds.items() if kind}
        if refused and not (named and not self._loopback_only):
            address, kind = next(iter(refused.items()))
            where = address if address == spelling else f"{spelling} is at {address}, which"
            if self._loopback_only:
                raise PolicyError(
                    f"{where} is {kind}, and only this machine's own addresses are opened.",
                    reason="elsewhere",
                )
            raise PolicyError(f"{where} is {kind}, and only public addresses are opened.", reason="private")
        if named and not self._allow_private and isinstance(found, str):
            self._keep_side(spelling, kinds)
        is_public = not any(why_not_public(address) for address in addresses)
        return Route(spelling, port, tuple(kinds), via if is_public else None)

    async def connect(self, route: Route, factory: Factory) -> asyncio.Transport:
        """Connect to the first address of a route that accepts the connection.

        Raises
        ------
        NavigationError : no address does.
        """
        fault = _UNREACHABLE if route.via is None else _NO_PROXY
        addresses, port = route.addresses, route.port
        if route.via:
            addresses, port = await self._at(route.via), route.via.port
        limit_s = _DIAL_LIMIT_S / max(len(addresses), 1)
        for address in addresses:
            try:
                async with asyncio.timeout(limit_s):
                    return await self._dialer(factory, address, port)
            except TimeoutError:
                fault = _TIMED_OUT
            except ConnectionRefusedError:
                fault = _REFUSED
            except OSError:
                fault = _UNREACHABLE
        if route.via:
            fault = _NO_PROXY
        raise NavigationError(fault, retry=True, timed_out=fault == _TIMED_OUT)

    async def _at(self, via: Upstream) -> tuple[str, ...]:
        """Return the addresses of a proxy, which may be private."""
        try:
            found = parse_host(via.host)
            if isinstance(found, str) and not is_localhost(found):
                return tuple(await self._resolver(found, via.port))
        except OSError as error:
            raise NavigationError(_NO_PROXY, retry=True) from error
        return _LOCALHOST if isinstance(found, str) else (str(found),)

    def _why_not(self, address: Address) -> str:
        if self._loopback_only:
            return "" if is_loopback(address) else "elsewhere"
        if self._allow_private:
            return ""
        return why_not_public(address) or ("this machine" if _is_own(address) else "")

    async def _addresses(
        self, host: str | Address, port: int, named: bool, limit_s: float
    ) -> tuple[Address, ...]:
        if not isinstance(host, str):
            return (host,)
        if is_localhost(host):
            return tuple(map(parse_address, _LOCALHOST))
        if self._loopback_only:
            raise PolicyError(
                f"{host} is not an address of this machine, and no other is opened.", reason="elsewhere"
            )
        if is_local_name(host) and not named:
            raise PolicyError(
                f"{host} is a name of the local network, and only public addresses are opened.",
                reason="private",
            )
        clock = asyncio.get_running_loop().time
        begun = clock()
        # Without this, each page of a site would wait for the same name servers that never answer.
        if begun - self._late.get(host, -math.inf) < _LATE_FOR_S:
            limit_s = min(limit_s, _SHORT_LIMIT_S)
        try:
            async with asyncio.timeout(limit_s):
                found = await self._resolver(host, port)
            self._late.pop(host, None)
            # The zone is not needed: an address with a zone is link-local without it, too.
            addresses = tuple(dict.fromkeys(parse_address(text.partition("%")[0]) for text in found))
        except (OSError, TimeoutError, ValueError) as error:
            if clock() - begun >= _SHORT_LIMIT_S:
                self._late[host] = clock()
                if len(self._late) > _MOST_LATE:
                    self._late.pop(next(iter(self._late)), None)
            raise NavigationError(_NOT_RESOLVED, retry=True) from error
        if not addresses:
            raise NavigationError(_NOT_RESOLVED, retry=True)
        return addresses

    def _keep_side(self, name: str, kinds: dict[str, str]) -> None:
        sides = {bool(kind) for kind in kinds.values()}
        if sides != {self._was_private.setdefault(name, any(sides))}:
            raise PolicyError(
                f"{name} has public and private addresses, at once or by turns.", reason="mixed"
            )


def offline(*, dialer: Dialer | None = None, caps: Caps | None = None) -> Egress:
    """Return an egress that reaches only this machine and looks up no names; for tests and benchmarks."""
    return Egress(loopback_only=True, dialer=dialer, caps=caps)


def place_of(url: str) -> tuple[str, int] | None:
    """Return the normalized host and the port of an http URL; None for other texts."""
    try:
        # Browsers read backslashes as slashes.
        parts = urlsplit(url.strip().replace("\\", "/"))
        port = parts.port
        host = str(parse_host(parts.hostname or ""))
    except ValueError:
        return None
    default = _SCHEMES.get(parts.scheme)
    return (host, default if port is None else port) if default else None


def is_web_address(text: str) -> bool:
    """Return whether a text is an http or https URL with a host."""
    return has_web_scheme(text) and text.isprintable() and place_of(text) is not None


def private_host(text: str) -> tuple[str, int | None]:
    """Parse ``HOST`` or ``HOST:PORT``; return the normalized host and the port, None for any port.

    Raises
    ------
    UsageError : the text has another form.
    """
    found = _PLACE.fullmatch(text)
    place = place_of(f"http://{text}/") if found else None
    if not found or not place or not place[1]:
        raise UsageError(
            f"{text!a} is not a host: write HOST or HOST:PORT, with an IPv6 address in brackets.",
            parameter="private_hosts",
        )
    host, port = place
    return host, port if found[1] else None


def _spelling(host: str) -> str:
    try:
        return str(parse_host(host))
    except HostError as error:
        raise PolicyError(f"{host!r} is not a valid host: {error}.", reason="host") from error


def _is_own(address: Address) -> bool:
    """Return whether a public address belongs to this machine; this sends no packet."""
    address = held_address(address)
    family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((str(address), 9))
            return parse_address(probe.getsockname()[0].partition("%")[0]) == address
        except OSError:
            return False


class _Lookup:
    """Looks up names by the system, in its own threads."""

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None

    async def __call__(self, host: str, port: int) -> Collection[str]:
        self._threads = self._threads or ThreadPoolExecutor(_LOOKUPS, "lookup")
        found = await asyncio.get_running_loop().run_in_executor(self._threads, _look_up, host, port)
        return [str(entry[4][0]) for entry in found]


def _look_up(host: str, port: int) -> list[tuple[object, object, int, str, tuple[object, ...]]]:
    return [*socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


async def _dial(factory: Factory, address: str, port: int) -> asyncio.Transport:
    transport, _ = await asyncio.get_running_loop().create_connection(factory, address, port)
    return transport
