"""What a Snapshot refuses, and what it answers."""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given

from domsieve.errors import InvalidSnapshotError
from domsieve.snapshot.page import Kind, Snapshot, subtree_ends
from domsieve.snapshot.strings import Interner, StringTable
from tests.snapshot.pages import changed, made_up, snapshots

PAGE = made_up(1, 200)


def _with(name: str, change: Callable[[np.ndarray], None]) -> Snapshot:
    column = getattr(PAGE, name).copy()
    change(column)
    return changed(PAGE, **{name: column})


def _set(index: Any, value: float) -> Callable[[np.ndarray], None]:
    def change(column: np.ndarray) -> None:
        column[index] = value

    return change


BOXED = int(np.flatnonzero(PAGE.style >= 0)[0])
BARE = int(np.flatnonzero(PAGE.style < 0)[1])
TEXT = int(np.flatnonzero(PAGE.kind == Kind.TEXT)[0])
INNER = int(np.flatnonzero(PAGE.end - np.arange(200) > 2)[1])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("parent", _set(0, 0)),
        ("parent", _set(5, -1)),
        ("parent", _set(5, 5)),
        ("parent", _set(5, 6)),
        ("end", _set(0, 199)),
        ("end", _set(7, 7)),
        ("end", _set(7, 201)),
        ("end", _set(INNER, INNER + 1)),
        ("kind", _set(0, Kind.ELEMENT)),
        ("kind", _set(BARE, 0)),
        ("kind", _set(BARE, 5)),
        ("tag", _set(3, -1)),
        ("tag", _set(3, len(PAGE.tags))),
        ("text", _set(TEXT, -1)),
        ("text", _set(TEXT, -2)),
        ("text", _set(TEXT, len(PAGE.strings))),
        ("text", _set(0, 0)),
        ("style", _set(BOXED, 4)),
        ("style", _set(BOXED, -2)),
        ("styles", _set((0, 0), len(PAGE.strings))),
        ("styles", _set((0, 0), -1)),
        ("box", _set((BOXED, 2), np.nan)),
        ("box", _set((BARE, 2), 0)),
        ("box", _set((BOXED, 2), np.inf)),
        ("paint", _set(BARE, 0)),
        ("attr_start", _set(0, 1)),
        ("attr_start", _set(-1, 0)),
        ("attr_start", _set(100, 10_000)),
        ("attr_name", _set(0, -1)),
        ("attr_value", _set(0, len(PAGE.strings))),
    ],
)
def test_a_bad_column_is_named(name: str, change: Callable[[np.ndarray], None]) -> None:
    with pytest.raises(InvalidSnapshotError, match=f"'{name}'"):
        _with(name, change)


@pytest.mark.parametrize(
    "name", ["parent", "end", "kind", "tag", "text", "style", "box", "paint", "attr_start"]
)
def test_a_column_of_another_shape_or_type_is_named(name: str) -> None:
    column = getattr(PAGE, name)
    with pytest.raises(InvalidSnapshotError, match="shape"):
        changed(PAGE, **{name: column[:-1]})
    with pytest.raises(InvalidSnapshotError, match=f"'{name}' has type"):
        changed(PAGE, **{name: column.astype(np.float64)})


def test_a_page_says_why_it_is_incomplete() -> None:
    with pytest.raises(InvalidSnapshotError, match="reasons"):
        changed(PAGE, provenance=msgspec.structs.replace(PAGE.provenance, complete=False))


@given(snapshots)
def test_a_subtree_is_a_range(page: Snapshot) -> None:
    for node in range(len(page)):
        inside = [node]
        for other in range(node + 1, len(page)):
            if page.parent[other] in inside:
                inside.append(other)
        assert inside == list(range(node, int(page.end[node])))
        if node > 20:
            break
    assert subtree_ends(page.parent.tolist()).tolist() == page.end.tolist()


def test_columns_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        PAGE.box[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        PAGE.strings.blob[0] = 1


def test_pages_of_equal_content_have_equal_digests() -> None:
    assert made_up(1, 200).digest() == PAGE.digest()
    assert made_up(1, 201).digest() != PAGE.digest()


def test_a_node_tells_its_text_attributes_and_style() -> None:
    assert PAGE.text_of(TEXT).startswith("text ")
    assert PAGE.text_of(0) == ""
    assert set(PAGE.computed_style(BOXED)) == {"display", "font-size"}
    assert PAGE.computed_style(BARE) == {}
    many = int(np.argmax(np.diff(PAGE.attr_start)))
    assert len(PAGE.attributes(many)) == int(np.diff(PAGE.attr_start).max())
    assert PAGE.rendered()[0]
    assert PAGE.boxed().sum() == (PAGE.style >= 0).sum()


def test_string_tables_hold_any_text() -> None:
    texts = ["", "ascii", "żółw", "\U0001f422", "a\ud800b", "\0"]
    table = StringTable.from_strings(texts)
    assert table.to_list() == [*texts[:4], "a\ufffdb", "\0"]
    assert [table[i] for i in range(len(table))] == table.take(range(6)) == list(table)
    with pytest.raises(IndexError):
        table[6]


@pytest.mark.parametrize("offsets", [[], [1, 4], [0, 3], [0, 3, 2, 4]])
def test_string_tables_check_their_offsets(offsets: list[int]) -> None:
    with pytest.raises(InvalidSnapshotError, match="offsets"):
        StringTable(np.zeros(4, np.uint8), np.array(offsets, np.int32))


def test_an_interner_gives_each_string_one_id() -> None:
    interner = Interner()
    assert [interner("a"), interner("b"), interner("a")] == [0, 1, 0]
    assert interner.ids(["c", "b", "c"]).tolist() == [2, 1, 2]
    assert interner.table().to_list() == ["a", "b", "c"]
