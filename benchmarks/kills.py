"""SIGKILL at random moments: what is lost, what is half there, what goes on without its parent. Linux only (/proc).

    python -m benchmarks.kills [--each 40] [--only site render bulk service worker] [--state kills.jsonl] [--seed 0]

Commands that render generated pages on loopback (`site`, `render`, `bulk render`), the service and one of its workers
are killed at a random moment after at least one page was reported as stored, and go on with the same folder. After
each kill: every page that was reported stored so far is in the cache and can be read, and every job that had ended is
there with its result; what `cache verify` finds is at most a file that no row names; and all processes of what was
killed have ended, its browser too. With --state, figures of kills are kept and a second run goes on. It ends with 1
where one of these is not so.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import httpx

from benchmarks.printing import print_check, print_table
from benchmarks.processes import living_stat_of, processes_below
from benchmarks.running_service import RunningService, running_service
from benchmarks.served_pages import pages_served
from benchmarks.service_clients import ENDED, all_jobs, ends
from domsieve.service.jobs.captures import CACHE
from domsieve.snapshot.store import PageStore

KINDS = ("site", "render", "bulk", "service", "worker")
_MARK = "DOMSIEVE_KILLS"
_PAGES, _SITES = 120, 20
_JOBS = 10  # that wait when the service is killed
_LONGEST_S = 3.0  # from the first page stored to the kill
_PATIENCE_S = 15.0  # until what was killed has ended with all below it
_START_S = 120.0
_STORED = re.compile(rb"^\[\d+/\d+\] (\S+) [\d,]+ nodes?\b")
# Invisible: the file was written, and the row that would name it was not.
_ALLOWED = ("was left by a writer that was stopped", "is not in the index")


@dataclass
class Kill:
    """One kill and what was found behind it.

    Parameters
    ----------
    kind : what was killed.
    after_s : how long after its first page.
    stored : pages reported stored so far, or jobs that had ended.
    ended_s : until the last of its processes had ended.
    invisible : files that no row names.
    temporary : files and folders in the folder for temporary ones.
    problems : what is not as it should be.
    """

    kind: str
    after_s: float
    stored: int
    ended_s: float = 0.0
    invisible: int = 0
    temporary: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Family:
    """A process and all below it, as they were before it was killed."""

    leader: int
    births: dict[int, str]
    mark: bytes

    @classmethod
    def of(cls, pid: int, mark: str = "") -> "Family":
        """Return the family of a process; with a mark also what has it in its environment."""
        pids = [pid, *(process.pid for process in processes_below(pid))]
        births = {one: birth for one in pids if (birth := _stat(one)[1])}
        return cls(pid, births, mark.encode())

    def alive(self) -> list[str]:
        """Return those that have not ended."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            pid = int(folder.name)
            session, birth = _stat(pid)
            is_ours = self.births.get(pid) == birth or session == str(self.leader)
            if self.mark and not is_ours and pid != os.getpid():
                with suppress(OSError):
                    is_ours = self.mark in (folder / "environ").read_bytes()
            if birth and is_ours:
                with suppress(OSError):
                    words = (folder / "cmdline").read_bytes().split(b"\0")
                    found.append(f"{pid} {b' '.join(words)[:80]!r}")
        return found

    def end_s(self, kill: Kill) -> None:
        """Wait until all have ended; note how long it took, or who is left."""
        begun = time.monotonic()
        while (left := self.alive()) and time.monotonic() - begun < _PATIENCE_S:
            time.sleep(0.05)
        kill.ended_s = time.monotonic() - begun
        kill.temporary = len(list(Path(os.environ["TMPDIR"]).iterdir()))
        kill.problems += [f"orphan: {process}" for process in left]


def _stat(pid: int) -> tuple[str, str]:
    """Return session and time of birth of a process that has not ended, or nothing."""
    fields = living_stat_of(pid)
    return (fields[3], fields[19]) if fields else ("", "")


def check_stores(kill: Kill, stores: Collection[Path], reported: Collection[str]) -> None:
    """Note what of the pages reported stored is not there, and what is there that is half written."""
    found: set[str] = set()
    for root in stores:
        with PageStore(root) as store:
            for problem in store.verify():
                if problem.what.startswith(_ALLOWED):
                    kill.invisible += 1
                else:
                    kill.problems.append(f"half visible: {problem}")
            for record in store.records():
                store.get(record.page_id)
                found.add(record.url)
    kill.problems += [f"lost: {url}" for url in sorted({*reported} - found)]


class Command:
    """A command that is killed and goes on, and begins anew when it has done all.

    Parameters
    ----------
    kind : which.
    words : returns its words for the folder of a round.
    urls : what it renders, by site.
    """

    def __init__(
        self, kind: str, folder: Path, words: Callable[[Path], list[str]], urls: list[list[str]], mark: str
    ) -> None:
        self.kind, self.words, self.urls, self.mark = kind, words, urls, mark
        self._folder, self._rounds = folder, 0
        self._reported: set[str] = set()

    @property
    def output(self) -> Path:
        """Where this round's pages lie."""
        return self._folder / f"{self.kind}-{self._rounds}"

    def kill(self, after_s: float) -> Kill:
        """Kill it so long after its first page, and return what is found."""
        command = [sys.executable, "-m", "domsieve.cli", *self.words(self.output)]
        errors = self.output.with_suffix(".err")
        before = self._files()
        with (
            errors.open("wb") as file,
            subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=file, start_new_session=True
            ) as process,
        ):
            end = time.monotonic() + _START_S
            while not self._stored(errors, before):
                if process.poll() is not None or time.monotonic() > end:
                    # All was done already: begin anew.
                    self._end(process)
                    self._rounds += 1
                    self._reported.clear()
                    return self.kill(after_s)
                time.sleep(0.02)
            with suppress(subprocess.TimeoutExpired):
                process.wait(after_s)
            family = Family.of(process.pid, self.mark)
            process.kill()
            process.wait()
        self._reported |= self._said(errors)
        kill = Kill(self.kind, after_s, len(self._reported))
        family.end_s(kill)
        check_stores(kill, [path.parent for path in self._indexes()], self._reported)
        return kill

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        if process.poll() is None:
            process.kill()
            raise RuntimeError(f"{self.kind} stores no page within {_START_S:g} s.")
        if process.returncode:
            said = self.output.with_suffix(".err").read_text(errors="replace")[-500:]
            raise RuntimeError(f"{self.kind} ended with {process.returncode}: {said}")

    def _stored(self, errors: Path, before: set[Path]) -> bool:
        if self.kind == "bulk":
            return bool(self._files() - before)
        return bool(_urls(errors))

    def _said(self, errors: Path) -> set[str]:
        """Return the pages that were reported stored: one by one, or for bulk by the marker of their site."""
        if self.kind != "bulk":
            return _urls(errors)
        done = {json.loads(path.read_bytes()).get("site") for path in self.output.glob("*.json")}
        return {url for urls in self.urls for url in urls if url.split("/")[2] in done}

    def _indexes(self) -> list[Path]:
        return [*self.output.glob("index.sqlite3"), *self.output.glob("*/index.sqlite3")]

    def _files(self) -> set[Path]:
        return {path for index in self._indexes() for path in index.parent.glob("pages/*/*.dsnap")}


def _urls(errors: Path) -> set[str]:
    """Return the pages that a command has said it has stored."""
    with errors.open("rb") as file:
        lines = [line for line in file if line.endswith(b"\n")]
    return {found[1].decode() for line in lines if (found := _STORED.match(line))}


class Service:
    """The service with jobs waiting, which is killed as a whole or by a worker, and does them all in the end."""

    def __init__(self, kind: str, service: RunningService, urls: list[str], mark: str) -> None:
        self.kind, self.service, self.urls, self.mark = kind, service, urls, mark
        self._done: set[str] = set()
        self._asked = 0

    def kill(self, after_s: float) -> Kill:
        """Kill it so long after the first of its new jobs has ended, start it again, and return what is found."""
        process = self.service.process
        if process is None or process.poll() is not None:
            self.service.start()
        assert self.service.process
        jobs = self._ask()
        while not any(job["state"] == "done" for job in self._known(jobs)):
            time.sleep(0.05)
        time.sleep(after_s)
        done = {job["id"]: job for job in self._known(jobs) if job["state"] in ENDED}
        self._done |= {*done}
        kill = Kill(self.kind, after_s, len(self._done))
        below = processes_below(self.service.process.pid)
        worker = next((one.pid for one in below if one.is_worker), 0)
        if self.kind == "worker" and worker:
            family = Family.of(worker)
            os.kill(worker, signal.SIGKILL)
        else:
            family = Family.of(self.service.process.pid, self.mark)
            self.service.kill("service")
        family.end_s(kill)
        store = self.service.data / CACHE
        check_stores(kill, [store], {job["request"]["url"] for job in done.values()})
        if self.kind == "service":
            self.service.start()
        self._finish(jobs, kill)
        return kill

    def _ask(self) -> list[str]:
        jobs = []
        with self._http() as http:
            for _ in range(_JOBS):
                url = self.urls[self._asked % len(self.urls)]
                body = {"url": url, "refresh": True, "format": "text"}
                answer = http.post("/v1/clean", json=body, headers={"Prefer": "respond-async"})
                jobs.append(str(answer.raise_for_status().json()["id"]))
                self._asked += 1
        return jobs

    def _known(self, jobs: Collection[str]) -> list[dict[str, Any]]:
        with self._http() as http:
            return [job for job in all_jobs(http) if job["id"] in jobs]

    def _http(self) -> httpx.Client:
        return httpx.Client(base_url=self.service.url, timeout=30)

    def _finish(self, jobs: list[str], kill: Kill) -> None:
        """Wait until all jobs have ended, and see that each ended once, with a result that can be read."""
        end = time.monotonic() + _START_S
        while any(job["state"] not in ENDED for job in self._known(jobs)) and time.monotonic() < end:
            time.sleep(0.1)
        with self._http() as http:
            known = {job["id"]: job for job in all_jobs(http)}
            kill.problems += [f"lost: job {job}" for job in sorted(({*jobs} | self._done) - {*known})]
            for name in jobs:
                job = known.get(name)
                if job and job["state"] != "done":
                    kill.problems.append(f"job {name} {job['state']}: {job.get('problem')}")
                elif job:
                    if ends(http, name) != 1:
                        kill.problems.append(f"job {name} ended other than once")
                    files = [http.get(file["url"]) for file in job["files"]]
                    if not files or not all(file.is_success and file.content for file in files):
                        kill.problems.append(f"lost: the result of job {name}")
        self._done |= {*jobs}


@contextmanager
def victim(kind: str, folder: Path, mark: str) -> Iterator[Command | Service]:
    """Lend what is killed."""
    sites = _SITES if kind == "bulk" else 1
    with pages_served(_PAGES // sites, sites=sites) as urls:
        if kind in {"service", "worker"}:
            host = urls[0][0].split("/")[2]
            words = ["--private-host", host, "--workers", "2", "--client-queue", "200"]
            words += ["--requests-per-minute", "60000"]
            with running_service(folder / kind, *words, log=folder / f"{kind}.log") as service:
                yield Service(kind, service, urls[0], mark)
            return
        targets = folder / "urls.txt"
        targets.write_text("".join(f"{url}\n" for one in urls for url in one), encoding="utf-8")

        def words_of(output: Path) -> list[str]:
            if kind == "site":
                return ["site", urls[0][0], "--pages", str(_PAGES), "--cache", str(output)]
            if kind == "render":
                return ["render", "--input-file", str(targets), "--cache", str(output)]
            return [
                "bulk",
                "render",
                "--input-file",
                str(targets),
                "--output-dir",
                str(output),
                "--workers",
                "2",
            ]

        yield Command(kind, folder, words_of, urls, mark)


def main() -> int:
    """Kill, and print what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", type=int, default=40, help="kills of each kind")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--state", type=Path, help="file of the kills so far, which is gone on with")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    kills: list[Kill] = []
    if asked.state and asked.state.exists():
        kills = [Kill(**json.loads(line)) for line in asked.state.read_text("utf-8").splitlines()]
    chance = random.Random(f"{asked.seed} {len(kills)}")
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        folder, mark = Path(name), uuid4().hex
        (folder / "tmp").mkdir()
        os.environ |= {_MARK: mark, "TMPDIR": str(folder / "tmp")}
        for kind in asked.only:
            missing = asked.each - sum(kill.kind == kind for kill in kills)
            if missing <= 0:
                continue
            with victim(kind, folder, mark) as one:
                for _ in range(missing):
                    kills.append(one.kill(chance.uniform(0, _LONGEST_S)))
                    print(
                        f"{kind} {kills[-1].after_s:.2f} s: {kills[-1].problems or 'as it should be'}",
                        flush=True,
                    )
                    if asked.state:
                        with asked.state.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(asdict(kills[-1])) + "\n")
    return tell(kills)


def tell(kills: list[Kill]) -> int:
    """Print the figures by kind; return whether something is not as it should be."""
    rows = []
    for kind in KINDS:
        of_kind = [kill for kill in kills if kill.kind == kind]
        if of_kind:
            problems = [problem for kill in of_kind for problem in kill.problems]
            figures: dict[str, float] = {
                "kills": len(of_kind),
                "stored, median": median(kill.stored for kill in of_kind),
                "lost": sum(problem.startswith("lost") for problem in problems),
                "half visible": sum(problem.startswith("half") for problem in problems),
                "orphans": sum(problem.startswith("orphan") for problem in problems),
                "other": sum(problem.startswith("job") for problem in problems),
                "invisible files": max(kill.invisible for kill in of_kind),
                "temporary files": max(kill.temporary for kill in of_kind),
                "last process ended after s, median": median(kill.ended_s for kill in of_kind),
                "at most": max(kill.ended_s for kill in of_kind),
            }
            rows.append((kind, figures))
    print_table(["killed", *rows[0][1]], rows)
    wrong = [f"{kill.kind}: {problem}" for kill in kills for problem in kill.problems]
    print_check("nothing lost, nothing half visible, no orphan", wrong[:20])
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
