"""The rules of style sheets that may hide text, and the elements of a page that they match.

Of a style sheet only those declarations count that can hide text: those that do, such as ``display: none``, and for
an element that one of them matches, also the others of the same property, which may show it again. Rules for
printing and for states such as ``:hover`` do not count, nor do colours of text or grounds that are set for tags
alone: they would hide every such element of the site. Rules for the first line or letter count for their element, and
so do those for what is drawn before and after it if they may move that over other text.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.links import Addresses
from domsieve.analysis.columns.page_columns import attributes_of, has_tag, in_tag
from domsieve.analysis.selection.element_matching import ElementMatcher, SheetSelector
from domsieve.budget import check, spending
from domsieve.errors import UsageError
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.symbol_fonts import is_symbols

_STRING = re.compile(r"\"(?:[^\"\\\n]++|\\.)*+\"?|'(?:[^'\\\n]++|\\.)*+'?", re.DOTALL)
_PLACEHOLDER = re.compile("\x02([0-9]{1,9})\x02")
_BLOCK = re.compile(r"[^{};]++[{};]?|[{};]")
_IMPORT = re.compile(
    r"@import\s{1,9}(?:url\(\s{0,9})?(?:\"([^\"\n]{1,2000})\"|'([^'\n]{1,2000})'|([^\s\"');]{1,2000}))"
)
_NAME = re.compile(r"[.#]?[\w-]+")
_STATES = re.compile(
    r":(?:hover|active|focus|focus-within|focus-visible|visited|target|-webkit-[\w-]+|-moz-[\w-]+)"
)
_PSEUDO_ELEMENT = re.compile(r"::|:(?:before|after|first-line|first-letter)(?![\w-])")
_LINKS = (":any-link", ":link")
_DRAWN, _LETTERS = frozenset(("before", "after")), frozenset(("first-line", "first-letter"))
_USUAL = frozenset(
    ("auto", "none", "normal", "inherit", "initial", "unset", "revert", "100%", "1", "currentcolor")
)
_SIZES = frozenset(("min-content", "max-content", "fit-content", "100vh"))
_MOST_RULES = 20_000
_DARK, _LIGHT = 0.4, 0.75  # guesses
_LONGEST_VALUE = 100

Declaration = tuple[str, str]


@dataclass(frozen=True, slots=True)
class HidingRule:
    """A rule with a selector.

    Parameters
    ----------
    selector : its selector; None if it is not supported.
    unclear : if so, the last name in it, which an element must have: ``".class"``, ``"#id"``, a tag, or empty.
    hiding, others : its declarations that hide text, and others of the same properties.
    """

    selector: SheetSelector | None
    unclear: str
    hiding: tuple[Declaration, ...]
    others: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True)
class HidingRules:
    """The rules of the style sheets of a page that matter for hidden text.

    Parameters
    ----------
    rules : in their order.
    is_complete : whether all style sheets were read. If not, everything that tells elements apart counts.
    """

    rules: tuple[HidingRule, ...] = ()
    is_complete: bool = True

    @staticmethod
    def of(sheets: Iterable[bytes]) -> "HidingRules":
        """Return the rules in the texts of style sheets, in time linear in their length."""
        with spending("styles"):
            found: list[HidingRule] = []
            for sheet in sheets:
                for selector, declarations in _rules(sheet):
                    check()
                    found += _rule(selector, declarations)
                    if len(found) > _MOST_RULES:
                        return HidingRules(is_complete=False)
            return HidingRules(tuple(found))

    def labels(self, page: Snapshot) -> tuple[dict[int, str], set[int], NDArray[np.bool_]]:
        """Return what the rules say about elements, and about which they are not clear.

        Returns
        -------
        A text for each node that a hiding declaration matches, equal for elements that the rules treat alike; those
        of these nodes that may lie over others; and bool (N,), the elements that may match a hiding rule that is not
        supported.
        """
        matcher = ElementMatcher(page)
        unclear = np.zeros(len(page), np.bool_)
        matched: dict[int, dict[str, list[tuple[int, str]]]] = {}
        later: list[tuple[int, HidingRule]] = []
        for number, rule in enumerate(self.rules):
            check()
            if rule.selector is None:
                unclear |= _named(page, rule.unclear)
            elif rule.hiding and (marks := matcher.matches(rule.selector)) is not None:
                for node in np.flatnonzero(marks).tolist():
                    for name, value in rule.hiding:
                        matched.setdefault(node, {}).setdefault(name, []).append((number, value))
            if rule.selector is not None and rule.others:
                later.append((number, rule))
        wanted = {name for properties in matched.values() for name in properties}
        for number, rule in later:
            check()
            assert rule.selector
            if wanted.isdisjoint(name for name, _ in rule.others):
                continue
            marks = matcher.matches(rule.selector)
            for node in [] if marks is None else np.flatnonzero(marks).tolist():
                for name, value in rule.others:
                    if name in matched.get(node, {}):
                        matched[node][name].append((number, value))
        moved = {
            node
            for node, properties in matched.items()
            if any(_moves(name, value) for name, found in properties.items() for _, value in found)
        }
        return {node: _label(properties) for node, properties in matched.items()}, moved, unclear


def may_move(style: str) -> bool:
    """Return whether an inline style may move an element over others."""
    for piece in style.lower().split(";"):
        name, _, value = (part.strip() for part in piece.partition(":"))
        if value in _PLACED or (_hides(name, value) and _moves(name, value)):
            return True
    return False


UNKNOWN_SHEETS = HidingRules(is_complete=False)
"""The rules for pages with a style sheet that cannot be read."""


def style_links(page: Snapshot) -> list[str]:
    """Return the absolute addresses of the style sheets that a source links to, in document order, each once.

    Those that browsers do not apply by themselves are left out, such as themes to choose from.
    """
    addresses = Addresses(page)
    attributes = attributes_of(page)
    # What is in `noscript` is for browsers without scripts.
    linking = has_tag(page, "link") & ~in_tag(page, "noscript")
    linking[attributes.nodes("disabled")] = False
    kinds = attributes.found("rel", _is_applied)
    links = attributes.found("href", str)
    found = (
        addresses.absolute(node, links[node], linked=False)
        for node in kinds
        if linking[node] and node in links
    )
    return [*dict.fromkeys(address for address in found if address)]


def _is_applied(rel: str) -> bool | None:
    kinds = rel.lower().split()
    return ("stylesheet" in kinds and "alternate" not in kinds) or None


def imported_sheets(sheet: bytes) -> list[str]:
    """Return the addresses that a style sheet imports, as it spells them."""
    text = _without_comments(sheet).decode("utf-8", "replace")
    return [next(filter(None, found)) for found in _IMPORT.findall(text)]


def _label(properties: dict[str, list[tuple[int, str]]]) -> str:
    """Return a text for the declarations of an element; where several compete, which rules they are from counts."""
    parts = []
    for name, found in sorted(properties.items()):
        values = {value for _, value in found}
        if name in _COLOURS:
            # Which of two shades wins is not looked at: themes set many, and all of them can be read.
            parts.append(f"{name}:{' '.join(sorted({*map(_shade, values)}))}")
            continue
        said = values.pop() if len(values) == 1 else sorted(number for number, _ in found)
        parts.append(f"{name}:{said}")
    return ";".join(parts)


_HEX = frozenset("0123456789abcdef")
_SHADES = {"black": "dark", "navy": "dark", "white": "light", "inherit": "inherited"}


def _shade(colour: str) -> str:
    """Return how light a colour is: ``"dark"``, ``"middle"`` or ``"light"``; for unknown notations, the value."""
    digits = colour.removeprefix("#")
    if digits == colour or not _HEX.issuperset(digits) or len(digits) not in (3, 6):
        return _SHADES.get(colour, colour)
    step = len(digits) // 3
    size = 16**step - 1
    red, green, blue = (int(digits[place : place + step], 16) / size for place in range(0, 3 * step, step))
    light = 0.299 * red + 0.587 * green + 0.114 * blue
    return "dark" if light < _DARK else "light" if light > _LIGHT else "middle"


def _named(page: Snapshot, name: str) -> NDArray[np.bool_]:
    marks = np.zeros(len(page), np.bool_)
    if not name:
        marks[:] = True
    elif name[0] in ".#":
        test = (
            (lambda value: name[1:] in value.split() or None)
            if name[0] == "."
            else (lambda value: value == name[1:] or None)
        )
        marks[list(attributes_of(page).found("class" if name[0] == "." else "id", test))] = True
    else:
        marks = has_tag(page, name.lower())
    return marks


def _rule(selectors: str, declarations: Sequence[Declaration]) -> Iterator[HidingRule]:
    """Yield a rule for each selector of a list."""
    hiding = [one for one in declarations if _hides(*one)]
    others = [one for one in declarations if one not in hiding and one[0] in _PROPERTIES]
    if not (hiding or others):
        return
    for css in _split(selectors):
        element, part = _divided(css)
        selector, unclear = _parsed(element)
        if selector is None and unclear is None:
            continue
        own = [one for one in hiding if _counts(one[0], selector, part)]
        if selector is None:
            if any(name in _SURELY for name, _ in own):
                yield HidingRule(None, unclear or "", (), ())
        elif own or others:
            yield HidingRule(selector, "", _of_part(own, part), _of_part(others, part))


def _divided(css: str) -> tuple[str, str]:
    """Return a selector without the part of its element that it is for, and this part, such as ``"after"``."""
    element, _, part = css.rpartition(":")
    return (element.removesuffix(":"), part) if part in _DRAWN or part in _LETTERS else (css, "")


def _of_part(declarations: Sequence[Declaration], part: str) -> tuple[Declaration, ...]:
    return tuple((f"{part} {name}" if part else name, value) for name, value in declarations)


def _moves(name: str, value: str) -> bool:
    name = name.rpartition(" ")[2]
    if name not in _PLACES:
        return name in _MOVES
    far = (_px(word) or -math.inf for word in value.split() if word.startswith("-"))
    return name in _MOVES and any(px <= _LEAST_MOVE_PX for px in far)


def _counts(name: str, selector: SheetSelector | None, part: str) -> bool:
    if part in _DRAWN:
        return name in _MOVES
    return name not in _COLOURS or selector is None or selector.has_names


@cache
def _parsed(css: str) -> tuple[SheetSelector | None, str | None]:
    """Return a selector; or None, and the last name in it if it is not supported and may apply."""
    if _PSEUDO_ELEMENT.search(css) or _STATES.search(css):
        return None, None
    for link in _LINKS:
        css = css.replace(link, "")
    try:
        return SheetSelector(css.strip() or "*"), None
    except (UsageError, ValueError):
        names = _NAME.findall(css.rpartition(" ")[2].partition(":")[0])
        return None, names[-1] if names else ""


_LENGTHS = frozenset(("height", "max-height"))
_GROUNDS = frozenset(("background", "background-color", "background-image"))
_COLOURS = _GROUNDS | {"color"}
_EFFECTS = frozenset(
    (
        "clip",
        "clip-path",
        "filter",
        "mask",
        "mask-image",
        "-webkit-mask",
        "-webkit-mask-image",
        "-webkit-mask-box-image",
        "-webkit-text-security",
        "-webkit-text-stroke",
        "animation",
        "animation-name",
        "transform",
        "scale",
        "rotate",
        "translate",
        "opacity",
        "color",
        "-webkit-text-fill-color",
        "-webkit-line-clamp",
        "mix-blend-mode",
        "text-emphasis",
        "text-emphasis-style",
        "zoom",
    )
)
_NO_GROUND = _USUAL | {"transparent", "0", "0 0", "no-repeat", "repeat", "scroll"}
_CLIPS = frozenset(("background-clip", "-webkit-background-clip"))
_UNITS_PX = {"px": 1.0, "pt": 4 / 3, "rem": 16.0, "em": 16.0, "%": 0.16}  # with text of the usual size
_SMALLEST_TEXT_PX, _LARGEST_TEXT_PX = 6.0, 500.0
# Beyond these, letters overlap or stand alone. Headings have up to a twentieth of their size either way.
_LEAST_SPACING_PX, _MOST_SPACING_PX = -3.0, 16.0
_LINES = frozenset(("text-decoration", "text-decoration-thickness"))
_THICKEST_LINE_PX = 4.0
# Underlines elsewhere lie over letters, their own or those of the next line.
_LINE_OFFSETS_PX = 0.0, 8.0
_PLACES = frozenset(
    (
        "left",
        "right",
        "top",
        "bottom",
        "inset",
        "text-indent",
        "margin",
        "margin-left",
        "margin-top",
    )
)
# What moves a box over others. Inline styles also do so by a place that is not negative.
_MOVES = _PLACES - {"text-indent"} | {"position", "transform", "scale", "rotate", "translate", "zoom"}
_LEAST_MOVE_PX = -6.0  # half a line
_PLACED = frozenset(("relative", "sticky"))
_PROPERTIES = (
    _LENGTHS
    | _EFFECTS
    | _PLACES
    | _GROUNDS
    | {"display", "visibility", "position", "overflow", "overflow-x", "overflow-y", "width", "max-width"}
    | _CLIPS
    | _LINES
    | {
        "text-underline-offset",
        "grid-area",
        "font-size",
        "font",
        "font-family",
        "line-height",
        "letter-spacing",
        "content-visibility",
        "backface-visibility",
    }
)
_SURELY = frozenset(("display", "visibility", "opacity", "content-visibility"))


def _hides(name: str, value: str) -> bool:
    """Return whether a declaration may hide text by itself, or with others of the element."""
    if name == "display":
        return value.startswith("none")
    if name == "visibility":
        return value.startswith(("hidden", "collapse"))
    if name == "grid-area":  # with numbers, several boxes can have one place
        return value[:1].isdigit()
    if name in ("content-visibility", "backface-visibility"):
        return value.startswith("hidden")
    if name in _CLIPS:
        return "text" in value
    if name.startswith("overflow"):
        return "hidden" in value or "clip" in value
    if name == "position":
        return value.startswith(("absolute", "fixed"))
    if name in _LENGTHS:
        return value not in _USUAL and value not in _SIZES
    if name in _EFFECTS:
        return value not in _USUAL
    if name in _GROUNDS:
        return not _NO_GROUND.issuperset(value.split())
    if name in ("width", "max-width", "line-height"):
        return (value.startswith("0") and not value.startswith("0.")) or value == "1px"
    if name in ("font-size", "font"):
        words = value.partition(",")[0].split()
        sizes = (_px(word.partition("/")[0]) for word in words)
        is_small = any(size is not None and size < _SMALLEST_TEXT_PX for size in sizes)
        # Weights are numbers, too.
        is_large = any((_px(word) or 0.0) > _LARGEST_TEXT_PX for word in words if not word.isdecimal())
        return is_small or is_large or any(map(is_symbols, words))
    if name == "font-family":
        return is_symbols(value)
    if name == "letter-spacing":
        spacing = _px(value)
        return spacing is not None and not _LEAST_SPACING_PX < spacing < _MOST_SPACING_PX
    if name == "text-underline-offset":
        offset, (least, most) = _px(value), _LINE_OFFSETS_PX
        return offset is not None and not least <= offset <= most
    if name in _LINES:
        return any((_px(word) or 0.0) > _THICKEST_LINE_PX for word in value.split())
    return name in _PLACES and any(word.startswith("-") for word in value.split())


def _px(value: str) -> float | None:
    """Return a length in CSS px, with text of the usual size; None if it is not a number with a known unit."""
    unit = next((unit for unit in _UNITS_PX if value.endswith(unit)), "")
    try:
        return float(value.removesuffix(unit)) * _UNITS_PX.get(unit, 1.0)
    except ValueError:
        return None


def _split(selectors: str) -> Iterator[str]:
    """Yield the selectors of a list; commas inside parentheses and brackets do not divide."""
    depth, start = 0, 0
    for place, letter in enumerate(selectors):
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == "," and depth <= 0:
            yield selectors[start:place].strip()
            start = place + 1
    yield selectors[start:].strip()


def _without_comments(sheet: bytes) -> bytes:
    parts: list[bytes] = []
    place = 0
    while (start := sheet.find(b"/*", place)) >= 0:
        parts.append(sheet[place:start])
        end = sheet.find(b"*/", start + 2)
        if end < 0:
            return b" ".join(parts)
        place = end + 2
    return b" ".join((*parts, sheet[place:]))


def _rules(sheet: bytes) -> Iterator[tuple[str, list[Declaration]]]:
    """Yield the rules of a style sheet with their declarations, also nested ones, without those for printing only."""
    strings: list[str] = []

    def put_away(match: re.Match[str]) -> str:
        strings.append(match[0])
        return f"\x02{len(strings) - 1}\x02"

    def restored(piece: str) -> str:
        return _PLACEHOLDER.sub(lambda found: strings[int(found[1])], piece)

    text = _without_comments(sheet).decode("utf-8", "replace").replace("\x02", "")
    text = _STRING.sub(put_away, text)
    stack: list[tuple[str, bool, list[Declaration]]] = []
    for match in _BLOCK.finditer(text):
        piece = match[0].rstrip("{};").strip()
        mark = match[0][-1]
        if mark == "{":
            selector = restored(piece)
            printed = bool(stack) and stack[-1][1]
            stack.append((selector, printed or _is_for_printing(selector), []))
            continue
        if stack and ":" in piece:
            name, _, value = piece.partition(":")
            name, value = name.strip().lower(), value.partition("!")[0].strip()
            if name in ("font", "font-family"):
                value = restored(value)
            stack[-1][2].append((name, value.lower()[:_LONGEST_VALUE]))
        if mark == "}" and stack:
            selector, printed, declarations = stack.pop()
            if declarations and not printed and not selector.startswith("@"):
                yield selector, declarations


def _is_for_printing(selector: str) -> bool:
    lowered = selector.lower()
    return lowered.startswith("@media") and "print" in lowered and not ("," in lowered or "not" in lowered)
