"""A service without HTTP, to be killed: ``python -m tests.service.jobs.owner FOLDER``.

It prints the numbers of its workers.
"""

import asyncio
import sys
from pathlib import Path

from domsieve.service.jobs.database import Database
from domsieve.service.jobs.pool import WorkerPool, owned
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.service.jobs.worker import WorkerSettings


async def main(data: Path) -> None:
    with owned(data), Database(data / "jobs.sqlite") as database:
        settings = WorkerSettings(data=str(data), concurrency=2, browser="/nonexistent/chrome")
        async with WorkerPool(settings, database, workers=2) as pool:
            while len(pool.pids) < 2 or len(WorkQueue(database).workers()) < 2:  # noqa: ASYNC110 (they are other processes)
                await asyncio.sleep(0.02)
            print(*pool.pids, flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
