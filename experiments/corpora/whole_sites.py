"""Whole sites of raw HTML with the words of their main content, class labels or attribute values."""

import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from experiments.corpora.selecting import select_inside
from experiments.measures.word_scores import Score, count_words, score

NOISY_SITES = ("uci-", "news-", "api-cppreference", "docs-rustbook")
"""How the names of the 14 sites begin that the notes of the corpus call noisy."""
_TEXT_SITES = ("api-", "docs-", "news-", "uci-")


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPage:
    """One page of a site, of N nodes.

    Parameters
    ----------
    name : its path in the corpus.
    source : the HTML as it came.
    snapshot : the parsed page.
    truth : text of the main content, None where nobody said.
    main : bool (N,), the nodes of the main content, None where the truth is a text only.
    neutral : bool (N,), nodes beside the content that are no noise either, such as titles and bylines.
    label : class of the page, None where it has none.
    era : pages of another era have another template; ``""`` where the site has one.
    values : attribute values that must survive, by attribute.
    """

    name: str
    source: bytes
    snapshot: Snapshot
    truth: str | None
    main: NDArray[np.bool_] | None
    neutral: NDArray[np.bool_]
    label: str | None
    era: str
    values: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def html(self) -> str:
        """The source as text, for extractors that take that."""
        return self.source.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Truth:
    """The words of the main content of a page, and those of its neutral elements."""

    words: Counter[str]
    neutral: Counter[str]

    def score_alike(self, text: str) -> Score:
        """Return the score of any system's text without neutral words.

        They are taken out as often as the text has them beyond the truth.
        """
        found = count_words(text)
        return score(found - ((found - self.words) & self.neutral), self.words)


@dataclass(frozen=True, slots=True)
class LabelledSite:
    """The pages of a site, and the share of main words in all words (NaN where that is not known)."""

    name: str
    pages: list[LabelledPage]
    main_share: float

    def groups(self) -> list[list[LabelledPage]]:
        """Return the pages that share a template, which are learned together: one group per era."""
        by_era: dict[str, list[LabelledPage]] = {}
        for page in self.pages:
            by_era.setdefault(page.era, []).append(page)
        return list(by_era.values())


def in_drawn_order(pages: Iterable[LabelledPage]) -> list[LabelledPage]:
    """Return the pages by the hash of their names, so that the first few are a random sample that never changes."""
    return sorted(pages, key=lambda page: hashlib.sha256(page.name.encode()).digest())


def site_files(data: Path) -> list[Path]:
    """Return the files of all sites below the folder of the corpora, by name."""
    return sorted((data / "sites").glob("*.zip"))


def text_site_halves(data: Path) -> dict[Path, Literal["development", "test"]]:
    """Return the files of the sites whose main text is known, by name, and the half that each belongs to.

    Parameters are chosen on every second site, so that each group of sites is in both halves.
    """
    files = [file for file in site_files(data) if file.name.startswith(_TEXT_SITES)]
    return {file: "test" if number % 2 else "development" for number, file in enumerate(files)}


def read_site(file: Path) -> LabelledSite:
    """Return the site in a zip of ``pages/``, ``labels.json`` and mostly ``main_text/``.

    Neutral elements lie beside the content by definition, so none inside a container of content counts.

    Raises
    ------
    TargetError : the file is no such zip.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            labels = json.loads(archive.read("labels.json"))
            pages = [_page(archive, entry, labels) for entry in labels["pages"]]
    except (OSError, LookupError, ValueError, zipfile.BadZipFile) as error:
        raise TargetError(f"'{file}' is no corpus of a site: {error}.") from error
    main, whole = (sum(e.get(key, 0) for e in labels["pages"]) for key in ("main_words", "all_words"))
    return LabelledSite(file.stem, pages, main / whole if whole else float("nan"))


def truth_of(page: LabelledPage) -> Truth | None:
    """Return the words that a page should give, None where nobody said."""
    if page.truth is None:
        return None
    visible = NoCleaning().transform(page.snapshot)
    neutral = write_text(page.snapshot, replace(visible, kept=visible.kept & page.neutral))
    return Truth(count_words(page.truth), count_words(neutral))


def without_neutral(page: LabelledPage, verdict: Verdict) -> Verdict:
    """Return the verdict with the neutral nodes of the page not kept."""
    return replace(verdict, kept=verdict.kept & ~page.neutral)


def _page(archive: zipfile.ZipFile, entry: dict[str, Any], labels: dict[str, Any]) -> LabelledPage:
    name, truth = entry["page"], entry.get("main_text")
    source = archive.read(name)
    page = parse_html(source, url=entry.get("url", name), encoding="utf-8")
    keep, drop, neutral = (labels.get(kind) or () for kind in ("keep", "drop", "neutral"))
    kept = select_inside(page, keep)
    return LabelledPage(
        name,
        source,
        page,
        archive.read(truth).decode("utf-8") if truth else None,
        kept & ~select_inside(page, drop) if keep else None,
        select_inside(page, neutral) & ~kept,
        entry.get("class"),
        entry.get("era", ""),
        entry.get("values", {}),
    )
