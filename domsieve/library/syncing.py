"""The call that follows a site."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from domsieve.budget import budgeted
from domsieve.errors import PolicyError
from domsieve.library._checks import path_of
from domsieve.library._fetch_options import FetchOptions, with_way_out
from domsieve.library._running import in_thread, run_coroutine
from domsieve.library.parameters import SyncKeywords, given, takes
from domsieve.options import CaptureOptions
from domsieve.renderer.sampling.events import SampleEvent
from domsieve.tasks.renderer_factory import RendererFactory
from domsieve.tasks.site_sync.syncing import place_of, sync_folder
from domsieve.tasks.site_sync.values import SyncResult

logger = logging.getLogger("domsieve")


class _Logged:
    """Reports to the log."""

    def visited(self, event: SampleEvent) -> None:
        pass

    def said(self, sentence: str) -> None:
        logger.info("%s", sentence)

    def stage(self, what: str, pages: int) -> None:
        pass

    def advanced(self) -> None:
        pass


@takes(SyncKeywords)
def sync(source: str | Path, folder: str | Path | None = None, **how: Unpack[SyncKeywords]) -> SyncResult:
    """Keep a folder in step with a site, and return what changed in its content.

    Parameters
    ----------
    source : the address of a page of the site, http or https, or the folder of an earlier run.
    folder : the folder, if `source` is an address.
    format : what the files hold: ``"markdown"`` (the default), ``"text"``, or ``"chunks"`` for passages with ids.
    include, exclude, depth : see `Scope`; None for all pages, up to 16 clicks from the first.
    pages : maximum number of pages, 1 or more; None means 10,000. This and the options above hold for all runs.
    capture : `CaptureOptions`: how pages are captured. None renders only pages that need a browser
        (``render="auto"``).
    network : `NetworkOptions`: how addresses are fetched. The site must be public unless `private_hosts` names it.

    Raises
    ------
    UsageError : a parameter is wrong, or contradicts the first run.
    StorageError : the folder cannot be used, or another run uses it.
    BrowserNotFoundError : pages have to be rendered, but there is no Chrome.
    DomsieveError : the first page of the site cannot be loaded.
    """
    return run_coroutine(_work("sync", source, folder, how))


@takes(SyncKeywords)
async def sync_async(
    source: str | Path, folder: str | Path | None = None, **how: Unpack[SyncKeywords]
) -> SyncResult:
    """Do the same as `sync`, with the same parameters, without blocking the event loop."""
    work = partial(_work, "sync_async", source, folder, how)
    return await in_thread(lambda: asyncio.run(work()))


async def _work(
    call: str, source: str | Path, folder: str | Path | None, how: Mapping[str, Any]
) -> SyncResult:
    chosen = given(call, SyncKeywords, how)
    capture, network = chosen.pop("capture"), chosen.pop("network")
    for name in ("include", "exclude"):
        chosen[name] = None if chosen[name] is None else tuple(chosen[name])
    options = CaptureOptions(render="auto") if capture is None else capture
    fetching = FetchOptions.of(cache=None, capture=options, network=network).adapted()
    path, settings, names = place_of(source, None if folder is None else path_of("folder", folder), **chosen)
    # Nothing that only other commands use is kept.
    options = replace(fetching.options, both_versions=False, screenshot=False)
    factory = RendererFactory.of(options, fetching.network)
    with budgeted(fetching.network.analysis_budget):
        try:
            return await sync_folder(
                path,
                settings,
                lambda _: factory,
                chosen=names,
                concurrency=factory.concurrency,
                report=_Logged(),
            )
        except PolicyError as error:
            with_way_out(error)
            raise
