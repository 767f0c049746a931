"""No process of a browser holds more memory than a page may cost, and none takes the last that the machine has.

Chrome bounds what a page allocates at some gigabytes, which it reaches in seconds. So while pages are open, what
each process of the browser holds is looked at, and one that holds too much is killed, alone: its page ends as crashed
pages do, those of other sites are in other processes. Where there is no ``/proc``, nothing is looked at.

Imports its neighbour that reads ``/proc``, and what a cut is.
"""

import asyncio
import contextlib
import logging
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from domsieve.renderer.browser.machine import FreeMemory, children, held_memory, read_system, this_machine
from domsieve.snapshot.cut import Cut

_LOOK_S = 0.25
# A script fills a gigabyte in less than a second: one that comes near the limit is looked at more often.
_CLOSE_LOOK_S = 0.05
_NEAR = 1 / 3
# Of all memory, what one page may hold at most, and what is left to others.
_LARGEST_SHARE = 0.7
_RESERVED_SHARE = 0.1
_RESERVED_BYTES = 512_000_000
# Who holds less is not why memory is short. A page of a big site takes half of it.
_INNOCENT_BYTES = 200_000_000
# What a kill brings about is told within milliseconds, on a busy machine within seconds.
_NEWS_S = 5.0
_ROOT = Path("/")
# In a command line, whose words end with NUL; Chrome writes that of a renderer anew, with spaces.
_TYPE = re.compile(rb"(?:^|[\0 ])--type=([^\0 ]*)")

logger = logging.getLogger(__name__)


class MemoryGuard:
    """Looks at the processes of a browser while pages are open.

    Parameters
    ----------
    pid : the browser's own process.
    end_browser : ends the browser when that very process holds too much; told why.
    kill : ends another process by its number.
    root : where ``proc`` and ``sys`` lie.
    """

    def __init__(
        self,
        pid: int,
        *,
        end_browser: Callable[[str], None],
        kill: Callable[[int, int], None] = os.kill,
        root: Path = _ROOT,
    ) -> None:
        self._pid = pid
        self._end_browser = end_browser
        self._kill = kill
        self._root = root
        self._free = FreeMemory(root)
        machine = this_machine(root).memory_bytes
        self._most = int(machine * _LARGEST_SHARE)
        self._reserve = min(int(machine * _RESERVED_SHARE), _RESERVED_BYTES)
        self._budgets: list[int] = []
        self._looking: asyncio.Task[None] | None = None
        self._dying: set[int] = set()
        self._verdict: tuple[Cut | None, float] = (None, 0.0)

    @contextlib.contextmanager
    def page(self, memory_bytes: int) -> Iterator[None]:
        """Look at the browser while a page is open in it.

        Parameters
        ----------
        memory_bytes : what the page's process may hold. Which process that is cannot be told, so of several pages
            the largest amount counts for all.
        """
        self._budgets.append(memory_bytes)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_on())
        try:
            yield
        finally:
            self._budgets.remove(memory_bytes)
            if not self._budgets:
                self._looking.cancel()
                self._looking = None

    def verdict(self) -> Cut | None:
        """Return why the process of a page was killed just now, None when none was."""
        why, at = self._verdict
        return why if time.monotonic() - at < _NEWS_S else None

    async def _look_on(self) -> None:
        while True:
            processes = self.processes()
            for _ in range(round(_LOOK_S / _CLOSE_LOOK_S)):
                pause_s = self.look(processes)
                await asyncio.sleep(pause_s)
                if pause_s == _LOOK_S:
                    break

    def processes(self) -> list[int]:
        """Return the numbers of the browser's processes. Of those below it, zygotes alone start others."""
        found, waiting = [self._pid], [self._pid]
        while waiting:
            started = children(waiting.pop(), self._root)
            found += started
            waiting += [pid for pid in started if self._kind(pid) == "zygote"]
        return found

    def look(self, processes: list[int]) -> float:
        """Kill what holds too much; return after how many seconds to look again. Costs some 0.05 ms a process."""
        limit = min(max(self._budgets), self._most)
        held = {pid: held_memory(pid, self._root) for pid in processes}
        # Those take a moment to end, and until then what they held is not free.
        self._dying = {pid for pid in self._dying if held.get(pid)}
        living = {pid: size for pid, size in held.items() if pid not in self._dying}
        for pid, size in living.items():
            if size > limit:
                self._end(pid, f"held more than {limit / 1e6:,.0f} MB")
        free = self._free()
        pages = {pid: size for pid, size in living.items() if pid != self._pid}
        largest = max(pages, key=pages.__getitem__, default=0)
        if free < self._reserve and not self._dying and pages.get(largest, 0) > _INNOCENT_BYTES:
            self._end(largest, f"held {pages[largest] / 1e6:,.0f} MB when the machine had hardly any left")
        is_near = max(living.values(), default=0) > _NEAR * limit or free < 4 * self._reserve
        return _CLOSE_LOOK_S if is_near else _LOOK_S

    def _end(self, pid: int, why: str) -> None:
        self._dying.add(pid)
        if pid == self._pid:
            self._end_browser(why)
            return
        kind = self._kind(pid)
        logger.warning("A process of the browser (%s, %d) %s and is killed.", kind, pid, why)
        if kind == "renderer":
            self._verdict = Cut("memory", f"the page's process {why}"), time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            self._kill(pid, signal.SIGKILL)

    def _kind(self, pid: int) -> str:
        """Return what Chrome calls a process of its own, such as ``"renderer"`` or ``"gpu-process"``."""
        found = _TYPE.search(read_system(f"{self._root}/proc/{pid}/cmdline"))
        return found[1].decode("ascii", "replace") if found else ""
