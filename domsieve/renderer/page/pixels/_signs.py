"""Which words signs, marks and strokes of other texts lie on: a dash in an o makes an e of it."""

from dataclasses import dataclass, field

import numpy as np

from domsieve.renderer.page.pixels._boxes import lines_around
from domsieve.renderer.page.pixels._letters import Letters
from domsieve.renderer.page.pixels._parts import OUTWARDS, Bools, Ints, meet
from domsieve.renderer.page.pixels._scene import Scene

# Bounds of the work on one picture: signs, how often they lie on words, and groups of these.
_MOST_SIGNS, _MOST_TIMES, _MOST_GROUPS = 5_000, 50_000, 4
# Boxes have so much in common, in px, or this share of the size of a sign: browsers round them.
_COMMON_PX, _COMMON = 1.0, 0.25
# The letters of lines share so much of their height with those of the next ones, in sizes. A guess.
_OVERLAP = 0.1


@dataclass
class _Group:
    """Words, the texts that they are of, and those that have signs on them."""

    words: list[int] = field(default_factory=list)
    texts: set[int] = field(default_factory=set)
    above: set[int] = field(default_factory=set)


def under_signs(
    scene: Scene, letters: Letters, parts: Bools, word: Ints, near: Bools
) -> tuple[list[Bools], Bools]:
    """Return the parts (B,) of words that signs of other texts lie on, in groups, and those that are in none.

    A group has no text of which a sign is on a word of the group: without its letters, all these signs are left. In
    no group are texts that cannot be left out alone, and words beyond the bounds of the work.

    Parameters
    ----------
    parts : the parts (B,) whose words are looked at.
    word : the number of the word of each part (B,).
    letters : the lines, of which these parts were compared.
    near : the parts (B,) that may be in view.
    """
    place, _ = scene.in_view()
    tight = letters.tight(place)
    some = np.flatnonzero(near & np.isin(word, word[parts]) & ~scene.is_sign)
    has_any = scene.is_sign | letters.have_marks
    signs = np.flatnonzero(near & (has_any | letters.are_compared))
    nothing = np.zeros_like(parts)
    if not some.size or not signs.size:
        return [], nothing
    numbers, number = np.unique(word[some], return_inverse=True)
    if signs.size > _MOST_SIGNS:
        return [], np.isin(word, numbers)
    boxes = lines_around(np.rint(tight[some]).astype(np.intp), number, numbers.size)
    own = np.where(has_any[signs, None], place[signs] + letters.beyond[signs], tight[signs])
    inset = np.minimum(_COMMON_PX, _COMMON * (own[:, 2:] - own[:, :2]))
    inset[~has_any[signs]] = _OVERLAP * scene.drawn_px(signs[~has_any[signs]])[:, None]
    # Shadows are as far beyond their boxes.
    inner = own + np.concatenate((inset, -inset), axis=1)
    inner += np.outer(scene.reach_px[scene.owner[signs]], OUTWARDS)
    texts: dict[int, set[int]] = {}
    for one, text in zip(number.tolist(), scene.owner[some].tolist(), strict=True):
        texts.setdefault(one, set()).add(text)
    above, times = dict[int, set[int]](), 0
    for box, text in zip(inner, scene.owner[signs].tolist(), strict=True):
        under = np.flatnonzero(meet(boxes, box))
        times += under.size
        if times > _MOST_TIMES:
            return [], np.isin(word, numbers)
        for one in under.tolist():
            if text not in texts[one]:
                above.setdefault(one, set()).add(text)
    groups, left = list[_Group](), list[int]()
    for one, others in above.items():
        fits = (group for group in groups if not others & group.texts and not texts[one] & group.above)
        if not scene.alone[[*texts[one]]].all():
            left.append(int(numbers[one]))
            continue
        if (group := next(fits, None)) is None:
            if len(groups) == _MOST_GROUPS:
                left.append(int(numbers[one]))
                continue
            groups.append(group := _Group())
        group.words.append(int(numbers[one]))
        group.texts |= texts[one]
        group.above |= others
    return [np.isin(word, group.words) & near for group in groups], np.isin(word, left)
