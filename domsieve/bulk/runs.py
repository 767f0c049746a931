"""Run a job on all targets, into a place for its results only. Existing results are not computed again."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from domsieve.bulk._parquet_parts import check_parquet
from domsieve.bulk._places import Place, place_at, tidy, write
from domsieve.bulk.clean_job import CleanJob
from domsieve.bulk.job import FAILED, Done, Failures, Job
from domsieve.bulk.learn_job import (
    EMPTY,
    PARTIAL,
    LearnJob,
    MergeJob,
    sites_to_merge,
    worth_learning,
)
from domsieve.bulk.page_list import Member, Named, members_of, urls_of
from domsieve.bulk.plan import Counted, Plan, Shard, pages_per_shard
from domsieve.bulk.records_job import RecordsJob
from domsieve.bulk.render_job import RenderJob, store_name
from domsieve.bulk.scheduling import Engine, Event, run
from domsieve.errors import UsageError
from domsieve.files import digest_of
from domsieve.tasks.site_learning import RECENT_PAGES, Drift
from domsieve.tasks.site_models import ENDING, model_file

PAGES_PER_SITE = 2_000
_NOTE = "_bulk.json"
_CONDEMNED = "_condemned.jsonl"
_KIND = "domsieve bulk"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a run.

    Parameters
    ----------
    pages, failed : numbers of all finished shards, of this run and earlier ones.
    made, kept : number of shards that were processed now, and of those that existed already.
    condemned : shards that were given up, with the reasons.
    failures : the folder of files that have a line for each failed page.
    drifts : by site, how well the models know the pages of this run.
    """

    pages: int
    failed: int
    made: int
    kept: int
    condemned: Mapping[str, str]
    failures: str
    drifts: Mapping[str, Drift] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run.

    Parameters
    ----------
    event : the event; None if only pages have ended.
    ended, of : number of finished shards, and of all shards of this run.
    ended_pages, pages : number of finished pages, also of running shards, and of all pages; 0 while the counts of
        sites are added up. If a worker dies, the pages of its shards count as not finished.
    """

    event: Event | None
    ended: int
    of: int
    ended_pages: int = 0
    pages: int = 0


Tell = Callable[[Progress], None]
EngineMaker = Callable[[], Engine]
NotedJob = CleanJob | RecordsJob | LearnJob | RenderJob


def clean_pages(
    job: CleanJob,
    targets: Iterable[Named],
    make_engine: EngineMaker,
    tell: Tell,
    *,
    per_shard: int | None = None,
    workers: int | None = None,
) -> Summary:
    """Clean pages into Parquet parts; see `CleanJob`.

    Parameters
    ----------
    targets : files, archives, stores, or folders of these.
    make_engine : creates the engine; called only if there are shards.
    tell : called with the progress.
    per_shard : number of pages of a shard; None for that of an earlier run at this place, or else so many that all
        workers have work.
    workers : number of workers; None if it is not known.

    Raises
    ------
    UsageError : an option is wrong, or the place has results of other pages or of another call.
    StorageError : results cannot be written; earlier results are kept.
    """
    check_parquet()
    job.check()
    return _run_parts(job, targets, make_engine, tell, per_shard=per_shard, workers=workers)


def mine_pages(
    job: RecordsJob,
    targets: Iterable[Named],
    make_engine: EngineMaker,
    tell: Tell,
    *,
    per_shard: int | None = None,
    workers: int | None = None,
) -> Summary:
    """Find the records of pages, into Parquet parts; parameters and errors are those of `clean_pages`."""
    check_parquet()
    return _run_parts(job, targets, make_engine, tell, per_shard=per_shard, workers=workers)


def learn_sites(
    job: LearnJob,
    targets: Iterable[Named],
    make_engine: EngineMaker,
    tell: Tell,
    *,
    per_shard: int | None = None,
    workers: int | None = None,
    per_site: int = PAGES_PER_SITE,
    period: str = "",
    cap: bool = False,
) -> Summary:
    """Learn a model of each site of the pages; parameters and errors are those of `clean_pages`.

    Parameters
    ----------
    per_site : maximum number of pages to learn a site from; the first ones are used.
    period : name of the period of the pages; models of several periods are merged when they are used.
    cap : whether to cap models, which makes them smaller.
    """
    if not (period.replace("-", "").isalnum() and period.isascii()) and period:
        raise UsageError(
            f"{period!a} is not a valid name of a period; use letters, digits and hyphens.",
            parameter="period",
        )
    job.check()
    place = _opened(job, cap=cap, per_site=per_site, periods=bool(period))
    pages = worth_learning(members_of(targets), per_site=per_site)
    with _engine_on_use(make_engine) as engine, _planned(pages, per_shard, workers) as plan:
        there = place.names()
        sites = plan.sites()
        lacking = {site for site in sites if not _is_learned(site, period, there)}
        partial = place.names(PARTIAL)
        missing = [
            name
            for name in dict.fromkeys(name for site in lacking for name in sites[site])
            if f"{name}.zip" not in partial
        ]
        counted = _run(job, plan.shards(missing), len(missing), engine, tell, pages=plan.pages_of(missing))
        merge = MergeJob(output=job.output, budget=job.budget, period=period, cap=cap)
        done = place.names(PARTIAL)
        # Sites are learned without the pages of shards that were given up.
        units = [
            Shard.of(unit.name, [name for name in unit.content() if f"{name}.zip" in done], unit.sites)
            for unit in sites_to_merge(plan, there, period=period)
        ]
        merged = _run(merge, units, len(units), engine, tell)
        there = place.names()
        if all(_is_learned(site, period, there) for site in sites):
            for name in place.names(PARTIAL) & {f"{name}.zip" for name in plan.names}:
                place.remove(f"{PARTIAL}/{name}")
        return _summary(
            place,
            job.output,
            pages=plan.pages - counted.lost_pages,
            made=len(units) - len(merged.condemned),
            kept=len(sites) - len(units),
            condemned={**counted.condemned, **merged.condemned},
        )


def render_sites(job: RenderJob, targets: Iterable[Named], make_engine: EngineMaker, tell: Tell) -> Summary:
    """Render URLs, those of each site into a store of its own; stored pages are not rendered again.

    Parameters
    ----------
    targets : the URLs.
    make_engine, tell : see `clean_pages`.

    Raises
    ------
    UsageError : an option is wrong, the place has results of another call, or it is not a local folder.
    TargetError : a word is not a URL.
    BrowserNotFoundError : there is no Chrome.
    """
    if "://" in job.output:
        raise UsageError(
            f"{job.output}: stores of captures are folders of this machine.", parameter="output_dir"
        )
    place = _opened(job)
    sites: dict[str, dict[str, None]] = {}
    lost: list[Member] = []
    words = [*targets]
    # Addresses of the caller may be private, but not the lines of lists.
    job = replace(job, named=tuple(word for word in words if isinstance(word, str)))
    for member in urls_of(words):
        if member.damage:
            lost.append(member)
        else:
            sites.setdefault(member.site, {})[member.label] = None
    failures = Failures()
    for member in lost:
        if member.damage:
            failures.add(member.label, member.site, member.damage)
    failures.write(place, "lines")
    there = place.names()
    # The name depends on the URLs, too, so that new URLs of a site are rendered into its store.
    names = {
        site: f"{store_name(site)}-{digest_of(chr(10).join(urls).encode())[:8]}"
        for site, urls in sites.items()
    }
    units = [site for site in sites if job.part(names[site]) not in there]
    with _engine_on_use(make_engine) as engine:
        shards = (Shard.of(names[site], tuple(sites[site]), [site]) for site in units)
        pages = sum(len(sites[site]) for site in units)
        ran = _run(job, shards, len(units), engine, tell, pages=pages)
    there = place.names()
    done = [job.part(name) for name in names.values() if job.part(name) in there]
    notes = [msgspec.json.decode(place.read(name)) for name in done]
    return _summary(
        place,
        job.output,
        pages=sum(note["pages"] + note["failed"] for note in notes) + len(failures),
        made=len(units) - len(ran.condemned),
        kept=len(sites) - len(units),
        condemned=ran.condemned,
    )


def _is_learned(site: str, period: str, there: set[str]) -> bool:
    name = model_file(site, period)
    return name in there or name.removesuffix(ENDING) + EMPTY in there


def _run_parts(
    job: CleanJob | RecordsJob,
    targets: Iterable[Named],
    make_engine: EngineMaker,
    tell: Tell,
    *,
    per_shard: int | None,
    workers: int | None,
) -> Summary:
    per_shard = per_shard or _noted_per_shard(job.output)
    if per_shard:
        _opened(job, per_shard=per_shard)  # refused before all pages are looked up
    with _engine_on_use(make_engine) as engine, _planned(members_of(targets), per_shard, workers) as plan:
        place = _opened(job, per_shard=plan.per_shard)
        there = place.names()
        names = plan.names
        parts = {job.part(name) for name in names}
        if foreign := sorted(name for name in there if name.startswith("part-") and name not in parts):
            raise UsageError(
                f"{job.output} contains parts of other pages, such as {foreign[0]}; give another folder."
            )
        missing = [name for name in names if job.part(name) not in there]
        ran = _run(job, plan.shards(missing), len(missing), engine, tell, pages=plan.pages_of(missing))
        return _summary(
            place,
            job.output,
            pages=plan.pages - ran.lost_pages,
            made=len(missing) - len(ran.condemned),
            kept=len(names) - len(missing),
            condemned=ran.condemned,
            drifts=ran.drifts,
        )


@contextmanager
def _planned(members: Iterable[Member], per_shard: int | None, workers: int | None) -> Iterator[Plan]:
    """Provide the shards of the pages; without a number of pages, they are made for the workers."""
    if per_shard:
        with Plan(members, per_shard=per_shard) as plan:
            yield plan
        return
    with Counted(members) as pages, Plan(pages, per_shard=pages_per_shard(len(pages), workers)) as plan:
        yield plan


@contextmanager
def _engine_on_use(make_engine: EngineMaker) -> Iterator[EngineMaker]:
    """Provide a function that returns the engine, created on first use and closed after the block."""
    made: list[Engine] = []

    def engine() -> Engine:
        if not made:
            made.append(make_engine())
        return made[0]

    try:
        yield engine
    except BaseException:
        for each in made:
            each.close(now=True)
        raise
    for each in made:
        each.close(now=False)


@dataclass(slots=True)
class _Ran:
    condemned: dict[str, str] = field(default_factory=dict)
    lost_pages: int = 0
    drifts: dict[str, Drift] = field(default_factory=dict)


def _run(
    job: Job, shards: Iterable[Shard], count: int, make_engine: EngineMaker, tell: Tell, *, pages: int = 0
) -> _Ran:
    ran, ended, ended_pages = _Ran(), 0, 0
    recent: dict[str, dict[str, tuple[float, ...]]] = {}

    def report(event: Event) -> None:
        nonlocal ended, ended_pages
        if event.what in {"done", "condemned"}:
            ended += 1
            ended_pages += event.shard.pages if pages else 0
        if event.what == "condemned":
            ran.condemned[event.shard.name] = event.reason
            ran.lost_pages += event.shard.pages
        if event.done:
            _take(recent, event.done)
        tell(Progress(event, ended, count, ended_pages, pages))

    def working(running_pages: int) -> None:
        if pages:
            tell(Progress(None, ended, count, ended_pages + running_pages, pages))

    tidy(job.output)
    if count:
        run(job, shards, make_engine(), report, working)  # one engine for all jobs
        tidy(job.output)  # workers of a killed run may have ended since
    for site, shares in recent.items():
        ran.drifts[site] = Drift(share for name in sorted(shares) for share in shares[name])
    return ran


def _take(recent: dict[str, dict[str, tuple[float, ...]]], done: Done) -> None:
    """Add the shares of a shard; for each site, those of its last shards are kept."""
    for site, shares in done.known.items():
        of_site = recent.setdefault(site, {})
        of_site[done.shard] = shares
        # The names of shards are in order.
        while sum(map(len, list(of_site.values()))) - len(of_site[min(of_site)]) >= RECENT_PAGES:
            del of_site[min(of_site)]


def _noted_per_shard(output: str) -> int | None:
    """Return the number of pages of a shard of an earlier run at a place; None without one."""
    place = place_at(output)
    if _NOTE not in place.names():
        return None
    try:
        return msgspec.json.decode(place.read(_NOTE), type=_SizeNote).per_shard
    except msgspec.DecodeError:
        return None  # of another call, which is refused


class _SizeNote(msgspec.Struct):
    per_shard: int | None = None


def _opened(job: NotedJob, **more: Any) -> Place:
    """Return the place of a job, after writing a note about its results.

    Raises
    ------
    UsageError : the place has results of another call.
    """
    place = place_at(job.output)
    note = {"kind": _KIND, "version": _VERSION, "job": type(job).__name__, **job.note(), **more}
    data = msgspec.json.format(msgspec.json.encode(note), indent=1) + b"\n"
    if _NOTE not in place.names():
        write(place, _NOTE, data)
        return place
    known = place.read(_NOTE)
    if known != data:
        raise UsageError(
            f"{job.output} contains the results of another call; {_NOTE} there says which. Give another folder."
        )
    return place


def _summary(
    place: Place,
    output: str,
    *,
    pages: int,
    made: int,
    kept: int,
    condemned: Mapping[str, str],
    drifts: Mapping[str, Drift] | None = None,
) -> Summary:
    failed = sum(place.read(f"{FAILED}/{name}").count(b"\n") for name in sorted(place.names(FAILED)))
    lines = [{"shard": name, "reason": reason} for name, reason in sorted(condemned.items())]
    if lines:
        write(place, _CONDEMNED, b"".join(msgspec.json.encode(line) + b"\n" for line in lines), replace=True)
    else:
        place.remove(_CONDEMNED)
    return Summary(pages, failed, made, kept, condemned, f"{output.rstrip('/')}/{FAILED}/", drifts or {})


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
