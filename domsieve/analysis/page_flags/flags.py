"""Page flags: a page is probably a consent wall, login wall, paywall, robot check or soft 404."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

from domsieve.analysis.columns.batch import below
from domsieve.analysis.columns.flow import heard_texts
from domsieve.analysis.columns.hidden import hidden_texts
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.visible import never_shown, shown_nodes
from domsieve.analysis.columns.words import fold
from domsieve.analysis.page_flags.wall_phrases import (
    CONSENT,
    CONSENT_TOPIC,
    LOGIN,
    NOT_FOUND,
    PAY,
    ROBOT,
    folded,
)
from domsieve.budget import spending
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


MarkKind = Literal["consent_wall", "robot_wall", "login_wall", "pay_wall", "soft_404"]
"""What a page likely is; see `Mark`."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """What a page likely is.

    Parameters
    ----------
    kind : ``"consent_wall"``, ``"robot_wall"``, ``"login_wall"`` and ``"pay_wall"`` stand in front of the page that
        was asked for, ``"soft_404"`` says that there is none without an error of HTTP.
    evidence : the words, or the fact, that tell.
    """

    kind: MarkKind
    evidence: str


NAMES: dict[MarkKind, str] = {
    "consent_wall": "a wall of consent",
    "robot_wall": "a wall against robots",
    "login_wall": "a login",
    "pay_wall": "a pay wall",
    "soft_404": "a page that says there is none",
}
"""What marks are called for people."""


def described(mark: Mark) -> str:
    """Return a mark as words for people."""
    return f"{NAMES[mark.kind]} ({mark.evidence})"


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
        own, wanted = _word_counts(face, page), _word_counts(model, missing)
        if own != wanted:
            return None
        return Mark(kind="soft_404", evidence="it says what the site says of a made-up address")


def _word_counts(face: Face, page: Snapshot) -> Counter[str]:
    """Return the texts, without those that name the last step of the address."""
    step = page.provenance.url.rstrip("/").replace("#", "/").rpartition("/")[2].lower()
    echo = " ".join(fold(step).split())
    texts = (block.text for block in face.blocks)
    return Counter(_NUMBER.sub("0", text) for text in texts if not echo or f" {echo} " not in text)


# Words of a page up to which it may be a wall: of all that it shows, and of what are no links and buttons.
_ROBOT_WORDS = 150
_LOGIN_WORDS, _LOGIN_PLAIN_WORDS = 300, 80
_PAY_PLAIN_WORDS = 300
_NOT_FOUND_PLAIN_WORDS = 120
_CONSENT_WORDS = 1_500
_CONSENT_LEAST_RATIO = 0.7
_LONGEST_HEADING = 12
_LONGEST_CHOICE = 12
_TITLE_PARTS = re.compile(r"[|\-–—·•:»«/]")
_FIRST_ERROR = 400
_BY_STATUS: dict[int, MarkKind] = {401: "login_wall", 402: "pay_wall"}


def page_marks(page: Snapshot) -> tuple[Mark, ...]:
    """Return what a page likely is instead of the one asked for, in linear time; nothing for nearly all."""
    with spending("marks", page.provenance.url):
        face = face_of(page)
        status = page.provenance.status
        found = [] if face is None else [*_walls(face)]
        if face is not None and (status is None or status < _FIRST_ERROR) and (words := _not_found(face)):
            found.append(Mark(kind="soft_404", evidence=words))
        if (kind := _BY_STATUS.get(status or 0)) and all(mark.kind != kind for mark in found):
            found.append(Mark(kind=kind, evidence=f"HTTP {status}"))
        return tuple(found)


def _walls(face: Face) -> list[Mark]:
    found: list[Mark] = []
    words, plain = face.words, face.plain_words
    if words <= _ROBOT_WORDS and (phrase := _first_phrase(face, ROBOT, with_title=True)):
        found.append(Mark(kind="robot_wall", evidence=phrase))
    if words <= _CONSENT_WORDS and (phrase := _consent(face)):
        found.append(Mark(kind="consent_wall", evidence=phrase))
    if words <= _LOGIN_WORDS and plain <= _LOGIN_PLAIN_WORDS:
        phrase = _first_phrase(face, LOGIN)
        if phrase or face.asks_password:
            found.append(Mark(kind="login_wall", evidence=phrase or "a field for a password"))
    if plain <= _PAY_PLAIN_WORDS and (phrase := _first_phrase(face, PAY)):
        found.append(Mark(kind="pay_wall", evidence=phrase))
    return found


def _first_phrase(face: Face, phrases: str, *, with_title: bool = False) -> str:
    """Return the first of the phrases that a block says, or else the title; empty without one."""
    title = [f" {' '.join(fold(face.title).split())} "] if with_title else []
    text = "\n".join([*(block.text for block in face.blocks), *title])
    return next((phrase for phrase in folded(phrases) if _is_in(phrase, text)), "")


def _is_in(phrase: str, text: str) -> bool:
    return (f" {phrase} " if phrase[0] < "\u2e80" else phrase) in text


def _consent(face: Face) -> str:
    """Return how the reader is to consent, where most of the page is about that; else nothing."""
    active = (block.text for block in face.blocks if block.is_active and block.words <= _LONGEST_CHOICE)
    choices = "\n".join(active)  # buttons side by side are one block
    choice = next((phrase for phrase in folded(CONSENT) if _is_in(phrase, choices)), "")
    if not choice:
        return ""
    topics = folded(CONSENT_TOPIC)
    plain = [block for block in face.blocks if not block.is_active]
    about = sum(block.words for block in plain if any(_is_in(topic, block.text) for topic in topics))
    return choice if about and about >= _CONSENT_LEAST_RATIO * sum(block.words for block in plain) else ""


def _not_found(face: Face) -> str:
    """Return the heading or the part of the title that says there is no such page; nothing without one."""
    if face.plain_words > _NOT_FOUND_PLAIN_WORDS:
        return ""
    headings = [
        block.text.strip() for block in face.blocks if block.is_heading and block.words <= _LONGEST_HEADING
    ]
    parts = [" ".join(fold(part).split()) for part in _TITLE_PARTS.split(face.title)]
    said = {*headings, *parts}
    return next((phrase for phrase in folded(NOT_FOUND) if phrase in said), "")
