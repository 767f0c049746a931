"""The options of every command that renders, and of those that take targets."""

import inspect
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from domsieve.budget import USUAL, AnalysisBudget, budgeted
from domsieve.commands.console import failures
from domsieve.commands.general_options import with_parameters
from domsieve.commands.input_words import FixedTime, FromArchive, replay_of, words_of

if TYPE_CHECKING:
    from domsieve.analysis.selection.selection import Selection
    from domsieve.renderer.browser.connection import DriverName
    from domsieve.renderer.network.addresses import HostRules
    from domsieve.renderer.network.egress import Egress
    from domsieve.renderer.network.replay import Replay
    from domsieve.renderer.options import Budget, CaptureOptions
    from domsieve.renderer.renderer import Renderer
    from domsieve.tasks.renderer_factory import RendererFactory
    from domsieve.tasks.targets import Target

_VIEWPORT = re.compile("0*([1-9][0-9]{0,8})x0*([1-9][0-9]{0,8})")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON lines for machines.")]
Cache = Annotated[
    Path | None,
    typer.Option("--cache", envvar="DOMSIEVE_CACHE", help="Folder of the cache [default: pages_cache]."),
]

_TARGETS = Annotated[
    list[str] | None,
    typer.Argument(
        show_default=False,
        help="URLs, HTML files, WARC or WACZ archives, folders of them, feeds or sitemaps (their pages), ids of "
        "cached pages, hosts of cached sites, or - for HTML from standard input.",
    ),
]
INPUT_FILE = Annotated[
    Path | None,
    typer.Option("--input-file", help="File of more targets, one per line; - reads standard input."),
]
KeepErrors = Annotated[
    bool,
    typer.Option("--keep-errors", help="Also use pages that count as failed, such as server errors."),
]

Select = Annotated[
    list[str] | None,
    typer.Option(metavar="CSS", help="Use only the parts that match, and the head of the page; repeatable."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="CSS", help="Remove the parts that match before anything else; repeatable."),
]

AnalysisTimeout = Annotated[
    float, typer.Option(help="Processor time for the analysis of one page, in seconds.")
]
AnalysisMegabytes = Annotated[
    int,
    typer.Option(
        min=1, max=1_000_000, help="Memory for the analysis of one page; a page that needs more fails."
    ),
]
BrowserOption = Annotated[
    str | None, typer.Option(envvar="DOMSIEVE_BROWSER", help="Path of a Chrome, or its name on PATH.")
]
DriverOption = Annotated[
    Literal["playwright", "pipe"],
    typer.Option(
        help="How to talk to Chrome; pipe is faster and needs Linux or macOS. Captures are the same.",
    ),
]
AllowPrivate = Annotated[
    bool,
    typer.Option(
        "--allow-private",
        help="Let pages reach this machine and private networks, not only the hosts that you name.",
    ),
]
DenyHosts = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HOST", help="Never connect to this host: NAME, *.NAME or ADDRESS[/BITS]; repeatable."
    ),
]
AllowHosts = Annotated[
    list[str] | None,
    typer.Option(metavar="HOST", help="Connect only to hosts named so, and to no others; repeatable."),
]
_MEGABYTE = 1_000_000
USUAL_SECONDS, USUAL_MEGABYTES = USUAL.time.total_seconds(), USUAL.memory_bytes // _MEGABYTE


@dataclass(frozen=True)
class Capture:
    """How URLs are rendered; the options that every rendering command shares."""

    options: "CaptureOptions"
    budget: "Budget"
    allow_private: bool
    rules: "HostRules | None"
    browser: str | None
    driver: "DriverName"
    concurrency: int
    delay: timedelta | None
    since: datetime | None
    analysis: AnalysisBudget
    replay: "Replay | None" = None

    @cached_property
    def _factory(self) -> "RendererFactory":
        from domsieve.tasks.renderer_factory import RendererFactory

        return RendererFactory(
            options=self.options,
            budget=self.budget,
            concurrency=self.concurrency,
            browser=self.browser,
            driver=self.driver,
            allow_private=self.allow_private,
            rules=self.rules,
            replay=self.replay,
        )

    @property
    def egress(self) -> "Egress":
        """Where connections may go."""
        return self._factory.egress

    def renderer(self) -> "Renderer":
        """Return what renders; it loads what talks to Chrome, which pages of the cache do not need."""
        return self._factory.renderer()


def capture_options(
    *,
    both_sides: bool = False,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Render again even if the page is cached.")
    ] = False,
    max_age: Annotated[
        float | None,
        typer.Option(min=0, metavar="DAYS", help="Render again if the capture is older than this many days."),
    ] = None,
    viewport: Annotated[str, typer.Option(help="Width x height of the window in CSS px.")] = "1280x800",
    user_agent: Annotated[str | None, typer.Option(help="User-Agent header.")] = None,
    header: Annotated[list[str] | None, typer.Option(help="'Name: value', repeatable.")] = None,
    cookie: Annotated[list[str] | None, typer.Option(help="'name=value', repeatable.")] = None,
    storage_state: Annotated[
        Path | None, typer.Option(help="File of cookies and local storage, from `login` or Playwright.")
    ] = None,
    locale: Annotated[str | None, typer.Option(help="Language tag, such as de-DE.")] = None,
    images: Annotated[bool, typer.Option(help="Load images; without them, the layout changes.")] = True,
    settle: Annotated[
        Literal["adaptive", "load", "networkidle"], typer.Option(help="When a page counts as complete.")
    ] = "adaptive",
    settle_extra: Annotated[float, typer.Option(help="Seconds to wait after the page is complete.")] = 0.0,
    scroll: Annotated[bool, typer.Option("--scroll", help="Scroll to the end first.")] = False,
    click: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CSS", help="Click the first matching element once the page is complete; repeatable."
        ),
    ] = None,
    wait_for: Annotated[
        str | None, typer.Option(metavar="CSS", help="Wait until a matching element is visible.")
    ] = None,
    screenshot: Annotated[
        bool,
        typer.Option(
            "--screenshot",
            help="Also store what compare and report need: screenshot, data responses, page without scripts.",
        ),
    ] = False,
    timeout: Annotated[float, typer.Option(help="Time limit for one page, in seconds.")] = 20.0,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Pages at once [default: cores].")] = None,
    delay: Annotated[
        float | None,
        typer.Option(
            help="Seconds between pages that domsieve finds or reads from a list [default: 0.5; 0 on this machine]."
        ),
    ] = None,
    analysis_timeout: AnalysisTimeout = USUAL_SECONDS,
    analysis_megabytes: AnalysisMegabytes = USUAL_MEGABYTES,
    allow_private: AllowPrivate = False,
    deny_host: DenyHosts = None,
    allow_host: AllowHosts = None,
    browser: BrowserOption = None,
    driver: DriverOption = "playwright",
    from_archive: FromArchive = None,
    fixed_time: FixedTime = False,
) -> Capture:
    """Return the renderer that the options describe."""
    from domsieve.errors import UsageError
    from domsieve.renderer.options import Budget, CaptureOptions

    replay = replay_of(from_archive, fixed_time=fixed_time)
    size = _VIEWPORT.fullmatch(viewport)
    if not size:
        raise UsageError(f"--viewport {viewport}: give width x height in px, such as 1280x800.")
    options = CaptureOptions(
        viewport_px=(int(size[1]), int(size[2])),
        user_agent=user_agent,
        headers=tuple(_pair("--header", text, ":") for text in header or ()),
        cookies=tuple(_pair("--cookie", text, "=") for text in cookie or ()),
        storage_state=storage_state,
        locale=locale,
        images=images,
        settle=settle,
        settle_extra=seconds("--settle-extra", settle_extra),
        scroll=scroll,
        click=tuple(click or ()),
        wait_for=wait_for,
        both_sides=both_sides,
        screenshot=screenshot,
        archive=replay.answers.digest if replay else "",
        fixed_time=fixed_time,
    )
    budget = Budget(time=seconds("--timeout", timeout))
    return Capture(
        options,
        budget,
        allow_private,
        host_rules(deny_host, allow_host),
        browser,
        driver,
        concurrency=concurrency or os.cpu_count() or 1,
        delay=None if delay is None else seconds("--delay", delay),
        since=_since(refresh=refresh, max_age=max_age),
        analysis=analysis_budget(analysis_timeout, analysis_megabytes),
        replay=replay,
    )


def host_rules(deny: Sequence[str] | None, allow: Sequence[str] | None) -> "HostRules | None":
    """Return what ``--deny-host`` and ``--allow-host`` say, None without them.

    Raises
    ------
    UsageError : one is no rule.
    """
    if not (deny or allow):
        return None
    from domsieve.renderer.network.addresses import HostRules

    return HostRules.of(deny or (), allow or ())


def analysis_budget(timeout: float, megabytes: int) -> AnalysisBudget:
    """Return what the analysis of a page may cost.

    Raises
    ------
    UsageError : it may take no time, or more than a day.
    """
    return AnalysisBudget(
        time=seconds("--analysis-timeout", timeout, least=0.001), memory_bytes=megabytes * _MEGABYTE
    )


def rendering(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `capture_options` in place of its parameter `capture`."""
    return _with_options(command, {})


def rendering_all(command: Callable[..., None]) -> Callable[..., None]:
    """Do as `rendering`, for a command that needs what `--screenshot` keeps."""
    return _with_options(command, {"screenshot": True})


def comparing(command: Callable[..., None]) -> Callable[..., None]:
    """Do as `rendering`, for a command that needs both sides of a page."""
    return _with_options(command, {"both_sides": True})


def _with_options(command: Callable[..., None], fixed: dict[str, Any]) -> Callable[..., None]:
    own = {p.name: p for p in inspect.signature(command).parameters.values() if p.name != "capture"}
    options = inspect.signature(capture_options).parameters
    shared = {name: option for name, option in options.items() if name not in {"both_sides", *fixed}}
    takes_targets = "targets" in own
    if takes_targets:
        own["targets"] = own["targets"].replace(default=None, annotation=_TARGETS)
        own["input_file"] = inspect.Parameter(
            "input_file", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=INPUT_FILE
        )

    @wraps(command)
    def run(**values: Any) -> None:
        with failures():
            capture = capture_options(**{name: values.pop(name) for name in shared}, **fixed)
            if takes_targets:
                targets, listed = values["targets"], values.pop("input_file")
                if capture.replay and not (targets or listed):
                    targets = [page.url for page in capture.replay.answers.pages]
                values["targets"] = words_of(targets or [], listed)
            with budgeted(capture.analysis):
                command(**values, capture=capture)

    return with_parameters(run, [*own.values(), *shared.values()])


def _since(*, refresh: bool, max_age: float | None) -> datetime | None:
    """Return when a capture of the cache must have been made to be used, None for whenever."""
    if refresh or max_age is None:
        return datetime.now(UTC) if refresh else None
    from domsieve.errors import UsageError

    try:
        return datetime.now(UTC) - timedelta(days=max_age)
    except (OverflowError, ValueError) as error:
        raise UsageError(f"--max-age {max_age:g}: give a number of days.") from error


def _pair(option: str, text: str, mark: str) -> tuple[str, str]:
    from domsieve.errors import UsageError

    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"{option} {text!r}: write name{mark}value.")
    return name.strip(), value.strip()


def seconds(option: str, value: float, *, least: float = 0) -> timedelta:
    """Return an option's seconds as a duration.

    Raises
    ------
    UsageError : they are less than `least`, or more than a day.
    """
    from domsieve.errors import UsageError

    if not least <= value <= 86_400:
        raise UsageError(f"{option} {value:g}: give seconds from {least:g} to 86400.")
    return timedelta(seconds=value)


def selection_of(select: Sequence[str] | None, drop: Sequence[str] | None) -> "Selection | None":
    """Return what ``--select`` and ``--drop`` choose, None without them.

    Raises
    ------
    UsageError : one is not a valid CSS selector.
    """
    if not (select or drop):
        return None
    from domsieve.analysis.selection.selection import Selection

    return Selection(tuple(select or ()), tuple(drop or ()))


def url_of_file(url: str | None, targets: "Sequence[Target]") -> str:
    """Return what ``--url`` says of the only target, a file; empty without it.

    Raises
    ------
    UsageError : it is no address, or there is no file, or more than one.
    """
    if url is None:
        return ""
    from domsieve.errors import UsageError
    from domsieve.renderer.network.egress import is_web_address
    from domsieve.tasks.targets import FileTarget, PipedTarget

    if not is_web_address(url):
        raise UsageError(f"--url {url!a}: give the address of the page, with http:// or https://.")
    if len(targets) != 1 or not isinstance(targets[0], FileTarget | PipedTarget):
        raise UsageError("--url is the address that one file came from; give one file.")
    return url
