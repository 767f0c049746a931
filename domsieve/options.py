"""The options in groups: the capture, the budget of a page, the network, the pages of a site.

`domsieve.declaration` describes how options are declared, and what is derived from the declarations.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from domsieve.budget import DEFAULT_BUDGET, AnalysisBudget
from domsieve.declaration import Option, Served, check_group
from domsieve.errors import UsageError
from domsieve.types import DriverName

SettlePolicy = Literal["adaptive", "load", "networkidle"]
RenderMode = Literal["auto", "always", "never"]

FETCHED = "fetched"
"""Option in the provenance of pages that were fetched and not rendered: the `RenderMode`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureOptions:
    """How a page is captured. Equal options make equal captures of an unchanged page.

    Parameters
    ----------
    viewport_px : width and height of the window in CSS px; the page itself may be taller.
    user_agent : the User-Agent header; None keeps that of the browser.
    headers : pairs of name and value, sent with every request of a page, also to other hosts.
    cookies : pairs of name and value, set for the address of each page before it is opened.
    storage_state : storage-state file of Playwright, with the initial cookies and local storage.
    locale : language tag such as ``"de-DE"``; None keeps that of the browser.
    images : whether to load images. Without them a page needs about a sixth less processor time, but boxes change,
        because images have no natural size.
    settle : when a page counts as complete. ``"adaptive"``: it is loaded, and for 300 ms its structure has not
        changed and no data have arrived; at most 5 s after its first byte. ``"load"``: at its load event.
        ``"networkidle"``: after 500 ms without requests, which live connections can delay until the time budget ends.
    settle_extra : how long to wait after that, for pages that change without a signal.
    scroll : whether to scroll to the end and back first, for content that is loaded when it comes into view.
    click : CSS selectors of elements to click when the page is complete, one after another: to agree, to load more,
        to open a tab. For each selector, the first visible element is clicked, also in open shadow trees, and the
        page may settle again. If there is none, a warning is logged.
    wait_for : CSS selector of an element that must be visible before the page counts as complete; None for none. A
        page without it is cut when its time is over.
    both_versions : also store what `compare` needs: the responses with the data of the page, and a second capture
        without scripts. The capture itself is the same.
    render : which pages the browser renders. ``"always"``: all. ``"auto"``: those for which renderings of the same
        site have not shown that their source is enough; the others are only fetched. ``"never"``: none, so hidden
        text cannot be told from visible text.
    screenshot : whether to store a screenshot, and also what `both_versions` stores.
    pixels : whether to find out from pictures of the page which texts can be seen; needs the extra `pixels`.
    archive : digest of the archive to render from; empty to render from the network.
    fixed_time : whether scripts see the time at which the archive was made, and repeatable random numbers.
    record : whether to return all requests and responses of the page. The capture itself is the same.
    record_credentials : whether recorded requests contain the headers and cookies of these options.

    Raises
    ------
    UsageError : a value is wrong; its `parameter` names it.
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
    render: Annotated[
        RenderMode,
        Option(
            "Which pages are rendered; auto fetches those where a browser adds nothing.",
            group="Pages",
            served=Served(
                label="Which pages are rendered",
                choices={
                    "always": "All",
                    "auto": "Those to which a browser adds something",
                    "never": "None: only fetch them",
                },
            ),
        ),
    ] = "always"
    screenshot: Annotated[
        bool,
        Option("Also store what compare and report need: screenshot, data responses, page without scripts."),
    ] = False
    both_versions: bool = False
    pixels: bool = False
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
        if self.pixels and find_spec("PIL") is None:
            message = "Pictures of a page need Pillow; install domsieve with the extra pixels."
            raise UsageError(message, parameter="hidden")

    @property
    def extras(self) -> bool:
        """Whether anything is stored besides the capture."""
        return self.both_versions or self.screenshot

    def without_extras(self) -> "CaptureOptions":
        """Return the same options for a capture without extras, such as a second load for a comparison."""
        return replace(self, both_versions=False, screenshot=False)

    def canonical_fetched(self) -> dict[str, str | int | float | bool | None]:
        """Return the options of a page that is only fetched: those that shape its source, and `FETCHED`.

        Raises
        ------
        UsageError : the storage-state file cannot be read.
        """
        shaping = {name: value for name, value in self.canonical().items() if name in _IN_REQUESTS}
        return shaping | {FETCHED: "never" if self.render == "always" else self.render}

    def canonical(self) -> dict[str, str | int | float | bool | None]:
        """Return the options that shape the capture, as scalars for `Provenance.options`; secrets only as digests.

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
        # Others appear only if they are not at their defaults. So when an option is added, older captures still
        # count as equal.
        apart = {*always, "settle_extra", *_NOT_IN_COLUMNS}
        rest = {o.name: (getattr(self, o.name), o.default) for o in fields(self) if o.name not in apart}
        # An empty list equals the empty tuple.
        given = {name: value for name, (value, usual) in rest.items() if value != usual and (value or usual)}
        return always | {name: _scalar(value) for name, value in given.items()}


_NOT_IN_COLUMNS = ("both_versions", "screenshot", "record", "record_credentials", "render")
"""Options that do not change the capture, only what is stored with it."""


_IN_REQUESTS = ("user_agent", "headers", "cookies", "storage_state", "locale")
"""Options that servers see."""


def _scalar(value: Any) -> str | int | float | bool | None:
    found: str | int | float | bool | None = value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits of rendering one page. A page that exceeds one is cut, and its Snapshot says so.

    Parameters
    ----------
    time : from opening the page until it has settled. Stopping, capturing and closing may take 10 s more, and a
        screenshot 6 s.
    received_bytes : bytes that the page loads, after decompression.
    requests : number of requests of the page and its frames, without data URLs.
    nodes : number of nodes of the page and its frames.
    frames : number of frames in the page.
    memory_bytes : memory of the process of the page, and never more than 0.7 of the memory of the machine or the
        control group. It is measured a few times per second, so a page may exceed it briefly. Pages of a site may
        share a process. Not enforced on systems without ``/proc``.
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
    """How URLs are fetched, and the budget of one page.

    Parameters
    ----------
    timeout : time limit for one page, at most a day. A page that takes longer is cut, and its result says so.
    concurrency : number of pages that are open at the same time; None for one per processor.
    private_hosts : hosts that may be reached although their addresses are private, such as this machine: ``HOST`` or
        ``HOST:PORT``. All other addresses must be public, because strangers may have chosen them.
    allow_private : whether pages may reach this machine and all private networks.
    deny_hosts : hosts that are never reached: ``NAME``, ``*.NAME`` or ``ADDRESS[/BITS]``.
    allow_hosts : if given, only these hosts are reached.
    browser : path of a Chrome, or its name on PATH; None searches for one.
    driver : how to talk to Chrome: ``"playwright"``, or ``"pipe"``, which needs less processor time and works on
        Linux and macOS. Captures are the same.
    keep_errors : whether to use pages that count as failed: responses with HTTP status 400 or above, content that is
        neither HTML nor text, empty documents, and pages that were cut before their first text.
    analysis_budget : processor time and memory for the analysis of one page. A page that needs more fails with a
        `BudgetError`.

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
    ] = DEFAULT_BUDGET

    def __post_init__(self) -> None:
        check_group(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which pages of a site are visited; the start page always is.

    Parameters
    ----------
    include : patterns, one of which must match the page. They are compared with everything after the host: path,
        query and route. ``*`` matches any characters, ``?`` one, ``[abc]`` one of these. Empty for all pages.
    exclude : patterns of pages that are not visited, even if `include` matches.
    depth : maximum number of clicks from the start page, 0 or more; pages in sitemaps are one click away. The default
        is a guess. It stops at calendars and the like, whose pages link to the next one without end.

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
