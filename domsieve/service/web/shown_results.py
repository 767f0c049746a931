"""The results of a job on the web page: text, Markdown preview, tables, and the pages of a site."""

import asyncio
import base64
import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from domsieve.renderer.net_errors import without_names
from domsieve.sanitize import plain
from domsieve.service.jobs.job_values import OF_SITES, Job
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.labels import Confidence, about_of, confidence_of, flat, judged_of, size
from domsieve.service.web.schemas import first_text
from domsieve.service.web.shown_records import (
    OTHER_FILE,
    RECORDS,
    TABLE_BYTES,
    ShownRecords,
    short,
    shown_records,
)

_STYLE = (Path(__file__).parent / "static" / "preview.css").read_text(encoding="utf-8")
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode("ascii")
PREVIEW_POLICY = (
    f"sandbox; default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
"""The policy of the preview. It allows no scripts and loads nothing."""
PREVIEWED = 64_000
"""Maximum length of a preview: hostile Markdown takes seconds per 100,000 characters in the server process."""

_NESTING = 20
_LONGEST_ADDRESS = 300  # characters of an address in a tool tip
_FENCE = "---\n"


def preview(markdown: str) -> str:
    """Render the first `PREVIEWED` characters of Markdown as an HTML document.

    YAML front matter is shown as it is.
    """
    text = markdown[:PREVIEWED]
    front, end = "", text.find(f"\n{_FENCE}", len(_FENCE) - 1) if text.startswith(_FENCE) else -1
    if end >= 0:
        front = f'<pre class="front">{escape(text[len(_FENCE) : end])}</pre>\n'
        text = text[end + 1 + len(_FENCE) :]
    rest = "" if len(markdown) <= PREVIEWED else '<p class="rest">The rest is not previewed.</p>\n'
    return (
        '<!DOCTYPE html>\n<html lang="und"><head><meta charset="utf-8"><title>Preview</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style></head>\n<body><main>\n{front}{_parser().render(text)}{rest}</main></body></html>\n"
    )


class _Inert(RendererHTML):
    """Writes elements without addresses."""

    def link_open(self, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
        address = plain(str(tokens[at].attrGet("href") or ""))[:_LONGEST_ADDRESS]
        return f'<span class="link" title="{escape(address)}">'

    def link_close(self, _tokens: Sequence[Token], _at: int, _options: Any, _env: Any) -> str:
        return "</span>"

    def image(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        words = self.renderInlineAsText(tokens[at].children or [], options, env)
        return f'<span class="image">{escape(words) or "picture"}</span>'


# As GitHub writes them, and as the Markdown of results has them.
_CALLOUTS = {f"[!{kind.upper()}]": kind for kind in ("note", "tip", "important", "warning", "caution")}


def _mark_callouts(state: StateCore) -> None:
    """Give quotes that begin with the kind of a callout a class, and a title in place of the mark."""
    tokens: list[Token] = []
    for at, token in enumerate(state.tokens):
        tokens.append(token)
        if token.type != "inline" or at < 2 or state.tokens[at - 2].type != "blockquote_open":
            continue
        mark, _, rest = token.content.partition("\n")
        if (kind := _CALLOUTS.get(mark.strip())) is None:
            continue
        state.tokens[at - 2].attrSet("class", f"callout {kind}")
        state.tokens[at - 1].attrSet("class", "kind")
        token.content = kind.capitalize()
        if rest:
            lines = Token("inline", "", 0, content=rest, children=[], level=token.level)
            tokens += [Token("paragraph_close", "p", -1), Token("paragraph_open", "p", 1), lines]
    state.tokens = tokens


@cache
def _parser() -> MarkdownIt:
    options = {"html": False, "maxNesting": _NESTING}
    parser = MarkdownIt("commonmark", options, renderer_cls=_Inert)
    parser.core.ruler.before("inline", "callouts", _mark_callouts)
    # HTML stays text, and without definitions one address cannot be repeated for many words.
    return parser.enable(["table", "strikethrough"]).disable(["html_block", "html_inline", "reference"])


_ROWS, _CHANGED = 200, 200
_LAST_THREE = frozenset({1, 2, 3})
_CHANGES = {
    "created": "Added by a script",
    "changed": "Changed by a script",
    "moved": "Moved by a script",
    "removed": "Removed by a script",
    "hidden": "Hidden",
    "in source": "The same in the source",
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    Parameters
    ----------
    name : its heading, and its name for screen readers.
    columns : distinct names of the columns.
    rows : the cells.
    left_out : number of rows that are not shown.
    numbers : positions of the columns with numbers.
    """

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_out: int = 0
    numbers: frozenset[int] = frozenset()


def comparison_tables(data: bytes) -> list[Table]:
    """Return the tables of a comparison: words, both versions, changes by scripts, data responses, differences.

    Empty for a file in the format of another version of domsieve.
    """
    try:
        return [table for table in _compared(json.loads(data)) if table.rows]
    except OTHER_FILE:
        return []


def _compared(facts: Mapping[str, Any]) -> list[Table]:
    raw, rendered = facts["raw"], facts["rendered"]
    named = [
        ("Words you can see", "words"),
        ("Words of the content", "cleaned_words"),
        ("Links", "links"),
        ("Images", "images"),
        ("Records", "records"),
        ("Nodes", "nodes"),
    ]
    versions = [[label, flat(raw[name]), flat(rendered[name])] for label, name in named]
    words = [
        [label, flat(one["wanted"]), flat(one["both"]), _share(one["both"], one["wanted"])]
        for label, one in (("Content", facts["content"]), ("All that you can see", facts["visible"]))
    ]
    changed = [block for block in facts["blocks"] if block["change"] != "in source"]
    same = len(facts["blocks"]) - len(changed)
    texts = [
        [_CHANGES.get(block["change"], block["change"]), flat(block["words"]), short(block["text"])]
        for block in changed[:_CHANGED]
    ]
    brought = [
        [
            short(one["url"]),
            flat(one["status"]),
            size(one["bytes"]),
            flat(one["words"]),
            flat(one["delivered"]),
        ]
        for one in facts["data"][:_ROWS]
    ]
    return [
        Table(
            "Words of the rendered page",
            ("Which", "Rendered", "In the source", "Share"),
            words,
            0,
            _LAST_THREE,
        ),
        Table("Both versions", ("What", "Raw source", "Rendered"), versions, 0, frozenset({1, 2})),
        Table(
            f"Texts that differ ({same:,} are the same)",
            ("What happened", "Words", "Text"),
            texts,
            len(changed) - len(texts),
            frozenset({1}),
        ),
        Table(
            "Responses that brought data",
            ("Address", "Status", "Size", "Words", "Of these only in the rendered page"),
            brought,
            len(facts["data"]) - len(brought),
            frozenset({1, 2, 3, 4}),
        ),
        *([_differing(facts["loads"]["blocks"])] if "loads" in facts else []),
    ]


def _differing(blocks: Sequence[Mapping[str, Any]]) -> Table:
    texts = [
        [flat(block["words"]), short(block["text"]), short(block["other_text"])]
        for block in blocks[:_CHANGED]
    ]
    columns = ("Words", "Here", "In the other load")
    return Table(
        "Texts that differ between two loads", columns, texts, len(blocks) - len(texts), frozenset({0})
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


_SHOWN_BYTES = 200_000
_INDEX, _ARCHIVE = "pages.json", "pages.zip"
_MARKDOWN_ENDING = ".md"
_LONGEST_TEXT = 300


@dataclass(frozen=True, slots=True)
class Shown:
    """A result on the page.

    Parameters
    ----------
    text : its text; None if it is not text.
    is_cut : whether the end of the text is missing.
    is_markdown : whether there is a preview.
    tables : its tables.
    records : a part of its records; None if it has none to show.
    """

    text: str | None = None
    is_cut: bool = False
    is_markdown: bool = False
    tables: Sequence[Table] = ()
    records: ShownRecords | None = None


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of a site job.

    Parameters
    ----------
    number : its number, from 1, in the order of the sample.
    url, title : its address and title; without a title, the address.
    file : its name in the archive.
    confidence : the confidence of the result.
    judged : how many pages of the site had a say in it; empty for none.
    about : its metadata.
    remarks : warnings for readers, one sentence each.
    complete : whether the page was captured completely.
    """

    number: int
    url: str
    title: str
    file: str
    confidence: Confidence | None
    judged: str
    about: Sequence[tuple[str, str]]
    remarks: Sequence[str]
    complete: bool


@dataclass(frozen=True, slots=True)
class FailedPage:
    """A page of a site without a result: its address and the reason."""

    url: str
    why: str


@dataclass(frozen=True, slots=True)
class SiteIndex:
    """The pages of a site job."""

    pages: Sequence[SitePage] = ()
    failed: Sequence[FailedPage] = ()


async def shown_result(gateway: Gateway, job: Job, *, first: int = 1) -> Shown:
    """Return the result of a job about one page.

    Parameters
    ----------
    gateway : access to the results.
    job : the job.
    first : number of the first record to show, from 1.

    Raises
    ------
    ProblemError : the job was deleted.
    """
    file = first_text(job)
    if job.kind == "learn_fields" and len(job.files) > 1:
        file = job.files[1]  # what the model finds
    if file is None or job.kind in OF_SITES - RECORDS:
        return Shown()
    has_records = job.kind in RECORDS
    has_tables = job.kind == "compare" and file.size_bytes <= TABLE_BYTES
    most = TABLE_BYTES if has_records or has_tables else _SHOWN_BYTES
    data = await gateway.ask(_beginning, gateway, job, file.name, most)
    tables: list[Table] = []
    records = None
    if has_records:
        total = (job.summary or {}).get("records")
        read = partial(shown_records, is_whole=len(data) == file.size_bytes, total=total, first=first)
        records = await asyncio.to_thread(read, data, file.content_type)
    elif has_tables:
        tables = await asyncio.to_thread(comparison_tables, data)
    return Shown(
        text=data[:_SHOWN_BYTES].decode("utf-8", "ignore"),
        is_cut=file.size_bytes > _SHOWN_BYTES,
        is_markdown=file.name.endswith(_MARKDOWN_ENDING),
        tables=tables,
        records=records,
    )


async def site_index(gateway: Gateway, job: Job) -> SiteIndex:
    """Return the pages of a finished site job, or those that failed while a site was followed; empty for other jobs.

    Raises
    ------
    ProblemError : the job was deleted.
    """
    listed: Mapping[str, Any] = {"failed": (job.summary or {}).get("failures")}
    if any(file.name == _INDEX for file in job.files):
        listed = json.loads(await gateway.ask(gateway.store.read, job.id, job.client, _INDEX))
    pages = [_page(number, one) for number, one in enumerate(listed.get("pages") or (), 1)]
    failed = [
        FailedPage(str(one.get("url", "")), plain(without_names(str(one.get("detail", ""))))[:_LONGEST_TEXT])
        for one in listed.get("failed") or ()
    ]
    return SiteIndex(pages, failed)


async def shown_page(gateway: Gateway, job: Job, page: SitePage) -> Shown:
    """Return the result of one page of a site job.

    Raises
    ------
    ProblemError : the job was deleted.
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
    """Return the beginning of a file of the archive, one byte more than is shown; None if it is missing."""
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
        title=plain(str(about.get("title") or ""))[:_LONGEST_TEXT] or url,
        file=str(listed.get("file", "")),
        confidence=confidence_of(listed),
        judged=judged_of(listed),
        about=about_of(about),
        remarks=[flat(remark) for remark in listed.get("remarks") or ()],
        complete=bool(listed.get("complete", True)),
    )
