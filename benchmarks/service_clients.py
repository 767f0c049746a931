"""Clients of a service under load: those who work with it, and those who only hold its connections."""

import json
import math
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx

from benchmarks.hostile_server import PATHS
from benchmarks.running_service import RunningService
from examples.classify_pages import routes

KINDS = {"clean": 12, "records": 3, "compare": 2, "report": 2, "sites": 1}
HOSTILE_LIMIT_S = 5
ENDED = ("done", "failed", "cancelled")
_WAIT_S = 90
# The service lets go of a head after 15 s, and of a reader after 60 s; these wait for twice that.
_HEAD_LIMIT_S, _READER_LIMIT_S = 30.0, 120.0
# The system takes some megabytes of answers for a reader that takes none, so a slow one asks for many.
_ANSWERS_AT_ONCE = 100
_ESTABLISHED = "01"


@dataclass(frozen=True)
class Asked:
    """One request of a client and how it ended; `started_s` counts from the beginning of the run."""

    kind: str
    path: str
    is_hostile: bool
    key: str
    job: str
    started_s: float
    took_s: float
    pages: int
    state: str
    why: str

    @property
    def ended_s(self) -> float:
        """When the answer was there."""
        return self.started_s + self.took_s


@dataclass
class Run:
    """What the clients share.

    Parameters
    ----------
    service, demo, hostile : the service, and the addresses of the two sites.
    tokens : of clients, by name.
    calm_s, seconds : until when nobody means harm, and when the run ends, counted from its beginning.
    hostile_share : of requests after the calm.
    seed : of chance.
    """

    service: RunningService
    demo: str
    hostile: str
    tokens: dict[str, str]
    calm_s: float
    seconds: float
    hostile_share: float
    seed: int
    start: float = field(default_factory=time.monotonic)
    asked: list[Asked] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)
    events: list[tuple[float, str]] = field(default_factory=list)
    service_kills_s: list[float] = field(default_factory=list)
    full_s: tuple[float, float] = (math.inf, math.inf)
    lock: threading.Lock = field(default_factory=threading.Lock)
    changing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def now_s(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.start

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.now_s >= self.seconds

    def until(self, at_s: float) -> None:
        """Wait for a time of the run."""
        time.sleep(max(0.0, min(at_s, self.seconds) - self.now_s))

    def count(self, what: str) -> None:
        """Count what may happen."""
        with self.lock:
            self.counted[what] += 1

    def note(self, what: str) -> None:
        """Note what happens now."""
        self.events.append((self.now_s, what))

    def tell(self, what: str) -> None:
        """Note a promise that was broken."""
        with self.lock:
            self.broken[what] += 1

    def http(self, client: str) -> httpx.Client:
        """Return what a client asks with."""
        headers = {"Authorization": f"Bearer {self.tokens[client]}"}
        return httpx.Client(base_url=self.service.url, timeout=_WAIT_S, headers=headers)


def work(run: Run, client: str) -> None:
    """Ask for page after page until the time is over."""
    chance = random.Random(f"{run.seed} {client}")
    kinds = drawn(chance, [kind for kind, share in KINDS.items() for _ in range(share)])
    paths, hostile_paths = drawn(chance, [entry["route"] for entry in routes()]), drawn(chance, PATHS)
    count = 0
    with run.http(client) as http:
        while not run.is_over:
            is_hostile = chance.random() < run.hostile_share and run.now_s >= run.calm_s
            kind = "clean" if is_hostile else next(kinds)
            path = next(hostile_paths if is_hostile else paths)
            body: dict[str, object] = {
                "url": (run.hostile if is_hostile else run.demo) + path,
                "refresh": True,
            }
            if kind == "sites":
                body |= {"pages": 5, "seed": count}
            if is_hostile:
                body["time_s"] = HOSTILE_LIMIT_S
            key = f"{client}-request-{count}"
            started_s = run.now_s
            job = ask(http, kind, body, key)
            problem = job.get("problem") or {}
            detail = problem.get("detail") or problem.get("title")
            asked = Asked(
                kind=kind,
                path=path,
                is_hostile=is_hostile,
                key=key,
                job=job["id"],
                started_s=started_s,
                took_s=run.now_s - started_s,
                pages=job.get("done_pages", 1) if kind == "sites" else 1,
                state=job["state"],
                why=f"{problem.get('fault')}: {detail}" if problem else "",
            )
            with run.lock:
                run.asked.append(asked)
            if (times := ends(http, job["id"])) != 1:
                run.tell(f"{job['id']} ended {times} times")
            count += 1


def drawn(chance: random.Random, values: Sequence[str]) -> Iterator[str]:
    """Yield values by chance, each as often as the others, so that what is kept of all is as large at any time."""
    while True:
        yield from chance.sample(values, len(values))


def ask(http: httpx.Client, kind: str, body: dict[str, object], key: str) -> dict[str, Any]:
    """Return the job when it has ended; `state` is ``lost`` where the service no longer knows it.

    Raises
    ------
    ValueError : the service refused the request.
    """
    headers = {"Idempotency-Key": key, "Prefer": "wait=60"}
    said = steadily(lambda: http.post(f"/v1/{kind}", json=body, headers=headers)).json()
    name = said["id"] if "state" in said else said.get("job")
    if name is None:
        raise ValueError(f"The service refused a request: {said}")
    job: dict[str, Any] = said
    while job.get("state") not in ENDED:
        answer = steadily(lambda: http.get(f"/v1/jobs/{name}"))
        if answer.status_code == HTTPStatus.NOT_FOUND:
            return {"id": name, "state": "lost"}
        job = answer.json()
        time.sleep(0.1)
    return job


def ends(http: httpx.Client, job: str) -> int:
    """Return how many times the service says that a job ended."""
    lines = steadily(lambda: http.get(f"/v1/jobs/{job}/events")).text.splitlines()
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    return sum(event["kind"] == "state" and event["data"]["state"] in ENDED for event in events)


def all_jobs(http: httpx.Client) -> Iterator[dict[str, Any]]:
    """Yield every job of the client that the service knows."""
    path = "/v1/jobs?limit=100"
    while path:
        page = steadily(partial(http.get, path)).json()
        yield from page["jobs"]
        path = page["next"]


def steadily(send: Callable[[], httpx.Response]) -> httpx.Response:
    """Return an answer of the service; one that is gone, or has no room, is asked again."""
    while True:
        try:
            answer = send()
        except httpx.TransportError:
            time.sleep(0.2)
            continue
        if answer.status_code not in {429, 503} or "job" in answer.json():
            return answer
        time.sleep(float(answer.headers.get("Retry-After", 1)))


def read_slowly(run: Run, client: str, number: int) -> None:
    """Ask for the same result again and again, and take nothing of the answers, or a few bytes a second."""
    run.until(run.calm_s)
    with run.http(client) as http:
        body: dict[str, object] = {"url": run.demo + routes()[0]["route"]}
        job = ask(http, "report", body, f"{client}-{number}")
    head = (
        f"GET {job['files'][0]['url']} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {run.tokens[client]}\r\n\r\n"
    )
    while not run.is_over:
        _hold(run, "reader", head.encode() * _ANSWERS_AT_ONCE, _READER_LIMIT_S, takes=number % 2)


def send_half_a_head(run: Run) -> None:
    """Begin a request without a token and never end it, a byte a second."""
    run.until(run.calm_s)
    while not run.is_over:
        _hold(
            run, "head", b"POST /v1/clean HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", _HEAD_LIMIT_S, sends=True
        )


def _hold(run: Run, what: str, said: bytes, limit_s: float, *, takes: int = 0, sends: bool = False) -> None:
    """Keep a connection until the service ends it; one that it keeps for longer than `limit_s` is told."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        try:
            held.connect(("127.0.0.1", run.service.port))
            held.sendall(said)
        except OSError:
            time.sleep(0.5)
            return
        held.setblocking(False)
        port, begun_s = held.getsockname()[1], run.now_s
        while not run.is_over:
            time.sleep(1)
            with suppress(OSError):
                held.sendall(b"x") if sends else held.recv(takes)
            if not _is_kept(run.service.port, port):
                run.count(f"slow {what}s that the service let go")
                return
            if run.now_s - begun_s > limit_s:
                run.tell(f"a slow {what} was kept for more than {limit_s:.0f} s")
                return


def _is_kept(server: int, client: int) -> bool:
    """Return whether the server's end of a connection is open; the other end cannot see what it does not take."""
    for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]:
        _, local, remote, state, *_ = line.split()
        if (_port(local), _port(remote)) == (server, client):
            return state == _ESTABLISHED
    return False


def _port(address: str) -> int:
    return int(address.partition(":")[2], 16)
