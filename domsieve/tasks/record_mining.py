"""Find the records of pages with a named method."""

from collections.abc import Iterator, Sequence

from domsieve.analysis.registry import MINERS, MethodParams, MiningMethod
from domsieve.analysis.writers.record_tables import RecordSheet
from domsieve.errors import DomsieveError
from domsieve.tasks.pages import Page
from domsieve.types import FieldName


def mine(
    pages: Sequence[Page],
    *,
    method: MiningMethod = "wobm",
    params: MethodParams | None = None,
    fields: Sequence[FieldName] = (),
) -> Iterator[tuple[Page, RecordSheet | DomsieveError]]:
    """Yield each page with its records or the error of reading it, in the order of `pages`.

    ``"tps+mdr"`` looks for data records by tree matching in what the tag path filter keeps, as in its paper.

    Parameters
    ----------
    method, params : the method and its parameters.
    fields : the fields of each record, in this order; empty for all that the page has.
    """
    miner = MINERS[method].make(params)
    for page in pages:
        result: RecordSheet | DomsieveError
        try:
            with page.at_work("mine"):
                snapshot = page.read()
                result = RecordSheet.of(snapshot, miner.transform(snapshot), fields)
        except DomsieveError as error:
            result = error
        yield page, result
