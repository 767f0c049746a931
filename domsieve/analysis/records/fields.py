"""Align the records of a region as a table: contents at the same place in each record are one field.

The leaves of the records are aligned by their tag paths, as in partial tree alignment (Zhai, Liu: WWW 2005): the most
frequent record gives the first columns, each other record is matched against them by a longest common subsequence,
and leaves without a match become new columns between their neighbours. Records with equal leaves are aligned once, so
the cost is linear in the number of records.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from rapidfuzz.distance import LCSseq

from domsieve.analysis.columns.batch import Ints
from domsieve.analysis.records._field_roles import field_names
from domsieve.analysis.records.leaves import Column, FieldKind, Leaf, Leaves
from domsieve.analysis.records.result import Records
from domsieve.budget import check, spending
from domsieve.snapshot.page import Snapshot
from domsieve.types import FieldName


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One column in a table of R records.

    Parameters
    ----------
    name : name of the field, unique in its region, in lower-case letters, digits and ``_``. It comes from a header
        cell, a label before the value, or the markup (``itemprop``, ``aria-label``, a meaningful class); otherwise
        it is the role, such as ``title`` or ``price``, or else ``text_1``, ``link_1``, ``image_1``, …
    kind : ``"text"``, ``"link"`` or ``"image"``; values of the last two are absolute addresses.
    values : R values, None for records without this field.
    nodes : int64 (R, 2), node range of each value, -1 without a value; read-only.
    """

    name: str
    kind: FieldKind
    values: tuple[str | None, ...]
    nodes: Ints


@dataclass(frozen=True, slots=True, eq=False)
class FieldTable:
    """The records of one region with their fields, in document order.

    Parameters
    ----------
    region : number of the region in `Records`.
    records : numbers of its records in `Records`.
    fields : the columns.
    left_out : number of leaves that were dropped because the table had its maximum number of columns.
    roles : numbers of the fields that are the title, the price and so on, by name of the role.
    """

    region: int
    records: range
    fields: tuple[Field, ...]
    left_out: int
    roles: Mapping[FieldName, int] = field(default_factory=dict)

    def picked(self, names: Sequence[FieldName]) -> "FieldTable":
        """Return the same records with the fields of the roles `names` only.

        Parameters
        ----------
        names : roles, in the wanted order. The fields are named after them; a role that the table does not have gives
            a field without values.
        """
        fields = tuple(
            replace(self.fields[self.roles[name]], name=name) if name in self.roles else self._none(name)
            for name in names
        )
        return FieldTable(
            self.region, self.records, fields, self.left_out, {n: i for i, n in enumerate(names)}
        )

    def _none(self, name: FieldName) -> Field:
        kind: FieldKind = name if name in {"link", "image"} else "text"
        nodes = np.full((len(self.records), 2), -1, np.int64)
        nodes.flags.writeable = False
        return Field(name, kind, (None,) * len(self.records), nodes)


def field_tables(page: Snapshot, records: Records, *, most_fields: int = 200) -> list[FieldTable]:
    """Return a table for each region of `records`.

    Parameters
    ----------
    page : the page that the records were found on.
    records : result of a record miner.
    most_fields : maximum number of columns of a table; without a limit, records that have nothing in common would
        give a column per leaf. 200 is far above what ordinary lists need.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("fields", page.provenance.url):
        return _tables(page, records, most_fields)


def _tables(page: Snapshot, records: Records, most_fields: int) -> list[FieldTable]:
    leaves = Leaves(page)
    bounds = np.searchsorted(records.region, np.arange(records.parent.size + 1)).tolist()
    tables = []
    for region in range(records.parent.size):
        own = range(bounds[region], bounds[region + 1])
        columns, left_out = _aligned(leaves, [leaves.of(records.pieces_of(r)) for r in own], most_fields)
        names, roles = field_names(leaves, columns, [records.pieces_of(r)[0][0] for r in own])
        fields = tuple(_field(name, column, len(own)) for name, column in zip(names, columns, strict=True))
        tables.append(FieldTable(region, own, fields, left_out, roles))
    return tables


def _field(name: str, column: Column, records: int) -> Field:
    values: list[str | None] = [None] * records
    nodes = np.full((records, 2), -1, np.int64)
    for record, leaf in column.leaves.items():
        values[record] = leaf.value
        nodes[record] = leaf.first, leaf.stop
    nodes.flags.writeable = False
    return Field(name, column.kind, tuple(values), nodes)


def _aligned(leaves: Leaves, records: Sequence[Sequence[Leaf]], most: int) -> tuple[list[Column], int]:
    """Return the columns of the records, and the number of leaves without a column."""
    known: dict[tuple[str, int, int], int] = {}
    alike: dict[str, list[int]] = defaultdict(list)
    places: dict[str, str] = {}
    for number, record in enumerate(records):
        # One character per leaf: `exact` by path and class, `place` by path alone.
        styles = [leaves.style[leaf.owner] if leaf.owner >= 0 else 0 for leaf in record]
        keys = [(leaf.kind, leaf.path, style) for leaf, style in zip(record, styles, strict=True)]
        exact = "".join(chr(known.setdefault(key, min(len(known), sys.maxunicode))) for key in keys)
        places[exact] = "".join(
            chr(known.setdefault((leaf.kind, leaf.place, -1), min(len(known), sys.maxunicode)))
            for leaf in record
        )
        alike[exact].append(number)
    columns: list[Column] = []
    left_out = 0
    for exact in sorted(alike, key=lambda key: (-len(alike[key]), -len(key), alike[key][0])):
        check()
        found: list[Column | None] = [None] * len(exact)
        merged: list[Column] = []
        room = most - len(columns)
        i_before = j_before = 0
        for i, j in [*_matches(columns, exact, places[exact]), (len(columns), len(exact))]:
            merged += columns[i_before:i]
            for fresh in range(j_before, min(j, j_before + room)):
                kind = records[alike[exact][0]][fresh].kind
                merged.append(column := Column(kind, exact[fresh], places[exact][fresh]))
                found[fresh] = column
                room -= 1
            if i < len(columns):
                merged.append(columns[i])
                found[j] = columns[i]
            i_before, j_before = i + 1, j + 1
        columns = merged
        for number in alike[exact]:
            for leaf, at in zip(records[number], found, strict=True):
                if at is None:
                    left_out += 1
                else:
                    at.leaves[number] = leaf
    return columns, left_out


def _matches(columns: Sequence[Column], exact: str, place: str) -> list[tuple[int, int]]:
    """Return ascending pairs of the numbers of a column and a matching leaf.

    Leaves with the same path and class are matched first; between these, leaves with the same path.
    """
    column_exact, column_place = "".join(c.exact for c in columns), "".join(c.place for c in columns)
    pairs: list[tuple[int, int]] = []
    i_before = j_before = 0
    for i, j in [*_common(column_exact, exact), (len(column_exact), len(exact))]:
        between = _common(column_place[i_before:i], place[j_before:j])
        pairs += [(i_before + a, j_before + b) for a, b in between]
        pairs.append((i, j))
        i_before, j_before = i + 1, j + 1
    return pairs[:-1]


def _common(a: str, b: str) -> Iterator[tuple[int, int]]:
    """Yield the pairs of positions of a longest common subsequence."""
    if a and b:
        for step in LCSseq.opcodes(a, b):
            if step.tag == "equal":
                yield from zip(
                    range(step.src_start, step.src_end), range(step.dest_start, step.dest_end), strict=True
                )
