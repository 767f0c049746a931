"""Corpora in which sites and classes are crossed: pages that are cleaned site by site and told apart by class."""

import json
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot

Unit = tuple[str, str]
"""A site and a class: all pages of the class on the site."""


@dataclass(frozen=True, slots=True, eq=False)
class GridPage:
    """A page, its class (None where it only helps to learn its site) and its true text, None where nobody said."""

    snapshot: Snapshot
    label: str | None
    truth: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The pages of several sites, by site; every class has pages on every site.

    Rows of matrices are the pages that have a class, in the order of `sites` and of their pages.
    """

    sites: dict[str, Sequence[GridPage]]

    def units(self) -> list[Unit]:
        """Return the site and the class of each row."""
        return [
            (site, page.label)
            for site, pages in self.sites.items()
            for page in pages
            if page.label is not None
        ]

    @property
    def truths(self) -> list[str] | None:
        """The true text of each row; None where it is not known of all."""
        known = [p.truth for pages in self.sites.values() for p in pages if p.label and p.truth is not None]
        return known if len(known) == len(self.units()) else None


def read_grid(files: Sequence[Path], classes: Collection[str]) -> Grid:
    """Return a grid of whole sites; pages of other classes are learned from and have no class.

    Raises
    ------
    TargetError : a file is no corpus of a site, or a site lacks a class.
    """
    sites: dict[str, Sequence[GridPage]] = {}
    for file in files:
        try:
            with zipfile.ZipFile(file) as archive:
                entries = json.loads(archive.read("labels.json"))["pages"]
                pages = [_page(archive, entry, classes) for entry in entries]
        except (OSError, LookupError, ValueError, zipfile.BadZipFile) as error:
            raise TargetError(f"'{file}' is no corpus of a site: {error}.") from error
        lacking = sorted(set(classes) - {page.label for page in pages})
        if lacking:
            raise TargetError(f"The site '{file}' has no pages of {', '.join(lacking)}; leave it out.")
        sites[file.stem] = pages
    return Grid(sites)


def _page(archive: zipfile.ZipFile, entry: dict[str, Any], classes: Collection[str]) -> GridPage:
    name, truth = entry["page"], entry.get("main_text")
    return GridPage(
        parse_html(archive.read(name), url=entry.get("url", name), encoding="utf-8"),
        entry["class"] if entry["class"] in classes else None,
        archive.read(truth).decode("utf-8") if truth else None,
    )
