"""What the web page shows of the results of a job: text, tables, and the pages of a site one by one.

Everything is read from the files of the job, a bounded part of each, in threads.
"""

import asyncio
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from domsieve.plain import plain
from domsieve.service.jobs.values import Job
from domsieve.service.web.explanations import in_words
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.labels import Confidence, about_of, confidence_of, flat
from domsieve.service.web.schemas import first_text
from domsieve.service.web.tables import TABLE_BYTES, Table, comparison_tables, record_tables

_SHOWN_BYTES = 200_000
_INDEX, _ARCHIVE = "pages.json", "pages.zip"
_RECORDS = frozenset({"records", "records_html"})
_MARKDOWN_ENDING = ".md"
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Shown:
    """A result as the page shows it.

    Parameters
    ----------
    text : its source, None where it is none to be read.
    is_cut : whether the end of the source is not there.
    is_markdown : whether it can be previewed.
    tables : what it says, as tables.
    """

    text: str | None = None
    is_cut: bool = False
    is_markdown: bool = False
    tables: Sequence[Table] = ()


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of a site job.

    Parameters
    ----------
    number : from 1, in the order of the sample.
    url, title : of the page; the address where it has no title.
    file : its name in the archive.
    confidence : how sure the result is.
    about : what the page says of itself.
    remarks : what a reader must know, a sentence each.
    complete : whether the page was captured whole.
    """

    number: int
    url: str
    title: str
    file: str
    confidence: Confidence | None
    about: Sequence[tuple[str, str]]
    remarks: Sequence[str]
    complete: bool


@dataclass(frozen=True, slots=True)
class FailedPage:
    """A page of a site that has no result: its address and why."""

    url: str
    why: str


@dataclass(frozen=True, slots=True)
class SiteIndex:
    """The pages of a site job."""

    pages: Sequence[SitePage] = ()
    failed: Sequence[FailedPage] = ()


async def shown_result(gateway: Gateway, job: Job) -> Shown:
    """Return the result of a job about one page.

    Raises
    ------
    ProblemError : the job has gone.
    """
    file = first_text(job)
    if file is None or job.kind == "site":
        return Shown()
    has_tables = job.kind in _RECORDS or (job.kind == "compare" and file.size_bytes <= TABLE_BYTES)
    most = TABLE_BYTES if has_tables else _SHOWN_BYTES
    data = await gateway.ask(_beginning, gateway, job, file.name, most)
    tables: list[Table] = []
    if job.kind in _RECORDS:
        whole = len(data) == file.size_bytes
        tables = await asyncio.to_thread(partial(record_tables, data, file.content_type, is_whole=whole))
    elif has_tables:
        tables = await asyncio.to_thread(comparison_tables, data)
    return Shown(
        text=data[:_SHOWN_BYTES].decode("utf-8", "ignore"),
        is_cut=file.size_bytes > _SHOWN_BYTES,
        is_markdown=file.name.endswith(_MARKDOWN_ENDING),
        tables=tables,
    )


async def site_index(gateway: Gateway, job: Job) -> SiteIndex:
    """Return the pages of a site job that is done; none of other jobs.

    Raises
    ------
    ProblemError : the job has gone.
    """
    if not any(file.name == _INDEX for file in job.files):
        return SiteIndex()
    data = await gateway.ask(gateway.store.read, job.id, job.client, _INDEX)
    listed: Mapping[str, Any] = json.loads(data)
    pages = [_page(number, one) for number, one in enumerate(listed.get("pages") or (), 1)]
    failed = [
        FailedPage(str(one.get("url", "")), plain(in_words(str(one.get("detail", ""))))[:_LONGEST])
        for one in listed.get("failed") or ()
    ]
    return SiteIndex(pages, failed)


async def shown_page(gateway: Gateway, job: Job, page: SitePage) -> Shown:
    """Return what became of one page of a site job.

    Raises
    ------
    ProblemError : the job has gone.
    """
    data = await gateway.ask(_member, gateway, job, page.file)
    return Shown(
        text=None if data is None else data[:_SHOWN_BYTES].decode("utf-8", "ignore"),
        is_cut=data is not None and len(data) > _SHOWN_BYTES,
        is_markdown=page.file.endswith(_MARKDOWN_ENDING),
    )


def _beginning(gateway: Gateway, job: Job, name: str, most: int) -> bytes:
    _, opened = gateway.store.open(job.id, job.client, name)
    with opened:
        return opened.read(most)


def _member(gateway: Gateway, job: Job, name: str) -> bytes | None:
    """Return the beginning of a file of the archive, one byte more than is shown; None where it is not there."""
    _, opened = gateway.store.open(job.id, job.client, _ARCHIVE)
    with opened, zipfile.ZipFile(opened) as archive:
        if name not in archive.NameToInfo:
            return None
        with archive.open(name) as member:
            return member.read(_SHOWN_BYTES + 1)


def _page(number: int, listed: Mapping[str, Any]) -> SitePage:
    about = listed.get("metadata") or {}
    url = str(listed.get("url", ""))
    return SitePage(
        number=number,
        url=url,
        title=plain(str(about.get("title") or ""))[:_LONGEST] or url,
        file=str(listed.get("file", "")),
        confidence=confidence_of(listed.get("expected_f1")),
        about=about_of(about),
        remarks=[flat(remark) for remark in listed.get("remarks") or ()],
        complete=bool(listed.get("complete", True)),
    )
