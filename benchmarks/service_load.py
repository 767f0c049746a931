"""The service under load: clients that ask for pages of the demo site, with hostile pages mixed in.

    python -m benchmarks.service_load [--minutes 10] [--clients 4] [--hostile 0.05] [--kill] [--seed 0]

Every page is rendered anew. With --kill the browser, a worker and the whole service are killed (SIGKILL) after a
quarter, half and three quarters of the time; the service is started again, and clients ask again with the same
idempotency key. At the end a burst finds the bound of the queue. The script fails where a request for a page of
the demo site failed, or an accepted job is lost or done twice.
"""

import argparse
import json
import random
import statistics
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benchmarks.hostile_server import PATHS, serve_hostile
from benchmarks.running_service import Part, RunningService, running_service
from examples.classify_pages import routes
from examples.serve import serve_demo

KINDS = {"clean": 12, "records": 3, "compare": 2, "report": 2, "sites": 1}
HOSTILE_LIMIT_S = 5
QUEUE = 32
BURST = 120
ENDED = ("done", "failed", "cancelled")


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


@dataclass
class Run:
    """What the clients share."""

    service: RunningService
    demo: str
    hostile: str
    end: float
    start: float = field(default_factory=time.monotonic)
    asked: list[Asked] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


def client(run: Run, number: int, hostile_share: float, seed: int) -> None:
    """Ask for page after page until the time is over."""
    chance = random.Random(f"{seed} {number}")
    paths = [entry["route"] for entry in routes()]
    count = 0
    with httpx.Client(base_url=run.service.url, timeout=90) as http:
        while time.monotonic() < run.end:
            is_hostile = chance.random() < hostile_share
            kind = "clean" if is_hostile else chance.choices(list(KINDS), list(KINDS.values()))[0]
            path = chance.choice(PATHS if is_hostile else paths)
            body: dict[str, object] = {"url": (run.hostile if is_hostile else run.demo) + path}
            if kind == "sites":
                body |= {"pages": 5, "seed": count}
            if is_hostile:
                body["time_s"] = HOSTILE_LIMIT_S
            key = f"client-{number}-request-{count}"
            begun = time.monotonic()
            job = ask(http, kind, body | {"refresh": True}, key)
            problem = job.get("problem") or {}
            asked = Asked(
                kind=kind,
                path=path,
                is_hostile=is_hostile,
                key=key,
                job=job["id"],
                started_s=begun - run.start,
                took_s=time.monotonic() - begun,
                pages=job.get("done_pages", 1) if kind == "sites" else 1,
                state=job["state"],
                why=f"{problem.get('fault')}: {problem.get('detail') or problem.get('title')}"
                if problem
                else "",
            )
            with run.lock:
                run.asked.append(asked)
            count += 1


def ask(http: httpx.Client, kind: str, body: dict[str, object], key: str) -> dict[str, Any]:
    """Return the job when it has ended; a service that is gone or full is asked again."""
    headers = {"Idempotency-Key": key, "Prefer": "wait=60"}
    while True:
        try:
            answer = http.post(f"/v1/{kind}", json=body, headers=headers)
            if answer.status_code in {429, 503} and "job" not in answer.json():
                time.sleep(float(answer.headers["Retry-After"]))
                continue
            told = answer.json()
            job = told if "state" in told else http.get(f"/v1/jobs/{job_id(told)}").json()
            while job["state"] not in ENDED:
                time.sleep(0.1)
                job = http.get(f"/v1/jobs/{job['id']}").json()
        except httpx.TransportError:
            time.sleep(0.2)
            continue
        return dict(job)


def job_id(problem: dict[str, Any]) -> str:
    """Return the job that a problem is about."""
    if "job" not in problem:
        raise ValueError(f"The service refused a request: {problem}")
    return str(problem["job"])


def watch(run: Run, memory: list[tuple[float, float]]) -> None:
    """Measure the memory every few seconds while the clients work."""
    while time.monotonic() < run.end:
        memory.append((time.monotonic() - run.start, run.service.memory_mb()))
        time.sleep(3)


def kill(run: Run, part: Part, at: float) -> None:
    """Kill a part when its time has come; start the service again where that was it."""
    time.sleep(max(0.0, at - time.monotonic()))
    print(f"kill -9 of the {part}: process {run.service.kill(part)}", flush=True)
    if part == "service":
        run.service.start()


def all_jobs(url: str) -> list[dict[str, Any]]:
    """Return every job the service knows."""
    jobs: list[dict[str, Any]] = []
    path: str | None = "/v1/jobs?limit=100"
    while path:
        page = httpx.get(url + path, timeout=30).json()
        jobs += page["jobs"]
        path = page["next"]
    return jobs


def ends(url: str, job: str) -> int:
    """Return how many times the service says that a job ended."""
    lines = httpx.get(f"{url}/v1/jobs/{job}/events", timeout=30).text.splitlines()
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    return sum(event["kind"] == "state" and event["data"]["state"] in ENDED for event in events)


def burst(run: Run) -> tuple[Counter[int], bool]:
    """Send many requests at once without waiting; return the answers by status and whether refusals are clear."""
    answers: list[httpx.Response] = []
    lock = threading.Lock()

    def send(number: int) -> None:
        body = {"url": run.demo + "/articles/swifts", "refresh": True}
        headers = {"Prefer": "wait=0", "Idempotency-Key": f"burst-{number}"}
        answer = httpx.post(f"{run.service.url}/v1/clean", json=body, headers=headers, timeout=60)
        with lock:
            answers.append(answer)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(BURST)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [answer for answer in answers if answer.status_code in {429, 503}]
    is_clear = all("Retry-After" in answer.headers and answer.json()["detail"] for answer in refused)
    return Counter(answer.status_code for answer in answers), is_clear


def main() -> int:
    """Run the load and print the figures; the exit code is 1 where a promise is broken."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--hostile", type=float, default=0.05, help="share of hostile pages")
    parser.add_argument("--kill", action="store_true", help="kill browser, worker and service on the way")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, default=Path("service_load.log"), help="what the service prints")
    asked = parser.parse_args()
    memory: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder, serve_demo() as demo, serve_hostile() as hostile:
        allowed = [
            word for url in (demo, hostile) for word in ("--private-host", url.removeprefix("http://"))
        ]
        limits = ("--queue", str(QUEUE), "--client-queue", str(QUEUE), "--requests-per-minute", "6000")
        with running_service(Path(folder), *allowed, *limits, log=asked.log) as service:
            seconds = asked.minutes * 60
            run = Run(service, demo, hostile, end=time.monotonic() + seconds)
            threads = [
                threading.Thread(target=client, args=(run, number, asked.hostile, asked.seed))
                for number in range(asked.clients)
            ]
            threads.append(threading.Thread(target=watch, args=(run, memory)))
            if asked.kill:
                parts: tuple[Part, ...] = ("browser", "worker", "service")
                threads += [
                    threading.Thread(target=kill, args=(run, part, run.start + seconds * (number + 1) / 4))
                    for number, part in enumerate(parts)
                ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            broken = tell(run, memory)
            statuses, is_clear = burst(run)
            print(f"burst of {BURST}, queue of {QUEUE}: {dict(statuses)}, refusals clear: {is_clear}")
            broken += [] if is_clear and set(statuses) <= {202, 429, 503} else ["refusals"]
            broken += account(run, statuses[202])
    print("broken: " + "; ".join(broken) if broken else "every promise was kept")
    return 1 if broken else 0


def tell(run: Run, memory: list[tuple[float, float]]) -> list[str]:
    """Print the figures of the clients; return what was broken."""
    good = [each for each in run.asked if not each.is_hostile]
    single = sorted(each.took_s for each in good if each.kind != "sites")
    length = max(each.started_s + each.took_s for each in run.asked)
    print(f"{len(run.asked)} requests, {len(run.asked) - len(good)} for hostile pages, in {length:.0f} s")
    print(f"pages of the demo site per second: {sum(each.pages for each in good) / length:.2f}")
    twentieths = statistics.quantiles(single, n=20)
    print(
        f"latency of one page: p50 {statistics.median(single):.2f} s, p95 {twentieths[-1]:.2f} s, "
        f"most {single[-1]:.2f} s"
    )
    minutes: dict[int, list[float]] = {}
    for at, mb in memory:
        minutes.setdefault(int(at // 60), []).append(mb)
    medians = [f"{statistics.median(values):.0f}" for values in minutes.values()]
    print(f"memory by minute, median MB: {' '.join(medians)}; most {max(mb for _, mb in memory):.0f} MB")
    for (path, state, why), count in sorted(
        Counter((e.path, e.state, e.why) for e in run.asked if e.is_hostile).items()
    ):
        print(f"  {path}: {state} {why} ({count})")
    return [f"{each.kind} {each.path} {each.state} {each.why}" for each in good if each.state != "done"]


def account(run: Run, burst_accepted: int) -> list[str]:
    """Wait for all jobs and return those that were lost, left or done twice."""
    end = time.monotonic() + 180
    while any(job["state"] not in ENDED for job in all_jobs(run.service.url)) and time.monotonic() < end:
        time.sleep(0.5)
    jobs = {job["id"]: job for job in all_jobs(run.service.url)}
    told = {each.job for each in run.asked}
    twice = [job for job in told if ends(run.service.url, job) != 1]
    tries = Counter(job["attempts"] for job in jobs.values())
    print(f"{len(jobs)} jobs, tries {dict(sorted(tries.items()))}, ended other than once: {len(twice)}")
    keys = Counter(each.key for each in run.asked)
    return [
        *(f"lost: {job}" for job in sorted(told - set(jobs))),
        *(f"not ended: {job}" for job in jobs.values() if job["state"] not in ENDED),
        *(f"ended other than once: {job}" for job in sorted(twice)),
        *(f"key answered twice: {key}" for key, count in keys.items() if count > 1),
        *(
            [f"{len(jobs)} jobs for {len(told)} + {burst_accepted} accepted"]
            if len(jobs) != len(told) + burst_accepted
            else []
        ),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
