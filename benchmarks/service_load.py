"""The service under load: clients that ask for pages of the demo site, and all that may go wrong meanwhile.

    python -m benchmarks.service_load [--minutes 10] [--clients 4] [--hostile 0.05] [--kill] [--seed 0]

Every page is rendered anew, and each client has a token. The first sixth of the time is calm; then some pages are
hostile ones, eight readers take nothing or a byte a second of what they ask for, and forty connections send heads
without end. With --kill, the browser, a worker and the whole service are killed (SIGKILL) twice each between a third
and three quarters of the time. The service is started again, and clients ask again with the same idempotency key. In
the middle, the disk of its data and temporary files is full for a minute, or a tenth of the time where that is less:
a small one in memory, which only root can mount. At the end a burst finds the bound of the queue.

It prints a row a minute and ends with 1 where a page of the demo site failed outside the full minute, an accepted job
is lost or done twice, a slow connection is kept, memory or disk grow by more than a fifth from the first
sixth that is not calm to the last, or one page takes more than twice its calm time (95th percentile; requests that
overlap the full minute or the 60 s after a kill of the service do not count).
"""

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx

from benchmarks.hostile_server import serve_hostile
from benchmarks.processes import counted
from benchmarks.running_service import Part, running_service
from benchmarks.service_clients import Run, all_jobs, read_slowly, send_half_a_head, work
from benchmarks.service_figures import Held, Jobs, broken_bounds, print_figures
from benchmarks.small_disk import fill, small_disk, used_bytes
from examples.serve import serve_demo

QUEUE, KEPT_JOBS = 32, 100
BURST = 120
READERS, HALF_HEADS = 8, 40
DISK_MEGABYTES = 2_000
CALM = 1 / 6
KILLS: tuple[tuple[Part, float], ...] = (
    ("browser", 10 / 30),
    ("worker", 11.5 / 30),
    ("service", 13 / 30),
    ("browser", 18 / 30),
    ("worker", 20 / 30),
    ("service", 22 / 30),
)
FULL_AT, FULL_S, FULL_SHARE = 1 / 2, 60.0, 1 / 10
_LOOK_S = 3.0
_LIST_S = 20.0
_END_S = 180.0


def kill(run: Run, part: Part, at_s: float) -> None:
    """Kill a part when its time has come; start the service again where that was it."""
    run.until(at_s)
    with run.changing:
        run.note(f"kill -9 of the {part}")
        pid = run.service.kill(part)
        print(f"{run.now_s:5.0f} s: kill -9 of the {part}, process {pid}", flush=True)
        if part == "service":
            run.service_kills_s.append(run.now_s)
            run.service.start()


def fill_disk(run: Run, folder: Path, at_s: float, seconds: float) -> None:
    """Keep the disk full for a while."""
    run.until(at_s)
    run.full_s = (run.now_s, run.now_s + seconds)
    run.note("disk full")
    print(f"{run.now_s:5.0f} s: the disk is full for {seconds:.0f} s", flush=True)
    fill(folder, seconds)


def watch(run: Run, folder: Path, held: list[Held]) -> None:
    """Note what is held every few seconds while the clients work."""
    while not run.is_over:
        # While the service starts again there is nothing to look at.
        with run.changing:
            assert run.service.process
            counts = counted(run.service.process.pid, folder / "tmp")
        disk_mb = used_bytes(folder) / 1e6
        held.append(Held(run.now_s, counts["MB"], disk_mb, counts["processes"], counts["descriptors"]))
        time.sleep(_LOOK_S)


def list_jobs(run: Run, jobs: Jobs) -> None:
    """Note all jobs again and again, since the service keeps the last ones only."""
    while not run.is_over:
        for client in run.tokens:
            with run.http(client) as http:
                jobs.add(client, all_jobs(http))
        time.sleep(_LIST_S)


def burst(run: Run, client: str) -> tuple[Counter[int], bool]:
    """Send many requests at once without waiting; return the answers by status and whether refusals are clear."""
    answers: list[httpx.Response] = []

    def send(number: int) -> None:
        body = {"url": run.demo + "/articles/swifts", "refresh": True}
        headers = {"Prefer": "wait=0", "Idempotency-Key": f"burst-{number}"}
        with run.http(client) as http:
            answers.append(http.post("/v1/clean", json=body, headers=headers))

    together([partial(send, number) for number in range(BURST)])
    refused = [answer for answer in answers if answer.status_code in {429, 503}]
    is_clear = all("Retry-After" in answer.headers and answer.json()["detail"] for answer in refused)
    return Counter(answer.status_code for answer in answers), is_clear


def together(tasks: list[Callable[[], None]]) -> None:
    """Do all tasks at the same time; raises what one of them raised, when all have ended."""
    with ThreadPoolExecutor(len(tasks)) as threads:
        ended = [threads.submit(task) for task in tasks]
    for each in ended:
        each.result()


def main() -> int:
    """Run the load and print the figures; the exit code is 1 where a promise is broken."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--hostile", type=float, default=0.05, help="share of hostile pages")
    parser.add_argument("--kill", action="store_true", help="kill parts, and fill the disk")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, default=Path("service_load.log"), help="what the service prints")
    asked = parser.parse_args()
    with data_folder(is_small=asked.kill) as folder, serve_demo() as demo, serve_hostile() as hostile:
        (folder / "tmp").mkdir()
        workers = [f"client-{number}" for number in range(asked.clients)]
        tokens = {name: f"{name}-{random.randbytes(16).hex()}" for name in [*workers, "reader", "burst"]}
        lines = [f"{name}:{token}\n" for name, token in tokens.items()]
        (folder / "tokens").write_text("".join(lines), encoding="utf-8")
        options = {
            "token-file": str(folder / "tokens"),
            "queue": str(QUEUE),
            "client-queue": str(QUEUE),
            "requests-per-minute": "6000",
            "keep-jobs": str(KEPT_JOBS),
            "free-megabytes": "100",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        for url in (demo, hostile):
            words += ["--private-host", url.removeprefix("http://")]
        environment = {"TMPDIR": str(folder / "tmp")}
        with running_service(folder / "data", *words, log=asked.log, environment=environment) as service:
            seconds = asked.minutes * 60
            run = Run(
                service,
                demo,
                hostile,
                tokens,
                calm_s=seconds * CALM,
                seconds=seconds,
                hostile_share=asked.hostile,
                seed=asked.seed,
            )
            held: list[Held] = []
            jobs = Jobs()
            tasks: list[Callable[[], None]] = [partial(work, run, client) for client in workers]
            tasks += [partial(read_slowly, run, "reader", number) for number in range(READERS)]
            tasks += [partial(send_half_a_head, run)] * HALF_HEADS
            tasks += [partial(watch, run, folder, held), partial(list_jobs, run, jobs)]
            if asked.kill:
                tasks += [partial(kill, run, part, seconds * share) for part, share in KILLS]
                full_s = min(FULL_S, FULL_SHARE * seconds)
                tasks.append(partial(fill_disk, run, folder, seconds * FULL_AT, full_s))
            together(tasks)
            print_figures(run, held)
            broken = broken_bounds(run, held)
            statuses, is_clear = burst(run, "burst")
            print(f"burst of {BURST}, queue of {QUEUE}: {dict(statuses)}, refusals clear: {is_clear}")
            if not is_clear or not set(statuses) <= {202, 429, 503}:
                broken.append("refusals are not clear")
            broken += account(run, jobs, statuses[202])
    print("broken: " + "; ".join(broken) if broken else "every promise was kept")
    return int(bool(broken))


def account(run: Run, jobs: Jobs, burst_accepted: int) -> list[str]:
    """Wait for all jobs and return what is wrong with them."""
    end = time.monotonic() + _END_S
    while True:
        for client in run.tokens:
            with run.http(client) as http:
                jobs.add(client, all_jobs(http))
        if not jobs.running() or time.monotonic() > end:
            return jobs.wrong(run, burst_accepted)
        time.sleep(0.5)


@contextmanager
def data_folder(*, is_small: bool) -> Iterator[Path]:
    """Give a folder for the time of the block, on a small disk of its own or not."""
    with tempfile.TemporaryDirectory() as name:
        if is_small:
            with small_disk(Path(name), DISK_MEGABYTES) as folder:
                yield folder
        else:
            yield Path(name)


if __name__ == "__main__":
    raise SystemExit(main())
