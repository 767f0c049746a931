"""TeX of formulas that pages have as MathML, made from the text that readers see (elements of MathML Core)."""

import re
from collections.abc import Iterable, Mapping, Sequence

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.columns.formulas import LONGEST
from domsieve.analysis.writers._media import Reader
from domsieve.analysis.writers.html import Written

_LONGEST_NAME = 40
_FUNCTIONS = word_set(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max "
    "min sec sin sinh sup tan tanh"
)
_ESCAPED = str.maketrans(
    {"\\": r"\backslash ", "^": r"\hat{}", "~": r"\sim "} | {one: f"\\{one}" for one in "{}#%&_$"}
)
# What is above and below these are limits, not other lines of a stack.
_WITH_LIMITS = frozenset("∑∏∐∫∬∭∮⋂⋃⋀⋁⨁⨂")
_OVER = {"¯": "overline", "‾": "overline", r"\hat{}": "hat", "ˆ": "hat", r"\sim": "tilde", "˜": "tilde"}
_OVER |= {"→": "vec", "⃗": "vec", "˙": "dot", "¨": "ddot", "ˇ": "check", "˘": "breve", "⏞": "overbrace"}
_UNDER = {r"\_": "underline", "̲": "underline", "‾": "underline", "¯": "underline", "⏟": "underbrace"}
_SCRIPTS = {
    "msub": "_",
    "msup": "^",
    "msubsup": "_^",
    "munder": "_",
    "mover": "^",
    "munderover": "_^",
}
_EMPTY = frozenset(["maligngroup", "malignmark", "mprescripts", "mspace", "none"])
_ROW_END = r" \\ "
_MARKED = re.compile(r"[\\^_]")
_COMMAND = re.compile(r"\\[A-Za-z]+\Z")
_ATOM = re.compile(r"[^\s\\{}_^]|\\[A-Za-z]+|\\[{}#%&_$]|\\(?:mathrm|text)\{[^{}\\]*\}")


def tex_of(reader: Reader, root: int, texts: Mapping[int, Written]) -> str:
    """Return the TeX of a ``math`` element, empty if its text alone says as much or more, or if it is too long.

    Parameters
    ----------
    reader : the nodes of the page.
    root : the element.
    texts : the texts that are written, by node.
    """
    if not any(texts[node].text.strip() for node in range(root, reader.end[root]) if node in texts):
        return ""
    # All in an element comes after it, so it is made before the element is.
    inner: dict[int, list[tuple[str, str]]] = {}
    for node in range(reader.end[root] - 1, root - 1, -1):
        name, inside = reader.names[reader.tag[node]], inner.pop(node, [])[::-1]
        if name == "#text":
            made = texts[node].text if node in texts else ""
            if not made.strip():
                continue
        elif name.startswith("#"):
            continue
        elif name in _EMPTY and inside:
            return ""
        else:
            made = _made(name, inside, reader.given(node))
        if len(made) > LONGEST:
            return ""
        inner.setdefault(reader.parent[node], []).append((name, made))
    [(_, found)] = inner[reader.parent[root]]
    return found if _MARKED.search(found) and any(map(str.isalnum, found)) else ""


def _made(name: str, inner: Sequence[tuple[str, str]], given: Mapping[str, str]) -> str:
    """Return the TeX of an element, of whose children the names and the TeX are given."""
    parts = [made for _, made in inner]
    if name in {"mi", "mn", "mo", "mtext", "ms"}:
        return _leaf(name, "".join(parts))
    if name == "mspace":
        return "" if given.get("width", "0")[:1] in {"0", "-"} else r"\ "
    if name == "mfrac" and len(parts) == 2:
        command = r"\frac" if given.get("linethickness", "1")[:1] != "0" else r"\genfrac{}{}{0pt}{}"
        return f"{command}{{{parts[0]}}}{{{parts[1]}}}"
    if name == "mroot" and len(parts) == 2:
        return rf"\sqrt[{parts[1]}]{{{parts[0]}}}"
    if name in _SCRIPTS and len(parts) == 1 + len(_SCRIPTS[name]):
        return _with_scripts(name, parts[0], parts[1:])
    if name == "mmultiscripts" and parts:
        return _with_corners(inner)
    if name == "mtr":
        return " & ".join(parts)
    if name == "mtable":
        return rf"\begin{{matrix}} {_ROW_END.join(parts)} \end{{matrix}}"
    row = _joined(made.strip().translate(_ESCAPED) if kind == "#text" else made for kind, made in inner)
    return rf"\sqrt{{{row}}}" if name == "msqrt" else row


def _leaf(name: str, text: str) -> str:
    """Return the TeX of a token with a text."""
    if name in {"mtext", "ms"}:
        return rf"\text{{{text.translate(_ESCAPED)}}}" if text else ""
    token = text.strip()
    if name == "mi" and token in _FUNCTIONS:
        return f"\\{token}"
    escaped = token.translate(_ESCAPED)
    return (
        rf"\mathrm{{{escaped}}}" if name == "mi" and len(token) > 1 and token.isalpha() else escaped.strip()
    )


def _with_scripts(name: str, base: str, scripts: Sequence[str]) -> str:
    """Return TeX with what is below and above it, or at its lower and upper right corner."""
    if name in {"msub", "msup", "msubsup"} or base in _WITH_LIMITS or base[1:] in _FUNCTIONS:
        marks = zip(_SCRIPTS[name], scripts, strict=True)
        return _group(base) + "".join(mark + _group(script) for mark, script in marks if script)
    for mark, script in zip(_SCRIPTS[name], scripts, strict=True):
        command = (_UNDER if mark == "_" else _OVER).get(script)
        stack = rf"\underset{{{script}}}" if mark == "_" else rf"\overset{{{script}}}"
        base = (f"\\{command}" if command else stack) + f"{{{base}}}"
    return base


def _with_corners(inner: Sequence[tuple[str, str]]) -> str:
    """Return the TeX of ``mmultiscripts``: a base, pairs of scripts after it, and after a mark pairs before it."""
    names = [name for name, _ in inner]
    turn = names.index("mprescripts") if "mprescripts" in names else len(names)

    def scripts(pairs: Sequence[tuple[str, str]]) -> str:
        marked = zip("_^" * (len(pairs) // 2 + 1), pairs, strict=False)
        return "".join(mark + _group(made) for mark, (_, made) in marked if made)

    before = scripts(inner[turn + 1 :])
    return ("{}" + before if before else "") + _group(inner[0][1]) + scripts(inner[1:turn])


def _group(tex: str) -> str:
    """Return TeX that is one thing for what is written beside it."""
    return tex if _ATOM.fullmatch(tex) else f"{{{tex}}}"


def _joined(parts: Iterable[str]) -> str:
    """Return parts in a row, with a space where a command would go on with the letters after it."""
    row: list[str] = []
    for part in filter(None, parts):
        if row and part[0].isalpha() and _COMMAND.search(row[-1][-_LONGEST_NAME:]):
            row.append(" ")
        row.append(part)
    return "".join(row)
