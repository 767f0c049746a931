"""The filtering proxy on loopback, through which all traffic of the browser goes.

The browser sends plain requests in absolute form, and opens tunnels for everything else. The `Egress` decides about
each request. The proxy forwards responses without parsing them, so it does not know where they end. Therefore a
connection always stays with the first server that it reached: late bytes of one server could otherwise be taken for
the response of another.

The proxy does not ask for credentials. Chrome would send them only if every request were intercepted, which costs a
round trip per request. Other programs on this machine can use the proxy, but only to reach what they can reach
anyway. They cannot keep the browser out, because connections without a request are closed when there are too many.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
from types import TracebackType
from typing import Self, TypeVar

from domsieve.errors import NavigationError, PolicyError, PolicyReason
from domsieve.renderer.network._proxy_ends import Client, End, Server
from domsieve.renderer.network._proxy_head import Head
from domsieve.renderer.network.addresses import is_local_name, is_loopback, parse_address, parse_host
from domsieve.renderer.network.egress import Caps, Egress, Route, place_of

_SWEEP_S = 2.0
# Connections accepted at once. This is far fewer than may wait, so each can send its request before it waits longest.
_BACKLOG = 128
_REMEMBERED = 1_000
_LISTED = 50
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a host and port were refused, from a `PolicyError`."""

    message: str
    reason: PolicyReason | None


class Proxy:
    """The proxy; an asynchronous context manager that listens on a free port of 127.0.0.1.

    Parameters
    ----------
    egress : decides about requests, opens connections, and limits the traffic.
    """

    def __init__(self, egress: Egress) -> None:
        self.egress = egress
        self.caps = egress.caps
        self.port = 0
        self.connections: set[End] = set()
        self._waiting: dict[Client, None] = {}  # in the order of their waiting times, the longest first
        self._most = _most_ends(self.caps)
        self._refused: dict[tuple[str, int], Refusal] = {}
        self._failed: dict[tuple[str, int], str] = {}
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Start listening."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Client(self), "127.0.0.1", 0, backlog=_BACKLOG)
        self.port = self._server.sockets[0].getsockname()[1]
        self._sweeper = asyncio.create_task(self._sweep())

    async def close(self) -> None:
        """End all connections."""
        if self._server and self._sweeper:
            self._server.close()
            self._sweeper.cancel()
            while self.connections:
                for end in [*self.connections]:
                    end.abort()
                await asyncio.sleep(0)

    @property
    def url(self) -> str:
        """The URL of the proxy."""
        return f"http://127.0.0.1:{self.port}"

    def refusal(self, url: str) -> Refusal | None:
        """Return why the last request to the host and port of a URL was refused; None if it was not."""
        place = place_of(url)
        return self._refused.get(place) if place else None

    def is_withheld(self, url: str) -> bool:
        """Return whether readers may have what was refused: browsers open more ports, and ask other resolvers."""
        place, refusal = place_of(url), self.refusal(url)
        if not place or not refusal:
            return False
        is_name = isinstance(parse_host(place[0]), str) and not is_local_name(place[0])
        return refusal.reason in {"port", "mixed"} or (refusal.reason == "private" and is_name)

    def refusals(self, urls: Iterable[str]) -> tuple[str, ...]:
        """Return which hosts and ports of the URLs were refused and why, in their order; only the first few."""
        places = {place for url in urls if (place := place_of(url)) in self._refused}
        lines = (f"{host}:{port}: {self._refused[host, port].message}" for host, port in places)
        return tuple(sorted(lines)[:_LISTED])

    def failure(self, url: str) -> str:
        """Return Chrome's name of the last connection error for the host of a URL; empty if there was none."""
        place = place_of(url)
        return self._failed.get(place, "") if place else ""

    async def route(self, head: Head) -> Route:
        """Return the route of a request, and remember a refusal or failure.

        Raises
        ------
        PolicyError, NavigationError : see `Egress.decide`.
        """
        scheme = "https" if head.is_tunnel else "http"
        try:
            route = await self.egress.decide(scheme, head.host, head.port)
            if route.port == self.port and any(is_loopback(parse_address(each)) for each in route.addresses):
                raise PolicyError("It is the guard's own address.", reason="guard")
        except PolicyError as error:
            self._remember(self._refused, head, Refusal(error.message, error.reason))
            raise
        except NavigationError as error:
            self._remember(self._failed, head, error.message)
            raise
        self._refused.pop((route.host, route.port), None)
        return route

    async def connect(self, head: Head, route: Route, server: Server) -> None:
        """Open the connection of a route.

        Raises
        ------
        NavigationError : the server cannot be reached.
        """
        try:
            await self.egress.connect(route, lambda: server)
            if route.via and head.is_tunnel:
                await server.tunnel()
        except NavigationError as error:
            self._remember(self._failed, head, error.message)
            raise
        except asyncio.CancelledError:
            server.abort()
            raise
        self._failed.pop((route.host, route.port), None)

    def _remember(self, among: dict[tuple[str, int], _T], head: Head, reason: _T) -> None:
        place = place_of(f"http://{head.host}:{head.port}") or (head.host, head.port)
        among.pop(place, None)
        among[place] = reason
        if len(among) > _REMEMBERED:
            del among[next(iter(among))]

    def count(self, size: int) -> bool:
        """Count forwarded bytes; return whether the limit is exceeded."""
        self.egress.passed_bytes += size
        return self.egress.is_used_up

    def admit(self, client: Client) -> None:
        """Count a connection that has not reached a server yet, and close others if there are too many.

        Any program on this machine can fill the proxy with connections that send no request. The browser sends its
        requests at once, so the connections that have waited longest are not its own, or it opened them in advance.
        """
        self._waiting[client] = None
        if len(self._waiting) > self.caps.waiting:
            self._end(next(iter(self._waiting)))
        if len(self.connections) > self._most:
            clients = (end for end in self.connections if isinstance(end, Client) and end is not client)
            if idle := min(clients, key=lambda end: end.moved_at, default=None):
                self._end(idle)

    def release(self, client: Client) -> None:
        """Stop counting a connection as one that has not reached a server."""
        self._waiting.pop(client, None)

    def _end(self, client: Client) -> None:
        self.release(client)
        for end in filter(None, (client, client.peer)):
            self.connections.discard(end)  # it closes a little later
            end.abort()

    async def _sweep(self) -> None:
        now = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(min(_SWEEP_S, self.caps.head_s / 4, self.caps.idle_s / 4))
            for end in [*self.connections]:
                if isinstance(end, Client) and end.is_overdue(now()):
                    end.abort()


def _most_ends(caps: Caps) -> int:
    """Return how many ends of connections may be open: two per connection, and at most half of the file limit."""
    files, _ = getrlimit(RLIMIT_NOFILE)
    return 2 * caps.connections if files == RLIM_INFINITY else min(2 * caps.connections, files // 2)
