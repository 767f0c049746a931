"""Make renderers, and the guard of their connections, from the options of a call or a command."""

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

from domsieve.options import Budget
from domsieve.renderer.network.addresses import HostRules
from domsieve.renderer.network.egress import Egress, private_host
from domsieve.renderer.network.upstream import environment_proxies

if TYPE_CHECKING:
    from domsieve.options import CaptureOptions, NetworkOptions
    from domsieve.renderer.network.replay import Replay
    from domsieve.renderer.renderer import Renderer
    from domsieve.types import DriverName


@dataclass(frozen=True, kw_only=True)
class RendererFactory:
    """Makes renderers that share one guard.

    Parameters
    ----------
    options, budget : what is captured, and what one page may cost.
    allow_private : whether pages may reach all of this machine and of private networks.
    rules : hosts that may not be reached, or the only ones that may; None for all.
    browser : path or name of the browser; by default one is looked for.
    driver : what carries messages to the browser.
    concurrency : pages open at the same time.
    private_hosts : hosts and ports that may be private; a port of None stands for any.
    replay : an archive that takes the place of the network.
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
        """Where connections may go; nowhere for pages of an archive."""
        if self.replay:
            return self.replay.nowhere()
        return Egress(
            named=self.private_hosts,
            allow_private=self.allow_private,
            rules=self.rules,
            upstreams=environment_proxies(),
        )

    def renderer(self) -> "Renderer":
        """Return what renders; its browser starts when it is entered."""
        # Loads what talks to Chrome, which pages of the cache do not need.
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
