"""What is certainly wrong with a page: an error of its server, no HTML, no text, nothing, or cut before any text.

Decided from the Snapshot alone, whenever it is read, so that a page of any cache is judged and nothing that was kept
is lost. What is only likely, such as a wall in front of the content, is a mark of the analysis.
Imports the Snapshot, cuts, and the errors of the project.
"""

from http import HTTPStatus
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from domsieve.errors import ContentError, FaultReason, NavigationError, PageError
from domsieve.snapshot.page import Kind, Snapshot

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
"""Content types of pages."""

_FIRST_ERROR = 400
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_NO_TEXT = frozenset(["script", "style", "template", "title"])
# They show something without a text of the page.
_PICTURES = frozenset(
    [
        "audio",
        "canvas",
        "embed",
        "frame",
        "iframe",
        "image",
        "img",
        "math",
        "object",
        "picture",
        "svg",
        "video",
    ]
)
_BLANKS = " \t\n\r\f"
# Of the text at the beginning of a page, by which it is told from data.
_LOOKED_AT = 4_000
_AT_ONCE = 128
_ODD_AT_LEAST = 16
_MOST_ODD_RATIO = 0.1
_MOST_REPLACED_RATIO = 0.5
_REPLACED = "\ufffd"
_ODD = frozenset(map(chr, (*range(9), 11, *range(14, 32), *range(127, 160))))


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a page counts as failed.

    Parameters
    ----------
    reason : see `domsieve.errors.PageError`.
    detail : a sentence for people.
    retry : whether the page may be there later.
    timed_out : whether its time was used up.
    """

    reason: FaultReason
    detail: str
    retry: bool = False
    timed_out: bool = False

    def error(self, url: str) -> PageError:
        """Return it as the error of the page at `url`."""
        if self.reason == "cut":
            stage = "time" if self.timed_out else "navigate"
            return NavigationError(
                self.detail,
                reason=self.reason,
                url=url,
                stage=stage,
                retry=self.retry,
                timed_out=self.timed_out,
            )
        return ContentError(self.detail, reason=self.reason, url=url, retry=self.retry)


# Reading, learning, cleaning and the verdict each ask, and a page never changes.
_FOUND: WeakKeyDictionary[Snapshot, Fault | None] = WeakKeyDictionary()


def fault_of(page: Snapshot) -> Fault | None:
    """Return why a page counts as failed, None for one that does not; O(N) when it is first asked about."""
    if page not in _FOUND:
        _FOUND[page] = _found(page)
    return _FOUND[page]


def _found(page: Snapshot) -> Fault | None:
    origin = page.provenance
    kind = origin.content_type.partition(";")[0].strip().lower()
    if "/" in kind and kind not in HTML_TYPES:
        return Fault(reason="type", detail=f"It is {kind[:100]}, not an HTML page.")
    if origin.was_cut_by("download"):
        return Fault(reason="type", detail=f"It is not an HTML page; {'; '.join(origin.reasons)}.")
    if origin.status is not None and origin.status >= _FIRST_ERROR:
        known = origin.status in HTTPStatus.__members__.values()
        name = f" ({HTTPStatus(origin.status).phrase})" if known else ""
        return Fault(
            reason="status",
            detail=f"The server answers HTTP {origin.status}{name}.",
            retry=origin.status in _PASSING,
        )
    texts = _texts(page, shown=not origin.complete)
    if not texts:
        return _without_text(page)
    if _is_data(texts):
        return Fault(reason="binary", detail="It is data, not text, whatever its type says.")
    return None


def check_fault(page: Snapshot) -> Snapshot:
    """Return a page that does not count as failed.

    Raises
    ------
    PageError : it does; the error says why.
    """
    if fault := fault_of(page):
        raise fault.error(page.provenance.url)
    return page


def _without_text(page: Snapshot) -> Fault | None:
    origin = page.provenance
    if not origin.complete:
        timed_out = origin.was_cut_by("time")
        return Fault(
            reason="cut",
            detail=f"Nothing of the page arrived: {'; '.join(origin.reasons).removesuffix('.')}.",
            retry=timed_out,
            timed_out=timed_out,
        )
    names = page.tags.to_list()
    there = {names[tag] for tag in np.unique(page.tag).tolist()}
    if not there.isdisjoint(_PICTURES):
        return None
    # Scripts may bring what a browser would show of a raw page; elements of their own need them.
    if not page.has_layout and ("script" in there or any("-" in name for name in there)):
        return None
    return Fault(reason="empty", detail="The document is empty: it has no text and no picture.")


def _texts(page: Snapshot, *, shown: bool) -> list[str]:
    """Return the texts with which the page begins, as many as tell whether they are texts; blank ones left out.

    Raw pages may have all of theirs for readers without scripts, or where the parser takes them for the head.
    `shown` leaves out those that had no place in the layout yet.
    """
    names = page.tags.to_list()
    unread = _NO_TEXT | {"head", "noscript"} if page.has_layout else _NO_TEXT
    silent = np.array([name in unread for name in names])[page.tag] & (page.kind == Kind.ELEMENT)
    opened = np.bincount(np.flatnonzero(silent), minlength=len(page) + 1)
    closed = np.bincount(page.end[silent], minlength=len(page) + 1)
    found = (page.text >= 0) & (np.cumsum(opened - closed)[:-1] == 0)
    if shown and page.has_layout:
        found &= page.style >= 0
    ids = page.text[found]
    texts: list[str] = []
    size = 0
    # Some at a time: most pages show soon that they have words, and one text after the other costs more to read.
    for first in range(0, ids.size, _AT_ONCE):
        for piece in page.strings.take(ids[first : first + _AT_ONCE].tolist()):
            text = piece.strip(_BLANKS)
            if text:
                texts.append(text[:_LOOKED_AT])
                size += len(text)
            if size >= _LOOKED_AT:
                return texts
    return texts


def _is_data(texts: list[str]) -> bool:
    """Return whether what was read as text is none, such as a picture that a server calls a page."""
    text = "".join(texts)
    replaced = text.count(_REPLACED)
    controls = sum(map(text.count, _ODD.intersection(text)))
    odd = replaced + controls
    if text.startswith("%PDF-") and " obj" in text:
        return True
    if odd < _ODD_AT_LEAST:
        return False
    # Text in another encoding than it says has replaced characters alone.
    return odd > _MOST_REPLACED_RATIO * len(text) or (controls > 0 and odd > _MOST_ODD_RATIO * len(text))
