"""Whether the source of a page is enough, by its rendered version: content, hidden text, and links."""

import msgspec

from domsieve.analysis.columns.links import Addresses
from domsieve.analysis.columns.page_columns import attributes_of, has_tag
from domsieve.analysis.compare.comparison import Outcome, Overlap, content_overlaps
from domsieve.analysis.verdict import Verdict
from domsieve.budget import check
from domsieve.snapshot.page import Snapshot

LEAST_RECALL = 0.95
"""The least share of the words of the rendered page's content that are in its source."""
LEAST_VISIBLE = 0.98
"""The least share of the words that cleaning the source keeps that are visible on the rendered page."""
LEAST_LINKS = 0.99
"""The least share of the links of the rendered page that are in its source."""

_FEWEST_WORDS = 20
_LEAST_OF_SOURCE = 0.5
_MOST_LINKS = 10_000


class Sufficiency(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of a page's source with its rendered version.

    Parameters
    ----------
    outcome, why : as in `BrowserNeed`.
    content : words of the rendered page's content, searched for in the source.
    content_of_raw : words of the source's content, searched for on the rendered page.
    links : links of the rendered page, searched for in the source.
    """

    outcome: Outcome
    why: str
    content: Overlap
    content_of_raw: Overlap
    links: Overlap


def compare_source(
    raw: Snapshot, rendered: Snapshot, *, raw_verdict: Verdict, verdict: Verdict
) -> Sufficiency:
    """Compare the source of a page with its rendered version.

    Parameters
    ----------
    raw : the parsed source.
    rendered : the rendered page.
    raw_verdict, verdict : what the default method keeps of both, without hidden text.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    content, content_of_raw = content_overlaps(raw, rendered, raw_verdict=raw_verdict, verdict=verdict)
    there, here = _links(rendered), _links(raw)
    links = Overlap(wanted=len(there), found_in=len(here), both=len(there & here))
    outcome, why = _judged(rendered, content, content_of_raw, links)
    return Sufficiency(outcome=outcome, why=why, content=content, content_of_raw=content_of_raw, links=links)


def _judged(
    rendered: Snapshot, content: Overlap, content_of_raw: Overlap, links: Overlap
) -> tuple[Outcome, str]:
    if not rendered.provenance.complete:
        return "unknown", "the rendered page is incomplete"
    if content.wanted < _FEWEST_WORDS:
        return "unknown", f"the rendered page has {content.wanted} words of content"
    if content.wanted < _LEAST_OF_SOURCE * content_of_raw.wanted:
        return "unknown", "the rendered page has much less content than its source"
    if content.recall < LEAST_RECALL:
        return "needed", f"the source shows {_percent(content.recall)} of the content"
    if content_of_raw.recall < LEAST_VISIBLE:
        return "needed", f"{_percent(1 - content_of_raw.recall)} of the text in the source is hidden"
    if links.recall < LEAST_LINKS:
        return "needed", f"the source has {_percent(links.recall)} of the links"
    return "enough", ""


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _links(page: Snapshot) -> set[str]:
    """Return the addresses that a page links to, without fragments."""
    addresses = Addresses(page)
    linking = has_tag(page, "a", "area")
    nodes, values = attributes_of(page).values("href")
    found: set[str] = set()
    for node, value in zip(nodes.tolist(), values, strict=True):
        check()
        if linking[node] and (address := addresses.absolute(node, value, linked=True)):
            found.add(address.partition("#")[0])
            if len(found) == _MOST_LINKS:
                break
    return found
