"""Results are sent piece by piece, to so many readers at once, and deleting them gives their room back."""

import os
import shutil
import socket
from collections import namedtuple
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

import pytest

from domsieve.service.jobs._result_files import ResultFiles
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import Claim, NewFile
from domsieve.service.jobs.work_queue import WorkQueue
from tests.service.web.stage import PAGE, TOKENS, Stage, stage
from tests.service.web.test_guard import problem, until

LARGE = os.urandom(1_000_000) * 20
Usage = namedtuple("Usage", "total used free")


def large(queue: WorkQueue, claim: Claim) -> None:
    """End a job with 20 MB."""
    queue.finish(claim, {}, [NewFile("a.bin", "application/octet-stream", LARGE)])


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> list[BinaryIO]:
    """Note the results that are opened."""
    files: list[BinaryIO] = []
    open_file = ResultFiles.open

    def noted(results: ResultFiles, job: str, place: str) -> BinaryIO:
        files.append(open_file(results, job, place))
        return files[-1]

    monkeypatch.setattr(ResultFiles, "open", noted)
    return files


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path, work=large, tokens=TOKENS, downloads=3) as made:
        made.client = made.as_client("anna")
        yield made


def stalled(made: Stage, url: str, client: str = "anna") -> socket.socket:
    """Ask for a result and take nothing of the answer."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    reader.settimeout(300)
    reader.connect(("127.0.0.1", made.port))
    head = f"GET {url} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKENS[client]}\r\n"
    reader.sendall(f"{head}Connection: close\r\n\r\n".encode())
    return reader


def waiting(made: Stage) -> int:
    """Return how many connections wait for their readers."""
    connections = [*made.server.server_state.connections]
    return sum(connection.flow.write_paused for connection in connections if connection.flow)  # type: ignore[union-attr]


def test_the_whole_comes(made: Stage, files: list[BinaryIO]) -> None:
    (file,) = made.job()["files"]
    answer = made.client.get(file["url"])
    assert answer.content == LARGE
    assert int(answer.headers["content-length"]) == len(LARGE)
    until(lambda: files[0].closed)


def test_asking_for_the_head_reads_nothing(made: Stage, files: list[BinaryIO]) -> None:
    (file,) = made.job()["files"]
    answer = made.client.head(file["url"])
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) == len(LARGE)
    assert answer.headers["content-disposition"] == 'attachment; filename="a.bin"'
    assert files == []


def test_slow_readers_cost_what_lies_between_them_and_the_disk(made: Stage, files: list[BinaryIO]) -> None:
    (file,) = made.job()["files"]
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(stalled(made, file["url"]))
        until(lambda: waiting(made) == 3)
        # The system holds some megabytes of a connection; the service holds a piece.
        assert all(0 < opened.tell() < len(LARGE) / 2 for opened in files)
    until(lambda: all(opened.closed for opened in files))


def test_a_client_fetches_so_many_at_once(made: Stage, files: list[BinaryIO]) -> None:
    (file,) = made.job()["files"]
    bert = made.as_client("bert")
    theirs = bert.post("/v1/clean", json={"url": PAGE}).json()["files"][0]["url"]
    with ExitStack() as stack:
        readers = [stack.enter_context(stalled(made, file["url"])) for _ in range(3)]
        until(lambda: waiting(made) == 3)
        answer = made.client.get(file["url"])
        assert "3 downloads are open" in problem(answer, 429)["detail"]
        assert int(answer.headers["retry-after"]) > 0
        assert made.client.head(file["url"]).status_code == 200
        assert made.client.get("/v1/jobs").status_code == 200
        assert bert.get(theirs).content == LARGE
        readers[0].close()
        until(lambda: any(opened.closed for opened in files[:3]))
        until(lambda: made.client.get(file["url"]).status_code == 200)


def test_one_that_is_deleted_meanwhile_comes_whole(made: Stage) -> None:
    job = made.job()
    with stalled(made, job["files"][0]["url"]) as reader:
        until(lambda: waiting(made) == 1)
        assert made.client.delete(job["url"]).status_code == 204
        whole = b"".join(iter(lambda: reader.recv(1 << 20), b""))
    assert whole.partition(b"\r\n\r\n")[2] == LARGE
    problem(made.client.get(job["files"][0]["url"]), 404)


def test_one_that_is_damaged_is_told_of_before_it_is_sent(made: Stage, tmp_path: Path) -> None:
    (file,) = made.job()["files"]
    (path,) = (path for path in (tmp_path / "results").rglob("*") if path.is_file())
    path.write_bytes(LARGE[:-1])
    assert problem(made.client.get(file["url"]), 503)["fault"] == "service"


def test_what_is_deleted_is_room_for_everybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def megabyte(queue: WorkQueue, claim: Claim) -> None:
        queue.finish(claim, {}, [NewFile("a.bin", "application/octet-stream", bytes(1_000_000))])

    def size() -> int:
        taken = 0
        for folder, _, names in os.walk(tmp_path):
            for name in names:
                with suppress(FileNotFoundError):  # it has just got its name, or is gone
                    taken += (Path(folder) / name).stat().st_size
        return taken

    def usage(_: Path) -> Usage:
        return Usage(30_000_000, size(), 30_000_000 - size())

    monkeypatch.setattr(shutil, "disk_usage", usage)
    with stage(tmp_path, work=megabyte, tokens=TOKENS, free_bytes=10_000_000) as made:
        anna, bert = made.as_client("anna"), made.as_client("bert")
        beginning = size()
        for _ in range(6):
            jobs = [anna.post("/v1/clean", json={"url": PAGE}) for _ in range(8)]
            jobs.append(bert.post("/v1/clean", json={"url": PAGE}))
            assert [answer.status_code for answer in jobs] == [200] * 9, "nobody is refused"
            for client, answer in zip([anna] * 8 + [bert], jobs, strict=True):
                assert client.delete(answer.json()["url"]).status_code == 204
        assert size() - beginning < 6_000_000
        assert JobStore(made.store.database).sweep() == 0
