"""The experiment on learned fields: how values of records are counted, and what a redesign changes."""

import pytest

from experiments.experiments.fields_rendered import measure_shop, shop_tables
from experiments.experiments.learned_fields import score_records
from experiments.measures.field_values import f1
from experiments.measures.redesigns import redesigned, without_values

SOURCE = b"<body><div class='goods'><p class='name'>Oak</p><p class='price'>12.00</p></div></body>"


def test_a_value_is_right_only_in_its_own_record() -> None:
    true = [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert score_records(true, true) == (4, 0, 0)
    assert score_records(true, true, known=1) == (2, 0, 0)
    assert score_records([{"a": "1", "b": "4"}], true) == (1, 1, 3)
    assert f1((1, 1, 3)) == 2 / 6


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
    (table,) = shop_tables(rows)
    assert len(table.rows) == len(rows)
