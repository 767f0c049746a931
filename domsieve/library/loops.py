"""Coroutines for callers who do not await, and long work for those who do. Imports nothing of the project."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def run_coroutine(work: Coroutine[Any, Any, T]) -> T:
    """Return what `work` returns, when it has; inside a running event loop, as in notebooks, a thread runs it.

    An interrupt, such as Ctrl-C, cancels `work` and is raised when it has ended.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _Thread(work).result()


async def in_thread(work: Callable[[], T]) -> T:
    """Return what `work` returns, without holding up the event loop meanwhile.

    When this is cancelled, it waits for the end of `work`, so that nothing goes on behind the caller's back.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at, so that nobody is told that it never was
        raise


class _Thread(Generic[T]):
    """A thread with an event loop of its own, in which one coroutine runs."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._outcome: list[T] = []
        self._error: BaseException | None = None
        self._cancel: Callable[[], object] | None = None
        self._begun = threading.Event()
        self._ended = threading.Event()

    def result(self) -> T:
        """Return what the coroutine returns, or raise what it raises."""
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
        except BaseException as error:  # it is raised where the result is waited for
            self._error = error
        finally:
            self._begun.set()
            self._ended.set()

    async def _main(self) -> T:
        task = asyncio.ensure_future(self._work)
        self._cancel = partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel)
        self._begun.set()
        return await task
