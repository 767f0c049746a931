"""Styles, white space, hidden text, kinds and selectors on pages with any layout."""

import dataclasses

import numpy as np
from hypothesis import strategies as st

from domsieve.analysis.block_types.detection import node_kinds
from domsieve.analysis.cleaning.hidden_text import drop_hidden, hidden_words
from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.columns.flow import BLOCK, boundaries, text_flow
from domsieve.analysis.columns.hiding import HIDING_REASONS, hidden_texts
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.styles import presentation_styles
from domsieve.analysis.columns.visible import visible_nodes
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.page_flags.flags import page_marks
from domsieve.analysis.registry import page_cleaner
from domsieve.analysis.selection.selection import Selection
from domsieve.errors import ContentError, UsageError
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.strings import Interner
from domsieve.types import BLOCK_KINDS, StyleLevel
from tests.analysis.contract import assert_sound
from tests.fuzz.documents import BLOCK as BLOCKS
from tests.fuzz.documents import INLINE, documents, plain_sources
from tests.fuzz.dressing import read
from tests.fuzz.fuzzing import assert_in_proportion, fuzzed, only_long, within
from tests.fuzz.properties import most_cpu_s

LEVELS: tuple[StyleLevel, ...] = ("none", "html", "layout", "full")
_layouts = st.integers(0, 1_000)
_values = st.one_of(
    st.sampled_from(["none", "rgb(1e999, -1e999, 0)", "1e999px", "٣px", "-", ".", "-.5e-", "inset(50.%"]),
    st.text(max_size=12),
    st.text("0123456789.e-+,()% rgbacolinset/", max_size=20),
)


def restyled(page: Snapshot, values: list[str]) -> Snapshot:
    """Return a page with a layout some of whose style values are `values`."""
    if not values or not page.styles.size:
        return page
    strings = Interner()
    strings.ids(page.strings.to_list())
    ids = strings.ids(values)
    styles = page.styles.copy()
    flat = styles.reshape(-1)
    places = np.arange(0, flat.size, max(flat.size // (3 * len(values)), 1))
    flat[places] = ids[np.arange(places.size) % len(values)]
    return dataclasses.replace(page, styles=styles, strings=strings.table())


@fuzzed(24, source=plain_sources, layout=_layouts, values=st.lists(_values, max_size=6))
def test_styles_tell_elements_apart_on_any_page(source: bytes, layout: int, values: list[str]) -> None:
    page = restyled(read(source, layout), values)
    alone, double = Batch.of([page]), Batch.of([page, page])
    for level in LEVELS:
        styles = within(most_cpu_s(page), lambda level=level: presentation_styles(alone, level))  # type: ignore[misc]
        assert styles.shape == (len(page),)
        assert styles.dtype == np.uint64
        assert not styles[page.kind != Kind.ELEMENT].any()
        assert (presentation_styles(double, level) == np.tile(styles, 2)).all(), "whatever page it stands on"


@fuzzed(24, source=plain_sources, layout=_layouts, values=st.lists(_values, max_size=6))
def test_hidden_text_has_a_reason(source: bytes, layout: int, values: list[str]) -> None:
    page = restyled(read(source, layout), values)
    hiding = within(most_cpu_s(page), lambda: hidden_texts(page))
    assert hiding.shape == (len(page),)
    assert not hiding[page.kind != Kind.TEXT].any()
    assert int(hiding.max()) < len(HIDING_REASONS)
    shown = visible_nodes(Batch.of([page]))
    first = page_cleaner("none")(page)
    assert (first.kept == shown).all()
    dropped, kept = drop_hidden(page, first, hidden="layout"), drop_hidden(page, first, hidden="keep")
    for verdict in (dropped, kept):
        assert_sound(page, verdict)
    assert not (dropped.kept & (hiding > 0)).any()
    assert (dropped.kept <= kept.kept)[page.kind == Kind.TEXT].all()
    assert hidden_words(page, kept) == 0
    assert (hidden_words(page, dropped) > 0) == bool(hiding.any())


# Of one element, or of all in it: how browsers give what is inherited.
_HIDINGS = (("opacity", "0", False), ("visibility", "hidden", True), ("font-size", "0px", True))


@fuzzed(24, source=plain_sources, place=st.integers(0, 999), how=st.integers(0, len(_HIDINGS)))
def test_nothing_in_a_hidden_element_is_kept(source: bytes, place: int, how: int) -> None:
    page = read(source, 3)  # titles and their like are shown
    boxed = np.flatnonzero((page.style >= 0) & (page.kind == Kind.ELEMENT))
    if not boxed.size:
        return
    node = int(boxed[place % boxed.size])
    inside = slice(node, int(page.end[node]))
    if how == len(_HIDINGS):  # a box without room, which cuts off what is in it
        box = page.box.copy()
        box[inside][page.style[inside] >= 0] = (5, 5, 0.5, 0.5)
        page = dataclasses.replace(page, box=box)
    else:
        name, value, inherited = _HIDINGS[how]
        changed = np.arange(inside.start, inside.stop if inherited else inside.start + 1)
        strings = Interner()
        strings.ids(page.strings.to_list())
        column = page.style_names.index(name)
        rows = page.styles[page.style[changed]].copy()
        rows[:, column] = strings(value)
        style = page.style.copy()
        style[changed] = np.where(style[changed] >= 0, len(page.styles) + np.arange(changed.size), -1)
        page = dataclasses.replace(
            page, style=style, styles=np.concatenate((page.styles, rows)), strings=strings.table()
        )
    verdict = drop_hidden(page, page_cleaner("none")(page), hidden="layout")
    kept = [page.text_of(one) for one in range(inside.start, inside.stop) if verdict.kept[one]]
    assert not any(text.strip() for text in kept), kept


@fuzzed(24, source=plain_sources, layout=_layouts, chosen=st.integers(0, 99))
def test_text_flows_in_document_order(source: bytes, layout: int, chosen: int) -> None:
    page = read(source, layout)
    around = boundaries(page)
    assert int(around.max()) <= BLOCK
    picked = (page.kind == Kind.TEXT) & (np.random.default_rng(chosen).random(len(page)) < 0.7)
    flow = within(most_cpu_s(page), lambda: text_flow(page, picked, around))
    assert (np.diff(flow.node) > 0).all()
    assert (page.kind[flow.node] == Kind.TEXT).all()
    assert not flow.node.size or flow.gap[0] == BLOCK
    assert (flow.lines >= 0).all()
    assert not flow.lines[~flow.pre].any()
    assert all(picked[node] or not page.text_of(int(node)).strip() for node in flow.node)


@fuzzed(24, source=plain_sources, layout=_layouts)
def test_kinds_marks_and_metadata_are_found_on_any_page(source: bytes, layout: int) -> None:
    page = read(source, layout)
    kinds = within(most_cpu_s(page), lambda: node_kinds(page))
    assert kinds.shape == (len(page),)
    assert int(kinds.max()) <= len(BLOCK_KINDS)
    within(most_cpu_s(page), lambda: page_marks(page))
    metadata = within(most_cpu_s(page), lambda: read_metadata(page))
    assert metadata == read_metadata(read(source, layout))
    assert metadata.published == "" or metadata.published[:4].isdigit()
    within(most_cpu_s(page), lambda: page_blocks(page))


_selectors = st.one_of(
    st.text(max_size=15),
    st.lists(
        st.one_of(
            st.sampled_from(INLINE + BLOCKS),
            st.sampled_from(
                [" ", ">", "+", "~", ",", "*", ".a", "#a", "[href]", "[a='b' i]", "[a|=b]", ":not(", ")", ":is(p, b)",
                 ":nth-child(2n+1)", ":nth-child(-n + 99999999999999999999)", ":first-child", ":has(> p)", ":hover",
                 "::before", "|", "a|b", "\\", "\\0 ", "/*", "*/", ":root", ":empty", ":where(a, :not(b))"]
            ),
        ),
        max_size=8,
    ).map("".join),
)  # fmt: skip


@fuzzed(36, source=plain_sources, layout=_layouts, select=_selectors, drop=_selectors)
def test_selectors_choose_or_are_refused(source: bytes, layout: int, select: str, drop: str) -> None:
    page = read(source, layout)
    for chosen in ({"select": (select,)}, {"drop": (drop,)}, {"select": ("p", select), "drop": (drop,)}):
        try:
            selection = Selection(**chosen)
        except UsageError:
            continue
        try:
            part = within(most_cpu_s(page), lambda selection=selection: selection.of(page))  # type: ignore[misc]
        except ContentError:
            continue
        assert len(part) <= len(page)
        assert set(part.strings) == set(page.strings)
        assert_sound(part, page_cleaner("none")(part))


@only_long
@fuzzed(1, fragment=documents, layout=_layouts)
def test_time_grows_with_size(fragment: str, layout: int) -> None:
    def work(size: int) -> object:
        page = read((fragment * size).encode("utf-8", "replace"), layout)

        def styles_and_sight() -> None:
            fresh = dataclasses.replace(page)
            presentation_styles(Batch.of([fresh]), "full" if fresh.has_layout else "html")
            hidden_texts(fresh)
            text_flow(fresh, fresh.kind == Kind.TEXT, boundaries(fresh))
            node_kinds(fresh)
            read_metadata(fresh)

        return styles_and_sight

    assert_in_proportion(work, 1 + 5_000 // (1 + len(fragment)))  # type: ignore[arg-type]
