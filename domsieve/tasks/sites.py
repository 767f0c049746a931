"""Pages of files and archives, and which of them belong to one site."""

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
    """Return the Snapshot of a page of a file or an archive.

    Parameters
    ----------
    address : the address of the page, if it does not state one.

    Raises
    ------
    ContentError : the archive no longer contains it.
    TargetError : the file cannot be read.
    BudgetError : reading it exceeded the budget.
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
"""The end of the name of a site of raw pages, which are never learned from together with rendered ones."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Placed:
    """The site and the address of a page.

    Parameters
    ----------
    site : pages with equal sites are learned from together.
    address : the address of the page; empty if unknown.
    keys : pages that share a key are the same page.
    """

    site: str
    address: str
    keys: tuple[str, ...]


def placed(pages: Sequence[tuple[str, Callable[[], PageOrigin | None]]]) -> list[Placed]:
    """Return the site of each page: by its address, or else by how similar it is to the others in its folder.

    Parameters
    ----------
    pages : the folder of each page, and a function that returns the origin that its source states, or None.
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
            # Pages that cannot be told apart stay together, because most folders contain one site.
            alone = group.isdecimal() and len(nameless) > 1
            sites[number] = (
                f"{folder} ({group})" if alone else folder if group.isdecimal() else group or folder
            )
    return [Placed(site, fact.address, fact.keys) for site, fact in zip(sites, facts, strict=True)]


def once(pages: Iterable[T], keys_of: Callable[[T], Sequence[str]]) -> list[T]:
    """Return the pages without repetitions under other names."""
    seen: set[str] = set()
    found: list[T] = []
    for page in pages:
        keys = keys_of(page)
        if seen.isdisjoint(keys):
            found.append(page)
        seen.update(keys)
    return found
