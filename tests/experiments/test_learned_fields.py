"""The experiment on learned fields: how values of records are counted, and what a redesign changes."""

import sys
from types import ModuleType

import pytest

from experiments.experiments.fields_rendered import measure_shop
from experiments.experiments.learned_fields import peer_counts, score_records, tables
from experiments.frame.experiment import Row
from experiments.measures.field_values import f1
from experiments.measures.redesigns import redesigned, without_values

SOURCE = b"<body><div class='goods'><p class='name'>Oak</p><p class='price'>12.00</p></div></body>"


def test_a_value_is_right_only_in_its_own_record() -> None:
    true = [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert score_records(true, true) == (4, 0, 0)
    assert score_records(true, true, known=1) == (2, 0, 0)
    assert score_records([{"a": "1", "b": "4"}], true) == (1, 1, 3)
    assert f1((1, 1, 3)) == 2 / 6


def test_a_peer_learns_from_the_shown_pages_and_is_counted_on_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Scraper:
        """Learns the first word of what it was shown, and gives that of each page."""

        def build(self, html: str, wanted_dict: dict[str, list[str]], update: bool) -> None:
            assert update
            assert [html.split(maxsplit=1)[0]] == wanted_dict["name"]

        def get_result_exact(self, html: str, group_by_alias: bool) -> dict[str, list[str]]:
            assert group_by_alias
            return {"name": [html.split(maxsplit=1)[0], ""]}

    module = ModuleType("autoscraper")
    vars(module)["AutoScraper"] = Scraper
    monkeypatch.setitem(sys.modules, "autoscraper", module)
    values = [{"name": ["Oak"], "price": ["1"]}, {"name": ["Fir"], "price": ["2"]}, {"name": ["Elm"]}]
    sources = [b"Oak 1", b"FIR 2", b"Ash"]
    counts = peer_counts(sources, sources, [0], [1, 2], values)
    assert counts == {"name": [1, 1, 1], "price": [0, 0, 1]}


def test_the_rows_of_each_task_are_in_their_own_table() -> None:
    counts = {"name": [1, 0, 0]}
    book: Row = {
        **dict.fromkeys(("plain", "redesign", "css", "css redesign"), counts),
        "examples": 1,
        "seed": 0,
    }
    book = {**book, "alarms": {"name": ["name"]}, "cost": {"learn_s": 1.0, "page_s": 1.0}}
    shop: Row = {"redesign": 1, "layout": True, "shown": 1, "fields": counts}
    peer: Row = {"peer": "autoscraper 1", "peer plain": counts, "peer redesign": counts}
    attributes, *_, records, followed = tables(
        [book | peer, {"site": "s1", "records": 1, "counts": [1, 0, 0]}, shop]
    )
    assert [row[0] for row in attributes.rows[-2:]] == ["AutoScraper", "AutoScraper, after the redesign"]
    assert "autoscraper 1" in attributes.note
    assert len(tables([book])[0].rows) == len(attributes.rows) - 2
    assert records.rows[0][0] == "s1"
    assert followed.rows == [["rendered page", 1, 1, 1.0, 1.0]]


def test_a_redesign_renames_classes_and_keeps_texts() -> None:
    changed = redesigned(SOURCE, 0)
    assert b"price" not in changed
    assert changed.count(b"<div") == 4
    assert b"12.00" in changed
    assert changed == redesigned(SOURCE, 0) != redesigned(SOURCE, 1)


def test_a_removed_value_is_gone() -> None:
    assert b"12.00" not in without_values(SOURCE, ["12.00"])


@pytest.mark.browser
@pytest.mark.slow
def test_prices_and_labels_are_found_by_what_is_seen() -> None:
    rows = measure_shop((2,))
    by_layout = {(row["layout"], row["shown"]): {n: f1(c) for n, c in row["fields"].items()} for row in rows}
    for shown in (1, 3):
        seen, source = by_layout[True, shown], by_layout[False, shown]
        assert min(seen[name] for name in ("name", "price", "item", "sown")) >= 0.8
        assert seen["price"] > source["price"] + 0.3
    (table,) = tables(rows)
    assert len(table.rows) == len(rows)
