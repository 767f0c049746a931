"""Makes the renderers of benchmarks: they reach only this machine and look up no names.

Saved pages name hosts of their time. If these were looked up, each page would wait for the answer of a name server.
"""

from dataclasses import dataclass
from functools import cached_property

from domsieve.renderer.network.egress import Egress, offline
from domsieve.tasks.renderer_factory import RendererFactory


@dataclass(frozen=True, kw_only=True)
class LoopbackFactory(RendererFactory):
    """See `RendererFactory`; what it says about hosts has no effect."""

    @cached_property
    def egress(self) -> Egress:
        """The guard of the connections."""
        return offline()
