"""Small corpora of annotated pages, as those of trafilatura's and htmldate's benchmarks."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_annotated(
    folder: Path, notes: str, pages: Mapping[str, tuple[str | bytes, dict[str, Any]]]
) -> None:
    """Write a corpus: by address, the source of a page and its note."""
    folder.mkdir(parents=True)
    known = {url: {"file": f"{n}.html", **note} for n, (url, (_, note)) in enumerate(pages.items())}
    (folder / notes).write_text(json.dumps(known))
    with zipfile.ZipFile(folder / "pages.zip", "w") as archive:
        for n, (source, _) in enumerate(pages.values()):
            archive.writestr(f"{n}.html", source)


def write_segments(data: Path, pages: Mapping[str, str | bytes]) -> None:
    """Write a corpus of segments: by address, the source of a page like the one of the peers."""
    note = {"with": ["part 3  of the story"], "without": ["Map of the menu", "Imprint"]}
    write_annotated(data / "trafilatura", "evaldata.json", {url: (page, note) for url, page in pages.items()})
