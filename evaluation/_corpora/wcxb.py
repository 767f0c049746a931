"""Single pages of seven types with reviewed main content: the development split of WCXB."""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

from snapshot import TargetError


@dataclass(frozen=True, slots=True)
class ReviewedPage:
    """One page.

    Parameters
    ----------
    name : its number in the corpus.
    type : such as ``"article"``.
    source : the HTML as it came.
    truth : text of the main content; empty where there is none in the HTML.
    wanted, unwanted : pieces of text that belong to the content, and that do not.
    """

    name: str
    type: str
    source: bytes
    truth: str
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]

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
            gzip.decompress(html.read_bytes()),
            known.get("main_content") or "",
            tuple(known["with"]),
            tuple(known["without"]),
        )
    except (OSError, LookupError, ValueError) as error:
        raise TargetError(f"'{truth}' and '{html}' are no page of WCXB: {error}.") from error
