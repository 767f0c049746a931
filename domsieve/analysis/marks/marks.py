"""What a page likely is instead of the one that was asked for: a wall, or a soft 404, with the words that tell.

Nothing is decided by these: the page is cleaned as others are, and the mark stands beside the result. They are for
people and programs that must not take a wall for content, so one too few is better than one too many.
Imports the face of a page and the phrases.
"""

import re

from domsieve.analysis.columns.words import fold
from domsieve.analysis.marks.face import Face, face_of
from domsieve.analysis.marks.mark import Mark, MarkKind
from domsieve.analysis.marks.phrases import (
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
    if words <= _ROBOT_WORDS and (phrase := _said(face, ROBOT, with_title=True)):
        found.append(Mark(kind="robot_wall", evidence=phrase))
    if words <= _CONSENT_WORDS and (phrase := _consent(face)):
        found.append(Mark(kind="consent_wall", evidence=phrase))
    if words <= _LOGIN_WORDS and plain <= _LOGIN_PLAIN_WORDS:
        phrase = _said(face, LOGIN)
        if phrase or face.asks_password:
            found.append(Mark(kind="login_wall", evidence=phrase or "a field for a password"))
    if plain <= _PAY_PLAIN_WORDS and (phrase := _said(face, PAY)):
        found.append(Mark(kind="pay_wall", evidence=phrase))
    return found


def _said(face: Face, phrases: str, *, with_title: bool = False) -> str:
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
