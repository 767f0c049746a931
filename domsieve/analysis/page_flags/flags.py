"""Page flags: a page is probably a consent wall, login wall, paywall, robot check or soft 404."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal

import msgspec
import numpy as np

from domsieve.analysis.columns.flow import heard_texts
from domsieve.analysis.columns.hiding import hidden_texts
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.page_columns import in_tag, page_texts
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
from domsieve.snapshot.page import Snapshot

MOST_CHARACTERS = 12_000
"""Pages with more visible text are not checked: 2,000 words of 6 characters, more than any wall may have."""

_WIDE = 0x2E80  # from here on (East Asian scripts) a character counts as half a word
_ACTIVE = ("a", "button", "label", "option", "select", "summary")
_HEADINGS = ("h1", "h2")
_LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True)
class Block:
    """A block of text.

    Parameters
    ----------
    text : the folded text, with a space at either end.
    words : number of words; a character of a script without spaces counts as half a word.
    is_heading : whether the block is in an ``h1`` or ``h2``.
    is_active : whether most of the text is in links, buttons and other controls.
    """

    text: str
    words: int
    is_heading: bool
    is_active: bool


@dataclass(frozen=True, slots=True)
class Face:
    """The visible text of a page.

    Parameters
    ----------
    title : the content of the ``title`` element, not folded, at most 300 characters.
    blocks : the visible blocks in document order.
    asks_password : whether the page has a visible password field.
    """

    title: str
    blocks: tuple[Block, ...]
    asks_password: bool

    @property
    def words(self) -> int:
        """Number of words in all blocks."""
        return sum(block.words for block in self.blocks)

    @property
    def plain_words(self) -> int:
        """Number of words outside of menus, buttons and lists of links."""
        return sum(block.words for block in self.blocks if not block.is_active)


def face_of(page: Snapshot) -> Face | None:
    """Return the visible text of a short page, or None for a long one, in time linear in its nodes."""
    shown = shown_nodes(page)
    texts = np.flatnonzero(shown & (page.text >= 0))
    lengths = np.diff(page.strings.offsets)[page.text[texts]]
    if int(np.minimum(lengths, 4 * MOST_CHARACTERS).sum()) > 4 * MOST_CHARACTERS:
        return None  # certain without decoding the texts: a character has at most four bytes
    if _fewest_words(page) * 6 > MOST_CHARACTERS:
        return None  # certain without building the blocks
    blocks = page_blocks(page)
    many = [
        words + _extra_words(text) for words, text in zip(blocks.words.tolist(), blocks.text, strict=True)
    ]
    if (
        sum(words for words, hidden in zip(many, blocks.hidden.tolist(), strict=True) if not hidden) * 6
        > MOST_CHARACTERS
    ):
        return None
    names = page.tags.to_list()
    tag_is = {name: number for number, name in enumerate(names)}
    active, titled = (in_tag(page, *tags) for tags in (_ACTIVE, _HEADINGS))
    size = np.array([len(text.strip()) for text in page_texts(page).of(blocks.node)], np.int64)
    whole = np.bincount(blocks.block, weights=size, minlength=len(blocks))
    acting = np.bincount(blocks.block, weights=size * active[blocks.node], minlength=len(blocks))
    visible = [
        Block(f" {text} ", words, is_heading, bool(a > w / 2))
        for text, words, is_heading, hidden, a, w in zip(
            blocks.said,
            many,
            titled[blocks.around].tolist(),
            blocks.hidden.tolist(),
            acting.tolist(),
            whole.tolist(),
            strict=True,
        )
        if not hidden
    ]
    return Face(_title(page, names), tuple(visible), _asks_password(page, shown, tag_is.get("input", -1)))


def _fewest_words(page: Snapshot) -> int:
    """Return a lower limit of the number of visible words.

    One word less is counted per text, because the last word of a text may continue in the next.
    """
    heard, _, blank, _ = heard_texts(page)
    seen = heard[~blank & (hidden_texts(page)[heard] == 0) & ~never_shown(page)[heard]]
    texts = page_texts(page)
    return int((texts.words[texts.rank[seen]] - 1).sum())


def _extra_words(text: str) -> int:
    """Return the number of words in a text without spaces, besides those that spaces separate."""
    return 0 if text.isascii() else sum(map(_WIDE.__le__, map(ord, text))) // 2


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
"""The values of `Mark.kind`."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """What a page likely is instead of the requested one.

    Parameters
    ----------
    kind : ``"consent_wall"``, ``"robot_wall"``, ``"login_wall"`` or ``"pay_wall"`` for a page that blocks access to
        the requested one; ``"soft_404"`` for a page that says "not found" without an HTTP error.
    evidence : the phrase or fact that shows it.
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
"""The names of marks in messages."""


def described(mark: Mark) -> str:
    """Return a mark as text for messages."""
    return f"{NAMES[mark.kind]} ({mark.evidence})"


_NUMBER = re.compile(r"[0-9]+")
_FEWEST_WORDS = 3  # shorter error pages are equal to other pages by chance
# An advert, or what is new in a sidebar. The text of a real page may be as short, but then a heading is its own.
_MOST_OTHER_WORDS, _MOST_OTHER_SHARE = 40, 0.25


def missing_mark(page: Snapshot, missing: Snapshot) -> Mark | None:
    """Return a soft-404 mark if a page has the same text as the site's page for a made-up address; otherwise None.

    Numbers and texts that repeat the address do not count. If both have the same title and the same headings (at
    least one), links may differ, and so may up to 40 words of other text, but no more than a quarter of it: links to
    other pages and adverts rotate. Real pages with little text differ at least in their heading.

    Parameters
    ----------
    page : the page to check.
    missing : what the site shows at an address that does not exist.
    """
    with spending("page flags", page.provenance.url):
        face, model = face_of(page), face_of(missing)
        if face is None or model is None or model.words < _FEWEST_WORDS:
            return None
        own, said = _texts(face, page), _texts(model, missing)
        if own != said and not _alike(face.title, own, model.title, said):
            return None
        return Mark(kind="soft_404", evidence="it says what the site says of a made-up address")


def _alike(title: str, own: Counter[Block], missing_title: str, said: Counter[Block]) -> bool:
    """Return whether the titles, the headings and nearly all other texts outside of links are the same."""

    def headings(texts: Counter[Block]) -> Counter[Block]:
        return Counter({block: number for block, number in texts.items() if block.is_heading})

    def words(texts: Counter[Block]) -> int:
        return sum(block.words * number for block, number in texts.items() if not block.is_active)

    if title != missing_title or not headings(said) or headings(own) != headings(said):
        return False
    most = min(_MOST_OTHER_WORDS, _MOST_OTHER_SHARE * words(said))
    return words(own - said) <= most and words(said - own) <= most


def _texts(face: Face, page: Snapshot) -> Counter[Block]:
    """Return the texts of a page with numbers replaced, without texts that repeat the last step of its address."""
    step = page.provenance.url.rstrip("/").replace("#", "/").rpartition("/")[2].lower()
    echo = " ".join(fold(step).split())
    return Counter(
        replace(block, text=_NUMBER.sub("0", block.text))
        for block in face.blocks
        if not echo or f" {echo} " not in block.text
    )


# A page with more words than this is not a wall of that kind: counting all visible words, or only plain ones, which
# are not in links or buttons. These and the following limits were chosen by hand.
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
    """Return what a page likely is instead of the requested one, in linear time; empty for nearly all pages."""
    with spending("page flags", page.provenance.url):
        face = face_of(page)
        status = page.provenance.status
        marks = [] if face is None else [*_walls(face)]
        if face is not None and (status is None or status < _FIRST_ERROR) and (phrase := _not_found(face)):
            marks.append(Mark(kind="soft_404", evidence=phrase))
        if (kind := _BY_STATUS.get(status or 0)) and all(mark.kind != kind for mark in marks):
            marks.append(Mark(kind=kind, evidence=f"HTTP {status}"))
        return tuple(marks)


def _walls(face: Face) -> list[Mark]:
    walls: list[Mark] = []
    words, plain = face.words, face.plain_words
    if words <= _ROBOT_WORDS and (phrase := _first_phrase(face, ROBOT, with_title=True)):
        walls.append(Mark(kind="robot_wall", evidence=phrase))
    if words <= _CONSENT_WORDS and (phrase := _consent(face)):
        walls.append(Mark(kind="consent_wall", evidence=phrase))
    if words <= _LOGIN_WORDS and plain <= _LOGIN_PLAIN_WORDS:
        phrase = _first_phrase(face, LOGIN)
        if phrase or face.asks_password:
            walls.append(Mark(kind="login_wall", evidence=phrase or "a field for a password"))
    if plain <= _PAY_PLAIN_WORDS and (phrase := _first_phrase(face, PAY)):
        walls.append(Mark(kind="pay_wall", evidence=phrase))
    return walls


def _first_phrase(face: Face, phrases: str, *, with_title: bool = False) -> str:
    """Return the first of the phrases that is in a block, or in the title; empty if none is."""
    title = [f" {' '.join(fold(face.title).split())} "] if with_title else []
    text = "\n".join([*(block.text for block in face.blocks), *title])
    return next((phrase for phrase in folded(phrases) if _is_in(phrase, text)), "")


def _is_in(phrase: str, text: str) -> bool:
    return (f" {phrase} " if phrase[0] < "\u2e80" else phrase) in text


def _consent(face: Face) -> str:
    """Return the phrase on the button that gives consent, if most of the page is about consent; otherwise nothing."""
    active = (block.text for block in face.blocks if block.is_active and block.words <= _LONGEST_CHOICE)
    choices = "\n".join(active)  # adjacent buttons are one block, so phrases are searched inside
    choice = next((phrase for phrase in folded(CONSENT) if _is_in(phrase, choices)), "")
    if not choice:
        return ""
    topics = folded(CONSENT_TOPIC)
    plain = [block for block in face.blocks if not block.is_active]
    about = sum(block.words for block in plain if any(_is_in(topic, block.text) for topic in topics))
    return choice if about and about >= _CONSENT_LEAST_RATIO * sum(block.words for block in plain) else ""


def _not_found(face: Face) -> str:
    """Return the heading, or the part of the title, that says "not found"; empty if there is none."""
    if face.plain_words > _NOT_FOUND_PLAIN_WORDS:
        return ""
    headings = [
        block.text.strip() for block in face.blocks if block.is_heading and block.words <= _LONGEST_HEADING
    ]
    parts = [" ".join(fold(part).split()) for part in _TITLE_PARTS.split(face.title)]
    texts = {*headings, *parts}
    return next((phrase for phrase in folded(NOT_FOUND) if phrase in texts), "")
