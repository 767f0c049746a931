"""What a capture is asked for, and what one page may cost.

Imports nothing of the project but the Snapshot's scalars.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Literal

from domsieve.errors import UsageError
from domsieve.snapshot.page import Scalar

SettlePolicy = Literal["adaptive", "load", "networkidle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureOptions:
    """What a capture is asked for; equal options make equal captures of an unchanged page.

    Raises
    ------
    UsageError : a selector is empty.

    Parameters
    ----------
    viewport_px : width and height of the window in CSS px; the page itself may be taller.
    user_agent : value of the User-Agent header; None leaves the browser's own.
    headers : names and values sent with every request of a page, those to other hosts included.
    cookies : names and values set for the address of each page before it is opened.
    storage_state : Playwright's storage-state file with cookies and local storage to begin with.
    locale : language tag such as ``"de-DE"``; None leaves the browser's own.
    images : whether images load. Without them a page costs about a sixth less processor time, but images
        lose their natural size, so boxes change.
    settle : when a page counts as complete. ``"adaptive"``: loaded, nothing of structure changes for 300 ms
        and no data were fetched for 300 ms, at most 5 s after its first byte; ``"load"``: its load event;
        ``"networkidle"``: no request for 500 ms, which live connections delay until the time budget ends.
    settle_extra : further waiting afterwards, for pages that change without any signal.
    scroll : whether to scroll to the end and back first, for content that is loaded when it comes in view.
    click : CSS selectors of what is clicked, one after another, once the page is complete: to agree, to load more, to
        open a tab. Of each the first element that is shown is clicked, in open shadow trees, too, and the page is
        waited for again. Where there is none, nothing is clicked and a warning is logged.
    wait_for : CSS selector of what must be shown before the page counts as complete, None for nothing. A page on
        which it does not appear in time is cut.
    both_sides : whether to keep what the page can be compared with: the responses that carried its data, and its
        source as it looks without scripts, for which it is loaded twice. The capture itself is the same without.
    screenshot : whether to keep a picture of the page, and with it what `both_sides` keeps.
    archive : digest of the archive that the page is rendered from; empty for one from the network.
    fixed_time : whether scripts see the time when the archive was made, and random numbers that come again.
    record : whether to hand out all that the page asks for and is answered; the capture itself is the same without.
    record_credentials : whether headers and cookies that these options give are among that.
    """

    viewport_px: tuple[int, int] = (1280, 800)
    user_agent: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    cookies: tuple[tuple[str, str], ...] = ()
    storage_state: Path | str | None = None
    locale: str | None = None
    images: bool = True
    settle: SettlePolicy = "adaptive"
    settle_extra: timedelta = timedelta()
    scroll: bool = False
    click: tuple[str, ...] = ()
    wait_for: str | None = None
    both_sides: bool = False
    screenshot: bool = False
    archive: str = ""
    fixed_time: bool = False
    record: bool = False
    record_credentials: bool = False

    def __post_init__(self) -> None:
        if not all(selector.strip() for selector in self.click):
            raise UsageError("click is empty; give a CSS selector such as 'button.more'.", parameter="click")
        if self.wait_for is not None and not self.wait_for.strip():
            raise UsageError("wait_for is empty; give a CSS selector such as 'main'.", parameter="wait_for")

    @property
    def extras(self) -> bool:
        """Whether anything is kept beside the capture."""
        return self.both_sides or self.screenshot

    def without_extras(self) -> "CaptureOptions":
        """Return the same options with nothing kept beside the capture: those of a load to compare another with."""
        return replace(self, both_sides=False, screenshot=False)

    def canonical(self) -> dict[str, Scalar]:
        """Return the options that shape the columns, as scalars for `Provenance.options`; secrets as digests only.

        Raises
        ------
        UsageError : the storage-state file cannot be read.
        """
        always: dict[str, Scalar] = {
            "viewport_px": "{}x{}".format(*self.viewport_px),
            "user_agent": self.user_agent,
            "headers": _digest(json.dumps(self.headers).encode()) if self.headers else None,
            "cookies": _digest(json.dumps(self.cookies).encode()) if self.cookies else None,
            "storage_state": _digest(_read(self.storage_state)) if self.storage_state else None,
            "locale": self.locale,
            "images": self.images,
            "settle": self.settle,
            "settle_extra_ms": self.settle_extra / timedelta(milliseconds=1),
            "scroll": self.scroll,
        }
        # All others are named only where they are given, so that captures of earlier versions still count as equal
        # when an option is added.
        apart = {*always, "settle_extra", *_NOT_IN_COLUMNS}
        rest = {o.name: (getattr(self, o.name), o.default) for o in fields(self) if o.name not in apart}
        # An empty list is as good as the empty tuple.
        given = {name: value for name, (value, usual) in rest.items() if value != usual and (value or usual)}
        return always | {name: _scalar(value) for name, value in given.items()}


_NOT_IN_COLUMNS = ("both_sides", "screenshot", "record", "record_credentials")
"""Options of what is kept with a capture, which is the same without."""


def _scalar(value: Scalar | Sequence[str]) -> Scalar:
    return value if isinstance(value, Scalar) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one page may cost; what goes beyond is cut, and the Snapshot says so.

    Parameters
    ----------
    time : from opening the page to having it settled. Stopping, capturing and closing may take 10 s more,
        a screenshot 6 s.
    received_bytes : all that the page loads, after decompression.
    requests : requests of the page and its frames, data URLs not counted.
    nodes : nodes of the page and its frames.
    frames : frames of the page, itself not counted.
    memory_bytes : what the process of the page may hold; never more than seven tenths of the machine's memory, or of
        the control group's. It is looked at some times a second, so that a page may pass it for a moment. Pages of a
        site may share a process. Without ``/proc`` it is not kept.
    """

    time: timedelta = timedelta(seconds=20)
    received_bytes: int = 20_000_000
    requests: int = 3_000
    nodes: int = 200_000
    frames: int = 200
    memory_bytes: int = 1_500_000_000

    def __post_init__(self) -> None:
        amounts = (self.received_bytes, self.requests, self.nodes, self.memory_bytes)
        if min(self.time.total_seconds(), *amounts) <= 0 or self.frames < 0:
            raise UsageError("A budget must allow something: give positive amounts.")


def _read(path: Path | str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"The storage-state file {path} cannot be read: {error.strerror}.") from error


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
