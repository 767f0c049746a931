"""Articles and forums in Chinese and English with their main text: half of the benchmark of magic-html."""

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from domsieve.errors import TargetError
from experiments.corpora.origins import Language, domain_of, language_of

KINDS: tuple[Literal["article", "forum"], ...] = ("article", "forum")


@dataclass(frozen=True, slots=True)
class MagicPage:
    """One page.

    Parameters
    ----------
    name : its file in the corpus.
    kind : what it is.
    url : its address.
    language : Chinese where more than three tenths of its letters are Chinese or Japanese, else what the page says.
    source : the HTML as it was saved, in UTF-8.
    truth : its main text; of forums the posts.
    """

    name: str
    kind: Literal["article", "forum"]
    url: str
    language: Language
    source: bytes
    truth: str

    @property
    def domain(self) -> str:
        """Host of its address without ``www.``."""
        return domain_of(self.url, self.name)


def magic_pages(data: Path) -> Iterator[MagicPage]:
    """Yield the pages below the folder of the corpora, by name.

    Raises
    ------
    TargetError : a file is not there, or is not what it should be.
    """
    for kind in KINDS:
        file = data / "magic" / f"{kind}.zip"
        try:
            with zipfile.ZipFile(file) as archive:
                for name in sorted(name for name in archive.namelist() if name.startswith("pages/")):
                    if name.endswith(".html"):
                        stem = Path(name).stem
                        known = json.loads(archive.read(f"truth/{stem}.json"))
                        source = archive.read(name)
                        html = source.decode("utf-8", "replace")
                        chinese = known["language"] == "zh"
                        yield MagicPage(
                            name=f"{kind}/{stem}",
                            kind=kind,
                            url=known["url"],
                            language="Chinese" if chinese else language_of(html, known["url"]),
                            source=source,
                            truth=known["content"],
                        )
        except (OSError, LookupError, ValueError, zipfile.BadZipFile) as error:
            raise TargetError(f"'{file}' is no corpus of pages: {error}.") from error
