"""All corpora whose truth is text, behind one type of page: what any extractor of text can be measured on."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from domsieve.urls import has_web_scheme
from experiments.corpora.annotated_pages import count_notes, segment_pages
from experiments.corpora.magic_pages import KINDS, magic_pages
from experiments.corpora.origins import Language, language_of
from experiments.corpora.wcxb_pages import page_files, read_page
from experiments.corpora.whole_sites import Truth, read_site, text_site_halves, truth_of
from experiments.measures.segment_scores import count_segments
from experiments.measures.word_scores import count_words

Corpus = Literal["wcxb", "magic", "trafilatura", "sites"]
CORPORA: tuple[Corpus, ...] = ("wcxb", "magic", "trafilatura", "sites")
CHUNK = 100

Judge = Callable[[str], Sequence[float]]


@dataclass(frozen=True, slots=True)
class TextPage:
    """One page.

    Parameters
    ----------
    corpus, name : the corpus, and the page in it.
    domain : pages of one domain are drawn together for intervals; of whole sites the site.
    language : the language of the page.
    url : its address; None where the corpus has none.
    source : the HTML as it came.
    html : the same as text.
    judge : returns the figures of a text: of ``"trafilatura"`` how many wanted and unwanted segments are in it, and
        how many of each are not; of the others F1, precision and recall of its words.
    """

    corpus: Corpus
    name: str
    domain: str
    language: Language
    url: str | None
    source: bytes
    html: str
    judge: Judge


@dataclass(frozen=True, slots=True)
class Part:
    """Pages of a corpus that are measured in one task.

    Parameters
    ----------
    name : unique over all corpora.
    files : what `read` reads.
    read : returns the pages; it can be pickled.
    """

    name: str
    files: tuple[Path, ...]
    read: Callable[[], Iterable[TextPage]]


def parts_of(corpus: Corpus, data: Path) -> list[Part]:
    """Return the parts of a corpus below the folder of the corpora; none where it is not there."""
    if corpus == "wcxb":
        pairs = page_files(data)
        return [
            Part(
                f"wcxb {chunk[0][1].stem}-{chunk[-1][1].stem}",
                tuple(file for pair in chunk for file in pair),
                partial(_wcxb, chunk),
            )
            for chunk in (tuple(pairs[start : start + CHUNK]) for start in range(0, len(pairs), CHUNK))
        ]
    if corpus == "magic":
        files = {kind: data / "magic" / f"{kind}.zip" for kind in KINDS}
        return [
            Part(f"magic {kind}", tuple(files.values()), partial(_magic, data, kind))
            for kind, file in files.items()
            if file.exists()
        ]
    if corpus == "trafilatura":
        folder = data / "trafilatura"
        count = count_notes(folder / "evaldata.json")
        return [
            Part(f"trafilatura {start}", (folder,), partial(_trafilatura, data, start))
            for start in range(0, count, CHUNK)
        ]
    return [Part(f"sites {file.stem}", (file,), partial(_site, file)) for file in text_site_halves(data)]


def _wcxb(files: Sequence[tuple[Path, Path]]) -> Iterator[TextPage]:
    for pair in files:
        page = read_page(*pair)
        judge = _by_truth(page.truth)
        yield _page("wcxb", page.name, page.domain, page.url, page.source, page.html, judge)


def _magic(data: Path, kind: str) -> Iterator[TextPage]:
    for page in magic_pages(data):
        if page.kind == kind:
            found = _page(
                "magic",
                page.name,
                page.domain,
                page.url,
                page.source,
                page.source.decode("utf-8", "replace"),
                _by_truth(page.truth),
            )
            yield replace(found, language=page.language)


def _trafilatura(data: Path, start: int) -> Iterator[TextPage]:
    for page in segment_pages(data, start, start + CHUNK):
        judge = partial(count_segments, wanted=page.wanted, unwanted=page.unwanted)
        yield _page("trafilatura", page.name, page.domain, page.url, page.source, page.html, judge)


def _site(file: Path) -> Iterator[TextPage]:
    site = read_site(file)
    for page in site.pages:
        if (truth := truth_of(page)) is not None:
            name, url = f"{site.name}/{page.name}", page.snapshot.provenance.url
            yield _page("sites", name, site.name, url, page.source, page.html, partial(_by_words, truth))


def _page(
    corpus: Corpus, name: str, domain: str, url: str, source: bytes, html: str, judge: Judge
) -> TextPage:
    address = url if has_web_scheme(url) else None
    return TextPage(corpus, name, domain, language_of(html, url), address, source, html, judge)


def _by_truth(text: str) -> Judge:
    return partial(_by_words, Truth(count_words(text), Counter()))


def _by_words(truth: Truth, text: str) -> list[float]:
    found = truth.score_alike(text)
    return [round(figure, 4) for figure in (found.f1, found.precision, found.recall)]
