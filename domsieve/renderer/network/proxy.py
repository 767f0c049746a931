"""The filtering proxy on loopback that all traffic of the browser passes.

Plain requests come in absolute form and are sent on; for all else the browser asks for a tunnel. Each request
is decided by the `Egress`. Answers are passed on as they come, unread: whoever sent a request knows where its
answer ends. So a connection is for the first server that it reached, because nobody could tell what that one
sends late from the answer of another.

No credentials are asked for. Chrome answers a proxy's demand for them only through the interception of every
request, which costs a round trip each; and who may connect to loopback reaches through the proxy nothing but
what is open to him anyway. He cannot keep the browser out: connections that ask for nothing make room for others.

Imports nothing of the project but its errors and its neighbours.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
from types import TracebackType
from typing import Self, TypeVar

from domsieve.errors import NavigationError, PolicyError, PolicyReason
from domsieve.renderer.network.addresses import is_loopback
from domsieve.renderer.network.egress import Caps, Egress, Route, place_of
from domsieve.renderer.network.proxy_ends import Client, End, Server
from domsieve.renderer.network.proxy_head import Head

_SWEEP_S = 2.0
# So many connections are taken at once. Far fewer than may wait: each is heard before it can be the longest to wait.
_BACKLOG = 128
_REMEMBERED = 1_000
_LISTED = 50
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a host and port were refused: what a `PolicyError` said."""

    message: str
    reason: PolicyReason | None


class Proxy:
    """The proxy; an asynchronous context manager that listens on a free port of 127.0.0.1.

    Parameters
    ----------
    egress : decides and connects, and says how much may pass.
    """

    def __init__(self, egress: Egress) -> None:
        self.egress = egress
        self.caps = egress.caps
        self.port = 0
        self.connections: set[End] = set()
        self._waiting: dict[Client, None] = {}  # the one that waits longest first
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
        """Listen from now on."""
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
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def refusal(self, url: str) -> Refusal | None:
        """Return why the host and port of a URL were refused when last asked for, None when they were not."""
        place = place_of(url)
        return self._refused.get(place) if place else None

    def refusals(self, urls: Iterable[str]) -> tuple[str, ...]:
        """Return what of the hosts and ports of URLs was refused, and why: the first of them in their order."""
        places = {place for url in urls if (place := place_of(url)) in self._refused}
        lines = (f"{host}:{port}: {self._refused[host, port].message}" for host, port in places)
        return tuple(sorted(lines)[:_LISTED])

    def failure(self, url: str) -> str:
        """Return Chrome's name for why the host of a URL could not be reached last, empty when it could."""
        place = place_of(url)
        return self._failed.get(place, "") if place else ""

    async def route(self, head: Head) -> Route:
        """Return where a request goes, and remember when it does not.

        Raises
        ------
        PolicyError, NavigationError : see `Egress.decide`.
        """
        scheme = "https" if head.is_tunnel else "http"
        try:
            route = await self.egress.decide(scheme, head.host, head.port)
            if route.port == self.port and any(is_loopback(ip_address(each)) for each in route.addresses):
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
        """Connect one end to where a route goes.

        Raises
        ------
        NavigationError : it cannot be reached.
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
        """Count bytes that pass; return whether more have passed than may."""
        self.egress.passed_bytes += size
        return self.egress.is_used_up

    def admit(self, client: Client) -> None:
        """Count a connection that has reached no server, and end others where there are too many.

        Whoever can connect to this machine can fill the proxy with connections that ask for nothing. The browser's
        ask at once, so of those that wait the longest to do so is none of its own, or one that it opened in advance.
        """
        self._waiting[client] = None
        if len(self._waiting) > self.caps.waiting:
            self._end(next(iter(self._waiting)))
        if len(self.connections) > self._most:
            clients = (end for end in self.connections if isinstance(end, Client) and end is not client)
            if idle := min(clients, key=lambda end: end.moved_at, default=None):
                self._end(idle)

    def release(self, client: Client) -> None:
        """No longer count a connection as one that has reached no server."""
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
    """Return how many ends of connections may be open: two of each, and half of the files that a process may open."""
    files, _ = getrlimit(RLIMIT_NOFILE)
    return 2 * caps.connections if files == RLIM_INFINITY else min(2 * caps.connections, files // 2)
