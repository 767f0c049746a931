"""The flat sites of the WIEN test bed with the values of their records."""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

from lxml import html

from domsieve.analysis.fields.value_kinds import flat
from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot


@dataclass(frozen=True, slots=True)
class WienPage:
    """A page and its records, each with its values by the number of the attribute; empty ones are left out."""

    name: str
    snapshot: Snapshot
    records: list[dict[str, str]]


def read_wien_values(folder: Path) -> dict[str, list[WienPage]]:
    """Return the pages of the flat sites in a folder with ``wien.zip`` and ``index.json``, by site.

    Raises
    ------
    TargetError : the files are not there.
    """
    sites: dict[str, list[WienPage]] = {}
    try:
        with zipfile.ZipFile(folder / "wien.zip") as archive:
            for entry in json.loads((folder / "index.json").read_text("utf-8")):
                if entry["nested"]:
                    continue
                name = entry["page"]
                source = archive.read(name)
                labels = json.loads(archive.read(name.removesuffix(".html") + ".label.json"))
                text = source.decode("latin-1")
                records = [
                    {
                        f"field{number}": value
                        for number, (start, stop) in enumerate(spans)
                        if (value := shown_text(text[start:stop]))
                    }
                    for spans in labels["spans"]
                ]
                page = parse_html(source, url=f"https://wien.example/{name}", encoding="iso-8859-1")
                sites.setdefault(name.partition("/")[0], []).append(WienPage(name, page, records))
    except (OSError, LookupError, ValueError, zipfile.BadZipFile) as error:
        raise TargetError(f"'{folder}' does not hold the pages of WIEN: {error}.") from error
    return sites


def shown_text(source: str) -> str:
    """Return a piece of source as the text that a browser shows; line breaks are blanks."""
    if not source.strip():
        return ""
    root = html.fragment_fromstring(source, create_parent="div")
    for line in root.iter("br", "p"):
        line.tail = f" {line.tail or ''}"
    return flat(root.text_content())
