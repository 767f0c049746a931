"""Bring a folder in step with its site."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from domsieve.errors import UsageError
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_folder import PageFolder
from domsieve.tasks.renderer_factory import CaptureSetup
from domsieve.tasks.site_sync.crawling import Reporter
from domsieve.tasks.site_sync.run import SiteSync
from domsieve.tasks.site_sync.state import Memory, State, SyncSettings, settled
from domsieve.tasks.site_sync.values import SyncResult
from domsieve.tasks.site_sync.visiting import RunLimits
from domsieve.urls import has_web_scheme


def place_of(
    source: str | Path, folder: Path | None, **chosen: Any
) -> tuple[Path, SyncSettings | None, list[str]]:
    """Return the folder of a run, what the caller says about the site, and the names of what they chose.

    Parameters
    ----------
    source : address of the site, or the folder of an earlier run.
    folder : the folder; None if `source` is it.
    chosen : the other settings, as of `SyncSettings`; None for those that are left out.

    Raises
    ------
    UsageError : the folder is missing or given twice, or a setting is wrong.
    """
    names = [name for name, value in chosen.items() if value is not None]
    if isinstance(source, str) and has_web_scheme(source):
        if folder is None:
            raise UsageError("The folder for the pages of the site is missing.", parameter="output_dir")
        return folder, SyncSettings.of(source, **chosen), ["source", *names]
    path = Path(source)
    if not path.is_dir():
        raise UsageError(f"{source} is neither an http or https address nor a folder.")
    if folder is not None and folder != path:
        raise UsageError(f"{source} is a folder, so leave out {folder}, or give the address of the site.")
    if names:
        # Checked against the first run.
        with PageFolder(path) as opened:
            state = Memory(opened).state()
        if state is not None:
            return path, SyncSettings.of(state.settings.source, **chosen), names
    return path, None, []


async def sync_folder(
    path: Path,
    given: SyncSettings | None,
    factory: Callable[[SyncSettings], CaptureSetup],
    *,
    chosen: Iterable[str] = (),
    delay: timedelta | None = None,
    concurrency: int = 2,
    report: Reporter,
    limits: RunLimits | None = None,
    shown: str = "",
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> SyncResult:
    """Visit a site, write what is new or has changed to a folder, and return the changes.

    Parameters
    ----------
    path : the folder.
    given : what the caller says about the site; None for a folder of an earlier run.
    factory : makes the renderer, and has the guard of all connections.
    chosen : names of the settings in `given` that are not just defaults.
    delay : time between two pages; None means 0.5 s, or no delay for this machine.
    concurrency : number of pages that are loaded at the same time, at most 8.
    report : is told how the run goes on.
    limits : what the run may load; None for no limits.
    shown : what messages call the folder; empty for its path.
    now : returns the time that the changes are dated with.

    Raises
    ------
    UsageError : the folder is not one of an earlier run, or was begun with other settings.
    StorageError : another run uses the folder, or it cannot be used.
    DomsieveError : the first page of the site cannot be loaded.
    """
    with PageFolder(path) as folder:
        memory = Memory(folder)
        state = memory.state()
        settings = settled(given, state, chosen=chosen, folder=shown or str(path))
        if state is None and folder.entries:
            raise UsageError(
                f"{path} holds pages of another command; give a new folder.", parameter="output_dir"
            )
        if state is None or not state.run:
            state = State(settings=settings)
            memory.write(state)  # so that the first run can be finished with the folder alone
        elif {entry.file: entry for entry in state.entries()} != folder.entries:
            folder.finish(state.entries())  # the last run was ended just before this
        with PageStore(memory.captures) as store:
            run = SiteSync(
                folder,
                state,
                store,
                factory(settings),
                delay=delay,
                concurrency=concurrency,
                report=report,
                limits=limits or RunLimits(),
                now=now,
            )
            return await run.run()
