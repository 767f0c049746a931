"""Whether a page says what its site says where there is no page. Imports the face of a page."""

import re
from collections import Counter

from domsieve.analysis.columns.words import fold
from domsieve.analysis.marks.face import Face, face_of
from domsieve.analysis.marks.mark import Mark
from domsieve.budget import spending
from domsieve.snapshot.page import Snapshot

_NUMBER = re.compile(r"[0-9]+")
_FEWEST_WORDS = 3


def missing_mark(page: Snapshot, missing: Snapshot) -> Mark | None:
    """Return the mark of a soft 404 for a page that shows what its site shows at an address that it cannot have.

    All texts must be the same, but for numbers and for what repeats the address: real pages that say little have a
    heading of their own.
    """
    with spending("marks", page.provenance.url):
        face, model = face_of(page), face_of(missing)
        if face is None or model is None or model.words < _FEWEST_WORDS:
            return None
        own, wanted = _said(face, page), _said(model, missing)
        if own != wanted:
            return None
        return Mark(kind="soft_404", evidence="it says what the site says of a made-up address")


def _said(face: Face, page: Snapshot) -> Counter[str]:
    """Return the texts, without those that name the last step of the address."""
    step = page.provenance.url.rstrip("/").replace("#", "/").rpartition("/")[2].lower()
    echo = " ".join(fold(step).split())
    texts = (block.text for block in face.blocks)
    return Counter(_NUMBER.sub("0", text) for text in texts if not echo or f" {echo} " not in text)
