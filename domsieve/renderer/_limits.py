"""How long to wait for pages and for the browser, and the clock for budgets and delays."""

import asyncio
from dataclasses import dataclass, field

# Readers wait for what fades in or moves to its place within this time, in seconds.
ENDS_SOON_S = 5.0
# Animations count as they are after this time. A guess of how long readers stay on a page.
ENDS_MS = 60_000
# For pictures, they must have gone on for so long before: a script may begin them again and again.
OLD_MS = 4_000


class Clock:
    """The time of the event loop; tests use a clock that they move by hand, so that they need not wait."""

    def time(self) -> float:
        """Return the current time in seconds; only differences have a meaning."""
        return asyncio.get_running_loop().time()

    def deadline(self, when: float) -> asyncio.Timeout:
        """Return a context manager that cancels its block when this clock shows `when`."""
        return asyncio.timeout_at(when)

    async def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds on this clock."""
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """The times of the adaptive policy, in seconds, measured on 13 kinds of applications and 67 real pages.

    Parameters
    ----------
    cap_s : maximum from the first byte of the document, but at least until its end. Scripts and style sheets that
        arrive and delay the load event extend it, as long as the time of the page allows.
    interactive_s : maximum for what a parsed document still loads.
    in_flight_s : maximum for one request; those that stay open longer, such as long polls, bring no content.
    drawing_s : how long scripts and style sheets that arrived late may change the page, even beyond the cap.
    still_s : how long the structure must not change, and no data arrive.
    """

    cap_s: float = 5.0
    interactive_s: float = 3.0
    in_flight_s: float = 2.0
    drawing_s: float = 1.0
    still_s: float = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The time that the browser has for each step, in seconds.

    Parameters
    ----------
    open_s : to open a context or a page.
    stop_s : to stop loading and scripts of a page that is cut.
    capture_s : to capture a page that has used up its own time.
    extras_s : to take the screenshot of a page that has used up its own time.
    record_s : to return the responses of a page.
    close_s : to close a page; after that, its context is closed.
    context_close_s : to close a context; after that, the browser is killed.
    timeouts : how long to wait for a page that may still change.
    clock : measures the time of a page.
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
