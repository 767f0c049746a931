"""Run a call: fetch pages, then process them; for callers with and without an event loop."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeVar

from domsieve.errors import DomsieveError
from domsieve.library._checks import check_flag
from domsieve.library._fetch_options import Captured, FetchOptions
from domsieve.library._work import compared
from domsieve.library.inputs import Source, is_list, urls_of
from domsieve.library.results import CompareResult, Result
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore

T = TypeVar("T")


def run_coroutine(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and return its result; inside a running event loop, as in notebooks, run it in a thread.

    An interrupt, such as Ctrl-C, cancels the coroutine and is raised after it has ended.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _Thread(work).result()


async def in_thread(work: Callable[[], T]) -> T:
    """Run a function in a thread and return its result, without blocking the event loop.

    A cancelled call waits until `work` has ended, so that nothing goes on in the background.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # read, so that asyncio does not warn that nobody did
        raise


class _Thread(Generic[T]):
    """A thread that runs one coroutine in an event loop of its own."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._outcome: list[T] = []
        self._error: BaseException | None = None
        self._cancel: Callable[[], object] | None = None
        self._begun = threading.Event()
        self._ended = threading.Event()

    def result(self) -> T:
        """Return the result of the coroutine, or raise its error."""
        threading.Thread(target=self._run, name="domsieve").start()
        try:
            self._ended.wait()
        except BaseException:
            self._begun.wait()
            if self._cancel:
                with suppress(RuntimeError):  # the loop has just ended
                    self._cancel()
            self._ended.wait()
            raise
        if self._error is not None:
            raise self._error
        return self._outcome[0]

    def _run(self) -> None:
        try:
            self._outcome.append(asyncio.run(self._main()))
        except BaseException as error:  # `result` raises it
            self._error = error
        finally:
            self._begun.set()
            self._ended.set()

    async def _main(self) -> T:
        task = asyncio.ensure_future(self._work)
        self._cancel = partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel)
        self._begun.set()
        return await task


R = TypeVar("R", bound=Result[Any])


@dataclass(frozen=True, slots=True)
class PagesCall(Generic[R]):
    """A call that fetches pages if necessary and then processes them.

    Parameters
    ----------
    sources : the pages.
    several : whether the caller gave a list, even one of a single page.
    fetching : how URLs among the pages are fetched.
    work : returns the results, in the order of the pages.
    """

    sources: Sequence[Source]
    several: bool
    fetching: FetchOptions
    work: Callable[[Sequence[Source], Mapping[str, Captured], FetchOptions], list[R]]

    def run(self) -> R | list[R]:
        """Return the result of the page, or a list of results."""
        urls = self._urls()
        outcomes = run_coroutine(self.fetching.captured(urls)) if urls else {}
        return _one_or_all(self.work(self.sources, outcomes, self.fetching), self.several)

    async def run_async(self) -> R | list[R]:
        """Return the same as `run`, without blocking the event loop."""
        outcomes = await self.fetching.captured(self._urls())
        results = await in_thread(partial(self.work, self.sources, outcomes, self.fetching))
        return _one_or_all(results, self.several)

    def _urls(self) -> list[str]:
        return [source.label for source in self.sources if source.load is None and source.fault is None]


@dataclass(frozen=True, slots=True)
class ComparingCall:
    """A call that compares the two versions of pages. Without a cache, it uses a temporary store.

    Parameters
    ----------
    urls : the pages.
    several : whether the caller gave a list, even one of a single page.
    fetching : how pages are fetched, with both versions.
    twice : whether each page is loaded twice.
    """

    urls: Sequence[str]
    several: bool
    fetching: FetchOptions
    twice: bool

    @classmethod
    def of(cls, url: object, fetching: FetchOptions, *, twice: bool) -> "ComparingCall":
        """Return the call for a URL, or for an iterable of URLs.

        Raises
        ------
        UsageError : something is not a URL, or `twice` is not a bool.
        """
        check_flag("twice", twice)
        options = replace(fetching.options, both_versions=True)
        return cls(urls_of(url), is_list(url), replace(fetching, options=options), twice)

    def run(self) -> CompareResult | list[CompareResult]:
        """Return the comparison of the page, or a list of comparisons."""
        with self._folder() as folder:
            outcomes, loads = run_coroutine(self._recorded(folder))
            results = self._compared(folder, outcomes, loads)
        return _one_or_all(results, self.several)

    async def run_async(self) -> CompareResult | list[CompareResult]:
        """Return the same as `run`, without blocking the event loop."""
        with self._folder() as folder:
            outcomes, loads = await self._recorded(folder)
            results = await in_thread(partial(self._compared, folder, outcomes, loads))
        return _one_or_all(results, self.several)

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        if self.fetching.cache:
            yield self.fetching.cache
            return
        with TemporaryDirectory(prefix="domsieve-") as folder:
            yield Path(folder)

    async def _recorded(
        self, folder: Path
    ) -> tuple[dict[str, PageRecord | DomsieveError], dict[str, PageRecord]]:
        """Return a stored page or an error for every URL and, if `twice`, a second load of each."""
        urls = list(dict.fromkeys(self.urls))
        with PageStore(folder) as store:
            if not self.twice:
                return await self.fetching.recorded(urls, store), {}
            # The load to compare comes last, because later calls find the newest capture.
            plain = replace(self.fetching, options=self.fetching.options.without_extras())
            outcomes = await plain.recorded(urls, store, afresh=True)
            loads = {url: page for url, page in outcomes.items() if isinstance(page, PageRecord)}
            return outcomes | await self.fetching.recorded([*loads], store, afresh=True), loads

    def _compared(
        self,
        folder: Path,
        outcomes: Mapping[str, PageRecord | DomsieveError],
        loads: Mapping[str, PageRecord],
    ) -> list[CompareResult]:
        with PageStore(folder) as store:
            return compared(self.urls, outcomes, store, self.fetching, loads)


def _one_or_all(results: list[R], several: bool) -> R | list[R]:
    if several:
        return results
    if results[0].error:
        raise results[0].error
    return results[0]
