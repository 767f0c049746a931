"""Pages with labelled records as Snapshots, and the scores of what is found in them.

A predicted record is correct when its node ranges hold exactly one true record's node and no earlier record of the
page held the same; precision and recall are micro over pages, beside the share of pages without any error.
"""

import json
import random
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import html5lib
import numpy as np
from lxml import etree
from numpy.typing import NDArray

from analysis import Records
from evaluation._corpora.selecting import find_elements
from renderer import read_tree
from snapshot import Kind, Provenance, Snapshot

_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\f\r")


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """One page and the nodes of its true records, ascending."""

    name: str
    snapshot: Snapshot
    truth: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RecordScore:
    """Records that are correct, found and true, and pages without error of all pages."""

    correct: int
    found: int
    true: int
    perfect: int
    pages: int

    def figures(self) -> dict[str, float]:
        """Return precision, recall and F1, and the share of perfect pages."""
        p, r = self.correct / max(self.found, 1), self.correct / max(self.true, 1)
        return {
            "P": p,
            "R": r,
            "F1": 2 * p * r / (p + r) if p + r else 0.0,
            "perfect": self.perfect / self.pages,
        }


def read_collection(folder: Path) -> list[LabelledPage]:
    """Return the usable pages of a collection, parsed by html5lib, whose trees the labels were made for."""
    pages = []
    with zipfile.ZipFile(folder / f"{folder.name}.zip") as archive:
        truth = next(name for name in archive.namelist() if name.endswith("truth.json"))
        for entry in json.loads(archive.read(truth)):
            if entry["usable"]:
                pages.append(_labelled(archive.read(entry["page"]), entry))
    return pages


def halves(pages: Sequence[LabelledPage], *, seed: int = 0) -> tuple[list[LabelledPage], list[LabelledPage]]:
    """Return the pages of half of the page folders, for development, and the others, for the test."""
    folders = sorted({page.name.rpartition("/")[0] for page in pages})
    random.Random(seed).shuffle(folders)
    chosen = set(folders[: len(folders) // 2])
    inside = [page.name.rpartition("/")[0] in chosen for page in pages]
    development = [page for page, is_in in zip(pages, inside, strict=True) if is_in]
    return development, [page for page, is_in in zip(pages, inside, strict=True) if not is_in]


def correct_records(records: Records, truth: NDArray[np.int64]) -> list[bool]:
    """Return for each record whether it is correct."""
    seen: set[int] = set()
    flags = []
    for record in range(len(records)):
        held = [int(t) for a, b in records.pieces_of(record) for t in truth[(truth >= a) & (truth < b)]]
        flags.append(len(held) == 1 and held[0] not in seen)
        seen.update(held if flags[-1] else ())
    return flags


def score_records(pages: Sequence[LabelledPage], mine: Callable[[Snapshot], Records]) -> RecordScore:
    """Return the score of a method over all records of all regions it reports."""
    correct = found = perfect = 0
    for page in pages:
        right = sum(flags := correct_records(mine(page.snapshot), page.truth))
        correct, found = correct + right, found + len(flags)
        perfect += right == len(flags) == page.truth.size
    return RecordScore(correct, found, sum(page.truth.size for page in pages), perfect, len(pages))


def _labelled(source: bytes, entry: dict[str, Any]) -> LabelledPage:
    parser = html5lib.HTMLParser(html5lib.getTreeBuilder("lxml"), namespaceHTMLElements=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names that XML does not allow are replaced
        root = parser.parse(source.translate(None, _CONTROLS)).getroot()
    etree.strip_elements(root, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    name = entry["page"]
    page = read_tree(root, Provenance(url=name, final_url=name, producer="raw"))
    nodes = dict(zip(root.iter(), np.flatnonzero(page.kind == Kind.ELEMENT).tolist(), strict=True))
    truth = sorted(nodes[element] for element in find_elements(root, entry["record_xpath"]))
    if len(truth) != entry["records"]:
        raise ValueError(f"{name} has {len(truth)} nodes for its {entry['records']} records.")
    return LabelledPage(name, page, np.array(truth, np.int64))
