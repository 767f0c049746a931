"""Pages with labelled records as Snapshots, and the scores of what is found in them.

A predicted record is correct when its node ranges hold all nodes of exactly one true record, no node of another, and
no earlier record of the page held the same; precision and recall are micro over pages, beside the share of pages
without any error.
"""

import json
import random
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from domsieve.analysis.records.result import Records
from domsieve.renderer.html_parser.parser import read_tree
from domsieve.snapshot.page import Kind, Provenance, Snapshot
from experiments.corpora.selecting import find_elements
from experiments.measures.papers import RecordScores, record_scores

_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\f\r")


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The nodes that tell the true records of a page apart.

    Parameters
    ----------
    node : int64 (T,), ascending.
    record : int64 (T,), the number of the record of each; a node that several records share stands several times.
    """

    node: NDArray[np.int64]
    record: NDArray[np.int64]

    @classmethod
    def of_nodes(cls, nodes: NDArray[np.int64]) -> "Truth":
        """Return the truth of records that have one node each, given ascending."""
        return cls(nodes, np.arange(nodes.size))

    def __len__(self) -> int:
        return np.unique(self.record).size


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPage:
    """One page and its true records."""

    name: str
    snapshot: Snapshot
    truth: Truth


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """Records that are correct, found and true, and pages without error of all pages."""

    correct: int
    found: int
    true: int
    perfect: int
    pages: int

    @property
    def scores(self) -> RecordScores:
        """Precision and recall over all records together."""
        return record_scores(correct=self.correct, wrong=self.found - self.correct, true=self.true)

    @property
    def perfect_share(self) -> float:
        """Share of the pages without any error."""
        return self.perfect / max(self.pages, 1)

    def __add__(self, other: "RecordCounts") -> "RecordCounts":
        return RecordCounts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


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


def correct_records(records: Records, truth: Truth) -> list[bool]:
    """Return for each record whether it is correct."""
    seen: set[int] = set()
    flags = []
    for number in held_records(records, truth):
        flags.append(number is not None and number not in seen)
        if number is not None:
            seen.add(number)
    return flags


def held_records(records: Records, truth: Truth) -> list[int | None]:
    """Return for each record the number of the true one that it holds whole and alone."""
    size = Counter(truth.record.tolist())
    numbers: list[int | None] = []
    for record in range(len(records)):
        inside = np.zeros(truth.node.size, np.bool_)
        for first, stop in records.pieces_of(record):
            inside |= (truth.node >= first) & (truth.node < stop)
        held = Counter(truth.record[inside].tolist())
        number = next(iter(held), None)
        numbers.append(number if len(held) == 1 and held[number] == size[number] else None)
    return numbers


def score_records(pages: Sequence[LabelledPage], mine: Callable[[Snapshot], Records]) -> RecordCounts:
    """Return the counts of a method over all records of all regions it reports."""
    correct = found = perfect = 0
    for page in pages:
        right = sum(flags := correct_records(mine(page.snapshot), page.truth))
        correct, found = correct + right, found + len(flags)
        perfect += right == len(flags) == len(page.truth)
    return RecordCounts(correct, found, sum(len(page.truth) for page in pages), perfect, len(pages))


def score_picked(pages: Sequence[LabelledPage], mine: Callable[[Snapshot], Records]) -> RecordCounts:
    """Return the counts of a method of which somebody picks the one best region of each page, knowing the truth."""
    counts = RecordCounts(0, 0, 0, 0, 0)
    for page in pages:
        records = mine(page.snapshot)
        true = len(page.truth)
        best = RecordCounts(0, 0, true, 0, 1)
        held = held_records(records, page.truth)
        for region in range(records.parent.size):
            numbers = [held[record] for record in np.flatnonzero(records.region == region)]
            correct, found = len(set(numbers) - {None}), len(numbers)
            here = RecordCounts(correct, found, true, int(correct == found == true), 1)
            if here.scores.f > best.scores.f:
                best = here
        counts += best
    return counts


def parse_labelled(source: str | bytes) -> etree._Element:
    """Return the tree that html5lib makes of a page, without comments."""
    if isinstance(source, bytes):
        source = source.translate(None, _CONTROLS)
    import html5lib  # no other experiment needs it

    parser = html5lib.HTMLParser(html5lib.getTreeBuilder("lxml"), namespaceHTMLElements=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names that XML does not allow are replaced
        root: etree._Element = parser.parse(source).getroot()
    etree.strip_elements(root, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    return root


def _labelled(source: bytes, entry: dict[str, Any]) -> LabelledPage:
    root = parse_labelled(source)
    name = entry["page"]
    page = read_tree(root, Provenance(url=name, final_url=name, producer="raw"))
    nodes = dict(zip(root.iter(), np.flatnonzero(page.kind == Kind.ELEMENT).tolist(), strict=True))
    truth = sorted(nodes[element] for element in find_elements(root, entry["record_xpath"]))
    if len(truth) != entry["records"]:
        raise ValueError(f"{name} has {len(truth)} nodes for its {entry['records']} records.")
    return LabelledPage(name, page, Truth.of_nodes(np.array(truth, np.int64)))
