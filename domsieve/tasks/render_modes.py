"""Which pages of a call are rendered: what the options allow, and the source of pages that does it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Literal

from domsieve.errors import UsageError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.protocol import PageSource
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import known_source
from domsieve.tasks.renderer_factory import CaptureSetup
from domsieve.types import HiddenText

NOT_JUDGED = "not rendered: hidden text cannot be judged"
"""The reason in pages of ``render="never"``."""

_FETCHES = 8  # at the same time; they need little processor time
NEEDING_BROWSER: Mapping[str, object] = {
    "click": (),
    "wait_for": None,
    "scroll": False,
    "screenshot": False,
    "both_versions": False,
    "pixels": False,
    "viewport_px": CaptureOptions().viewport_px,
    "archive": "",
    "record": False,
    "fixed_time": False,
}
"""The options that need a browser, by name, with the values that need none."""

STYLES_OF_LAYOUT = ("layout", "full")
"""Values of the parameter `style` of methods that only rendered pages have."""
_SHOWN = {"archive": "from_archive", "record": "archive", "pixels": "hidden"}


def needing_browser(options: CaptureOptions) -> list[str]:
    """Return the names of the options that need a browser, without those at their defaults.

    Raises
    ------
    UsageError : the storage-state file cannot be used.
    """
    given = [name for name, usual in NEEDING_BROWSER.items() if getattr(options, name) != usual]
    names = [_SHOWN.get(name, name) for name in given]
    if options.storage_state:
        from domsieve.renderer.browser.opening import storage_state

        if storage_state(options).get("origins"):
            names.append("storage_state")
    return names


def cleaning_needs(
    options: CaptureOptions, *, uses_default_method: bool, hidden: HiddenText, style: object
) -> dict[str, bool]:
    """Return what needs a browser when pages are cleaned, besides the options of the capture; for `with_render_mode`.

    Parameters
    ----------
    options : how pages are captured.
    uses_default_method : whether pages are cleaned by the default method; others tell elements apart by layout.
    hidden : see `drop_hidden`. Fetched pages have no text that is known to be hidden, so ``"auto"`` cannot keep it.
    style : the parameter `style` of the method; None if it is not given.
    """
    return {
        "method": not uses_default_method,
        "hidden": hidden == "keep" and options.render == "auto",
        "style": style in STYLES_OF_LAYOUT,
    }


def with_render_mode(
    options: CaptureOptions, *, others: Mapping[str, bool] | None = None
) -> tuple[CaptureOptions, str]:
    """Return the options with the mode that is possible, and the name of the option that needs a browser.

    ``"auto"`` becomes ``"always"`` if an option needs a browser; the name is empty if none does.

    Parameters
    ----------
    options : how pages are captured.
    others : other options that need a browser, by name, each with whether it is used.

    Raises
    ------
    UsageError : an option needs a browser, and the mode is ``"never"``.
    """
    if options.render == "always":
        return options, ""
    names = [*needing_browser(options), *(name for name, is_used in (others or {}).items() if is_used)]
    if not names:
        return options, ""
    if options.render == "never":
        raise UsageError(
            f"{names[0]} needs a browser, and render is never; leave out one of the two.", parameter=names[0]
        )
    return replace(options, render="always"), names[0]


LoadReason = Literal[
    "always",
    "never",
    "static",
    "compared",
    "audited",
    "styles",
    "scripts",
    "drawn",
    "varied",
    "doubtful",
    "signs",
]
"""Why a page was rendered or only fetched, in a word."""

_CLASSES: Mapping[str, LoadReason] = {
    "": "always",
    NOT_JUDGED.partition(":")[0]: "never",
    "static": "static",
    "compared": "compared",
    "audited": "audited",
    "its style sheets are new": "styles",
    "its scripts are new": "scripts",
    "style sheets may hide a part of its text": "styles",
    "drawn by scripts": "drawn",
    "too varied": "varied",
    "not alike": "varied",
}


def load_reason(page: Snapshot) -> LoadReason:
    """Return why a page was rendered or only fetched, in a word; ``"signs"`` for all that its source alone said."""
    reason = page.provenance.reason
    if reason.startswith("another page of "):
        return "doubtful"
    return _CLASSES.get(reason.partition(":")[0], "signs")


def page_source(
    factory: CaptureSetup,
    *,
    store: PageStore | None,
    seed: int = 0,
    since: datetime | None = None,
    renews: bool = False,
    report: Callable[[str, str, str], None] = lambda *_: None,
    open_renderer: Callable[[], AbstractAsyncContextManager[PageSource]] | None = None,
) -> AbstractAsyncContextManager[PageSource]:
    """Open the source of pages for the mode in the options of a factory, which has the guard of all connections.

    Parameters
    ----------
    factory : makes the renderer.
    store, seed, since, renews, report, open_renderer : see `source_through`. Without `open_renderer`, the factory
        opens one.
    """
    return source_through(
        factory.egress,
        factory.options,
        factory.budget,
        open_renderer=open_renderer or factory.renderer,
        concurrency=factory.concurrency,
        store=store,
        seed=seed,
        since=since,
        renews=renews,
        report=report,
    )


@asynccontextmanager
async def source_through(
    egress: Egress,
    options: CaptureOptions,
    budget: Budget,
    *,
    open_renderer: Callable[[], AbstractAsyncContextManager[PageSource]],
    concurrency: int,
    store: PageStore | None,
    owner: str = "",
    seed: int = 0,
    since: datetime | None = None,
    renews: bool = False,
    report: Callable[[str, str, str], None] = lambda *_: None,
) -> AsyncIterator[PageSource]:
    """Open the source of pages for the mode in the options.

    Parameters
    ----------
    egress : the guard of all connections; that of the renderer.
    options, budget : how pages are captured, and the limits of one page, whether it is rendered or fetched.
    open_renderer : opens the renderer; called when the first page is rendered.
    concurrency : number of pages that are open at the same time.
    store : the cache, which keeps what was learned about sites; None keeps nothing.
    owner : whose evidence it is; what others have learned is not used.
    seed : decides which pages ``"auto"`` audits.
    since : evidence that is older does not count; None uses all.
    renews : whether pages of the store are fetched on the condition that they have changed.
    report : called with a site, a prefix and a sentence when it is decided how pages of the prefix are loaded.
    """
    if options.render == "always":
        async with open_renderer() as renderer:
            yield renderer
        return
    from domsieve.renderer.fetching.fetcher import Fetcher
    from domsieve.renderer.fetching.known_sources import KnownSources
    from domsieve.tasks.adaptive_source import AdaptiveSource, NoMemory, StoredEvidence

    fetcher = Fetcher(
        options,
        budget,
        egress=egress,
        concurrency=max(_FETCHES, concurrency),
        reason=NOT_JUDGED if options.render == "never" else "",
        known=KnownSources(partial(known_source, store=store, options=options)) if store and renews else None,
    )
    async with fetcher:
        if options.render == "never":
            yield fetcher
            return
        memory = StoredEvidence(store, options, seed=seed, since=since, owner=owner) if store else NoMemory()
        async with AdaptiveSource(open_renderer, fetcher, memory, seed=seed, report=report) as source:
            yield source
