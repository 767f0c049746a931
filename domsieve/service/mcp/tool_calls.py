"""Calls of tools: each becomes a job like a request to the API, so the same guard, queue and limits apply."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import IO, Any

from domsieve.errors import StorageError, UsageError
from domsieve.service.jobs.job_values import Job
from domsieve.service.mcp import _tool_results as tool_results
from domsieve.service.mcp._tool_results import Answer
from domsieve.service.mcp._tools import TOOLS, Continuing, Keeping, ToolRequest
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.problems import ProblemError

Progress = Callable[[float, float | None, str], Awaitable[None]]
"""Called with what is done, the total (None if unknown), and a message."""

# Seconds between two progress messages: clients and proxies close connections that are silent for too long.
_WORD_S = 5.0


class ToolCalls:
    """Processes calls of tools.

    Parameters
    ----------
    gateway : access to the jobs.
    ready : awaited before the first job is created, to start the workers.
    """

    def __init__(self, gateway: Gateway, *, ready: Callable[[], Awaitable[None]] | None = None) -> None:
        self._gateway = gateway
        self._ready = ready

    async def call(
        self, name: str, arguments: Mapping[str, Any] | None, *, client: str, progress: Progress
    ) -> Answer:
        """Call a tool and return its answer, which may be a failure.

        Cancelling the call cancels the job that it created.

        Raises
        ------
        KeyError : there is no such tool.
        """
        tool = TOOLS[name]
        try:
            parsed = tool.parse(arguments)
            if isinstance(parsed, Keeping):
                return await self._stores(parsed, client)
            if self._ready:
                await self._ready()
            return await self._answer(parsed, client, progress)
        except UsageError as error:
            return tool_results.refused(ProblemError(422, error.message).problem)
        except ProblemError as error:
            return tool_results.refused(error.problem)
        except StorageError:
            said = "The jobs cannot be read or written now."
            return tool_results.refused(ProblemError(503, said, fault="service", retry_s=10).problem)

    async def _answer(self, parsed: ToolRequest, client: str, progress: Progress) -> Answer:
        reading = parsed.reading
        if isinstance(reading, Continuing):
            job = await self._gateway.ask(self._gateway.store.get, reading.job, client)
            job = await self._ended(job, reading.wait_s, progress)
            return await self._answer_of(job, offset=reading.offset, most=reading.max_characters)
        assert parsed.request
        job = await self._gateway.add(parsed.request, client=client, key=None)
        try:
            job = await self._ended(job, reading.wait_s, progress)
        except asyncio.CancelledError:
            # Nobody knows the id of the job, so nobody could get its result.
            await asyncio.shield(self._gateway.ask(self._gateway.store.cancel, job.id, client))
            raise
        return await self._answer_of(job, offset=0, most=reading.max_characters)

    async def _stores(self, asked: Keeping, client: str) -> Answer:
        stores = self._gateway.store.stores
        if asked.delete is not None:
            await self._gateway.ask(stores.delete, asked.delete, client)
        return tool_results.stores(await self._gateway.ask(stores.list, client))

    async def _ended(self, job: Job, seconds: float, progress: Progress) -> Job:
        """Wait until a job has ended or the time is up, and report its progress meanwhile."""
        until, done = time.monotonic() + seconds, -1
        while True:
            left = until - time.monotonic()
            seen = await self._gateway.ended(job, seconds=min(left, _WORD_S), is_gone=_never)
            assert seen is not None
            if seen.has_ended or left <= _WORD_S or self._gateway.is_stopping:
                return seen
            if seen.done_pages > done:  # progress must increase
                done = seen.done_pages
                await progress(float(done), seen.total_pages, f"{seen.state}, {done} pages done")

    async def _answer_of(self, job: Job, *, offset: int, most: int) -> Answer:
        if not job.has_ended:
            return tool_results.unfinished(job)
        if job.state != "done":
            return tool_results.failed(job)

        def open_file(name: str) -> IO[bytes]:
            return self._gateway.store.open(job.id, job.client, name)[1]

        return await self._gateway.ask(partial(tool_results.done, job, open_file, offset=offset, most=most))


async def _never() -> bool:
    return False
