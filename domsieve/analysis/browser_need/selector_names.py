"""The names that the selectors of style sheets mention: what may decide whether a style sheet hides an element.

Sheets are not parsed as CSS. Every class, id and attribute that a selector could mention is taken, with some that
none does, such as ``fff`` from a colour. A name too many only makes elements differ that are alike.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple

from domsieve.analysis.columns.links import Addresses
from domsieve.analysis.columns.page_columns import attributes_of, has_tag
from domsieve.budget import check, spending
from domsieve.snapshot.page import Snapshot

_COMMENT = (b"/*", b"*/")
_STRING = re.compile(r"\"(?:[^\"\\\n]++|\\.)*+\"?|'(?:[^'\\\n]++|\\.)*+'?", re.DOTALL)
_NAME = re.compile(r"([.#])((?:[\w-]|[^\x00-\x7f]|\\.)+)")
_ATTRIBUTE = re.compile(
    r"\[\s{0,9}(?:[\w*-]{0,40}\|(?!=))?((?:[\w-]|[^\x00-\x7f]|\\.){1,200})\s{0,9}"
    r"(?:(\]|[~|^$*]?=)\s{0,9}(?:\"([^\"\\]{0,200})\"|'([^'\\]{0,200})'|([\w-]{1,200}))?\s{0,9}([iIsS]?)\s{0,9}(\]?))?"
)
_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{1,6})\s?|(.))", re.DOTALL)
_BLOCK = re.compile(r"[^{};]++[{};]?|[{};]")
# Selectors that depend on where an element is among its siblings, or on what is in it.
_BY_POSITION = re.compile(r":(?:nth-|first-|last-|only-)")
_BY_CONTENT = re.compile(r":(?:has\(|empty)")
_PSEUDO_ELEMENT = re.compile(r"::|:(?:before|after|first-line|first-letter)(?![\w-])")
_IN_PARENTHESES = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_COMPOUND = re.compile(r"([>+~\s]*+)([^>+~\s]++)")
_COMBINATORS = " \t\n\r\f>+~"
_TAG = re.compile(r"[\w-]+")
# Declarations that can hide text.
_HIDING = re.compile(
    r"(?:display\s*+:\s*+none|visibility|opacity|clip|text-indent|font(?:-size)?\s*+:|(?:max-)?(?:height|width)\s*+:"
    r"|transform|scale|(?:left|right|top|bottom|inset)\s*+:|(?<![\w-])color\s*+:|text-fill-color|line-height"
    r"|filter|mask|margin[\w-]{0,20}\s*+:\s*+-)",
    re.IGNORECASE,
)
_IMPORT = re.compile(
    r"@import\s{1,9}(?:url\(\s{0,9})?(?:\"([^\"\n]{1,2000})\"|'([^'\n]{1,2000})'|([^\s\"');]{1,2000}))"
)
_LONGEST_SELECTOR = 20_000
_MOST_NESTED = 20
_LONGEST_VALUE = 200
ANY = "*"


class AttributeTest(NamedTuple):
    """A condition on an attribute in a selector.

    Parameters
    ----------
    name : the attribute, in lower case.
    operator : ``""`` if the attribute must exist, one of ``= ~= |= ^= $= *=``, or ``"?"`` if the condition was not
        understood, so that every value may decide.
    value : the value to compare with.
    """

    name: str
    operator: str
    value: str = ""

    def label(self, value: str) -> str:
        """Return a text that is equal for attributes for which the condition has the same result."""
        if self.operator == "?":
            return value[:_LONGEST_VALUE]
        wanted = self.value.lower()  # some selectors ignore case; where it counts, little is lost
        value = value.lower()
        results = {
            "": True,
            "=": value == wanted,
            "~=": wanted in value.split(),
            "|=": value == wanted or value.startswith(f"{wanted}-"),
            "^=": bool(wanted) and value.startswith(wanted),
            "$=": bool(wanted) and value.endswith(wanted),
            "*=": bool(wanted) and wanted in value,
        }
        return "yes" if results[self.operator] else "no"


@dataclass(frozen=True, slots=True)
class SelectorNames:
    """Names in the selectors of style sheets.

    Parameters
    ----------
    classes, ids : the names.
    attributes : the conditions on attributes.
    by_position : names of elements whose position decides whether a rule that may hide them applies: ``".class"``,
        ``"#id"``, a tag, or `ANY`.
    by_content : likewise for rules that look at what is in the element.
    is_complete : whether all style sheets were read. If not, every class, id and attribute counts.
    """

    classes: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    attributes: frozenset[AttributeTest] = frozenset()
    by_position: frozenset[str] = frozenset()
    by_content: frozenset[str] = frozenset()
    is_complete: bool = True

    def __or__(self, other: "SelectorNames") -> "SelectorNames":
        return SelectorNames(
            self.classes | other.classes,
            self.ids | other.ids,
            self.attributes | other.attributes,
            self.by_position | other.by_position,
            self.by_content | other.by_content,
            self.is_complete and other.is_complete,
        )

    @staticmethod
    def of(sheets: Iterable[bytes]) -> "SelectorNames":
        """Return the names in the texts of style sheets, in time linear in their length."""
        with spending("styles"):
            return reduce(or_, map(_names, sheets), SelectorNames())


UNKNOWN_SHEETS = SelectorNames(is_complete=False, by_position=frozenset((ANY,)))
"""The names for pages with a style sheet that cannot be read."""


def style_links(page: Snapshot) -> list[str]:
    """Return the absolute addresses of the style sheets that a source links to, in document order, each once."""
    addresses = Addresses(page)
    attributes = attributes_of(page)
    linking = has_tag(page, "link")
    kinds = attributes.found("rel", lambda value: "stylesheet" in value.lower().split() or None)
    links = attributes.found("href", str)
    found = (
        addresses.absolute(node, links[node], linked=False)
        for node in kinds
        if linking[node] and node in links
    )
    return [*dict.fromkeys(address for address in found if address)]


def imported_sheets(sheet: bytes) -> list[str]:
    """Return the addresses that a style sheet imports, as it spells them."""
    text = _without_comments(sheet).decode("utf-8", "replace")
    return [_unescaped(next(filter(None, found))) for found in _IMPORT.findall(text)]


def _names(sheet: bytes) -> SelectorNames:
    text = _without_comments(sheet).decode("utf-8", "replace")
    classes, ids = set[str](), set[str]()
    for mark, name in _NAME.findall(text):
        (classes if mark == "." else ids).add(_unescaped(name))
    positions, contents = set[str](), set[str]()
    bare = _STRING.sub("''", text)
    for selector, block in _rules(bare):
        check()
        if not (
            _BY_POSITION.search(selector)
            or _BY_CONTENT.search(selector)
            or "+" in selector
            or "~" in selector
        ):
            continue
        if _HIDING.search(block):
            _look_at(selector, positions, contents)
    return SelectorNames(
        frozenset(classes),
        frozenset(ids),
        frozenset(map(_test, _ATTRIBUTE.finditer(text))),
        frozenset(positions),
        frozenset(contents),
    )


def _test(match: re.Match[str]) -> AttributeTest:
    name, operator = _unescaped(match[1]).lower(), match[2] or "?"
    if operator == "]":
        return AttributeTest(name, "")
    values = [value for value in match.group(3, 4, 5) if value is not None]
    if not match[7] or not values:
        return AttributeTest(name, "?")
    return AttributeTest(name, operator, values[0])


def _without_comments(sheet: bytes) -> bytes:
    opening, closing = _COMMENT
    parts: list[bytes] = []
    place = 0
    while (start := sheet.find(opening, place)) >= 0:
        parts.append(sheet[place:start])
        end = sheet.find(closing, start + len(opening))
        if end < 0:
            return b" ".join(parts)
        place = end + len(closing)
    return b" ".join((*parts, sheet[place:]))


def _rules(text: str) -> list[tuple[str, str]]:
    """Return pairs of a selector and the declarations directly in its block, also for nested rules."""
    rules: list[tuple[str, str]] = []
    stack: list[tuple[str, list[str]]] = []
    for match in _BLOCK.finditer(text):
        piece, mark = match[0][:-1], match[0][-1]
        if mark == "{":
            stack.append((piece.strip(), []))
            continue
        if stack:
            stack[-1][1].append(piece)
        if mark == "}" and stack:
            selector, declarations = stack.pop()
            if not selector.startswith("@") and len(selector) <= _LONGEST_SELECTOR:
                rules.append((selector, ";".join(declarations)))
    return rules


def _look_at(selector: str, positions: set[str], contents: set[str]) -> None:
    """Add the names of the elements in a selector whose position or content matters."""
    if _PSEUDO_ELEMENT.search(selector) and "," not in selector:
        return
    flat = selector
    for _ in range(
        _MOST_NESTED
    ):  # what is in parentheses or brackets contains no combinators of the selector
        inner = _IN_PARENTHESES.sub(_marked, flat)
        if inner == flat:
            break
        flat = inner
    for part in flat.split(","):
        if _PSEUDO_ELEMENT.search(part):
            continue
        for combinator, compound in _COMPOUND.findall(part.rstrip(_COMBINATORS)):
            if "+" in combinator or "~" in combinator or _BY_POSITION.search(compound) or "\x01" in compound:
                positions.add(_name_of(compound))
            if _BY_CONTENT.search(compound) or ":has" in compound:
                contents.add(_name_of(compound))


def _marked(match: re.Match[str]) -> str:
    """Return a mark instead of something in parentheses that looks at positions; else nothing."""
    return "\x01" if _BY_POSITION.search(match[0]) or "\x01" in match[0] or "+" in match[0] else ""


def _name_of(compound: str) -> str:
    """Return one name that every element with this compound selector has."""
    for mark, name in _NAME.findall(compound):
        return f"{mark}{_unescaped(name)}"
    tag = _TAG.match(compound)
    return tag[0].lower() if tag else ANY


def _unescaped(name: str) -> str:
    if "\\" not in name:
        return name

    def character(match: re.Match[str]) -> str:
        if not match[1]:
            return match[2]
        code = int(match[1], 16)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"

    return _ESCAPE.sub(character, name)
