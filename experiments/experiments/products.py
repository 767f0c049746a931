"""Price, SKU and availability of single product pages, and which pages are taken for products."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from domsieve.analysis.metadata.product import find_product, read_product
from domsieve.renderer.html_parser.parser import parse_html
from experiments.corpora.product_pages import SERVICES, ProductPage, page_names, product_pages
from experiments.corpora.wcxb_metadata import without_structured_data
from experiments.corpora.wcxb_pages import page_files, read_page
from experiments.frame.experiment import Experiment, Inputs, Row, Task, chunk_tasks
from experiments.frame.tables import Cell, Table, with_interval
from experiments.measures.papers import ratio_with_interval
from experiments.measures.product_scores import Counts, f1_parts, judged

CHUNK, WCXB_CHUNK = 35, 200
SEED = 0
ATTRIBUTES = ("price", "sku", "availability")
_OUT = frozenset(("Discontinued", "OutOfStock", "SoldOut"))
PREFACE = """\
Price, SKU and availability of 70 of the 140 pages of scrapinghub/product-extraction-benchmark (the corpus has one
half), from the raw HTML and the address, beside the outputs of three systems in the benchmark. The count is that
of the benchmark: an attribute has at most one value, several can be right, and a wrong value where there is a
right one is both a false positive and a false negative. Prices are compared as numbers, other values as they are.
Where a system gives no availability, the product is taken to be in stock, as in the benchmark.

- Our rules were made on these pages. Those of the other half were not seen.
- The outputs of Zyte, Diffbot and extruct are of 2021. Zyte and Diffbot rendered the pages; domsieve and extruct had
  the HTML.
- *Without JSON-LD and OpenGraph*: these are taken out of the source, so that microdata and texts are left.
- Two of the wrong prices are amounts such as `$3.340` in Chile, which the truth has as 3.34. The two wrong SKUs are
  tokens of a session in the truth.
- Intervals are 95 %, bootstrap over domains.
- Second table: on which pages of WCXB the metadata name a product, by the type that people gave them.
"""

Values = Mapping[str, str]


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per chunk of pages of both corpora."""
    names = page_names(inputs.data)
    chunks = [tuple(names[start : start + CHUNK]) for start in range(0, len(names), CHUNK)]
    products = [
        Task(f"products-{number}", partial(measure, inputs, chunk), (inputs.data / "products",))
        for number, chunk in enumerate(chunks)
    ]
    return [*products, *chunk_tasks(page_files(inputs.data), WCXB_CHUNK, measure_types)]


def measure(inputs: Inputs, names: tuple[str, ...]) -> list[Row]:
    """Return a row per product page."""
    return [measure_page(page) for page in product_pages(inputs.data, names)]


def measure_page(page: ProductPage) -> Row:
    """Return the counts of a page, by system and attribute."""
    systems: dict[str, Callable[[], Values]] = {
        "domsieve": partial(read, page.source, page.url),
        "domsieve, without JSON-LD and OpenGraph": partial(
            read, without_structured_data(page.source), page.url
        ),
        **{name: partial(page.outputs.__getitem__, name) for name in SERVICES},
    }
    found = {}
    for name, system in systems.items():
        values = {"availability": "InStock"} | {key: value for key, value in system().items() if value}
        found[name] = {
            attribute: list(
                judged(values.get(attribute), page.truth.get(attribute, ()), numbers=attribute == "price")
            )
            for attribute in ATTRIBUTES
        }
    return {"page": page.name, "domain": page.domain, "counts": found}


def read(source: bytes, url: str) -> Values:
    """Return what domsieve reads of a product page."""
    product = find_product(parse_html(source, url=url, encoding="utf-8"))
    term = product.availability
    return {
        "price": product.price,
        "sku": product.sku,
        "availability": ("OutOfStock" if term in _OUT else "InStock") if term else "",
    }


def measure_types(files: tuple[tuple[Path, Path], ...]) -> list[Row]:
    """Return a row per page of WCXB: its type, and whether it is taken for a product."""
    rows: list[Row] = []
    for pair in files:
        page = read_page(*pair)
        found = read_product(parse_html(page.source, url=page.url, encoding="utf-8"))
        rows.append({"page": page.name, "type": page.type, "half": page.half, "product": found is not None})
    return rows


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the tables of the rows that are there."""
    products = [row for row in rows if "counts" in row]
    typed = [row for row in rows if "type" in row]
    return [*([_scores(products)] if products else []), *([_types(typed)] if typed else [])]


def _scores(rows: Sequence[Row]) -> Table:
    domains = [row["domain"] for row in rows]
    lines: list[list[Cell]] = []
    for system in rows[0]["counts"]:
        cells: list[Cell] = [system]
        for attribute in ATTRIBUTES:
            counts = [Counts(*row["counts"][system][attribute]) for row in rows]
            right = sum(one.right for one in counts)
            cells += [
                with_interval(*ratio_with_interval(*f1_parts(counts), domains, seed=SEED)),
                right / max(sum(one.right + one.wrong for one in counts), 1),
                right / max(sum(one.right + one.missed for one in counts), 1),
            ]
        lines.append(cells)
    head = [name for attribute in ATTRIBUTES for name in (f"{attribute}, F1", "precision", "recall")]
    return Table(
        f"Attributes of {len(rows)} product pages of {len(set(domains))} domains", ("system", *head), lines
    )


def _types(rows: Sequence[Row]) -> Table:
    lines: list[list[Cell]] = []
    for name in sorted({row["type"] for row in rows}):
        same = [row for row in rows if row["type"] == name]
        lines.append([name, len(same), sum(row["product"] for row in same)])
    return Table("Pages of WCXB that metadata take for a product", ("type", "pages", "products"), lines)


PRODUCTS = Experiment(
    "products",
    "Products of single pages",
    ("products", "wcxb"),
    tasks,
    tables,
    None,
    PREFACE,
)
"""Price, SKU and availability of single product pages."""
