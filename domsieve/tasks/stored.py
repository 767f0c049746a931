"""Pages of archives as Snapshots: raw source, with the status and the date of the answer that it came in."""

from dataclasses import replace

import msgspec

from domsieve.archive.stored_page import StoredPage
from domsieve.budget import spending
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot


def read_stored(page: StoredPage, *, address: str = "") -> Snapshot:
    """Return a page of a file or an archive, parsed; `address` is where it came from if it does not say itself.

    Raises
    ------
    ContentError : the archive does not hold it any more.
    TargetError : the file cannot be read.
    BudgetError : reading it took too much.
    """
    url = page.url or address or page.label
    with spending("read", url):
        body = page.load()
        parsed = parse_html(body.source, url=url, content_type=page.content_type)
    origin = parsed.provenance
    reasons = (*map(str, body.cuts), *origin.reasons)
    return replace(
        parsed,
        provenance=msgspec.structs.replace(
            origin,
            status=page.status,
            captured_at=page.captured_at,
            complete=not reasons,
            reasons=reasons,
        ),
    )
