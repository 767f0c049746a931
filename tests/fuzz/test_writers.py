"""Every writer on any page and any choice of nodes: words of the page, nothing that runs, what each format asks."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import yaml
from hypothesis import strategies as st

import domsieve
from domsieve.analysis.block_types.detection import KindChoice
from domsieve.analysis.columns.batch import Batch, prune
from domsieve.analysis.columns.visible import visible_nodes
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.registry import MINERS, Method, page_cleaner
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers._front_matter import write_front_matter
from domsieve.analysis.writers.chunks import chunks_of, write_chunks
from domsieve.analysis.writers.evidence import block_columns, dropped_blocks, text_blocks, write_json
from domsieve.analysis.writers.html import write_html
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.matrix import matrix_names, matrix_npz, matrix_svmlight
from domsieve.analysis.writers.record_tables import (
    RecordSheet,
    record_rows,
    write_records_csv,
    write_records_jsonl,
)
from domsieve.analysis.writers.text import write_text
from domsieve.errors import ContentError, UsageError
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.tasks.page_matrix import vectorize
from domsieve.tasks.page_report import Edition, Reported, report
from domsieve.tasks.pages import Page, from_html
from domsieve.tasks.postprocess import judged
from domsieve.types import BLOCK_KINDS
from tests.analysis.contract import METHODS
from tests.fuzz.documents import documents, plain_sources
from tests.fuzz.dressing import read
from tests.fuzz.fuzzing import assert_in_proportion, fuzzed, only_long, within
from tests.fuzz.properties import (
    assert_inert,
    assert_safe_markdown,
    letters,
    most_cpu_s,
    parsed_html,
    same_letters,
    strict_json,
    words_of,
)

_layouts = st.integers(0, 1_000)
# Below 100 a method, above it any choice of nodes.
_choices = st.integers(0, 200)
_FORMULA = re.compile("[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?[\d.,' ]*\d([eE][+-]?\d+)? ?%?")
WRITERS: dict[str, Callable[[Snapshot, Verdict], str]] = {
    "text": write_text,
    "html": write_html,
    "html with metadata": lambda page, verdict: write_html(page, verdict, metadata=read_metadata(page)),
    "json": write_json,
    "markdown": write_markdown,
    "chunks": partial(write_chunks, max_words=20),
}


def verdict_on(page: Snapshot, choice: int) -> Verdict:
    """Return a verdict: of a method as the command line has it, or of chance over what the page shows."""
    if choice < 100:
        names: tuple[Method, ...] = ("none", "tps", "auto")
        kind = (
            KindChoice(drop=(BLOCK_KINDS[choice // 3 % len(BLOCK_KINDS)],)) if choice > 50 else KindChoice()
        )
        return judged(
            page,
            page_cleaner(names[choice % 3]),
            hidden="layout" if choice % 5 else "keep",
            may_change=True,
            kinds=kind,
        )
    kept = visible_nodes(Batch.of([page])) & (page.kind == Kind.TEXT)
    kept &= np.random.default_rng(choice).random(len(page)) < (choice - 99) / 100
    kept = prune(kept, page.end)
    return Verdict("chance", kept, kept.astype(np.float32), kept.astype(np.uint8), ("dropped", "kept"))


@fuzzed(24, source=plain_sources, layout=_layouts, choice=_choices)
def test_text_is_what_is_kept(source: bytes, layout: int, choice: int) -> None:
    page = read(source, layout)
    verdict = verdict_on(page, choice)
    text = within(most_cpu_s(page), lambda: write_text(page, verdict))
    assert letters(text) == words_of(page, verdict), "all the words, and no others"
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    assert text == "" or (text.strip() and text.endswith("\n"))


@fuzzed(24, source=plain_sources, layout=_layouts, choice=_choices)
def test_html_says_the_same_and_runs_nothing(source: bytes, layout: int, choice: int) -> None:
    page = read(source, layout)
    verdict = verdict_on(page, choice)
    text = write_text(page, verdict)
    for name in ("html", "html with metadata"):
        written = within(most_cpu_s(page), lambda name=name: WRITERS[name](page, verdict))  # type: ignore[misc]
        root = assert_inert(written)
        body = root.find("body")
        assert body is not None
        assert same_letters("".join(body.itertext()), text)


@fuzzed(24, source=plain_sources, layout=_layouts, choice=_choices)
def test_json_is_strict_and_complete(source: bytes, layout: int, choice: int) -> None:
    page = read(source, layout)
    verdict = verdict_on(page, choice)
    written = within(2 * most_cpu_s(page), lambda: write_json(page, verdict))
    assert written.count("\n") == 1
    facts = strict_json(written)
    assert facts["text"] == write_text(page, verdict)
    kept = [block for block in facts["blocks"] if block["kept"]]
    assert facts["words"]["kept"] == sum(block["words"] for block in kept)
    assert (
        facts["words"]["dropped"] == sum(block["words"] for block in facts["blocks"]) - facts["words"]["kept"]
    )
    assert same_letters("".join(block["text"] for block in kept), facts["text"])
    blocks = text_blocks(page, verdict)
    assert [block.start for block in blocks] == sorted({block.start for block in blocks})
    assert block_columns(page, verdict)["text"] == [block.text for block in blocks]
    assert len(dropped_blocks(page, verdict, limit=2)) <= 2


@fuzzed(24, source=plain_sources, layout=_layouts, choice=_choices)
def test_markdown_has_no_html_and_leads_to_the_web(source: bytes, layout: int, choice: int) -> None:
    page = read(source, layout)
    verdict = verdict_on(page, choice)
    markdown = within(2 * most_cpu_s(page), lambda: write_markdown(page, verdict))
    markdown.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", markdown)
    assert_safe_markdown(markdown)


@fuzzed(16, source=plain_sources, layout=_layouts, choice=_choices, most=st.integers(20, 60))
def test_chunks_are_the_markdown_in_pieces(source: bytes, layout: int, choice: int, most: int) -> None:
    page = read(source, layout)
    verdict = verdict_on(page, choice)
    chunks = within(2 * most_cpu_s(page), lambda: chunks_of(page, verdict, max_words=most))
    # Words cut by characters and by dedenting come together again without white space.
    whole = letters("".join(chunk.text for chunk in chunks))
    assert whole.replace(">", "") == letters(write_markdown(page, verdict)).replace(">", "")
    lines = write_chunks(page, verdict, max_words=most).splitlines()
    facts = [strict_json(line) for line in lines]
    assert [one["text"] for one in facts] == [chunk.text for chunk in chunks]
    assert [one["number"] for one in facts] == [*range(1, len(facts) + 1)]
    assert all(one["of"] == len(facts) and one["words"] >= 0 for one in facts)
    for chunk in chunks:
        assert chunk.text.strip("\n") == chunk.text != ""


@fuzzed(16, source=plain_sources, layout=_layouts)
def test_front_matter_is_read_back(source: bytes, layout: int) -> None:
    page = read(source, layout)
    metadata = read_metadata(page)
    written = write_front_matter(metadata, expected_f1=0.5)
    first, block, behind = written.split("---\n")[0], written[4 : written.rindex("\n---")], written[-5:]
    assert (first, behind) == ("", "---\n\n")
    facts = yaml.safe_load(block)
    for name in metadata.__struct_fields__:
        value = getattr(metadata, name)
        if value:
            assert facts.pop(name) == ([*value] if isinstance(value, tuple) else value)
    assert facts == {"expected_f1": 0.5}


@fuzzed(24, source=plain_sources, layout=_layouts, name=st.sampled_from(sorted(MINERS)))
def test_tables_of_records_hold_no_formulas(source: bytes, layout: int, name: str) -> None:
    page = read(source, layout)
    records = METHODS[name]().transform(page)
    sheet = within(most_cpu_s(page), lambda: RecordSheet.of(page, records))
    data = write_records_csv([sheet, sheet])
    rows = [*csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True)]
    count = sum(len(table.records) for table in sheet.tables)
    assert len(rows) == 1 + 2 * count
    assert len({len(row) for row in rows}) == 1
    assert len(set(rows[0])) == len(rows[0])
    for cell in (cell for row in rows for cell in row):
        assert not _FORMULA.match(cell) or _NUMBER.fullmatch(cell), cell
    written = write_records_jsonl([sheet])
    lines = [strict_json(line) for line in written.decode("utf-8").split("\n")[:-1]]
    assert len(lines) == count == len(record_rows([sheet]))
    known = letters("".join((*page.strings, page.provenance.final_url)))
    for line in lines:
        for field in line["fields"].values():
            assert field["nodes"][0] < field["nodes"][1] <= len(page)
            if field["kind"] == "text":
                assert set(letters(field["value"])) <= set(known)


@fuzzed(12, source=plain_sources, layout=_layouts, choice=_choices)
def test_the_same_page_gives_the_same_bytes(source: bytes, layout: int, choice: int) -> None:
    first, second = (read(source, layout) for _ in range(2))
    for write in WRITERS.values():
        assert write(first, verdict_on(first, choice)) == write(second, verdict_on(second, choice))


@fuzzed(
    8, source=plain_sources, url=st.sampled_from(["", "https://a.example/b#/c", "http://[", "x y", "\ud800"])
)
def test_results_of_one_call_show_nothing_that_runs(source: bytes, url: str) -> None:
    for call in (domsieve.clean, domsieve.records):
        try:
            result = call(source)
        except ContentError:
            continue
        repr(result)
        shown = result._repr_html_()
        for element in parsed_html(shown).iter():
            assert element.tag not in {"script", "iframe", "img", "link", "object", "embed", "svg", "form"}
            assert all(not name.startswith("on") and name not in {"src", "srcset"} for name in element.attrib)
    try:
        page = domsieve.clean(source, url=url)
    except (ContentError, UsageError):
        return
    assert page.text == write_text(page.snapshot, page.verdict)


@fuzzed(3, sources=st.lists(plain_sources, min_size=1, max_size=3))
def test_a_report_is_one_inert_file(sources: list[bytes]) -> None:
    texts = [source.decode("utf-8", "replace") for source in sources]
    pages = [from_html(text, url=f"https://a.example/{n}", keep_errors=True) for n, text in enumerate(texts)]
    reported = [Reported(page, None, None, Edition(page)) for page in pages]
    failed: list[Any] = []
    whole, count = report(reported, siblings=lambda _: (), failed=lambda *fault: failed.append(fault))
    assert count == len(pages)
    root = parsed_html(whole.decode("utf-8"))
    scripts = [element for element in root.iter("script") if element.get("type") is None]
    assert len(scripts) == 1, "only our own"
    for element in root.iter("script"):
        if element.get("type") == "application/json":
            strict_json("".join(element.itertext()))
    assert [link.get("href") for link in root.iter("link")] == ["data:,"], "no icon is asked for"
    assert [*root.iter("iframe"), *root.iter("object"), *root.iter("embed"), *root.iter("base")] == []


def labelled(page: Snapshot, number: int) -> Page:
    """Return a page to weigh, under a name that would end a line."""
    return replace(
        from_html("", url=f"https://a.example/{number}\u2028", keep_errors=True), load=lambda: page
    )


@fuzzed(3, sources=st.lists(plain_sources, min_size=2, max_size=4), layout=_layouts)
def test_weights_of_words_are_written(sources: list[bytes], layout: int) -> None:
    pages = [read(source, layout and layout + number) for number, source in enumerate(sources)]
    named = [labelled(page, number) for number, page in enumerate(pages)]
    for per_block in (False, True):
        weights = vectorize(named, per_block=per_block, failed=lambda *_: None)
        assert (weights.matrix.data >= 0).all()
        assert np.isfinite(weights.matrix.data).all()
        assert matrix_npz(weights) == matrix_npz(weights)
        assert matrix_svmlight(weights).count(b"\n") == weights.matrix.shape[0]
        names = strict_json(matrix_names(weights))
        assert (len(names["pages"]), len(names["features"])) == weights.matrix.shape


@only_long
@fuzzed(1, fragment=documents, layout=_layouts, form=st.sampled_from(sorted(WRITERS)), choice=_choices)
def test_time_grows_with_size(fragment: str, layout: int, form: str, choice: int) -> None:
    def work(size: int) -> partial[Any]:
        page = read((fragment * size).encode("utf-8", "replace"), layout)
        verdict = verdict_on(page, choice)
        return partial(lambda: WRITERS[form](replace(page), verdict))

    assert_in_proportion(work, 1 + 5_000 // (1 + len(fragment)))
