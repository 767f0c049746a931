"""Coroutines run where no loop runs and where one does, and are cancelled with their callers."""

import asyncio
import os
import signal
import threading
import time

import pytest

import domsieve
from domsieve.library._running import in_thread, run_coroutine


async def where() -> tuple[int, int]:
    await asyncio.sleep(0)
    return threading.get_ident(), id(asyncio.get_running_loop())


def test_without_a_loop_it_runs_in_the_same_thread() -> None:
    assert run_coroutine(where())[0] == threading.get_ident()


def test_inside_a_loop_it_runs_in_a_loop_of_its_own() -> None:
    async def notebook() -> None:
        thread, loop = run_coroutine(where())
        assert thread != threading.get_ident()
        assert loop != id(asyncio.get_running_loop())

    asyncio.run(notebook())


@pytest.mark.parametrize("inside", [False, True])
def test_errors_are_raised_where_it_was_called(inside: bool) -> None:
    async def fail() -> None:
        raise domsieve.PageError("gone")

    async def notebook() -> None:
        run_coroutine(fail())

    with pytest.raises(domsieve.PageError, match="gone"):
        asyncio.run(notebook()) if inside else run_coroutine(fail())


@pytest.mark.parametrize("inside", [False, True])
def test_an_interrupt_cancels_and_waits(inside: bool) -> None:
    events: list[str] = []

    async def slow() -> None:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.1)
            events.append("browser is closed")

    async def notebook() -> None:
        run_coroutine(slow())

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if inside:
            # As in a notebook, where the loop leaves interrupts to the cell that runs.
            loop = asyncio.new_event_loop()
            with pytest.raises(KeyboardInterrupt):
                loop.run_until_complete(notebook())
            loop.close()
        else:
            with pytest.raises(KeyboardInterrupt):
                run_coroutine(slow())
    finally:
        signal.signal(signal.SIGINT, handler)
    assert events == ["browser is closed"]


def test_work_in_a_thread_does_not_hold_up_the_loop() -> None:
    ended = threading.Event()

    async def main() -> bool:
        work = asyncio.create_task(in_thread(lambda: ended.wait(30)))
        await asyncio.sleep(0.05)
        ended.set()
        return await work

    assert asyncio.run(main())


def test_work_in_a_thread_has_ended_when_it_is_cancelled() -> None:
    events: list[str] = []

    def work() -> None:
        time.sleep(0.2)
        events.append("ended")

    async def main() -> None:
        task = asyncio.create_task(in_thread(work))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert events == ["ended"]

    asyncio.run(main())


def test_twins_need_no_browser_for_html() -> None:
    async def main() -> tuple[domsieve.CleanResult, list[domsieve.RecordsResult]]:
        html = "<p>Neither</p>"
        return await domsieve.clean_async(html, method="none"), await domsieve.records_async([html])

    cleaned, (records,) = asyncio.run(main())
    assert (cleaned.text, records.rows) == ("Neither\n", [])


def test_calls_work_inside_a_running_loop() -> None:
    async def notebook() -> str:
        return domsieve.clean("<p>Here, too</p>", method="none").text

    assert asyncio.run(notebook()) == "Here, too\n"
