"""In place of the browsers of a worker: pages from memory, at addresses that need no network."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.protocol import Rendering


@dataclass(frozen=True)
class Load:
    """What was asked for."""

    url: str
    site: str | None
    options: CaptureOptions | None
    proxy: Proxy | None


class StandIn:
    """Renders as `load` says, and keeps what was asked for."""

    def __init__(self) -> None:
        self.egress = Egress(resolver=_resolve, dialer=_nowhere)
        self.concurrency = 1
        self.loads: list[Load] = []

    @property
    def sites(self) -> list[str | None]:
        return [load.site for load in self.loads]

    async def render(
        self,
        url: str,
        *,
        site: str | None = None,
        options: CaptureOptions | None = None,
        budget: Budget | None = None,  # noqa: ARG002
        proxy: Proxy | None = None,
    ) -> Rendering:
        self.loads.append(Load(url, site, options, proxy))
        return await self.load(self.loads[-1])

    async def load(self, asked: Load) -> Rendering:
        raise NotImplementedError


async def _resolve(host: str, port: int) -> Collection[str]:
    return ["10.0.0.1"] if host.startswith("private") else ["93.184.216.34"]


async def _nowhere(*_: object) -> asyncio.Transport:
    raise ConnectionRefusedError
