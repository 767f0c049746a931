"""The service with workers that know the answer at once: no Chrome, no network.

``python -m tests.service.web.stage`` runs it without limits on how much is asked, and prints its address.
"""

import contextlib
import re
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx

from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import Claim, NewFile, UsedPage
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.service.web.app import create_app
from domsieve.service.web.server import Server, listen
from domsieve.service.web.settings import Settings

PAGE = "https://example.org/news/1"
TOKENS = {"anna": "anna-has-a-long-token", "bert": "bert-has-a-long-token"}
REPORT = b"<!DOCTYPE html><title>report</title>"

Work = Callable[[WorkQueue, Claim], None]


def instant(queue: WorkQueue, claim: Claim) -> None:
    """End a job as well as may be; addresses with `bad` in them fail."""
    url = str(claim.job.request["url"])
    queue.event(claim, "page", {"url": url}, done=1, total=1)
    if bad := re.search(r"/bad-(\w+)$", url):
        problem = {
            "title": "No page",
            "detail": f"{url} <b>did not answer</b>",
            "fault": bad[1],
            "retry": True,
            "stage": "navigate",
        }
        queue.fail(claim, problem)
        return
    page = UsedPage(
        page_id=claim.job.id,
        url=url,
        site="example.org",
        captured_at="2026-01-02T03:04:05.000+00:00",
        nodes=12,
        complete=True,
        job=claim.job.id,
    )
    queue.finish(claim, {"words": 3, "note": url}, [result(claim)], pages=[page])


def result(claim: Claim) -> NewFile:
    """Return the file of a job."""
    kind = claim.job.kind
    if kind == "report":
        return NewFile("report.html", "text/html; charset=utf-8", REPORT)
    if kind == "clean":
        text = f"# Title\n\n<script>alert(1)</script> {claim.job.request['url']}"
        if claim.job.request["format"] == "text":
            return NewFile("content.txt", "text/plain; charset=utf-8", text.encode())
        return NewFile("content.md", "text/markdown; charset=utf-8", text.encode())
    return NewFile("result.json", "application/json", b'{"rows": []}')


class Workers:
    """A thread that does what waits, as `work` says, until it is told to stop."""

    def __init__(self, queue: WorkQueue, work: Work) -> None:
        self._queue, self._work = queue, work
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            claim = self._queue.claim("test", lease_s=60)
            if claim is None:
                self._stop.wait(0.005)
            else:
                self._work(self._queue, claim)

    def close(self) -> None:
        """Stop."""
        self._stop.set()
        self._thread.join()


class Stage:
    """A service that listens on loopback, and a client of it."""

    def __init__(self, store: JobStore, settings: Settings, **told: Any) -> None:
        self.store, self.settings = store, settings
        self.app = create_app(settings, store, **told)
        self._socket = listen("127.0.0.1", 0)
        self.port = int(self._socket.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.server = Server(self.app, stopping=self.app.state.gateway.stop, proxies=settings.proxies)
        self._thread = threading.Thread(target=self.server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        self._clients: list[httpx.Client] = []
        self.client = self.as_client(None)

    def as_client(self, name: str | None) -> httpx.Client:
        """Return a client, one that shows its token if it is named."""
        headers = {"Authorization": f"Bearer {TOKENS[name]}"} if name else {}
        client = httpx.Client(base_url=self.url, headers=headers, timeout=300, trust_env=False)
        self._clients.append(client)
        return client

    def job(self, kind: str = "clean", url: str = PAGE, **fields: Any) -> dict[str, Any]:
        """Return a job that was asked for and, unless nobody works, has ended."""
        path = "/v1/sites" if kind == "site" else f"/v1/{kind}"
        wait = {"Prefer": f"wait={self.settings.wait_s}"}
        answer = self.client.post(path, json={"url": url, **fields}, headers=wait)
        assert answer.status_code in {200, 202}, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def connect(self, raw: bytes = b"", *, address: str = "127.0.0.1") -> socket.socket:
        """Return a connection from an address of loopback, on which bytes were sent."""
        connection = socket.create_connection(
            ("127.0.0.1", self.port), timeout=300, source_address=(address, 0)
        )
        connection.sendall(raw)
        return connection

    def send(self, raw: bytes) -> bytes:
        """Return what the service answers to bytes, until it closes the connection."""
        with self.connect(raw) as connection:
            return everything(connection)

    def close(self) -> None:
        """Stop in order."""
        for client in self._clients:
            client.close()
        self.server.should_exit = True
        self._thread.join()


def everything(connection: socket.socket) -> bytes:
    """Return what comes on a connection until its other end closes it."""
    parts: list[bytes] = []
    with contextlib.suppress(ConnectionError):
        parts += iter(lambda: connection.recv(65_536), b"")
    return b"".join(parts)


@contextlib.contextmanager
def stage(
    folder: Path, *, work: Work | None = instant, told: Mapping[str, Any] | None = None, **settings: Any
) -> Iterator[Stage]:
    """Run the service while the block runs; without `work` all jobs wait."""
    with Database(folder / "jobs.sqlite") as database, Database(folder / "jobs.sqlite") as watched:
        workers = Workers(WorkQueue(database), work) if work else None
        made = Stage(JobStore(database), Settings(**settings), **{"watched": watched.version, **(told or {})})
        try:
            yield made
        finally:
            made.close()
            if workers:
                workers.close()


def unlimited(folder: Path) -> AbstractContextManager[Stage]:
    """Run the service without limits on how much is asked."""
    many = 10**6
    return stage(folder, requests_per_minute=many, queue=many, client_queue=many, wait_s=5)


def main() -> None:
    """Run until interrupted."""
    with (
        tempfile.TemporaryDirectory() as folder,
        unlimited(Path(folder)) as made,
        contextlib.suppress(KeyboardInterrupt),
    ):
        print(made.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
