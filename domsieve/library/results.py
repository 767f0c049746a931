"""The results of calls: a page with what was found on it, or with its error.

A failed page never looks like an empty one, because the properties of its result raise the error. Properties are
computed once, on first use.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from domsieve.analysis.cleaning.hidden_text import hidden_words
from domsieve.analysis.columns.invisible import invisible_characters
from domsieve.analysis.compare.compared_blocks import ComparedBlock
from domsieve.analysis.compare.comparison import Comparison
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.metadata.values import Metadata
from domsieve.analysis.page_flags.flags import Mark, described, page_marks
from domsieve.analysis.records.fields import FieldTable
from domsieve.analysis.verdict import PageWarning, Verdict
from domsieve.analysis.writers.chunks import Chunk, chunks_of
from domsieve.analysis.writers.evidence import Block, text_blocks
from domsieve.analysis.writers.formats import PAGE_FORMATS, write_page
from domsieve.analysis.writers.record_tables import RecordSheet, record_rows, write_records_csv
from domsieve.analysis.writers.references import Image, Link, images_of, links_of
from domsieve.budget import Meter
from domsieve.declaration import wrong
from domsieve.errors import DomsieveError, UsageError
from domsieve.library._checks import check_choice
from domsieve.notebook import Line, box, tables
from domsieve.sanitize import utf8
from domsieve.snapshot.fault import Fault, fault_of
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.pixels import unsure_texts
from domsieve.tasks.page_comparison import Advice, advise
from domsieve.types import PageFormat

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

T = TypeVar("T")

_LONGEST_URL = 80
_FRAME_FACTS = ("title", "authors", "published", "modified", "language")


class Result(Generic[T]):
    """The result for one page.

    Attributes
    ----------
    url : address of the page, or its file; empty for HTML without an address.
    error : why the page failed; None if it did not.
    """

    def __init__(self, url: str, found: T | DomsieveError, *, meter: Meter | None = None) -> None:
        self.url = url
        self._meter = meter or Meter(url)
        self.error = found if isinstance(found, DomsieveError) else None
        self._found = found

    @property
    def _outcome(self) -> T:
        """The outcome of a page that did not fail.

        Raises
        ------
        DomsieveError : the `error` of a page that failed.
        """
        if isinstance(self._found, DomsieveError):
            raise self._found
        return self._found

    def to_dict(self) -> dict[str, Any]:
        """Return what `json` says as dicts, lists, texts and numbers."""
        found: dict[str, Any] = json.loads(self.json())
        return found

    def json(self) -> str:
        """Return the result as a line of JSON."""
        raise NotImplementedError

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the result as a `pandas.DataFrame`; see `domsieve.to_pandas`."""
        return to_pandas([self])

    def _rows(self) -> list[Mapping[str, Any]]:
        """Return the rows of the result in a data frame."""
        raise NotImplementedError

    def __repr__(self) -> str:
        name = type(self).__name__
        url = self.url if len(self.url) <= _LONGEST_URL else f"{self.url[: _LONGEST_URL - 1]}…"
        said = f"failed: {self.error.message}" if self.error else self._summary()
        return f"<{name} {url!r} {said}>" if url else f"<{name} {said}>"

    def _repr_html_(self) -> str:
        title = self.url or type(self).__name__
        if self.error:
            return box(title, ["failed"], [Line(str(self.error))])
        return self._html_box(title)

    def _summary(self) -> str:
        raise NotImplementedError

    def _html_box(self, title: str) -> str:
        raise NotImplementedError


class CleanResult(Result[tuple[Snapshot, Verdict]]):
    """The content of a page, returned by `domsieve.clean`.

    Attributes
    ----------
    url : address of the page, or its file; empty for HTML without an address.
    error : why the page failed; None if it did not. The properties of a failed page raise it.
    """

    @property
    def snapshot(self) -> Snapshot:
        """The whole page."""
        return self._outcome[0]

    @property
    def rendered(self) -> bool:
        """Whether the page was rendered; False for sources that were only parsed."""
        return self.snapshot.has_layout

    @property
    def reason(self) -> str:
        """Why the page was rendered or only fetched; empty if there was no choice."""
        return self.snapshot.provenance.reason

    @property
    def verdict(self) -> Verdict:
        """For each node of the page whether it is kept, and why."""
        return self._outcome[1]

    @property
    def method(self) -> str:
        """Name of the method."""
        return self.verdict.method

    @property
    def expected_f1(self) -> float | None:
        """The word F1 that the method expects for this page, from 0 to 1; None if the method makes no estimate."""
        return self.verdict.expected_f1

    @cached_property
    def text(self) -> str:
        """The kept text, one line per block, with tabs between the cells of tables."""
        return self.write("text")

    @cached_property
    def markdown(self) -> str:
        """The kept content as Markdown."""
        return self.write("markdown")

    @cached_property
    def html(self) -> str:
        """The kept content as HTML without scripts and styles."""
        return self.write("html")

    def json(self) -> str:
        """Return the result as a line of JSON: origin, metadata, method, kept text, and all blocks with reasons."""
        return self.write("json")

    def write(self, form: PageFormat, *, metadata: bool = False, max_words: int | None = None) -> str:
        """Return the kept content in any format.

        Parameters
        ----------
        form : ``"text"``, ``"markdown"``, ``"html"``, ``"json"`` or ``"chunks"``.
        metadata : whether to put title, authors and dates before text and Markdown, and into the head of HTML.
        max_words : maximum number of words of a chunk; None means 300.

        Raises
        ------
        UsageError : the format does not exist.
        """
        check_choice("form", form, PAGE_FORMATS)
        with self._meter.running("write"):
            return write_page(*self._outcome, form, metadata=metadata, max_words=max_words)

    @cached_property
    def blocks(self) -> list[Block]:
        """All blocks of the page, kept or dropped, with the rule that decided and its numbers."""
        with self._meter.running("write"):
            return text_blocks(*self._outcome)

    @cached_property
    def hidden_words(self) -> int:
        """Number of words that were dropped because they are hidden."""
        with self._meter.running("write"):
            return hidden_words(*self._outcome)

    @cached_property
    def unsure_texts(self) -> int:
        """Number of texts that pictures do not judge with ``hidden="pixels"``.

        They count as hidden. If all pictures of the page failed, these are all its texts, and layout decides.
        """
        with self._meter.running("write"):
            return unsure_texts(self.snapshot)

    @cached_property
    def invisible_characters(self) -> int:
        """Number of invisible characters that were removed from the kept content, because they can carry text."""
        with self._meter.running("write"):
            return invisible_characters(self.snapshot, self.verdict.kept)

    @cached_property
    def metadata(self) -> Metadata:
        """The metadata of the page: title, authors, dates and more, with their sources in `sources`."""
        with self._meter.running("write"):
            return read_metadata(self.snapshot)

    @property
    def title(self) -> str:
        """The title of the content, without the name of the site; empty if unknown."""
        return self.metadata.title

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The kept content as passages of at most 300 words; ``write("chunks", max_words=…)`` has other lengths."""
        with self._meter.running("write"):
            return chunks_of(*self._outcome)

    @cached_property
    def links(self) -> list[Link]:
        """The links in the kept content, with `url` and `text`, without those to anchors of the page itself."""
        with self._meter.running("write"):
            return links_of(*self._outcome)

    @cached_property
    def images(self) -> list[Image]:
        """The images in the kept content, with `url` and `alt`, without decoration."""
        with self._meter.running("write"):
            return images_of(*self._outcome)

    @property
    def complete(self) -> bool:
        """Whether the page was captured completely; if not, `snapshot.provenance.reasons` says what is missing."""
        return self.snapshot.provenance.complete

    @property
    def fault(self) -> Fault | None:
        """Why the page counts as failed, if it was cleaned because of ``keep_errors``; else None."""
        return self.verdict.fault

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What the page likely is instead of the one that was asked for: a wall, or a soft 404."""
        return self.verdict.marks

    @property
    def warnings(self) -> tuple[PageWarning, ...]:
        """Damage in the result, such as text that is cut before its end, each with a sentence in `detail`."""
        return self.verdict.warnings

    @property
    def instead_of(self) -> str:
        """The method that kept nothing of the page, so that `method` was used instead; empty if there is none."""
        return self.verdict.instead_of

    def _rows(self) -> list[Mapping[str, Any]]:
        facts = {name: getattr(self.metadata, name) or None for name in _FRAME_FACTS}
        kept, _ = self._words()
        found = {"method": self.method, "expected_f1": self.expected_f1, "words": kept}
        return [{"url": self.url, **facts, **found, "text": self.text}]

    def _summary(self) -> str:
        kept, words = self._words()
        return f"{kept:,} of {words:,} words kept, {self.method}{'' if self.complete else ', page was cut'}"

    def _words(self) -> tuple[int, int]:
        kept = sum(block.words for block in self.blocks if block.kept)
        return kept, sum(block.words for block in self.blocks)

    def _html_box(self, title: str) -> str:
        kept, words = self._words()
        facts = [f"method {self.method}", f"{kept:,} of {words:,} words kept"]
        facts += [f"cut: {reason}" for reason in self.snapshot.provenance.reasons]
        facts += [self.fault.detail] if self.fault else []
        facts += [f"looks like {described(mark)}" for mark in self.marks]
        facts += [warning.detail for warning in self.warnings]
        lines = [_decided(block) for block in self.blocks]
        return box(title, facts, lines)


class RecordsResult(Result[tuple[Snapshot, RecordSheet]]):
    """The records of a page, such as products or search results, returned by `domsieve.records`.

    Attributes
    ----------
    url : address of the page, or its file; empty for HTML without an address.
    error : why the page failed; None if it did not. The properties of a failed page raise it.
    """

    @property
    def snapshot(self) -> Snapshot:
        """The whole page."""
        return self._outcome[0]

    @property
    def sheet(self) -> RecordSheet:
        """The records with their fields, for the writers in `domsieve.analysis.writers.record_tables`."""
        return self._outcome[1]

    @property
    def method(self) -> str:
        """Name of the method."""
        return self.sheet.method

    @cached_property
    def fault(self) -> Fault | None:
        """Why the page counts as failed, if it was searched because of ``keep_errors``; else None."""
        return fault_of(self.snapshot)

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """What the page likely is instead of the one that was asked for: a wall, or a soft 404."""
        with self._meter.running("page flags"):
            return page_marks(self.snapshot)

    @property
    def tables(self) -> tuple[FieldTable, ...]:
        """The fields of the records, one table per data region of the page."""
        return self.sheet.tables

    @cached_property
    def rows(self) -> list[dict[str, str | int | None]]:
        """One dict per record: its page, region and number, and its fields by name; None for missing fields."""
        with self._meter.running("write"):
            return record_rows([self.sheet])

    @cached_property
    def csv(self) -> str:
        """The records as CSV; cells that a spreadsheet would run as formulas begin with an apostrophe."""
        with self._meter.running("write"):
            return write_records_csv([self.sheet]).decode()

    def json(self) -> str:
        """Return the result as a line of JSON: `url`, `method`, and `rows` as `records`."""
        facts = {"url": utf8(self.url), "method": self.method, "records": self.rows}
        return json.dumps(facts, ensure_ascii=False) + "\n"

    def _rows(self) -> list[Mapping[str, Any]]:
        return [*self.rows]

    def _summary(self) -> str:
        return f"{self._counts()}, {self.method}"

    def _counts(self) -> str:
        records, regions = len(self.sheet.records), len(self.tables)
        return f"{records:,} record{'s' * (records != 1)} in {regions:,} region{'s' * (regions != 1)}"

    def _html_box(self, title: str) -> str:
        groups: list[list[dict[str, str]]] = [[] for _ in self.tables]
        for row in self.rows:
            shown = {
                name: "" if value is None else str(value) for name, value in row.items() if name != "page"
            }
            groups[int(shown["region"]) - 1].append(shown)
        return tables(title, [f"method {self.method}", self._counts()], groups)


class CompareResult(Result[Comparison]):
    """The comparison of a rendered page with its raw source, returned by `domsieve.compare`.

    Attributes
    ----------
    url : address of the page.
    error : why the page failed; None if it did not. The properties of a failed page raise it.
    """

    def __init__(
        self, url: str, found: Comparison | DomsieveError, *, site: Sequence[tuple[str, Comparison]] = ()
    ) -> None:
        super().__init__(url, found)
        self._site = site

    @property
    def comparison(self) -> Comparison:
        """Blocks, words and counts of both versions, and the responses that contained the data."""
        return self._outcome

    @property
    def browser_needed(self) -> bool:
        """Whether so much of the content is missing in the raw source that a browser is needed."""
        return advise([(self.url, self._outcome)])[0].browser_needed

    @property
    def recall(self) -> float:
        """Share of the words of the page's content that the raw source shows, from 0 to 1."""
        return self._outcome.content.recall

    @cached_property
    def advice(self) -> list[Advice]:
        """Advice for the pages of this call on the same site: for all, and by the prefix of their addresses."""
        return advise(self._site) if self._outcome else []

    def json(self) -> str:
        """Return the result as a line of JSON: `url`, `browser_needed`, and the values of `comparison`."""
        facts = {"url": utf8(self.url), "browser_needed": self.browser_needed}
        return msgspec.json.encode(facts | msgspec.to_builtins(self._outcome)).decode() + "\n"

    def _rows(self) -> list[Mapping[str, Any]]:
        return [{"url": self.url, "browser_needed": self.browser_needed, "recall": self.recall}]

    def _summary(self) -> str:
        return f"browser {'' if self.browser_needed else 'not '}needed, {self._share()}"

    def _share(self) -> str:
        content = self._outcome.content
        return f"{content.both:,} of {content.wanted:,} content words in the raw source"

    def _html_box(self, title: str) -> str:
        facts = ["browser needed" if self.browser_needed else "raw source is enough", self._share()]
        return box(title, facts, [_changed(block) for block in self._outcome.blocks])


def to_pandas(results: Result[Any] | Iterable[Result[Any]]) -> "pandas.DataFrame":
    """Return results of one call as a `pandas.DataFrame`.

    `clean` gives a row per page: `url`, `title`, `authors`, `published`, `modified`, `language`, `method`,
    `expected_f1`, the number of kept `words`, and `text`. `records` gives a row per record, like `rows`; `compare` a
    row per page with `url`, `browser_needed` and `recall`. A page that failed is a row with its address and its
    message in the column `error`, which exists only if a page failed.

    Parameters
    ----------
    results : a result of `clean`, `records` or `compare`, or an iterable of results of one of them.

    Raises
    ------
    UsageError : pandas is not installed, or these are not results of one call.
    """
    given = [results] if isinstance(results, Result) else [*results]
    kinds = {type(result) for result in given}
    if len(kinds) > 1 or not all(isinstance(result, Result) for result in given):
        raise wrong("results", given, "give results of clean(), of records() or of compare()")
    try:
        import pandas
    except ImportError as error:
        raise UsageError(
            "Data frames need pandas, which is not a part of domsieve; install pandas."
        ) from error
    rows: list[Mapping[str, Any]] = []
    failed: list[str | None] = []
    for result in given:
        page = "page" if isinstance(result, RecordsResult) else "url"
        made = [{page: result.url}] if result.error else result._rows()
        rows += made
        failed += [result.error.message if result.error else None] * len(made)
    frame = pandas.DataFrame(rows)
    if any(failed):
        frame["error"] = failed
    return frame


def _decided(block: Block) -> Line:
    return Line(block.text) if block.kept else Line(block.text, block.reason, dropped=True)


def _changed(block: ComparedBlock) -> Line:
    note = "" if block.change == "in source" else block.change
    return Line(block.text, note, dropped=block.change in {"removed", "hidden"})
