"""Learn the fields of a site from example pages and unlabelled pages."""

from collections.abc import Iterable, Sequence

from domsieve.analysis.fields.examples import Example
from domsieve.analysis.fields.fields_model import FieldsModel
from domsieve.analysis.fields.labels import record_labels, site_labels
from domsieve.analysis.fields.page_learning import learn_pages
from domsieve.analysis.fields.places import PagePlaces, page_places
from domsieve.analysis.fields.record_learning import learn_records
from domsieve.budget import spending, spending_on_site
from domsieve.snapshot.page import Snapshot

MOST_PAGES = 40
"""Maximum number of unlabelled pages that are learned from; more add time and hardly any knowledge."""


def learn_fields(examples: Sequence[tuple[Example, Snapshot]], pages: Iterable[Snapshot] = ()) -> FieldsModel:
    """Return a model of the fields of a site.

    Parameters
    ----------
    examples : the examples with their pages; one to three are enough.
    pages : other pages of the site. The first 40 are used; those of examples do not count.

    Raises
    ------
    UsageError : a value is not on its page, or examples contradict each other.
    BudgetError : the pages cost too much time or memory.
    """
    known = {page.digest() for _, page in examples}
    all_pages = [page for _, page in examples]
    for page in pages:
        if len(all_pages) >= len(examples) + MOST_PAGES:
            break
        if (digest := page.digest()) not in known:
            known.add(digest)
            all_pages.append(page)
    read: list[PagePlaces] = []
    for page in all_pages:
        with spending("learn fields", page.provenance.url):
            read.append(page_places(page))
    with spending_on_site("learn fields", pages=len(read)):
        return _learned([example for example, _ in examples], read)


def _learned(examples: Sequence[Example], read: Sequence[PagePlaces]) -> FieldsModel:
    rows = [row for example in examples for row in (example.records or (example.fields,))]
    values = {value for row in rows for wanted in row.values() for value in wanted.values}
    in_lists = any(len(example.records) > 1 for example in examples)
    labels = (record_labels if in_lists else site_labels)(read, values)
    for places in read:
        places.describe(labels)
    learn = learn_records if examples[0].records else learn_pages
    return learn(examples, read, labels)
