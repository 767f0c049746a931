"""Whole results of the cleaner `auto`, as users get them, by models that have not seen the page or its site."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.auto.model import AutoModel
from domsieve.analysis.cleaning.hidden_text import drop_hidden
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.cleaning.page_widgets import drop_widgets
from domsieve.analysis.metadata.title import restore_title
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.chunks import chunks_of
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.text import write_text
from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.postprocess import without_extras
from experiments.corpora.annotated_pages import segment_pages
from experiments.corpora.magic_pages import magic_pages
from experiments.corpora.main_elements import MainPage, draw_from_wcxb, inside_main
from experiments.corpora.origins import language_of
from experiments.corpora.wcxb_pages import page_files, read_page
from experiments.corpora.whole_sites import in_drawn_order, read_site, without_neutral
from experiments.experiments.texts import SEGMENT_FIGURES
from experiments.frame.experiment import Row
from experiments.frame.tables import Cell, Table
from experiments.measures.segment_scores import count_segments
from experiments.measures.structures import f1_of, flat, read_elements, read_markdown
from experiments.measures.word_scores import count_words, score
from experiments.systems.auto_learning import Corpus

PARTS = ("headings", "cells", "items", "links", "code")
REFERENCE_PARTS = ("headings", "rows", "links")
_LONG_LINE = 15
"""Words of a line that counts as running text."""


class LearnedCleaner(AutoCleaner):
    """The cleaner with another model than the one that is shipped."""

    def __init__(self, learned: AutoModel) -> None:
        super().__init__()
        self._learned = learned

    def model(self) -> AutoModel:
        """Return the model that was given."""
        return self._learned


@dataclass(frozen=True, slots=True)
class Source:
    """A single page, and what is known of its content.

    Parameters
    ----------
    corpus, name, kind, language, domain, url, source : where the page is from, and its HTML.
    truth : the text of its main content; empty where the corpus has none.
    wanted, unwanted : segments of its text that belong to the content, and that do not.
    markdown : its content as Markdown; empty where nobody wrote it.
    """

    corpus: Corpus
    name: str
    kind: str
    language: str
    domain: str
    url: str
    source: bytes
    truth: str = ""
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    markdown: str = field(default="", repr=False)

    def parsed(self) -> Snapshot:
        """Return the page. The bytes of trafilatura's pages are as they came; all others are UTF-8."""
        encoding = None if self.corpus == "trafilatura" else "utf-8"
        return parse_html(self.source, url=self.url, encoding=encoding)


def single_pages(data: Path) -> Iterator[Source]:
    """Yield the single pages that the model may be learned from: WCXB, magic-html and trafilatura's own."""
    for pair in page_files(data):
        page = read_page(*pair)
        yield Source(
            *("wcxb", page.name, page.type, page.language, page.domain, page.url, page.source, page.truth),
            markdown=page.markdown,
        )
    for other in magic_pages(data):
        yield Source(
            *("magic", other.name, other.kind, other.language, other.domain),
            *(other.url, other.source, other.truth),
        )
    for one in segment_pages(data):
        language = language_of(one.html, one.url)
        yield Source(
            *("trafilatura", one.name, "page", language, one.domain, one.url, one.source),
            wanted=one.wanted,
            unwanted=one.unwanted,
        )


def measure_documents(
    sources: Iterable[Source], model: AutoModel, mains: Mapping[str, MainPage]
) -> Iterator[Row]:
    """Yield a row per single page: its words or segments, and its headings, tables and lists in Markdown.

    Parameters
    ----------
    sources : pages that the model has not learned from.
    mains : pages of WCXB with one main element, by name.
    """
    for one in sources:
        page = one.parsed()
        before, after = _results(page, LearnedCleaner(model))
        row: Row = {
            "document": one.name,
            "corpus": one.corpus,
            "kind": one.kind,
            "language": one.language,
            "domain": one.domain,
        }
        text = write_text(page, after)
        if one.corpus == "trafilatura":
            row["segments"] = count_segments(text, one.wanted, one.unwanted)
        else:
            row["f1"] = [_words(write_text(page, before), one.truth), _words(text, one.truth)]
        if one.markdown:
            row["reference"] = _structure(page, (before, after), read_markdown(one.markdown), REFERENCE_PARTS)
        if one.name in mains and one.corpus == "wcxb":
            row |= _of_main(page, (before, after), mains[one.name])
        yield row


def main_pages(data: Path) -> dict[str, MainPage]:
    """Return the pages of WCXB that are drawn for what stands in their main element, by name."""
    return {page.name.rpartition("/")[2]: page for page in draw_from_wcxb(data)}


def measure_site_documents(
    file: Path, model: AutoModel, most: int, drawn: Sequence[MainPage]
) -> Iterator[Row]:
    """Yield a row for the words of `most` pages of a site, judged with all its pages, and rows for its structure.

    Parameters
    ----------
    file : a site that the model has not learned from.
    model : the model.
    most : number of pages.
    drawn : pages with one main element; those of this site are judged alone, and their structure is measured.
    """
    site = read_site(file)
    scores: list[float] = []
    for group in site.groups():
        cleaner = LearnedCleaner(model).fit([page.snapshot for page in group])
        for page in in_drawn_order(group)[: -(-most // len(site.groups()))]:
            verdict = without_neutral(page, _final(page.snapshot, cleaner.transform(page.snapshot)))
            scores.append(_words(write_text(page.snapshot, verdict), page.truth or ""))
    yield {"site_document": site.name, "f1": fmean(scores)}
    for main in drawn:
        if main.name.startswith(f"{site.name}/"):
            snapshot = parse_html(main.source, url=main.url, encoding="utf-8")
            results = _results(snapshot, LearnedCleaner(model))
            yield {"document": main.name, "corpus": "sites", **_of_main(snapshot, results, main)}


def _results(page: Snapshot, cleaner: AutoCleaner) -> tuple[Verdict, Verdict]:
    """Return the result without the steps that look at the document, and the one that users get."""
    said = cleaner.transform(page)
    return drop_hidden(page, drop_widgets(page, said), hidden="layout"), _final(page, said)


def _final(page: Snapshot, said: Verdict) -> Verdict:
    return restore_title(page, without_extras(page, said, hidden="layout"))


def _words(text: str, truth: str) -> float:
    return round(score(count_words(text), count_words(truth)).f1, 4)


def _of_main(page: Snapshot, results: Sequence[Verdict], main: MainPage) -> Row:
    address = page.provenance.final_url or page.provenance.url
    elements = read_elements(main.main(), replace(main, url=address).base)
    return {
        "main": _structure(page, results, elements, PARTS),
        "passages": _of_passages(page, results[-1]),
    }


def _of_passages(page: Snapshot, verdict: Verdict) -> list[int]:
    """Return how many long lines of the main element are in a passage, and how many of these under the same headings.

    Two more figures are for those with a heading right above them: how many there are, and over how many it stands.
    Headings that the main element does not have, such as the title of the page, do not count.
    """
    try:
        main = inside_main(page)
    except TargetError:
        return [0, 0, 0, 0]
    every = NoCleaning().transform(page)
    truth = _paths(page, replace(every, kept=every.kept & main))
    known = {heading for path, _ in truth.values() for heading in path}
    found = [0, 0, 0, 0]
    for line, (path, _) in _paths(page, verdict).items():
        if line in truth:
            wanted, above = truth[line]
            own = tuple(heading for heading in path if heading in known)
            found[0] += 1
            found[1] += own == wanted
            found[2] += above
            found[3] += above and wanted[-1] in own
    return found


def _paths(page: Snapshot, verdict: Verdict) -> dict[str, tuple[tuple[str, ...], bool]]:
    """Return the heading path of each long line in a passage, and whether a heading is right above the line."""
    found: dict[str, tuple[tuple[str, ...], bool]] = {}
    for chunk in chunks_of(page, verdict):
        path = tuple(filter(None, map(flat, chunk.headings)))
        above = False
        for line in filter(None, map(str.strip, chunk.text.split("\n"))):
            if not line.startswith("#") and len(line.split()) >= _LONG_LINE:
                found.setdefault(line, (path, above))
            above = line.startswith("#") and bool(path)
    return found


def _structure(page: Snapshot, results: Sequence[Verdict], truth: Any, parts: Sequence[str]) -> Row:
    found = [read_markdown(write_markdown(page, verdict)) for verdict in results]
    return {part: [f1_of(getattr(one, part), getattr(truth, part)) for one in found] for part in parts}


NOTE = (
    "*Blocks alone*: what the model chooses, without widgets and hidden text. *As users get it*: with headings, "
    "tables and lists kept together, repeats, related pages and comments dropped, and the title put back. The truth "
    "of a main element has the menus, breadcrumbs and share buttons in it, and no panels that a click opens."
)


def document_tables(rows: Sequence[Row]) -> list[Table]:
    """Return the tables of the rows that are there."""
    lines: list[list[Cell]] = []
    for title, corpus, truth, parts in (
        ("main element, sites", "sites", "main", PARTS),
        ("main element, WCXB", "wcxb", "main", PARTS),
        ("reference, WCXB", "wcxb", "reference", REFERENCE_PARTS),
    ):
        held = [row[truth] for row in rows if row.get("corpus") == corpus and truth in row]
        for part in parts if held else ():
            known = [row[part] for row in held if row[part][0] is not None]
            lines.append([title, part, len(known), *(_mean([pair[n] for pair in known]) for n in range(2))])
    for corpus in ("wcxb", "magic"):
        pairs = [row["f1"] for row in rows if "document" in row and row["corpus"] == corpus and "f1" in row]
        if pairs:
            lines.append(
                [f"words, {corpus}", "words", len(pairs), *(fmean(p[n] for p in pairs) for n in range(2))]
            )
    sites = [row["f1"] for row in rows if "site_document" in row]
    if sites:
        lines.append(["words, whole sites", "words", len(sites), None, fmean(sites)])
    found = []
    if lines:
        head = ("truth", "part", "pages", "blocks alone", "as users get it")
        found.append(Table("Documents: F1 of headings, tables, lists and words", head, lines, NOTE))
    if passages := [row for row in rows if "passages" in row]:
        found.append(_passages(passages))
    if segments := [row for row in rows if "segments" in row]:
        found.append(_segments(segments))
    return found


def unseen_table(rows: Sequence[Row], seen: Sequence[Row]) -> Table:
    """Return the figures of languages that the model has not learned from, and of the same pages where it has.

    Parameters
    ----------
    rows : pages whose language was left out.
    seen : all pages, judged by what was learned without their domains only.
    """
    known = {(row["corpus"], row["document"]): row for row in seen}
    lines: list[list[Cell]] = []
    for language, corpus in dict.fromkeys((row["left_out"], row["corpus"]) for row in rows):
        held = [row for row in rows if (row["left_out"], row["corpus"]) == (language, corpus)]
        same = [other for row in held if (other := known.get((corpus, row["document"])))]
        lines.append([language, corpus, len(held), _figure(held), _figure(same) if same else None])
    return Table(
        "Languages that were left out",
        ("language", "corpus", "pages", "left out", "learned from"),
        lines,
        "F1 of segments for trafilatura's pages, of words for others. *Learned from*: only the domain is left out.",
    )


def _figure(rows: Sequence[Row]) -> float:
    return _segment_figure(rows, "F1") if "segments" in rows[0] else fmean(row["f1"][1] for row in rows)


def _passages(rows: Sequence[Row]) -> Table:
    lines: list[list[Cell]] = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        held = [row["passages"] for row in rows if row["corpus"] == corpus]
        shared, same, below, kept = (sum(column) for column in zip(*held, strict=True))
        lines.append([corpus, shared, same / (shared or 1), below, kept / (below or 1)])
    return Table(
        "Passages: headings above the text",
        ("main elements of", "lines", "same headings", "lines right below a heading", "heading kept"),
        lines,
        f"Lines of {_LONG_LINE} words and more in a passage of the page and in one of its main element alone. "
        "*Same headings*: all headings above the line are those of the main element. Headings that stand elsewhere, "
        "such as a title that was put back, do not count.",
    )


def _segments(rows: Sequence[Row]) -> Table:
    figures = ("F1", "precision", "recall")
    groups = {"all": rows}
    for language in dict.fromkeys(row["language"] for row in rows):
        groups[language] = [row for row in rows if row["language"] == language]
    return Table(
        "Segments of trafilatura's own benchmark, judged without the page's domain",
        ("language", "pages", *figures),
        [
            [name, len(held), *(_segment_figure(held, one) for one in figures)]
            for name, held in groups.items()
        ],
    )


def _segment_figure(rows: Sequence[Row], figure: str) -> float:
    part, whole = SEGMENT_FIGURES[figure](
        [sum(column) for column in zip(*(row["segments"] for row in rows), strict=True)]
    )
    return part / (whole or 1)


def _mean(figures: Sequence[float]) -> float | None:
    return fmean(figures) if figures else None
