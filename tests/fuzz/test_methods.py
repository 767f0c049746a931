"""Every method on any pages: a sound result in time, the same each time and in any order, of what is shown."""

import dataclasses
from functools import partial
from typing import Any, get_args

import numpy as np
from hypothesis import strategies as st

from domsieve.analysis.block_types.detection import EVERY_METHOD_DECIDES, KindChoice, node_kinds
from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.columns.hiding import hidden_texts
from domsieve.analysis.columns.visible import visible_nodes
from domsieve.analysis.compare.comparison import Comparison, compare_page
from domsieve.analysis.metadata.title import TITLE_REASON, restore_title
from domsieve.analysis.records.fields import field_tables
from domsieve.analysis.records.result import Records
from domsieve.analysis.registry import MINERS
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.tasks.postprocess import judged, remarks, with_condition
from domsieve.types import BLOCK_KINDS, HiddenText
from tests.analysis.contract import METHODS, PAGE_METHODS, SITE_METHODS, assert_sound, fitted, told
from tests.fuzz.documents import documents, plain_sources
from tests.fuzz.dressing import read
from tests.fuzz.fuzzing import assert_in_proportion, fuzzed, only_long, within
from tests.fuzz.properties import most_cpu_s

_layouts = st.integers(0, 1_000)
_sites = st.lists(plain_sources, min_size=1, max_size=4)
_cleaners = sorted(name for name in PAGE_METHODS if name.partition(" ")[0] not in MINERS)
_miners = sorted(name for name in PAGE_METHODS if name.partition(" ")[0] in MINERS)
_kinds = st.lists(st.sampled_from(BLOCK_KINDS), max_size=2)


def site_of(sources: list[bytes], layout: int, copies: int) -> list[Snapshot]:
    """Return pages of one site: `copies` of each document, all with a layout or none with one."""
    return [
        read(source, layout and layout + number, url=f"https://example.org/{number}/{copy}")
        for number, source in enumerate(sources)
        for copy in range(copies)
    ]


@fuzzed(
    20, sources=_sites, layout=_layouts, copies=st.integers(1, 3), name=st.sampled_from(sorted(SITE_METHODS))
)
def test_site_methods_judge_any_site(sources: list[bytes], layout: int, copies: int, name: str) -> None:
    pages = site_of(sources, layout, copies)
    most_s = sum(map(most_cpu_s, pages))
    method = within(most_s, lambda: fitted(name, pages))
    results = within(most_s, lambda: method.transform(pages))
    for page, result in zip(pages, results, strict=True):
        assert_sound(page, result)
    again = fitted(name, pages[::-1]).transform(pages[::-1])[::-1]
    assert [*map(told, results)] == [*map(told, again)], "in any order"
    assert told(method.transform(pages[0])) == told(results[0])


@fuzzed(30, source=plain_sources, layout=_layouts, name=st.sampled_from(_cleaners))
def test_page_methods_judge_any_page(source: bytes, layout: int, name: str) -> None:
    page = read(source, layout)
    result = within(most_cpu_s(page), lambda: METHODS[name]().transform(page))
    assert_sound(page, result)
    assert told(result) == told(METHODS[name]().transform(read(source, layout)))


@fuzzed(30, source=plain_sources, layout=_layouts, name=st.sampled_from(_miners))
def test_miners_find_records_on_any_page(source: bytes, layout: int, name: str) -> None:
    page = read(source, layout)
    result: Records = within(most_cpu_s(page), lambda: METHODS[name]().transform(page))
    assert_sound(page, result)
    assert told(result) == told(METHODS[name]().transform(read(source, layout)))
    for table in within(most_cpu_s(page), lambda: field_tables(page, result)):
        names = [field.name for field in table.fields]
        assert len(set(names)) == len(names)
        assert all(len(field.values) == len(table.records) for field in table.fields)


@fuzzed(
    20,
    source=plain_sources,
    layout=_layouts,
    name=st.sampled_from(["auto", "tps", "none", "tps paper"]),
    keep=_kinds,
    drop=_kinds,
    hidden=st.sampled_from(get_args(HiddenText)),
)
def test_what_is_kept_is_shown(
    source: bytes, layout: int, name: str, keep: list[str], drop: list[str], hidden: HiddenText
) -> None:
    page = read(source, layout)

    def judge() -> Verdict:
        method = METHODS[name]()
        said = (method.fit([page]) if name in SITE_METHODS else method).transform
        kinds = KindChoice.of(keep, drop) if keep or drop else EVERY_METHOD_DECIDES
        return judged(page, said, hidden=hidden, may_change="paper" not in name, kinds=kinds)

    verdict = with_condition(page, restore_title(page, within(3 * most_cpu_s(page), judge)))
    assert_sound(page, verdict)
    remarks(page, verdict)
    text = page.kind == Kind.TEXT
    if hidden != "keep":
        assert not (verdict.kept & (hidden_texts(page) > 0)).any()
        assert not (verdict.kept & text & ~visible_nodes(Batch.of([page]))).any()
    gone = set(drop) - set(keep)
    if gone:
        kinds = np.isin(node_kinds(page), [BLOCK_KINDS.index(kind) + 1 for kind in gone])
        titles = np.zeros(len(page), bool)
        if TITLE_REASON in verdict.reasons:
            titles = verdict.reason == verdict.reasons.index(TITLE_REASON)
        assert not (verdict.kept & text & kinds & ~titles).any() or hidden == "keep"


@fuzzed(10, source=plain_sources, other=plain_sources, layout=_layouts)
def test_any_two_pages_compare(source: bytes, other: bytes, layout: int) -> None:
    raw, rendered = read(source), read(other, layout + 1)
    clean = METHODS["tps"]().transform

    def compare() -> Comparison:
        return compare_page(raw, rendered, raw_verdict=clean(raw), verdict=clean(rendered), data=[])

    compared = within(2 * most_cpu_s(raw) + 2 * most_cpu_s(rendered), compare)
    assert compared.matched <= len(rendered)
    assert compared.raw.nodes == len(raw)
    for overlap in (compared.visible, compared.content, compared.content_of_raw):
        assert 0 <= overlap.recall <= 1


@only_long
@fuzzed(
    1,
    fragment=documents,
    layout=_layouts,
    name=st.sampled_from(sorted({*SITE_METHODS, *_cleaners, *_miners})),
)
def test_time_grows_with_size(fragment: str, layout: int, name: str) -> None:
    def work(size: int) -> partial[Any]:
        page = read((fragment * size).encode("utf-8", "replace"), layout)

        def judge() -> None:
            fresh = dataclasses.replace(page)
            fitted(name, [fresh, fresh]).transform(fresh)

        return partial(judge)

    assert_in_proportion(work, 1 + 2_000 // (1 + len(fragment)))
