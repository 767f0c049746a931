"""Fonts of a page that draw other letters than its texts have."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from string import ascii_letters, digits
from typing import Any
from unicodedata import category, name, normalize

import numpy as np

from domsieve.renderer.page.pixels._cases import in_case, units
from domsieve.renderer.page.pixels._glyphs import SIDE, likelihoods, named
from domsieve.renderer.page.pixels._parts import CHANCE, F64, Bools, Ints, language_of, px
from domsieve.renderer.page.pixels._scene import Scene
from domsieve.snapshot.page import Kind

# So many letters of a font are compared, but no fewer than the other number; and so many groups of fonts. Guesses.
_MOST_LETTERS, _FEWEST_LETTERS, _MOST_FONTS = 16, 8, 200
# All letters of a font but those of East Asia are compared with those of other fonts, and so many of these, by chance
# if there are more. So many parts of a line are drawn together, with all of it if it has no more signs than the last.
_LAST_COMPARED, _MOST_WRITTEN, _TOGETHER, _LONGEST = "\u2fff", 300, 10, 300
# A text cannot be read if this share of its letters look like others, or if its words look less than this like their
# letters one by one; and a part of it, if more than half of its letters do, or if it looks less than this like them.
# The first is so only if there are so many such letters, or a font has one fewer, which are the same share of those
# that it is used for, or so many in all parts of which most letters do (`_FEWEST_LETTERS`); the second, if there are
# so many letters in all, of the text or of short texts together, or the font is such a one. Measured on 44 fonts,
# also for headlines and in handwriting: at most 5 of 52 letters of each look like others, .4 and more in fonts for
# reading whose letters were swapped. Words with ligatures and joined letters look like their letters by .35 and more
# (.22 if each letter is as wide), on average by .7; those of which all letters but the first become others by .25 to
# .54, on average by .4, and words that become others by up to .3.
_MISTAKEN_SHARE, _LEAST_JOINED, _LEAST_OF_WORD, _FEWEST_MISTAKEN = 0.3, 0.5, 0.2, 6
# Letters of these scripts may have other forms beside each other: from Hebrew to Burmese, parts of Hangul syllables,
# from Tagalog to Vedic, from Syloti Nagri to Meetei Mayek, and those of ancient ones.
_JOINING = (
    *((0x0590, 0x109F), (0x1100, 0x11FF), (0x1700, 0x1CFF), (0xA800, 0xAAFF), (0xABC0, 0xABFF)),
    *((0xD7B0, 0xD7FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFE), (0x10800, 0x11FFF), (0x1E800, 0x1EFFF)),
)
_FIRST_PHONETIC, _OF_ALPHABETS = "\u0250", frozenset(("Ll", "Lu", "Lt", "Nl"))
# Letters of Hangul that draw nothing.
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")
# In fonts for reading, only these letters look like others, or unlike those of other fonts, and no more than so many.
# Measured on 42 fonts, bold and italic, too, also if the browser tilts them: up to 3 and 7, of 62 letters and digits.
_VARYING = frozenset(
    "aBfghijlnqwyIJQV19\u0430\u0432\u0434\u0438\u043b\u0442\u0448\u044a\u0412\u041b\u03b1\u03b7\u03b9\u03bd\u03c0\u03c1\u03c3\u0393\u0399"
)
_MOST_MISTAKEN, _MOST_UNLIKE = 3, 7
# Letters and digits count as others if they are less likely these than the first number, and there are more of them
# than the second in all fonts of a page. Measured: 1 and 3 of 100 letters of families that were left out.
_LATIN = frozenset(ascii_letters + digits)
_UNLIKELY = (0.02, 2), (0.25, 5)
# Of the Latin letters and digits that a font is not used for, it draws no more than so many as others. A guess.
_MOST_MISSING = 10
# With so much space between letters, or more, browsers join none of them. With less they may: a guess.
_LEAST_SPACING_PX = 0.02
# Browsers write these where a line ends before its text, or in a word, the dots if the first font has no ellipsis.
_MARKS, _DOTS = "\u2026\u2010-", "..."
_MOST_FACES, _FILLERS = 200, frozenset("\u115f\u1160\u3164\uffa0")
# Of these signs, too little is drawn to say that it looks like a letter.
_SLIGHT = frozenset(".,:;!|'\"`-_/()[]{}\u00a0\u00b7\u2013\u2014\u2018\u2019\u201c\u201d\u2022")
# Nor do they draw words that look less than this like their letters one by one. Measured: .77 and more.
_LEAST_LIKE = 0.7
_STYLES = (
    *("font-style", "font-weight", "font-family", "font-variant-caps", "font-stretch"),
    *("text-rendering", "font-size", "letter-spacing", "font-kerning", "-webkit-locale"),
)
# Other values of these draw letters in another way than a canvas, but for features that are on without a style.
_PLAIN = {
    **dict.fromkeys(
        (f"font-variant-{name}" for name in ("alternates", "east-asian", "position", "numeric")), "normal"
    ),
    **dict.fromkeys(("font-variant-ligatures", "font-variation-settings", "font-palette"), "normal"),
    "font-language-override": "normal",
    "font-optical-sizing": "auto",
}
_STRETCHES = frozenset(("", "50%", "62.5%", "75%", "87.5%", "100%", "112.5%", "125%", "150%", "200%"))
_ON_ANYWAY = frozenset(("kern", "liga", "clig", "calt", "ccmp", "locl", "rlig", "mark", "mkmk"))


def letters_of_fonts(scene: Scene, document: int) -> tuple[list[list[tuple[str, str]]], set[str]]:
    """Return groups of fonts with letters and digits that a document has in each, and the fonts that are too many.

    The letters of a group differ. Fonts of few letters share a group.
    """
    found: dict[str, dict[str, None]] = {}
    values, start = scene.capture.documents[document].nodes.node_value, int(scene.starts[document])
    own = scene.is_boxed & (scene.kind == Kind.TEXT) & (scene.document_of == document)
    for node in np.flatnonzero(own).tolist():
        letters = found.setdefault(scene.fonts[scene.font_of[node]], {})
        if len(letters) < _MOST_LETTERS:
            text = scene.capture.strings[values[node - start]][:200].lower()
            letters |= dict.fromkeys(one for one in text if one.isalnum())
    groups: list[list[tuple[str, str]]] = []
    used: set[str] = set()
    few: list[tuple[str, str]] = []
    for font, letters in found.items():
        if len(letters) >= _FEWEST_LETTERS:
            groups.append([(font, "".join([*letters][:_MOST_LETTERS]))])
        elif new := [one for one in letters if one not in used]:
            few.append((font, "".join(new)))
            used.update(new)
            if len(used) >= _MOST_LETTERS:
                groups.append(few)
                few, used = [], set()
    if len(used) >= _FEWEST_LETTERS:
        groups.append(few)
    return groups[:_MOST_FONTS], {font for group in groups[_MOST_FONTS:] for font, _ in group}


# Of a font: style and weight, size in px, family, capitals, width, how precise it is drawn, kerning, whether its
# letters are spaced, without ligatures, and the language.
DrawnFont = tuple[str, float, str, str, str, str, str, bool, str]


class Written:
    """What is written in the fonts of a document.

    Parameters
    ----------
    scene : the texts.
    document : its number.
    skipped : the fonts to leave out.
    first : of texts whose block has a style for its first line, what ``firstLines`` of ``lines.js`` says.
        Nothing tells which of their lines it is, so all count in both.

    Attributes
    ----------
    fonts, signs : pairs of a font and the letters and digits in it, and those of a font and all else.
    lines : pieces of lines: the font, the text, and where in it each part begins and ends, in code units.
    of_page : the texts in fonts of the page, once `misread` has asked for them.
    """

    def __init__(
        self, scene: Scene, document: int, skipped: Collection[str], first: Mapping[int, Sequence[str]]
    ) -> None:
        self._scene = scene
        letters: dict[DrawnFont, dict[str, None]] = {}
        signs: dict[DrawnFont, dict[str, None]] = {}
        self.lines: list[tuple[DrawnFont, str, list[list[int]]]] = []
        self._drawn: list[tuple[DrawnFont, str, Ints]] = []
        self.of_page: set[int] = set()
        self.has_odd_signs = False
        self._loose: set[int] = set()  # the parts of which browsers may join letters or not
        own = np.flatnonzero((scene.document_of[scene.owner] == document) & (scene.line < len(scene.pieces)))
        own = own[np.argsort(scene.line[own], kind="stable")]
        for parts in np.split(own, np.flatnonzero(np.diff(scene.line[own])) + 1) if own.size else ():
            node = int(scene.owner[parts[0]])
            line = int(scene.line[parts[0]])
            font, piece = scene.fonts[scene.font_of[node]], scene.pieces[line]
            if font in skipped:
                continue
            *styles, kerning, locale = scene.style(node, *_STYLES)
            ways = [(styles, piece)]
            if said := first.get(node):
                *inner, letter, _, case = said
                changed = in_case(piece, case)
                if len(changed) == len(piece):
                    ways.append(([*inner, letter], changed))
            for (style, weight, family, caps, stretch, rendering, size, letter), text in ways:
                size_px = px(size) * float(scene.zoom[node])
                spacing = kerning or "auto", abs(px(letter)) >= _LEAST_SPACING_PX
                if not spacing[1] and letter not in {"", "normal", "0px", "0%"}:
                    self._loose.update(parts.tolist())
                others = caps or "normal", stretch, rendering, *spacing, language_of(locale)
                drawn = f"{style} {weight}", size_px, family, *others
                # Marks belong to letters, if these have them in Unicode, and browsers draw them so.
                whole = normalize("NFC", text)
                letters.setdefault(drawn, {}).update(dict.fromkeys(filter(_is_letter, text + whole)))
                signs.setdefault(drawn, {}).update(dict.fromkeys(one for one in text if not _is_letter(one)))
                groups = np.split(parts, range(_TOGETHER, parts.size, _TOGETHER))
                starts = [*(int(scene.chars[some].min()) for some in groups), len(text)]
                for number, some in enumerate(groups):
                    chars = scene.chars[some]
                    # Fonts may have other letters by what is beside them, also white space.
                    is_long = len(text) > _LONGEST
                    begin = starts[number - 1] if is_long and number else 0
                    end = max(starts[min(number + 2, len(starts) - 1)], int(chars.max()))
                    inside = text[begin : end if is_long else len(text)]
                    ends = [
                        [units(inside[: end - begin]) for end in _letters_in(text, *pair)]
                        for pair in chars.tolist()
                    ]
                    self.lines.append((drawn, inside, ends))
                    self._drawn.append((drawn, text, some))
        self.fonts = [(font, "".join(_some(all_))) for font, all_ in letters.items()]
        self.signs = [(font, "".join(_some(all_))) for font, all_ in signs.items()]
        self._named = [(font, "".join(filter(named, all_))) for font, all_ in self.fonts]

    async def _without_letters(
        self, ask: Callable[..., Awaitable[Any]], of_page: Collection[DrawnFont]
    ) -> set[tuple[str, str, str, str]]:
        """Return the looks of fonts of the page that have no letters where they are not used.

        With these, letters on the page are compared; only a font that is made to deceive lacks so many.
        """
        used: dict[tuple[str, str, str, str], tuple[DrawnFont, set[str]]] = {}
        for font, letters in self.fonts:
            if font in of_page:
                used.setdefault(_look_of(font), (font, set()))[1].update(letters)
        rest = [(font, "".join(sorted(_LATIN - letters))) for font, letters in used.values()]
        shapes = await ask("shapes", SIDE, *rest)
        found = (
            np.count_nonzero(likelihoods(letters.lower(), drawn) < _UNLIKELY[0][0]) > _MOST_MISSING
            for (_, letters), drawn in zip(rest, shapes, strict=True)
        )
        return {look for look, is_odd in zip(used, found, strict=True) if is_odd}

    async def misread(
        self, ask: Callable[..., Awaitable[Any]], unknown: dict[str, float]
    ) -> tuple[Bools, F64]:
        """Return the parts (B,) that show other letters than they have, and how many letters of others may be others.

        Parameters
        ----------
        ask : calls a function of ``fonts.js`` in the document.
        unknown : how likely the letters of all documents until now show themselves, see `_unknown`.
        """
        mistaken, tiny = await ask("mistaken", *self.fonts), await ask("tiny", *self.fonts)
        stray, lettered = await ask("stray", *self.signs), await ask("mistaken", *self.signs)
        faces = [*dict.fromkeys(map(tuple, await ask("faces")))][:_MOST_FACES]
        marks = await ask("mistaken", *((font, _MARKS) for font in faces))
        dots = await ask("joined", *((font, _DOTS, [(0, len(_DOTS))]) for font in faces))
        self.has_odd_signs = any(map(any, marks)) or len(faces) == _MOST_FACES
        self.has_odd_signs |= any(is_odd or like < _LEAST_OF_WORD for [(like, is_odd)] in dots)
        self.has_odd_signs |= any(map(_has_filled, self._scene.pieces)) and bool(faces)
        joined = await ask("joined", *self.lines)
        shapes = await ask("shapes", SIDE, *self._named)
        strange_in = _unknown(self._named, shapes, unknown)
        of_page = {font for (font, _), drawn in zip(self.fonts, shapes, strict=True) if drawn is not None}
        odd = await self._without_letters(ask, of_page)
        small = {font: frozenset(one) for (font, _), one in zip(self.fonts, tiny, strict=True)}
        signs = {font: {*one} - _SLIGHT for (font, _), (one, _) in zip(self.signs, lettered, strict=True)}
        hidden = {font: frozenset(one) for (font, _), one in zip(self.signs, stray, strict=True)}
        wrong = {font: (all_, one) for (font, all_), (one, _) in zip(self.fonts, mistaken, strict=True)}
        unlike = {
            font: _uncommon("".join({*one} - _LATIN), _MOST_MISTAKEN)
            | _uncommon(other, _MOST_UNLIKE)
            | strange
            for (font, _), (one, other), strange in zip(self.fonts, mistaken, strange_in, strict=True)
        }
        few = {font: one for font, (all_, one) in wrong.items() if len(one) > len(all_) / 2}
        strange = {
            font
            for font, (all_, one) in wrong.items()
            if len(one) >= _FEWEST_MISTAKEN - 1 and len(one) > _MISTAKEN_SHARE * len(all_)
        }
        if sum(map(len, few.values())) >= _FEWEST_LETTERS:  # each letter may be in a font of its own
            strange |= few.keys()
        scene = self._scene
        compared, mistaken_in, is_strange, doubtful = np.zeros((4, scene.line.size))
        is_like, is_tiny = np.ones_like(compared), np.zeros(compared.size, np.bool_)
        mistaken_by: dict[int, set[str]] = {}  # the letters of each text that look like others
        swapped: set[str] = set()  # those of parts of which most do, in any fonts
        for (font, piece, parts), likeness in zip(self._drawn, joined, strict=True):
            if font in of_page:
                self.of_page.update(scene.owner[parts].tolist())
            is_strange[parts] = np.maximum(is_strange[parts], font in strange)
            for part, (like, is_odd) in zip(parts.tolist(), likeness, strict=True):
                text = piece[slice(*scene.chars[part])]
                is_other = _look_of(font) in odd or not unlike[font].isdisjoint(text + normalize("NFC", text))
                is_other |= font in of_page and _has_features(scene, int(scene.owner[part]))
                is_other |= font in of_page and (part in self._loose or _has_marks(text))
                is_other |= font in of_page and mixes_alphabets(text)
                doubted = sum(map(_is_letter, text)) if is_other else sum(map(text.count, signs[font]))
                doubted = max(doubted, _count_phonetic(text) if font in of_page else 0)
                doubtful[part] = max(doubtful[part], doubted)
                is_tiny[part] |= not (hidden[font].isdisjoint(piece) and small[font].isdisjoint(text))
                of_all, of_wrong = (sum(map(text.count, letters)) for letters in wrong[font])
                if of_wrong >= mistaken_in[part]:
                    compared[part], mistaken_in[part] = of_all, of_wrong
                found = {*text} & {*wrong[font][1]}
                mistaken_by.setdefault(int(scene.owner[part]), set()).update(found)
                if 2 * of_wrong > of_all:
                    swapped |= found
                inside = [not _joins(one) for one in text if _is_letter(one)]
                if 2 * sum(inside) >= len(inside):
                    is_like[part] = min(is_like[part], like)
                if any(inside) and (is_odd or (like < _LEAST_LIKE and all(inside))):
                    doubtful[part] = len(inside)
        letters_of, like_of, compared_of, mistaken_of = (
            np.bincount(scene.owner, one, scene.kind.size)
            for one in (scene.letters, scene.letters * is_like, compared, mistaken_in)
        )
        has_many = np.zeros(scene.kind.size, np.bool_)
        has_many[[text for text, letters in mistaken_by.items() if len(letters) >= _FEWEST_MISTAKEN]] = True
        is_other = (mistaken_of > _MISTAKEN_SHARE * compared_of)[scene.owner] | (2 * mistaken_in > compared)
        is_other &= has_many[scene.owner] | (is_strange > 0) | (len(swapped) >= _FEWEST_LETTERS)
        is_joined = (like_of < _LEAST_JOINED * letters_of)[scene.owner] | (is_like < _LEAST_OF_WORD)
        is_short = (is_like < _LEAST_OF_WORD) & (letters_of < _FEWEST_MISTAKEN)[scene.owner]
        is_short &= scene.letters[is_short].sum() >= _FEWEST_MISTAKEN
        count = np.bincount(scene.owner[is_joined], scene.letters[is_joined], scene.kind.size)
        is_joined &= (is_strange > 0) | (count[scene.owner] >= _FEWEST_MISTAKEN)
        is_wrong = is_tiny | is_other | is_joined | is_short
        return is_wrong, np.where(is_wrong, 0, doubtful)


def _look_of(font: DrawnFont) -> tuple[str, str, str, str]:
    """Return what a font looks like in any size: its style and weight, family, capitals and width."""
    style, _, family, caps, stretch, *_ = font
    return style, family, caps, stretch


def _some(letters: Iterable[str]) -> list[str]:
    """Return those of some letters that are compared."""
    found = [one for one in letters if one <= _LAST_COMPARED or named(one)]
    others = [one for one in letters if one > _LAST_COMPARED and not named(one)]
    return found + (others if len(others) <= _MOST_WRITTEN else CHANCE.sample(others, _MOST_WRITTEN))


def _unknown(
    fonts: Sequence[tuple[DrawnFont, str]], shapes: Sequence[Sequence[str] | None], known: dict[str, float]
) -> list[set[str]]:
    """Return the letters of each font that nobody would read as these.

    Parameters
    ----------
    fonts, shapes : the fonts with their letters, and drawings of these; None for fonts that are not of the page.
    known : how likely letters of all fonts until now show themselves at least; those of these fonts are added.
    """
    shares: list[dict[str, float]] = []
    for (_, letters), drawn in zip(fonts, shapes, strict=True):
        plain = "".join(map(named, letters))
        found = likelihoods(plain, drawn).tolist() if drawn else []
        shares.append(dict(zip(letters, found, strict=False)))
    for letter, share in chain.from_iterable(own.items() for own in shares):
        known[letter] = min(share, known.get(letter, 1.0))
    limits = (least for least, most in _UNLIKELY if sum(share < least for share in known.values()) > most)
    limit = max(limits, default=0.0)
    return [{letter for letter, share in own.items() if share < limit} for own in shares]


def _has_filled(text: str) -> bool:
    """Return whether a selector stands behind a letter that paints nothing: a font can have any form for both."""
    pairs = pairwise(text) if not _FILLERS.isdisjoint(text) else ()
    return any(one in _FILLERS and name(other, "").startswith("VARIATION SELECTOR") for one, other in pairs)


def mixes_alphabets(text: str) -> bool:
    """Return whether two letters of a word or more are of other alphabets than most, as they look like these.

    One may be a sign, as in µmol. Roman numbers have an alphabet of their own here.
    """
    letters = [one for one in text if category(one) in _OF_ALPHABETS and not _joins(one)]
    alphabets = Counter(name(named(one) or one, "").split(" ")[0] for one in letters)
    return len(letters) - max(alphabets.values(), default=0) > 1


def _count_phonetic(text: str) -> int:
    """Return how many letters are Latin ones beyond those of languages, also above others: the network knows none."""
    return sum(
        one >= _FIRST_PHONETIC and name(one, "").startswith(("LATIN", "COMBINING LATIN")) and not named(one)
        for one in text
    )


def _has_marks(text: str) -> bool:
    """Return whether marks stand on letters that no letter has by itself, so that a font may paint over them."""
    whole = normalize("NFC", text)
    return any(
        category(one)[0] == "M" and _is_letter(before) and not _joins(before)
        for before, one in pairwise(whole)
    )


def _has_features(scene: Scene, node: int) -> bool:
    """Return whether the styles of a text ask for letters of its font that a canvas does not draw."""
    settings, *others = scene.style(node, "font-feature-settings", *_PLAIN)
    if any(value not in ("", plain) for value, plain in zip(others, _PLAIN.values(), strict=True)):
        return True
    stretch, slant = scene.style(node, "font-stretch", "font-style")
    if stretch not in _STRETCHES or slant.startswith("oblique "):  # by degrees
        return True
    _, *asked = settings.split('"')  # tags, each with what follows it
    pairs = zip(asked[::2], asked[1::2], strict=False)
    return any(tag not in _ON_ANYWAY or value.strip(", ") not in {"", "1"} for tag, value in pairs)


def _uncommon(letters: str, most: int) -> set[str]:
    """Return those letters that a font draws in a way in which fonts for reading do not; `most` do in these."""
    return {*letters} if len(letters) > most else {*letters} - _VARYING


def _is_letter(sign: str) -> bool:
    return sign.isalnum() and sign not in _FILLERS


def _joins(letter: str) -> bool:
    """Return whether a letter may have another form beside others."""
    return any(first <= ord(letter) <= last for first, last in _JOINING)


def _letters_in(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return where the letters and digits of a part of a text begin and end, with their marks.

    Signs look alike in any case.
    """
    of = [at for at in range(begin, end) if text[at].isalnum()]
    if not of:
        return begin, end
    last = of[-1] + 1
    while last < end and category(text[last])[0] == "M":
        last += 1
    return of[0], last
