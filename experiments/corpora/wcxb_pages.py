"""Single pages of seven types with reviewed main content: the development split of WCXB."""

import gzip
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from domsieve.errors import TargetError
from experiments.corpora.origins import Language, domain_of, language_of

Half = Literal["development", "test"]


@dataclass(frozen=True, slots=True)
class ReviewedPage:
    """One page.

    Parameters
    ----------
    name : its number in the corpus.
    type : such as ``"article"``.
    url : its address, its number where it has none.
    domain : host of its address without ``www.``, its number where it has no address.
    source : the HTML as it came.
    truth : text of the main content; empty where there is none in the HTML.
    markdown : the same as Markdown; empty where nobody wrote it.
    wanted, unwanted : pieces of text that belong to the content, and that do not.
    """

    name: str
    type: str
    url: str
    domain: str
    source: bytes
    truth: str
    markdown: str
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]

    @property
    def half(self) -> Half:
        """The half of the domains that the page belongs to, by the first byte of the domain's SHA-256.

        What is chosen or learned on this corpus is so on ``"development"``.
        """
        return "test" if hashlib.sha256(self.domain.encode()).digest()[0] % 2 else "development"

    @property
    def language(self) -> Language:
        """The language of the page."""
        return language_of(self.html, self.url)

    @property
    def html(self) -> str:
        """The source as text, for extractors that take that."""
        return self.source.decode("utf-8", "replace")


def page_files(data: Path) -> list[tuple[Path, Path]]:
    """Return the HTML and the truth of each page below the folder of the corpora, by name."""
    folder = data / "wcxb" / "dev"
    truths = sorted((folder / "ground-truth").glob("*.json"))
    return [(folder / "html" / f"{truth.stem}.html.gz", truth) for truth in truths]


def read_page(html: Path, truth: Path) -> ReviewedPage:
    """Return a page.

    Raises
    ------
    TargetError : one of the files is not there, or is not what it should be.
    """
    try:
        entry = json.loads(truth.read_text("utf-8"))
        known = entry["ground_truth"]
        return ReviewedPage(
            truth.stem,
            entry["_internal"]["page_type"]["primary"],
            entry.get("url") or truth.stem,
            domain_of(entry.get("url") or "", truth.stem),
            gzip.decompress(html.read_bytes()),
            known.get("main_content") or "",
            known.get("main_content_markdown") or "",
            tuple(known["with"]),
            tuple(known["without"]),
        )
    except (OSError, LookupError, ValueError) as error:
        raise TargetError(f"'{truth}' and '{html}' are no page of WCXB: {error}.") from error
