"""What of a short page a person reads: its title, headings and texts, folded. Imports the columns.

Marks are for short pages alone: a wall has little to say, and a page that says much is no wall.
"""

from dataclasses import dataclass

import numpy as np

from domsieve.analysis.columns.batch import below
from domsieve.analysis.columns.flow import heard_texts
from domsieve.analysis.columns.hidden import hidden_texts
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.texts import page_texts
from domsieve.analysis.columns.visible import never_shown, shown_nodes
from domsieve.snapshot.page import Kind, Snapshot

MOST_CHARACTERS = 12_000
"""What a page may have to say, of text that is shown, for a mark to be looked for."""

_WIDE = 0x2E80  # from here on a character says as much as half a word
_ACTIVE = frozenset(["a", "button", "label", "option", "select", "summary"])
_HEADINGS = frozenset(["h1", "h2"])
_LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True)
class Block:
    """A block of text.

    Parameters
    ----------
    text : folded, with a blank on either side.
    words : its length; half a word for a character of scripts without spaces.
    path : tags from the root down.
    is_active : whether most of it stands in links, buttons and the like.
    """

    text: str
    words: int
    path: str
    is_active: bool

    @property
    def is_heading(self) -> bool:
        """Whether it is a heading of the first or second level."""
        return not _HEADINGS.isdisjoint(self.path.split("/"))


@dataclass(frozen=True, slots=True)
class Face:
    """What is read.

    Parameters
    ----------
    title : of the head, as it stands there.
    blocks : of the body, in document order.
    asks_password : whether there is a field for a password.
    """

    title: str
    blocks: tuple[Block, ...]
    asks_password: bool

    @property
    def words(self) -> int:
        """Number of words."""
        return sum(block.words for block in self.blocks)

    @property
    def plain_words(self) -> int:
        """Number of words in blocks that nothing happens at: no menus, buttons and lists of links."""
        return sum(block.words for block in self.blocks if not block.is_active)


def face_of(page: Snapshot) -> Face | None:
    """Return what a short page says; None for a long one. Linear in its nodes."""
    shown = shown_nodes(page)
    texts = np.flatnonzero(shown & (page.text >= 0))
    lengths = np.diff(page.strings.offsets)[page.text[texts]]
    if int(np.minimum(lengths, 4 * MOST_CHARACTERS).sum()) > 4 * MOST_CHARACTERS:
        return None  # without a look at the texts; a character has four bytes at most
    if _fewest_words(page) * 6 > MOST_CHARACTERS:
        return None  # without a look at the blocks
    blocks = page_blocks(page)
    many = [_words(text) for text in blocks.text]
    if (
        sum(words for words, hidden in zip(many, blocks.hidden.tolist(), strict=True) if not hidden) * 6
        > MOST_CHARACTERS
    ):
        return None
    names = page.tags.to_list()
    tag_is = {name: number for number, name in enumerate(names)}
    active = np.isin(page.tag, [tag_is[name] for name in _ACTIVE if name in tag_is])
    active = below(active & (page.kind == Kind.ELEMENT), page.end.astype(np.int64))
    size = np.array([len(text.strip()) for text in page_texts(page).of(blocks.node)], np.int64)
    whole = np.bincount(blocks.block, weights=size, minlength=len(blocks))
    acting = np.bincount(blocks.block, weights=size * active[blocks.node], minlength=len(blocks))
    found = [
        Block(f" {said} ", words, path, bool(a > w / 2))
        for said, words, path, hidden, a, w in zip(
            blocks.said,
            many,
            blocks.path,
            blocks.hidden.tolist(),
            acting.tolist(),
            whole.tolist(),
            strict=True,
        )
        if not hidden
    ]
    return Face(_title(page, names), tuple(found), _asks_password(page, shown, tag_is.get("input", -1)))


def _fewest_words(page: Snapshot) -> int:
    """Return how many words the blocks of a page have at least that can be seen.

    Where two texts touch, the last word of one and the first of the other are one.
    """
    heard, texts, blank, _ = heard_texts(page)
    seen = ~blank & (hidden_texts(page)[heard] == 0) & ~never_shown(page)[heard]
    return sum(len(texts[number].split()) - 1 for number in np.flatnonzero(seen).tolist())


def _words(text: str) -> int:
    words = len(text.split())
    return words if text.isascii() else words + sum(map(_WIDE.__le__, map(ord, text))) // 2


def _title(page: Snapshot, names: list[str]) -> str:
    if "title" not in names:
        return ""
    for node in np.flatnonzero(page.tag == names.index("title")).tolist():
        if names[page.tag[page.parent[node]]] == "head":
            texts = (page.text_of(inner) for inner in range(node + 1, int(page.end[node])))
            return "".join(texts)[:_LONGEST_TITLE]
    return ""


def _asks_password(page: Snapshot, shown: np.ndarray, tag: int) -> bool:
    fields = np.flatnonzero((page.tag == tag) & shown).tolist()
    return any(page.attributes(field).get("type", "").lower() == "password" for field in fields)
