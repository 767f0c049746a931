"""The options of every command that renders, and of those that take targets."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, wraps
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from domsieve.budget import DEFAULT_BUDGET, AnalysisBudget, budgeted
from domsieve.commands.console import failures, option_of, say
from domsieve.commands.declared_options import option_parameters, option_values, seconds, typer_option
from domsieve.commands.general_options import with_parameters
from domsieve.commands.input_words import FixedTime, FromArchive, replay_of, words_of
from domsieve.declaration import declared
from domsieve.options import Budget, CaptureOptions, NetworkOptions
from domsieve.types import DriverName, HiddenText

if TYPE_CHECKING:
    from domsieve.analysis.selection.selection import Selection
    from domsieve.renderer.network.addresses import HostRules
    from domsieve.renderer.network.egress import Egress
    from domsieve.renderer.network.replay import Replay
    from domsieve.renderer.protocol import PageSource
    from domsieve.renderer.renderer import Renderer
    from domsieve.snapshot.store import PageStore
    from domsieve.tasks.renderer_factory import RendererFactory
    from domsieve.tasks.targets import Target

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
    typer.Option("--input-file", help="File of more addresses, one per line; - reads standard input."),
]
INPUT_PATHS = Annotated[
    bool,
    typer.Option("--input-paths", help="The lines of --input-file are files and folders, not addresses."),
]
KeepErrors = Annotated[bool, typer_option(NetworkOptions, "keep_errors")]

Hidden = Annotated[
    HiddenText,
    typer.Option(
        help="Drop hidden text, judged by layout or by pictures of rendered pages, or keep it among kept text."
    ),
]
HiddenCapture = Annotated[
    HiddenText,
    typer.Option(help="With pixels, also take the pictures that cleaning with --hidden pixels needs."),
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
BrowserOption = Annotated[str | None, typer_option(NetworkOptions, "browser")]
DriverOption = Annotated[DriverName, typer_option(NetworkOptions, "driver")]
AllowPrivate = Annotated[bool, typer_option(NetworkOptions, "allow_private")]
DenyHosts = Annotated[list[str] | None, typer_option(NetworkOptions, "deny_hosts")]
AllowHosts = Annotated[list[str] | None, typer_option(NetworkOptions, "allow_hosts")]
_MEGABYTE = 1_000_000
DEFAULT_SECONDS, DEFAULT_MEGABYTES = (
    DEFAULT_BUDGET.time.total_seconds(),
    DEFAULT_BUDGET.memory_bytes // _MEGABYTE,
)


@dataclass(frozen=True)
class Capture:
    """How URLs are rendered: the options that all rendering commands share."""

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
    renews: bool = False

    @cached_property
    def factory(self) -> "RendererFactory":
        """Makes the renderers of the options."""
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
        """The egress guard of the options."""
        return self.factory.egress

    def for_hidden(self, hidden: HiddenText) -> "Capture":
        """Return the same options with those that finding hidden text so needs."""
        return replace(self, options=replace(self.options, pixels=hidden == "pixels"))

    def adapted(self, **others: bool) -> "Capture":
        """Return the options with the mode of ``--render`` that the other options allow; says if it changes.

        Parameters
        ----------
        others : other options that need a browser, by name, each with whether it is used.

        Raises
        ------
        UsageError : an option needs a browser, and the mode is ``"never"``.
        """
        from domsieve.tasks.render_modes import with_render_mode

        options, why = with_render_mode(self.options, others=others)
        if why:
            say(f"{option_of(why)} needs a browser, so all pages are rendered.")
        return replace(self, options=options)

    def source(self, store: "PageStore", *, seed: int = 0) -> "AbstractAsyncContextManager[PageSource]":
        """Return the source of pages for the mode of ``--render``, which reports its decisions on stderr."""
        from domsieve.tasks.render_modes import page_source

        def report(site: str, prefix: str, sentence: str) -> None:
            say(f"{site}{prefix}: {sentence}")

        return page_source(
            self.factory, store=store, seed=seed, since=self.since, renews=self.renews, report=report
        )

    def renderer(self) -> "Renderer":
        """Return a renderer. This imports the modules that talk to Chrome, which cached pages do not need."""
        return self.factory.renderer()


# Declared options that commands offer in another form, or that are not about rendering.
_NOT_SHARED = {"private_hosts", "keep_errors", "analysis_budget"}


def capture_options(
    given: Mapping[str, Any],
    *,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Render again even if the page is cached.")
    ] = False,
    max_age: Annotated[
        float | None,
        typer.Option(min=0, metavar="DAYS", help="Render again if the capture is older than this many days."),
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(
            help="Seconds between pages that domsieve finds or reads from a list [default: 0.5; 0 on this machine]."
        ),
    ] = None,
    analysis_timeout: AnalysisTimeout = DEFAULT_SECONDS,
    analysis_megabytes: AnalysisMegabytes = DEFAULT_MEGABYTES,
    from_archive: FromArchive = None,
    fixed_time: FixedTime = False,
) -> Capture:
    """Return the options of rendering from their values.

    Parameters
    ----------
    given : values of options of `CaptureOptions` and `NetworkOptions`.
    """
    replay = replay_of(from_archive, fixed_time=fixed_time)
    network = {name: given[name] for name in declared(NetworkOptions) if name in given}
    capture = {name: value for name, value in given.items() if name not in network}
    options = CaptureOptions(
        **capture, archive=replay.answers.digest if replay else "", fixed_time=fixed_time
    )
    if options.storage_state:
        from domsieve.renderer.browser.opening import storage_state

        storage_state(options)  # one error for all pages
        if Path(options.storage_state).stat().st_mode & 0o077:
            say(f"Other accounts may read {options.storage_state}, which holds a session: chmod 600 it.")
    return Capture(
        options,
        Budget(time=network["timeout"]),
        network["allow_private"],
        host_rules(network["deny_hosts"], network["allow_hosts"]),
        network["browser"],
        network["driver"],
        concurrency=network["concurrency"] or os.cpu_count() or 1,
        delay=None if delay is None else seconds("--delay", delay),
        since=_since(refresh=refresh, max_age=max_age),
        renews=max_age is not None and not refresh,
        analysis=analysis_budget(analysis_timeout, analysis_megabytes),
        replay=replay,
    )


def host_rules(deny: Sequence[str] | None, allow: Sequence[str] | None) -> "HostRules | None":
    """Return the rules of ``--deny-host`` and ``--allow-host``; None without any.

    Raises
    ------
    UsageError : a value is not a rule.
    """
    if not (deny or allow):
        return None
    from domsieve.renderer.network.addresses import HostRules

    return HostRules.of(deny or (), allow or ())


def analysis_budget(timeout: float, megabytes: int) -> AnalysisBudget:
    """Return the budget of the analysis of a page.

    Raises
    ------
    UsageError : the time is not positive, or more than a day.
    """
    return AnalysisBudget(
        time=seconds("--analysis-timeout", timeout, least=0.001), memory_bytes=megabytes * _MEGABYTE
    )


def rendering(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `capture` of a command by the options of rendering."""
    return _with_options(command, {})


def rendering_all(command: Callable[..., None]) -> Callable[..., None]:
    """Like `rendering`, for a command that needs screenshots."""
    return _with_options(command, {"screenshot": True, "render": "always"})


def comparing(command: Callable[..., None]) -> Callable[..., None]:
    """Like `rendering`, for a command that needs both versions of a page."""
    return _with_options(command, {"both_versions": True, "render": "always"})


def rendering_every_page(command: Callable[..., None]) -> Callable[..., None]:
    """Like `rendering`, for a command that never only fetches a page."""
    return _with_options(command, {"render": "always"})


def syncing(command: Callable[..., None]) -> Callable[..., None]:
    """Like `rendering`, for a command that follows a site; it renders only what needs a browser by default."""
    return _with_options(command, {"screenshot": False}, usual={"render": "auto"})


def _with_options(
    command: Callable[..., None], fixed: dict[str, Any], *, usual: Mapping[str, Any] = MappingProxyType({})
) -> Callable[..., None]:
    own = {p.name: p for p in inspect.signature(command).parameters.values() if p.name != "capture"}
    groups = [
        [
            one.replace(default=usual.get(one.name, one.default))
            for one in option_parameters(group, leave_out=_NOT_SHARED | fixed.keys())
        ]
        for group in (CaptureOptions, NetworkOptions)
    ]
    shared = {
        name: one for name, one in inspect.signature(capture_options).parameters.items() if name != "given"
    }
    takes_targets = "targets" in own
    if takes_targets:
        own["targets"] = own["targets"].replace(default=None, annotation=_TARGETS)
        own["input_file"] = inspect.Parameter(
            "input_file", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=INPUT_FILE
        )
        own["input_paths"] = inspect.Parameter(
            "input_paths", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=INPUT_PATHS
        )

    @wraps(command)
    def run(**values: Any) -> None:
        with failures():
            given = {**fixed}
            for group in (CaptureOptions, NetworkOptions):
                given |= option_values(group, values, leave_out=_NOT_SHARED | fixed.keys())
            capture = capture_options(given, **{name: values.pop(name) for name in shared})
            if takes_targets:
                targets, listed = values["targets"], values.pop("input_file")
                are_paths = values.pop("input_paths")
                if capture.replay and not (targets or listed):
                    targets = [page.url for page in capture.replay.answers.pages]
                values["targets"] = words_of(targets or [], listed, are_paths=are_paths)
            with budgeted(capture.analysis):
                command(**values, capture=capture)

    return with_parameters(run, [*own.values(), *chain.from_iterable(groups), *shared.values()])


def _since(*, refresh: bool, max_age: float | None) -> datetime | None:
    """Return the earliest time of a usable capture in the cache; None for no limit."""
    if refresh or max_age is None:
        return datetime.now(UTC) if refresh else None
    from domsieve.errors import UsageError

    try:
        return datetime.now(UTC) - timedelta(days=max_age)
    except (OverflowError, ValueError) as error:
        raise UsageError(f"--max-age {max_age:g}: give a number of days.") from error


def selection_of(select: Sequence[str] | None, drop: Sequence[str] | None) -> "Selection | None":
    """Return the selection of ``--select`` and ``--drop``; None without any.

    Raises
    ------
    UsageError : a value is not a valid CSS selector.
    """
    if not (select or drop):
        return None
    from domsieve.analysis.selection.selection import Selection

    return Selection(tuple(select or ()), tuple(drop or ()))


def url_of_file(url: str | None, targets: "Sequence[Target]") -> str:
    """Return the address in ``--url``, which applies to a single file; empty without it.

    Raises
    ------
    UsageError : it is not an address, or the targets are not exactly one file.
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
