"""The options of the program in groups: the capture, the budget of a page, the network, the pages of a site.

`domsieve.declaration` says how they are declared, and what is made from them.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from domsieve.budget import USUAL, AnalysisBudget
from domsieve.declaration import Option, Served, check_group
from domsieve.errors import UsageError
from domsieve.types import DriverName

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
    both_versions : also keep what `compare` needs: the responses that carried the page's data, and the page loaded
        again without scripts. The capture itself is the same.
    screenshot : whether to keep a picture of the page, and with it what `both_versions` keeps.
    archive : digest of the archive that the page is rendered from; empty for one from the network.
    fixed_time : whether scripts see the time when the archive was made, and random numbers that come again.
    record : whether to hand out all that the page asks for and is answered; the capture itself is the same without.
    record_credentials : whether headers and cookies that these options give are among that.
    """

    viewport_px: Annotated[
        tuple[int, int], Option("Width x height of the window in CSS px.", flag="viewport")
    ] = (1280, 800)
    user_agent: Annotated[str | None, Option("User-Agent header.", group="Network")] = None
    headers: Annotated[
        tuple[tuple[str, str], ...],
        Option(
            "'Name: value', repeatable.",
            group="Network",
            flag="header",
            pair=":",
            items="pairs of a name and a value",
        ),
    ] = ()
    cookies: Annotated[
        tuple[tuple[str, str], ...],
        Option(
            "'name=value', repeatable.",
            group="Network",
            flag="cookie",
            pair="=",
            items="pairs of a name and a value",
        ),
    ] = ()
    storage_state: Annotated[
        Path | str | None,
        Option("File of cookies and local storage, from `login` or Playwright.", group="Network"),
    ] = None
    locale: Annotated[
        str | None,
        Option(
            "Language tag, such as de-DE.",
            served=Served(
                label="Language",
                example="de-DE",
                takes="write a language tag such as de or de-DE",
                max_length=35,
                pattern="^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$",
            ),
        ),
    ] = None
    images: Annotated[bool, Option("Load images; without them, the layout changes.")] = True
    settle: Annotated[
        SettlePolicy,
        Option(
            "When a page counts as complete.",
            served=Served(
                label="When a page is complete",
                choices={
                    "adaptive": "It stopped changing",
                    "load": "It is loaded",
                    "networkidle": "The network is quiet",
                },
            ),
        ),
    ] = "adaptive"
    settle_extra: Annotated[
        timedelta,
        Option(
            "Seconds to wait after the page is complete.",
            served=Served(label="Extra seconds to wait", low=0, high=10),
        ),
    ] = timedelta()
    scroll: Annotated[
        bool, Option("Scroll to the end first.", served=Served(label="Scroll to the end first"))
    ] = False
    click: Annotated[
        tuple[str, ...],
        Option(
            "Click the first matching element once the page is complete; repeatable.",
            metavar="CSS",
            items="CSS selectors, such as ['button.more']",
            served=Served(
                label="Click what these CSS selectors match",
                example=".load-more",
                takes="write up to 20 CSS selectors of up to 500 characters, one per line",
            ),
        ),
    ] = ()
    wait_for: Annotated[
        str | None,
        Option(
            "Wait until a matching element is visible.",
            metavar="CSS",
            served=Served(
                label="Wait for what this CSS selector matches",
                example=".results",
                takes="write a CSS selector of up to 500 characters, such as .results",
            ),
        ),
    ] = None
    screenshot: Annotated[
        bool,
        Option("Also store what compare and report need: screenshot, data responses, page without scripts."),
    ] = False
    both_versions: bool = False
    archive: str = ""
    fixed_time: bool = False
    record: bool = False
    record_credentials: bool = False

    def __post_init__(self) -> None:
        check_group(self)
        if not all(selector.strip() for selector in self.click):
            raise UsageError("click is empty; give a CSS selector such as 'button.more'.", parameter="click")
        if self.wait_for is not None and not self.wait_for.strip():
            raise UsageError("wait_for is empty; give a CSS selector such as 'main'.", parameter="wait_for")

    @property
    def extras(self) -> bool:
        """Whether anything is kept beside the capture."""
        return self.both_versions or self.screenshot

    def without_extras(self) -> "CaptureOptions":
        """Return the same options with nothing kept beside the capture: those of a load to compare another with."""
        return replace(self, both_versions=False, screenshot=False)

    def canonical(self) -> dict[str, str | int | float | bool | None]:
        """Return the options that shape the columns, as scalars for `Provenance.options`; secrets as digests only.

        Raises
        ------
        UsageError : the storage-state file cannot be read.
        """
        always: dict[str, str | int | float | bool | None] = {
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


_NOT_IN_COLUMNS = ("both_versions", "screenshot", "record", "record_credentials")
"""Options of what is kept with a capture, which is the same without."""


def _scalar(value: Any) -> str | int | float | bool | None:
    found: str | int | float | bool | None = value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else found


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


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkOptions:
    """How URLs are fetched, and what one page may cost.

    Parameters
    ----------
    timeout : time limit for one page, at most a day. A page that is late is cut, and its result says so.
    concurrency : the number of pages that are open at the same time; None for one per processor.
    private_hosts : hosts that may be reached although their addresses are private, such as this machine: ``HOST`` or
        ``HOST:PORT``. Without them every URL must be public, because a stranger may have chosen it.
    allow_private : whether pages may reach all of this machine and all private networks.
    deny_hosts : hosts that are never reached: ``NAME``, ``*.NAME`` or ``ADDRESS[/BITS]``.
    allow_hosts : if there are any, only these hosts are reached.
    driver : how to talk to Chrome: ``"playwright"``, or ``"pipe"``, which needs less processor time and works on
        Linux and macOS. Captures are the same.
    browser : path of a Chrome, or its name on PATH; None to search for one.
    keep_errors : whether to use pages that count as failed: answers of HTTP status 400 and above, what is not HTML or
        text, empty documents, and pages that were cut before their first text.
    analysis_budget : the processor time and the memory that the analysis of one page may need. A page that needs more
        fails with a `BudgetError`.

    Raises
    ------
    UsageError : a value is wrong; its `parameter` names it.
    """

    timeout: Annotated[
        timedelta,
        Option(
            "Time limit for one page, in seconds.",
            min_value=0,
            served=Served(name="time_s", label="Seconds a page may take", low=1, high=60),
        ),
    ] = Budget().time
    concurrency: Annotated[
        int | None, Option("Pages at once [default: cores].", group="Work", min_value=1)
    ] = None
    private_hosts: Annotated[
        Iterable[str],
        Option(
            "Host whose private addresses may be reached: HOST or HOST:PORT; repeatable.",
            group="Network",
            flag="private-host",
            metavar="HOST",
            items="HOST or HOST:PORT, such as ['127.0.0.1:8000']",
        ),
    ] = ()
    allow_private: Annotated[
        bool,
        Option(
            "Let pages reach this machine and private networks, not only the hosts that you name.",
            group="Network",
        ),
    ] = False
    deny_hosts: Annotated[
        Iterable[str],
        Option(
            "Never connect to this host: NAME, *.NAME or ADDRESS[/BITS]; repeatable.",
            group="Network",
            flag="deny-host",
            metavar="HOST",
            items="NAME, *.NAME or ADDRESS[/BITS], such as ['*.example.org']",
        ),
    ] = ()
    allow_hosts: Annotated[
        Iterable[str],
        Option(
            "Connect only to hosts named so, and to no others; repeatable.",
            group="Network",
            flag="allow-host",
            metavar="HOST",
            items="NAME, *.NAME or ADDRESS[/BITS], such as ['*.example.org']",
        ),
    ] = ()
    browser: Annotated[
        str | None, Option("Path of a Chrome, or its name on PATH.", envvar="DOMSIEVE_BROWSER")
    ] = None
    driver: Annotated[
        DriverName,
        Option("How to talk to Chrome; pipe is faster and needs Linux or macOS. Captures are the same."),
    ] = "playwright"
    keep_errors: Annotated[
        bool,
        Option(
            "Also use pages that count as failed, such as server errors.",
            group="Pages",
            served=Served(label="Also use error pages"),
        ),
    ] = False
    analysis_budget: Annotated[
        AnalysisBudget, Option("Processor time and memory for the analysis of one page.")
    ] = USUAL

    def __post_init__(self) -> None:
        check_group(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which pages of a site may be visited, besides the start page, which always is.

    Parameters
    ----------
    include : patterns, of which one must match the page. They are matched with everything after the host: path, query
        and route. ``*`` matches any characters, ``?`` one, ``[abc]`` one of these. Empty for all pages.
    exclude : patterns of pages that are not visited, even if `include` matches.
    depth : the maximum number of clicks from the start page, 0 or more; pages in sitemaps are one click away. The
        default stops at calendars and the like, whose pages link to a next one without end; it is a guess.

    Raises
    ------
    UsageError : a pattern is empty, or the depth is less than 0.
    """

    include: Annotated[
        Iterable[str],
        Option(
            "Only pages whose path matches, such as '/docs/*'; repeatable.",
            group="Pages",
            metavar="PATTERN",
            items="patterns, such as ['/docs/*']",
            served=Served(label="Visit only these paths", example="/docs/*", pattern=""),
        ),
    ] = ()
    exclude: Annotated[
        Iterable[str],
        Option(
            "No pages whose path matches, such as '*[?]sort=*'; repeatable.",
            group="Pages",
            metavar="PATTERN",
            items="patterns, such as ['*[?]sort=*']",
            served=Served(label="Do not visit these paths", example="/docs/old/*", pattern=""),
        ),
    ] = ()
    depth: Annotated[
        int,
        Option(
            "Maximum clicks from the first page; pages in sitemaps are one click away.",
            group="Pages",
            min_value=0,
            served=Served(label="Clicks from the first page", low=0, high=100),
        ),
    ] = 16

    def __post_init__(self) -> None:
        check_group(self)
        for name in ("include", "exclude"):
            if not all(getattr(self, name)):
                raise UsageError(f"{name} is empty; give a pattern such as '/docs/*'.", parameter=name)

    def has(self, name: str) -> bool:
        """Return whether a page may be visited; `name` is its path with query and route."""
        if any(fnmatchcase(name, pattern) for pattern in self.exclude):
            return False
        return not self.include or any(fnmatchcase(name, pattern) for pattern in self.include)


def _read(path: Path | str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"The storage-state file {path} cannot be read: {error.strerror}.") from error


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
