"""The benchmark of product pages: what counts as right, and what the tables say."""

import gzip
import json
from pathlib import Path

import pytest

from domsieve.errors import TargetError
from experiments.corpora.product_pages import SERVICES, ProductPage, page_names, product_pages
from experiments.experiments.products import PRODUCTS, measure_page
from experiments.frame.experiment import Inputs
from experiments.measures.product_scores import Counts, f1_parts, judged

SOURCE = b"<title>Kettle</title><h1>Kettle</h1><p class=price>$24.50</p><p>SKU: K-17</p><p>Sold out</p>"
TRUTH = {"price": ["24.5"], "sku": ["K-17", "17"], "availability": ["OutOfStock"]}


def write_corpus(folder: Path) -> None:
    (folder / "html").mkdir(parents=True)
    (folder / "html" / "a1.html.gz").write_bytes(gzip.compress(SOURCE))
    (folder / "ground-truth.json").write_text(
        json.dumps({"a1": {"url": "https://a.example/kettle", **TRUTH}})
    )
    for name in SERVICES:
        (folder / f"output-{name}.json").write_text(json.dumps({"a1": {"price": "24.50", "sku": "18"}}))


@pytest.mark.parametrize(
    ("given", "right", "counts"),
    [
        ("24.50", ["24.5 "], (1, 0, 0)),
        ("24", ["24.5", "24"], (1, 0, 0)),
        ("25", ["24.5"], (0, 1, 1)),
        ("25", [], (0, 1, 0)),
        ("", ["24.5"], (0, 0, 1)),
        (None, [], (0, 0, 0)),
        ("on request", ["24.5"], (0, 1, 1)),
    ],
)
def test_prices_are_counted_as_in_the_benchmark(
    given: str | None, right: list[str], counts: tuple[int, ...]
) -> None:
    assert judged(given, right, numbers=True) == counts


def test_codes_are_compared_as_they_are() -> None:
    assert judged("017", ["17"], numbers=False) == (0, 1, 1)


def test_f1_of_all_pages_is_a_ratio_of_sums() -> None:
    above, below = f1_parts([Counts(1, 0, 0), Counts(0, 1, 1), Counts(0, 0, 1)])
    assert sum(above) / sum(below) == 2 / 5


def test_a_page_is_measured_with_all_systems() -> None:
    outputs = {name: {"price": "24.50", "sku": "18"} for name in SERVICES}
    row = measure_page(ProductPage("a1", "https://a.example/kettle", SOURCE, TRUTH, outputs))
    assert row["counts"]["domsieve"] == {name: [1, 0, 0] for name in TRUTH}
    assert row["counts"]["Zyte"] == {"price": [1, 0, 0], "sku": [0, 1, 1], "availability": [0, 1, 1]}


def test_the_corpus_is_read_and_the_table_has_its_figures(tmp_path: Path) -> None:
    write_corpus(tmp_path / "products")
    assert page_names(tmp_path) == ["a1"]
    (task,) = PRODUCTS.tasks(Inputs(tmp_path, tmp_path))
    scores, *others = PRODUCTS.tables(task.measure())
    assert others == []
    assert scores.rows[0][1:4] == ["1.000 [1.000, 1.000]", 1.0, 1.0]
    types = PRODUCTS.tables([{"page": "1", "type": "article", "half": "test", "product": False}])[0]
    assert types.rows == [["article", 1, 0]]
    (tmp_path / "products" / "ground-truth.json").write_text("{}")
    with pytest.raises(TargetError, match="product pages"):
        product_pages(tmp_path, ("a1",))
