"""Pages of one site: which belong together, and pages that archives and files hold."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from domsieve.analysis.site_groups import groups_of, traits_of
from domsieve.archive.stored_page import StoredPage
from domsieve.budget import spending
from domsieve.renderer.html_parser.content import PageOrigin
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.targets import site_of


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


RAW = "(raw)"
"""Ends the name of a site whose pages are source alone: these are never learned from together with rendered ones."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a page belongs.

    Parameters
    ----------
    site : pages of an equal site are learned from together.
    address : of the page, empty where it is not known.
    keys : pages with one of these in common are the same page.
    """

    site: str
    address: str
    keys: tuple[str, ...]


def placed(pages: Sequence[tuple[str, Callable[[], PageOrigin | None]]]) -> list[Placed]:
    """Return where each page belongs: by its address, else by likeness to the others of its folder.

    Parameters
    ----------
    pages : the folder of each, and what returns what its source says of itself; None where it cannot be read.
    """
    origins = [origin() for _, origin in pages]
    facts = [Placed("", o.address, o.keys) if o else Placed("", "", ()) for o in origins]
    sites = [f"{site_of(fact.address)} {RAW}" if fact.address else "" for fact in facts]
    by_folder: dict[str, list[int]] = {}
    for number, (folder, _) in enumerate(pages):
        by_folder.setdefault(folder, []).append(number)
    for folder, numbers in by_folder.items():
        if all(sites[number] for number in numbers):
            continue
        traits = [traits_of(found.source if (found := origins[number]) else b"") for number in numbers]
        groups = groups_of(traits, [sites[number] for number in numbers])
        nameless = {group for group in groups if group.isdecimal()}
        for number, group in zip(numbers, groups, strict=True):
            # What cannot be told apart stays together, as pages of one folder mostly belong.
            alone = group.isdecimal() and len(nameless) > 1
            sites[number] = (
                f"{folder} ({group})" if alone else folder if group.isdecimal() else group or folder
            )
    return [Placed(site, fact.address, fact.keys) for site, fact in zip(sites, facts, strict=True)]


def once(pages: Iterable[T], keys_of: Callable[[T], Sequence[str]]) -> list[T]:
    """Return the pages without those that were there before under another name."""
    seen: set[str] = set()
    found: list[T] = []
    for page in pages:
        keys = keys_of(page)
        if seen.isdisjoint(keys):
            found.append(page)
        seen.update(keys)
    return found
