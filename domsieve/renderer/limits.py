"""How long pages and the browser are waited for, and the clock that budgets and delays run by.

Imports nothing of the project.
"""

import asyncio
from dataclasses import dataclass, field


class Clock:
    """The event loop's time; another clock can be moved by hand, so that nothing need be waited for."""

    def time(self) -> float:
        """Return the seconds now; only differences mean something."""
        return asyncio.get_running_loop().time()

    def deadline(self, when: float) -> asyncio.Timeout:
        """Return a limit for a block of code that ends when this clock shows `when`."""
        return asyncio.timeout_at(when)

    async def sleep(self, seconds: float) -> None:
        """Return when this clock has gone on by so much."""
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """What the adaptive policy waits for: seconds that were measured on 13 kinds of applications and 67 real pages.

    Parameters
    ----------
    cap_s : from the first byte of the document, but never less than its own end. Scripts and style sheets that
        are coming and hold up the load event are waited for, as long as the page's time allows.
    interactive_s : for what a parsed document still loads.
    in_flight_s : for one request; those that stay open, as long polls do, bring no content.
    drawing_s : for what scripts and style sheets show that came late, even beyond the cap.
    still_s : without a change of structure, and without data that arrived.
    """

    cap_s: float = 5.0
    interactive_s: float = 3.0
    in_flight_s: float = 2.0
    drawing_s: float = 1.0
    still_s: float = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds that the browser may take for one step; what takes longer is given up.

    Parameters
    ----------
    open_s : to open a context or a page. One that takes longer is of no use.
    stop_s : to end loading and scripts of a page that is cut.
    capture_s : to capture a page whose own time is used up.
    extras_s : to take the screenshot of a page whose own time is used up.
    record_s : to hand out what a page was answered.
    close_s : to close a page; its context is then thrown away.
    context_close_s : to close a context; the browser is then killed.
    timeouts : how long a page that can still change is waited for.
    clock : what the time of a page's budget is measured by.
    """

    open_s: float = 10.0
    stop_s: float = 2.0
    capture_s: float = 4.0
    extras_s: float = 6.0
    record_s: float = 20.0
    close_s: float = 2.0
    context_close_s: float = 3.0
    timeouts: Timeouts = field(default_factory=Timeouts)
    clock: Clock = field(default_factory=Clock)
