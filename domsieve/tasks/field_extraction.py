"""Learn the fields of a site from examples, and read the fields of pages."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from domsieve.analysis.fields.alarm import FieldWatch
from domsieve.analysis.fields.examples import Example
from domsieve.analysis.fields.extraction import extract
from domsieve.analysis.fields.fields_model import FieldsModel
from domsieve.analysis.fields.learning import MOST_PAGES, learn_fields
from domsieve.analysis.writers.field_tables import FieldSheet
from domsieve.errors import DomsieveError, UsageError
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.pages import Page

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
    pages: Sequence[Page], model: FieldsModel, watch: FieldWatch | None = None
) -> Iterator[tuple[Page, FieldSheet | DomsieveError]]:
    """Yield each page with its fields or the error of reading it, in the order of `pages`.

    Parameters
    ----------
    pages, model : the pages and the model.
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


def sheet_of(page: Snapshot, model: FieldsModel, *, url: str) -> FieldSheet:
    """Return the fields of a page for the writers."""
    return FieldSheet(url, extract(page, model), tuple(model.fields), model.records)
