"""Which pages of a call are rendered: what the options allow, and the source of pages that does it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from domsieve.errors import UsageError
from domsieve.options import CaptureOptions
from domsieve.renderer.protocol import PageSource
from domsieve.snapshot.store import PageStore
from domsieve.tasks.renderer_factory import RendererFactory

NOT_JUDGED = "not rendered: hidden text cannot be judged"
"""The reason in pages of ``render="never"``."""

_FETCHES = 8  # at the same time; they need little processor time
_NEEDING = {
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
_SHOWN = {"archive": "from_archive", "record": "archive", "pixels": "hidden"}


def needing_browser(options: CaptureOptions) -> list[str]:
    """Return the names of the options that need a browser, without those at their defaults.

    Raises
    ------
    UsageError : the storage-state file cannot be used.
    """
    given = [name for name, usual in _NEEDING.items() if getattr(options, name) != usual]
    names = [_SHOWN.get(name, name) for name in given]
    if options.storage_state:
        from domsieve.renderer.browser.opening import storage_state

        if storage_state(options).get("origins"):
            names.append("storage_state")
    return names


def with_render_mode(
    options: CaptureOptions, *, others: "dict[str, Any] | None" = None
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


@asynccontextmanager
async def page_source(
    factory: RendererFactory,
    *,
    store: PageStore | None,
    seed: int = 0,
    since: datetime | None = None,
    report: Callable[[str, str, str], None] = lambda *_: None,
    open_renderer: Callable[[], AbstractAsyncContextManager[PageSource]] | None = None,
) -> AsyncIterator[PageSource]:
    """Open the source of pages for the mode in the options of a factory.

    Parameters
    ----------
    factory : makes the renderer, and has the guard of all connections.
    store : the cache, which keeps what was learned about sites; None keeps nothing.
    seed : decides which pages ``"auto"`` audits.
    since : evidence that is older does not count; None uses all.
    report : called with a site, a prefix and a sentence when it is decided how pages of the prefix are loaded.
    open_renderer : opens the renderer; None opens one of the factory.
    """
    options = factory.options
    open_renderer = open_renderer or factory.renderer
    if options.render == "always":
        async with open_renderer() as renderer:
            yield renderer
        return
    from domsieve.renderer.fetching.fetcher import Fetcher
    from domsieve.tasks.adaptive_source import AdaptiveSource, NoMemory, StoredEvidence

    fetcher = Fetcher(
        options,
        factory.budget,
        egress=factory.egress,
        concurrency=max(_FETCHES, factory.concurrency),
        reason=NOT_JUDGED if options.render == "never" else "",
    )
    async with fetcher:
        if options.render == "never":
            yield fetcher
            return
        memory = StoredEvidence(store, options, seed=seed, since=since) if store else NoMemory()
        async with AdaptiveSource(open_renderer, fetcher, memory, seed=seed, report=report) as source:
            yield source
