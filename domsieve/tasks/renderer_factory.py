"""Make renderers, and the guard of their connections, from the options of a call or a command."""

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, Self

from domsieve.options import Budget
from domsieve.renderer.network.addresses import HostRules
from domsieve.renderer.network.egress import Egress, private_host
from domsieve.renderer.network.upstream import environment_proxies

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from domsieve.options import CaptureOptions, NetworkOptions
    from domsieve.renderer.network.replay import Replay
    from domsieve.renderer.protocol import PageSource
    from domsieve.renderer.renderer import Renderer
    from domsieve.types import DriverName


class CaptureSetup(Protocol):
    """How pages are captured, with the guard of all connections; see `RendererFactory`."""

    @property
    def options(self) -> "CaptureOptions":
        """The options of captures."""
        ...

    @property
    def budget(self) -> Budget:
        """The budget of one page."""
        ...

    @property
    def concurrency(self) -> int:
        """Number of pages that are open at the same time."""
        ...

    @property
    def egress(self) -> Egress:
        """The guard of the connections."""
        ...

    def renderer(self) -> "AbstractAsyncContextManager[PageSource]":
        """Return a renderer, which starts when the context is entered."""
        ...


@dataclass(frozen=True, kw_only=True)
class RendererFactory:
    """Makes renderers that share one egress guard.

    Parameters
    ----------
    options, budget : the options of captures, and the budget of one page.
    allow_private : whether pages may reach this machine and private networks.
    rules : hosts that pages may not reach, or the only ones that they may reach; None for no rules.
    browser : path or name of the browser; None searches for one.
    driver : how to talk to the browser.
    concurrency : number of pages that are open at the same time.
    private_hosts : hosts and ports that pages may reach although they are private; a port of None means any port.
    replay : an archive to use instead of the network.
    """

    options: "CaptureOptions"
    budget: Budget
    allow_private: bool = False
    rules: HostRules | None = None
    browser: str | None = None
    driver: "DriverName" = "playwright"
    concurrency: int = 1
    private_hosts: tuple[tuple[str, int | None], ...] = ()
    replay: "Replay | None" = None

    @classmethod
    def of(cls, options: "CaptureOptions", network: "NetworkOptions") -> Self:
        """Return the factory for the options of a call.

        Raises
        ------
        UsageError : a host or a rule is not valid.
        """
        rules = HostRules.of(network.deny_hosts, network.allow_hosts)
        return cls(
            options=options,
            budget=Budget(time=network.timeout),
            allow_private=network.allow_private,
            rules=rules if network.deny_hosts or network.allow_hosts else None,
            browser=network.browser,
            driver=network.driver,
            concurrency=network.concurrency or os.cpu_count() or 1,
            private_hosts=tuple(map(private_host, network.private_hosts)),
        )

    @cached_property
    def egress(self) -> Egress:
        """The guard of the connections; for pages of an archive, it refuses all."""
        if self.replay:
            return self.replay.nowhere()
        return Egress(
            named=self.private_hosts,
            allow_private=self.allow_private,
            rules=self.rules,
            upstreams=environment_proxies(),
        )

    def renderer(self) -> "Renderer":
        """Return a renderer; its browser starts when the context is entered."""
        # Imported late: the modules that talk to Chrome are not needed for pages of the cache.
        from domsieve.renderer.renderer import Renderer

        return Renderer(
            self.options,
            self.budget,
            concurrency=self.concurrency,
            executable=self.browser,
            egress=self.egress,
            driver=self.driver,
            replay=self.replay,
        )
