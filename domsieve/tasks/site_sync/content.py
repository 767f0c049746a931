"""The content of pages of a site: cleaned with the same models in every run, as passages and as files."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from domsieve.analysis.changes.passages import Passage
from domsieve.analysis.changes.recutting import cut_as_before
from domsieve.analysis.cleaning.hidden_text import drop_hidden
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.compare.carrying import carried_over
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.metadata.title import restore_title
from domsieve.analysis.registry import (
    DEFAULT_METHOD,
    MIN_SITE_PAGES,
    MethodParams,
    new_site_model,
    page_cleaner,
)
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.chunks import chunks_of
from domsieve.analysis.writers.formats import write_page
from domsieve.analysis.writers.text import write_text
from domsieve.budget import Meter
from domsieve.errors import BudgetError
from domsieve.sanitize import utf8
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.tasks.postprocess import judged, with_condition
from domsieve.tasks.site_learning import NODES_AT_ONCE
from domsieve.tasks.site_sync.state import Kept, Loaded
from domsieve.types import SyncFormat

_DEPTH = 5
"""Levels of elements that tell templates apart; a guess."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a version of a page.

    Parameters
    ----------
    snapshot : the page.
    verdict : what is kept of it.
    passages : its passages, without ids.
    """

    snapshot: Snapshot
    verdict: Verdict
    passages: tuple[Passage, ...]


class Cleaner:
    """Cleans the pages of a site with the models of the site.

    Parameters
    ----------
    models : by how pages were loaded; without one, pages are cleaned by themselves.
    """

    def __init__(self, models: dict[Loaded, SiteModel[Any]] | None = None) -> None:
        self.models = models or {}

    def learn(self, loaded: Loaded, pages: Iterable[Snapshot]) -> SiteModel[Any] | None:
        """Learn the site anew from its pages that were loaded in one way; None if they are too few.

        Pages that cost too much are left out.
        """
        model = new_site_model(DEFAULT_METHOD, MethodParams())
        model.fit(())
        held: list[Snapshot] = []
        for page in pages:
            held.append(page)
            if sum(map(len, held)) >= NODES_AT_ONCE:
                _learn(model, held)
                held = []
        _learn(model, held)
        if model.learned < MIN_SITE_PAGES:
            self.models.pop(loaded, None)
            return None
        self.models[loaded] = model
        return model

    def content(
        self, page: Snapshot, *, before: tuple[Snapshot, Kept] | None = None, url: str = ""
    ) -> Content:
        """Return the content of a page.

        Parameters
        ----------
        page : the page.
        before : its last version, loaded in the same way: what was decided on its texts is decided again, and its
            passages are cut at the same places. None without one.
        url : address of the page, for messages.

        Raises
        ------
        BudgetError : the page exceeded its budget.
        """
        loaded = loaded_of(page)
        model = self.models.get(loaded)
        judge: Callable[[Snapshot], Verdict] = model.transform if model else page_cleaner(DEFAULT_METHOD)
        with Meter(url or page.provenance.url).running("clean"):
            verdict = restore_title(page, judged(page, judge, hidden="layout", may_change=True))
            if before is not None and before[1].nodes == len(before[0]):
                verdict = carried_over(verdict, page, old=before[0], old_kept=before[1].nodes_kept)
            verdict = with_condition(page, verdict)
            passages = [
                Passage(headings=chunk.headings, fragment=chunk.fragment, text=chunk.text)
                for chunk in chunks_of(page, verdict)
            ]
            if before is not None:
                passages = cut_as_before(passages, before[1].passages)
        return Content(page, verdict, tuple(passages))


def loaded_of(page: Snapshot) -> Loaded:
    """Return how a page was loaded."""
    return "rendered" if page.has_layout else "fetched"


def all_text(page: Snapshot) -> str:
    """Return all visible text of a page.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with Meter(page.provenance.url).running("clean"):
        return write_text(page, drop_hidden(page, NoCleaning().transform(page), hidden="layout"))


def file_content(content: Content, passages: Sequence[Passage], form: SyncFormat) -> bytes:
    """Return what the file of a page holds.

    Parameters
    ----------
    content : the page.
    passages : its passages, with ids.
    form : the format.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    page = content.snapshot
    with Meter(page.provenance.url).running("write"):
        if form != "chunks":
            return utf8(write_page(page, content.verdict, form)).encode()
        fields = msgspec.to_builtins(read_metadata(page))
        metadata = {name: value for name, value in fields.items() if value}
        url = page.provenance.final_url
        expected = content.verdict.expected_f1
        lines = [
            {
                "id": passage.id,
                "url": url,
                "address": f"{url}#{passage.fragment}" if passage.fragment and "#" not in url else url,
                "number": number,
                "of": len(passages),
                "headings": passage.headings,
                "fragment": passage.fragment,
                "text": passage.text,
                "metadata": metadata,
                "expected_f1": None if expected is None else round(expected, 3),
            }
            for number, passage in enumerate(passages, 1)
        ]
        return "".join(utf8(json.dumps(line, ensure_ascii=False)) + "\n" for line in lines).encode()


def template_of(page: Snapshot) -> str:
    """Return a hash of the outline of a page: the upper levels of its elements, without repetitions."""
    paths = _paths(page, depth=_DEPTH)
    return hashlib.blake2b("\n".join(sorted(paths)).encode("utf-8", "replace"), digest_size=6).hexdigest()


def known_share(page: Snapshot, old: Snapshot) -> float:
    """Return the share of the texts of a page, in [0, 1], that are in elements which its last version has as well."""
    texts, known = _text_paths(page), {*_text_paths(old)}
    return sum(path in known for path in texts) / len(texts) if texts else 1.0


def _learn(model: SiteModel[Any], pages: Sequence[Snapshot]) -> None:
    if not pages:
        return
    try:
        model.partial_fit(pages)
    except BudgetError:
        for page in pages if len(pages) > 1 else ():
            with suppress(BudgetError):
                model.partial_fit([page])


def _paths(page: Snapshot, *, depth: int) -> set[str]:
    names = _names(page)
    levels = np.zeros(len(page), np.int64)
    whole = [""] * len(page)
    found: set[str] = set()
    for node, above in enumerate(page.parent.tolist()):
        if above >= 0:
            levels[node] = levels[above] + 1
        if page.kind[node] == Kind.TEXT or levels[node] > depth:
            continue
        whole[node] = f"{whole[above] if above >= 0 else ''}/{names[node]}"
        found.add(whole[node])
    return found


def _text_paths(page: Snapshot) -> list[int]:
    """Return a hash of the elements around each text that is not blank."""
    names = _names(page)
    whole = [0] * len(page)
    found: list[int] = []
    for node, above in enumerate(page.parent.tolist()):
        if page.kind[node] == Kind.TEXT:
            if page.text_of(node).strip():
                found.append(whole[above])
        else:
            path = f"{whole[above] if above >= 0 else ''}/{names[node]}"
            whole[node] = int.from_bytes(
                hashlib.blake2b(path.encode("utf-8", "replace"), digest_size=8).digest(), "big"
            )
    return found


def _names(page: Snapshot) -> list[str]:
    """Return tag and classes of each node."""
    tags = page.tags.to_list()
    names = [tags[tag] for tag in page.tag.tolist()]
    owners = np.repeat(np.arange(len(page)), np.diff(page.attr_start))
    strings = page.strings
    class_ids = {number for number in np.unique(page.attr_name).tolist() if strings[number] == "class"}
    for owner, name, value in zip(
        owners.tolist(), page.attr_name.tolist(), page.attr_value.tolist(), strict=True
    ):
        if name in class_ids:
            names[owner] += "." + ".".join(sorted(strings[value].split()))
    return names
