"""Whether the machine has room for another job: how much memory is free, and how long its processors are waited for.

What is read is given, so tests need no busy machine.
"""

import os
from collections.abc import Callable

from domsieve.renderer.browser.machine import FreeMemory, this_machine
from domsieve.service.jobs.values import Strain


class Headroom:
    """Says why there is no room for another job. Called, it costs some 0.1 ms.

    Parameters
    ----------
    free_ratio : share of the memory that has to be free; 0 asks for none.
    load : load average of the last minute per processor, above which there is no room; 0 sets no bound.
    free_memory : returns the share of the memory that is free, without swap; by default that of the machine, or of
        the control group that limits it more.
    load_average : returns the load average per processor; by default that of the machine, since that of a control
        group is not known.
    """

    def __init__(
        self,
        *,
        free_ratio: float,
        load: float,
        free_memory: Callable[[], float] | None = None,
        load_average: Callable[[], float] | None = None,
    ) -> None:
        self._free_ratio = free_ratio
        self._load = load
        self._free_memory = free_memory or _free_memory()
        self._load_average = load_average or _load_average

    def __call__(self) -> Strain | None:
        """Return why there is no room, None if there is."""
        if self._free_ratio and self._free_memory() < self._free_ratio:
            return Strain(
                "memory",
                f"Less than {self._free_ratio:.0%} of the memory of the service is free; no jobs are accepted now.",
            )
        if self._load and self._load_average() > self._load:
            return Strain(
                "load",
                f"The load of the service is above {self._load:g} per processor; no jobs are accepted now.",
            )
        return None


def _free_memory() -> Callable[[], float]:
    free, whole = FreeMemory(swap=False), this_machine().memory_bytes
    return lambda: free() / whole


def _load_average() -> float:
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:  # the system does not say
        return 0.0
