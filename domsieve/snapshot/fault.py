"""Definite page failures: an HTTP error, no HTML, no text, an empty document, or a load that was cut before any text.

A fault is computed from the Snapshot whenever it is needed and never stored, so pages in older caches are judged by
the same rules. What is only probable, such as a consent wall, is a flag of the analysis.
"""

from http import HTTPStatus
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from domsieve.errors import ContentError, FaultReason, NavigationError, PageError
from domsieve.snapshot.page import Kind, Snapshot

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
"""Content types of HTML pages."""

_FIRST_ERROR = 400
_TEMPORARY = frozenset({408, 425, 429, 500, 502, 503, 504})
_NO_TEXT = frozenset(["script", "style", "template", "title"])
# Elements that show something without any text in the page.
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
# Text is told from binary data by its first characters. All limits are guesses that worked on the development sites.
_SAMPLE_SIZE = 4_000
_CHUNK = 128
_MIN_ODD = 16
_MAX_ODD_RATIO = 0.1
_MAX_REPLACED_RATIO = 0.5
_REPLACED = "\ufffd"
_ODD = frozenset(map(chr, (*range(9), 11, *range(14, 32), *range(127, 160))))


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a page counts as failed.

    Parameters
    ----------
    reason : see `domsieve.errors.PageError`.
    detail : a sentence for people.
    retry : a later request may succeed.
    timed_out : the page ran out of time.
    """

    reason: FaultReason
    detail: str
    retry: bool = False
    timed_out: bool = False

    def error(self, url: str) -> PageError:
        """Return the fault as an error about the page at `url`."""
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


# Reading, learning, cleaning and the verdict each need the fault, and a page never changes.
_CACHE: WeakKeyDictionary[Snapshot, Fault | None] = WeakKeyDictionary()


def fault_of(page: Snapshot) -> Fault | None:
    """Return why a page counts as failed, or None if it does not.

    The first call for a page takes O(N), later ones are free.
    """
    if page not in _CACHE:
        _CACHE[page] = _find_fault(page)
    return _CACHE[page]


def _find_fault(page: Snapshot) -> Fault | None:
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
            retry=origin.status in _TEMPORARY,
        )
    texts = _sample_texts(page, only_shown=not origin.complete)
    if not texts:
        return _fault_without_text(page)
    if _is_data(texts):
        return Fault(reason="binary", detail="It is data, not text, whatever its type says.")
    return None


def check_fault(page: Snapshot) -> Snapshot:
    """Return `page` unchanged unless it counts as failed.

    Raises
    ------
    PageError : the page counts as failed; the message says why.
    """
    if fault := fault_of(page):
        raise fault.error(page.provenance.url)
    return page


def _fault_without_text(page: Snapshot) -> Fault | None:
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
    present = {names[tag] for tag in np.unique(page.tag).tolist()}
    if not present.isdisjoint(_PICTURES):
        return None
    # In a browser, scripts or custom elements may fill what is empty in the raw source.
    if not page.has_layout and ("script" in present or any("-" in name for name in present)):
        return None
    return Fault(reason="empty", detail="The document is empty: it has no text and no picture.")


def _sample_texts(page: Snapshot, *, only_shown: bool) -> list[str]:
    """Return the first non-blank texts of the page, of about `_SAMPLE_SIZE` characters in total.

    In raw pages, texts in ``noscript`` and in what the parser takes for the head count as well. `only_shown` excludes
    texts that have no layout box yet.
    """
    names = page.tags.to_list()
    excluded = _NO_TEXT | {"head", "noscript"} if page.has_layout else _NO_TEXT
    roots = np.array([name in excluded for name in names])[page.tag] & (page.kind == Kind.ELEMENT)
    opened = np.bincount(np.flatnonzero(roots), minlength=len(page) + 1)
    closed = np.bincount(page.end[roots], minlength=len(page) + 1)
    selected = (page.text >= 0) & (np.cumsum(opened - closed)[:-1] == 0)
    if only_shown and page.has_layout:
        selected &= page.style >= 0
    ids = page.text[selected]
    texts: list[str] = []
    size = 0
    # In chunks: the first texts of most pages are enough, and reading one text at a time is slower.
    for first in range(0, ids.size, _CHUNK):
        for piece in page.strings.take(ids[first : first + _CHUNK].tolist()):
            text = piece.strip(_BLANKS)
            if text:
                texts.append(text[:_SAMPLE_SIZE])
                size += len(text)
            if size >= _SAMPLE_SIZE:
                return texts
    return texts


def _is_data(texts: list[str]) -> bool:
    """Return whether the texts are binary data, such as a picture that the server sent as ``text/html``."""
    text = "".join(texts)
    replaced = text.count(_REPLACED)
    controls = sum(map(text.count, _ODD.intersection(text)))
    odd = replaced + controls
    if text.startswith("%PDF-") and " obj" in text:
        return True
    if odd < _MIN_ODD:
        return False
    # Text in a wrongly declared encoding has replacement characters, but no control characters.
    return odd > _MAX_REPLACED_RATIO * len(text) or (controls > 0 and odd > _MAX_ODD_RATIO * len(text))
