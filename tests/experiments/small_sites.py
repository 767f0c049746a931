"""Small sites as corpora: menus and footers that repeat, and texts of two classes that share no word."""

import json
import zipfile
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from experiments.corpora.class_grids import read_grid
from experiments.page_classes.grids import GridSource

WORDS = {"birds": "sparrow finch wren plover heron", "tools": "hammer chisel plane mallet gouge"}
OTHER_WORDS = "paper ink pen"


def text_of(label: str, number: int) -> str:
    """Return two lines on a class that differ from page to page."""
    words = WORDS[label].split()
    turned = words[number % 5 :] + words[: number % 5]
    return f"{' '.join(turned)}\n{turned[0]} number{number} {turned[1]}"


def page_of(site: str, text: str, *, title: str = "") -> str:
    """Return a page of a site with a text as its content."""
    menu = "".join(f"<li><a href=/{site}{i}>{site} item{i}</a></li>" for i in range(8))
    lines = "".join(f"<p>{escape(line)}</p>" for line in text.splitlines())
    return f"""<!doctype html><html><body><ul>{menu}</ul><h1>{title}</h1>
        <div id="content"><div class="box">{site} box</div>{lines}</div>
        <p>{site} footer of {site}</p></body></html>"""


def write_site(file: Path, pages: Mapping[str, tuple[str | None, str, str | None]], **labels: Any) -> Path:
    """Write a corpus of pages: by name, the class, the source and the true text."""
    entries = []
    with zipfile.ZipFile(file, "w") as archive:
        for name, (label, source, truth) in pages.items():
            entry: dict[str, Any] = {"page": f"pages/{name}.html", "class": label}
            archive.writestr(entry["page"], source)
            if truth is not None:
                entry["main_text"] = f"main_text/{name}.txt"
                archive.writestr(entry["main_text"], truth)
            entries.append(entry)
        archive.writestr("labels.json", json.dumps({"keep": ["#content"], **labels, "pages": entries}))
    return file


def write_grid(folder: Path, *, sites: int = 3, per_cell: int = 4, with_truth: bool = True) -> GridSource:
    """Write sites with pages of both classes and one of another, and return the grid of them."""
    files = []
    for site in (f"site{number}" for number in range(sites)):
        pages: dict[str, tuple[str | None, str, str | None]] = {
            f"{label}{i}": (
                label,
                page_of(site, text_of(label, i)),
                text_of(label, i) if with_truth else None,
            )
            for label in WORDS
            for i in range(per_cell)
        }
        pages["other"] = ("other", page_of(site, OTHER_WORDS), OTHER_WORDS if with_truth else None)
        files.append(write_site(folder / f"{site}.zip", pages).name)
    return GridSource("small", lambda found: read_grid(found, classes=tuple(WORDS)), tuple(files))


def files_of(source: GridSource, folder: Path) -> list[Path]:
    """Return the files of a grid that was written."""
    return [folder / name for name in source.files]
