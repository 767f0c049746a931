"""Figures of a service under load, minute by minute, and which promises they break."""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.printing import print_table
from benchmarks.service_clients import ENDED, Asked, Run

MOST_GROWTH, MOST_SLOWER = 1.2, 2.0
_AFTER_KILL_S = 60.0
# What is under way when the disk is full ends some seconds later.
_AFTER_FULL_S = 10.0


@dataclass(frozen=True)
class Held:
    """What the service and its processes hold at a time of the run; `disk_mb` is all that lies on its disk."""

    at_s: float
    memory_mb: float
    disk_mb: float
    processes: float
    descriptors: float


@dataclass
class Jobs:
    """All jobs that the service ever listed, by client."""

    known: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)

    def add(self, client: str, jobs: Iterable[dict[str, Any]]) -> None:
        """Note how jobs are now."""
        self.known.setdefault(client, {}).update((job["id"], job) for job in jobs)

    def running(self) -> list[str]:
        """Return those that have not ended."""
        return [
            job["id"] for jobs in self.known.values() for job in jobs.values() if job["state"] not in ENDED
        ]

    def wrong(self, run: Run, burst_accepted: int) -> list[str]:
        """Return which are lost, left or done twice, and print how often they were tried."""
        told = {each.job for each in run.asked}
        working = {
            name: job
            for client, jobs in self.known.items()
            if client.startswith("client-")
            for name, job in jobs.items()
        }
        tries = Counter(job["attempts"] for job in working.values())
        print(f"{len(working)} jobs of {len(told)} requests, tries {dict(sorted(tries.items()))}")
        keys = Counter(each.key for each in run.asked)
        in_burst = len(self.known.get("burst", {}))
        return [
            *(f"never listed: {job}" for job in sorted(told - set(working))),
            *(f"nobody asked for: {job}" for job in sorted(set(working) - told)),
            *(f"not ended: {job}" for job in self.running()),
            *(f"key answered twice: {key}" for key, count in keys.items() if count > 1),
            *([f"{in_burst} jobs of {burst_accepted} in the burst"] if in_burst != burst_accepted else []),
        ]


def print_figures(run: Run, held: Sequence[Held]) -> None:
    """Print what happened, a row a minute."""
    good = [each for each in run.asked if not each.is_hostile]
    length_s = max(each.ended_s for each in run.asked)
    print(f"{len(run.asked)} requests, {len(run.asked) - len(good)} for hostile pages, in {length_s:.0f} s")
    print(f"pages of the demo site per second: {sum(each.pages for each in good) / length_s:.2f}")
    print("; ".join(f"{what}: {count}" for what, count in sorted(run.counted.items())))
    columns = ("answers", "p50 s", "p95 s", "memory MB", "disk MB", "processes", "descriptors")
    print_table(("minute", *columns), _minutes(run, held))
    for (path, state, why), count in sorted(
        Counter((e.path, e.state, e.why) for e in run.asked if e.is_hostile).items()
    ):
        print(f"  {path}: {state} {why} ({count})")
    for each in run.asked:
        if not each.is_hostile and each.state != "done":
            print(f"  {each.kind} {each.path}, {each.started_s:.0f} to {each.ended_s:.0f} s: {each.why}")


def broken_bounds(run: Run, held: Sequence[Held]) -> list[str]:
    """Return which bounds are broken."""
    broken = [f"{what} ({count} times)" for what, count in run.broken.items()]
    broken += [
        f"{each.kind} {each.path} {each.state} {each.why}"
        for each in run.asked
        if not each.is_hostile and each.state != "done" and not _is_in_full(run, each)
    ]
    calm = _p95(each for each in run.asked if each.ended_s <= run.calm_s)
    later = _p95(each for each in run.asked if each.started_s >= run.calm_s and not _is_shut_out(run, each))
    print(f"one page, 95th percentile: calm {calm:.2f} s, later {later:.2f} s ({later / calm:.2f} times)")
    if not later <= MOST_SLOWER * calm:  # also where there is no figure
        broken.append(f"one page takes {later / calm:.2f} times its calm time")
    for name in ("memory_mb", "disk_mb"):
        first = _mean(held, name, run.calm_s, 2 * run.calm_s)
        last = _mean(held, name, run.seconds - run.calm_s, run.seconds)
        print(
            f"{name.removesuffix('_mb')}: {first:.0f} MB in the second sixth, {last:.0f} MB in the last one"
        )
        if not last <= MOST_GROWTH * first:
            broken.append(f"{name.removesuffix('_mb')} grew from {first:.0f} to {last:.0f} MB")
    return broken


def _minutes(run: Run, held: Sequence[Held]) -> Iterator[tuple[str, dict[str, Any]]]:
    for minute in range(int(run.seconds // 60) + 1):
        times = [each.took_s for each in run.asked if _counts(each) and int(each.ended_s // 60) == minute]
        looks = [look for look in held if int(look.at_s // 60) == minute]
        if not times and not looks:
            continue
        row: dict[str, Any] = {"answers": len(times)}
        if len(times) > 1:
            row |= {"p50 s": f"{statistics.median(times):.2f}", "p95 s": f"{_quantile(times):.2f}"}
        if looks:
            row |= {
                "memory MB": round(statistics.median(look.memory_mb for look in looks)),
                "disk MB": round(statistics.median(look.disk_mb for look in looks)),
                "processes": round(max(look.processes for look in looks)),
                "descriptors": round(max(look.descriptors for look in looks)),
            }
        events = [what for at_s, what in run.events if int(at_s // 60) == minute]
        yield " ".join((str(minute + 1), *(f"({what})" for what in events))), row


def _counts(asked: Asked) -> bool:
    return not asked.is_hostile and asked.kind != "sites" and asked.state == "done"


def _p95(asked: Iterable[Asked]) -> float:
    times = [each.took_s for each in asked if _counts(each)]
    return _quantile(times) if len(times) > 1 else float("nan")


def _quantile(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def _mean(held: Sequence[Held], name: str, begin_s: float, end_s: float) -> float:
    values = [getattr(look, name) for look in held if begin_s <= look.at_s < end_s]
    return statistics.fmean(values) if values else float("nan")


def _is_in_full(run: Run, asked: Asked) -> bool:
    begin_s, end_s = run.full_s
    return asked.started_s < end_s + _AFTER_FULL_S and asked.ended_s > begin_s


def _is_shut_out(run: Run, asked: Asked) -> bool:
    kills = ((at_s, at_s + _AFTER_KILL_S) for at_s in run.service_kills_s)
    return _is_in_full(run, asked) or any(
        asked.started_s < end_s and asked.ended_s > begin_s for begin_s, end_s in kills
    )
