"""Learn the fields of a site from examples, and read the fields of pages."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from domsieve.analysis.fields.alarm import FieldWatch
from domsieve.analysis.fields.examples import Example
from domsieve.analysis.fields.extraction import FieldValue, PageFields, extract
from domsieve.analysis.fields.fields_model import FieldsModel
from domsieve.analysis.fields.learning import MOST_PAGES, learn_fields
from domsieve.analysis.metadata.product import find_product
from domsieve.analysis.metadata.values import Product
from domsieve.analysis.writers.field_tables import FieldSheet
from domsieve.errors import DomsieveError, UsageError
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.pages import Page

PRODUCT_FIELDS = tuple(name for name in Product.__struct_fields__ if name not in {"sources", "nodes"})
"""The fields of pages without a model: those of a product in schema.org's terms."""

Failed = Callable[[Page, DomsieveError], None]


def learn_from(
    examples: Sequence[Example], pages_of: Mapping[int, Page], others: Sequence[Page], *, failed: Failed
) -> FieldsModel:
    """Return a model of the fields of a site.

    Parameters
    ----------
    examples : the examples.
    pages_of : the page of each example, by its number.
    others : other pages of the site; the first 40 that can be read are used.
    failed : called for each of `others` that cannot be read.

    Raises
    ------
    UsageError : the page of an example is missing, or the examples are wrong.
    DomsieveError : the page of an example cannot be read.
    """
    known: list[tuple[Example, Snapshot]] = []
    for number, example in enumerate(examples):
        if number not in pages_of:
            raise UsageError(
                f"{example.label}: its page {example.page} could not be read, so it cannot be learned from.",
                parameter="examples",
            )
        page = pages_of[number]
        with page.at_work("read"):
            known.append((example, page.read()))
    return learn_fields(known, _readable(others, failed))


def _readable(pages: Sequence[Page], failed: Failed) -> Iterator[Snapshot]:
    for page in pages[: 2 * MOST_PAGES + len(pages) // 10]:
        try:
            with page.at_work("read"):
                snapshot = page.read()
        except DomsieveError as error:
            failed(page, error)
        else:
            yield snapshot


def extract_fields(
    pages: Sequence[Page], model: FieldsModel | None, watch: FieldWatch | None = None
) -> Iterator[tuple[Page, FieldSheet | DomsieveError]]:
    """Yield each page with its fields or the error of reading it, in the order of `pages`.

    Parameters
    ----------
    pages, model : the pages and the model; without one, each page is read as the page of a product.
    watch : counts what is found, to notice fields that break.
    """
    for page in pages:
        result: FieldSheet | DomsieveError
        try:
            with page.at_work("fields"):
                snapshot = page.read()
                result = sheet_of(snapshot, model, url=page.label)
                if watch is not None:
                    watch.add(snapshot, result.found)
        except DomsieveError as error:
            result = error
        yield page, result


def sheet_of(page: Snapshot, model: FieldsModel | None, *, url: str) -> FieldSheet:
    """Return the fields of a page for the writers."""
    if model is None:
        return FieldSheet(url, _product_fields(find_product(page)), PRODUCT_FIELDS)
    return FieldSheet(url, extract(page, model), tuple(model.fields), model.records)


def _product_fields(product: Product) -> PageFields:
    """Return the fields of a product, each described by where it comes from.

    Nothing votes here, so the confidence is 1 for a value and 0 for none.
    """
    fields: dict[str, FieldValue] = {}
    for name in PRODUCT_FIELDS:
        if value := getattr(product, name):
            source = product.sources.get(name, "page")
            fields[name] = FieldValue(value, 1.0, product.nodes.get(name, -1), source)
        else:
            fields[name] = FieldValue(None, 0.0, -1, "")
    return PageFields(fields)
