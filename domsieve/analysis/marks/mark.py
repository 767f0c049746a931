"""A mark: what a page likely is instead of the one that was asked for, and what tells.

Imports nothing of the project.
"""

from typing import Literal

import msgspec

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
