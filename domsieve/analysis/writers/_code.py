"""Code and formulas of a page as text: code with its language and line ends, formulas as TeX."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from pygments.lexers import get_all_lexers

from domsieve.analysis.columns.flow import BREAK, CELL, SPACE, word_set
from domsieve.analysis.columns.page_columns import AttributeIndex, has_tag
from domsieve.analysis.writers._media import Reader
from domsieve.analysis.writers.html import Written
from domsieve.budget import check
from domsieve.snapshot.page import Snapshot

_WRAPPERS = word_set(
    "katex katex-display mathjax mathjax_display mathjax_chtml mathjax_svg mathjax_mathml mathjax_svg_display "
    "mjx-chtml mjxc-display mwe-math-element ltx_math"
)
_DISPLAYED = word_set(
    "katex-display mathjax_display mathjax_svg_display mjxc-display mwe-math-element-block mwe-math-mathml-display"
)
_IMAGES = word_set("latex mwe-math-fallback-image-display mwe-math-fallback-image-inline tex")
_FORMULA_LEVELS = 8
LONGEST_TEX = 20_000
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_SPACES = re.compile(r"\s+")
_DOLLAR = re.compile(r"(?<!\\)\$")
_STYLED = re.compile(r"\{\\(?:display|text)style (.*)\}")
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|\](?=[(:])")
# Commands, also with the name of an environment or a colour.
_COMMAND = re.compile(r"\\(?:begin|end|color|textcolor)\{[A-Za-z*]{1,20}\}|\\[A-Za-z]+")
_WORD = re.compile(r"[^\W\d_]{3,}")
_MOST_UNSEEN, _MOST_LETTERS = 2, 10  # such as the names of units and columns


@dataclass(frozen=True, slots=True)
class Formula:
    """One formula.

    Parameters
    ----------
    end : one past the last node of the elements that display it.
    tex : TeX in one line, safe between dollar signs in Markdown.
    displayed : it is a display formula, on a line of its own.
    """

    end: int
    tex: str
    displayed: bool


def formulas(page: Snapshot, reader: Reader, attributes: AttributeIndex) -> dict[int, Formula]:
    """Return the formulas of a page whose TeX is known, by the outermost node that displays them."""
    has_tex = has_tag(page, "annotation", "math", "mjx-container", "mjx-math", "img")
    # MathJax 4 has TeX in all parts of a drawing.
    has_tex[[*attributes.found("data-mml-node", lambda name: True if name == "math" else None)]] = True
    candidates = np.flatnonzero(has_tex).tolist()
    if not candidates:
        return {}
    wrappers = attributes.found("class", _wrapper)
    found: dict[int, Formula] = {}
    for node, tex, displayed in _given(reader, candidates):
        check()
        clean = clean_tex(tex)
        root, displayed = _root(reader, node, wrappers, displayed=displayed)
        if clean and root not in found:
            found[root] = Formula(reader.end[root], clean, displayed)
    return found


def clean_tex(tex: str) -> str:
    """Return TeX in one line that is safe between dollar signs in Markdown, or an empty string if that is impossible.

    Spaces have no meaning in formulas, so a space is inserted where Markdown would read a tag or a link.
    """
    if len(tex) > LONGEST_TEX:
        return ""
    tex = _SPACES.sub(" ", _COMMENT.sub("", tex)).strip(" ")
    if styled := _STYLED.fullmatch(tex):
        tex = styled[1].strip(" ")
    if _DOLLAR.search(tex) or tex.endswith("\\"):
        return ""
    return _MARKUP.sub(r"\g<0> ", tex).replace("*", r"\ast ").replace("`", "‘").strip(" ")


def shows(formula: Formula, text: str) -> bool:
    """Return whether the words and letters in the TeX of a formula are in its text that readers see, but for a few.

    Variables and names of functions have letters in both. TeX with other words would be hidden text.
    """
    shown = "".join(filter(str.isalpha, unicodedata.normalize("NFKC", text)))
    given = unicodedata.normalize("NFKC", _COMMAND.sub(" ", formula.tex))
    unseen = Counter(filter(str.isalpha, given)) - Counter(shown)
    words = sum(word not in shown for word in _WORD.findall(given))
    return words <= _MOST_UNSEEN and unseen.total() <= _MOST_LETTERS


def _wrapper(value: str) -> bool | None:
    """Return whether a class is that of a display formula, or None if it is not that of a formula."""
    tokens = frozenset(value.lower().split())
    if _WRAPPERS.isdisjoint(tokens):
        return None
    return not _DISPLAYED.isdisjoint(tokens)


def _given(reader: Reader, nodes: list[int]) -> Iterator[tuple[int, str, bool]]:
    """Yield nodes with TeX, the TeX, and whether the node is marked as a display formula."""
    for node in nodes:
        tag, given = reader.names[reader.tag[node]], reader.given(node)
        if tag == "annotation" and "tex" in given.get("encoding", "").lower():
            yield node, _text(reader, node), False
        elif tag in {"math", "mjx-container", "mjx-math", "g"}:
            tex = given.get("data-latex") or given.get("alttext") or ""
            if tex:
                yield node, tex, given.get("display") in {"block", "true"}
        elif tag == "img" and not _IMAGES.isdisjoint(given.get("class", "").lower().split()):
            tex = given.get("alt", "").strip("$ ")
            if "\\" in tex or "^" in tex or "_" in tex or len(tex) < 4:
                yield node, tex, "display" in given["class"].lower()


def _text(reader: Reader, node: int) -> str:
    return "".join(
        reader.text(n) for n in range(node + 1, reader.end[node]) if reader.names[reader.tag[n]] == "#text"
    )


def _root(reader: Reader, node: int, wrappers: dict[int, bool], *, displayed: bool) -> tuple[int, bool]:
    """Return the outermost node that displays only the formula, and whether it is a display formula."""
    root = above = node
    for _ in range(_FORMULA_LEVELS):
        if above <= 0:
            break
        tag = reader.names[reader.tag[above]]
        if tag in {"math", "mjx-container"} or above in wrappers:
            root = above
            given = reader.given(above)
            displayed |= wrappers.get(above, False) or given.get("display") in {"block", "true"}
        above = reader.parent[above]
    return root, displayed


_LINE_CLASSES = word_set(
    "ace_line blob-code-inner cl-line cm-line code-line codemirror-line ec-line hljs-ln-line line token-line "
    "view-line"
)
_LINE_BREAKS = str.maketrans("\v\f\r", "  \n")


def is_line_class(value: str) -> bool | None:
    """Return True if the class `value` marks an element as a line of code, otherwise None."""
    return True if not _LINE_CLASSES.isdisjoint(value.lower().split()) else None


def code_lines(
    reader: Reader, node: int, *, texts: Mapping[int, Written], around: list[int], lines: Mapping[int, bool]
) -> list[str]:
    """Return the lines of the code block `node`, without blank lines at its ends.

    Parameters
    ----------
    reader : the nodes of the page.
    node : the code block.
    texts : written texts by node.
    around : boundary of each node, `NONE` to `BLOCK`.
    lines : nodes whose class marks them as a line of code.
    """
    code = _Code()
    within: list[tuple[int, int]] = []
    for inner in range(node + 1, reader.end[node]):
        check()
        while within and within[-1][0] <= inner:
            code.end(within.pop()[1])
        if inner in texts:
            if texts[inner].gap in {SPACE, CELL}:
                code.space()
            code.add(texts[inner].text)
        elif around[inner] == BREAK:
            code.newline()
        elif inner in lines or around[inner] > BREAK:
            code.begin()
            within.append((reader.end[inner], len(code.parts) if inner in lines else -1))
    return _trimmed("".join(code.parts).replace("\r\n", "\n").translate(_LINE_BREAKS).split("\n"))


class _Code:
    """Builds the text of a code block; after the end of a line, a new one begins only if something follows."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._ended = False

    def add(self, text: str) -> None:
        if self._ended and not text.startswith(("\n", "\r")):
            self.parts.append("\n")
        self._ended = False
        self.parts.append(text)

    def newline(self) -> None:
        self.parts.append("\n\n" if self._ended else "\n")
        self._ended = False

    def begin(self) -> None:
        """Begin the line of an element."""
        if self._ended or not self._at_start():
            self.parts.append("\n")
        self._ended = False

    def end(self, begun: int) -> None:
        """End the line of an element.

        `begun` is the number of parts when it began, or -1 for an element that is no line unless it has text.
        """
        self._ended = self._ended or begun == len(self.parts) or not self._at_start()

    def space(self) -> None:
        if self.parts and not self._ended and not self.parts[-1][-1:].isspace():
            self.parts.append(" ")

    def _at_start(self) -> bool:
        return not self.parts or self.parts[-1].endswith("\n")


def _trimmed(lines: Iterable[str]) -> list[str]:
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    first = next((i for i, line in enumerate(kept) if line.strip()), 0)
    return kept[first:]


_ATTRIBUTES = ("data-lang", "data-language", "data-code-lang")
# Longer prefixes first, because the first match is used.
_PREFIXES = (
    *(
        "mw-highlight-lang-",
        "highlight-source-",
        "highlight-text-",
        "language-",
        "highlight-",
        "source-",
        "lang-",
    ),
)
_CODE_LEVELS = 3
_LONGEST_CLASS = 1_000
_NONE = word_set(
    "auto code default ignore line-numbers lines no-highlight nohighlight none raw undefined unknown"
)
_SAME = {
    "golang": "go",
    "html-basic": "html",
    "ipython3": "python",
    "plain": "text",
    "plaintext": "text",
    "py": "python",
    "python3": "python",
    "txt": "text",
}
# Languages that highlight.js, pandoc and rustdoc write as a class without prefix.
_BARE = word_set(
    "ada apache arduino asm awk bash basic batch c clojure cmake cobol coffeescript console cpp crystal csharp css "
    "csv d dart delphi diff dockerfile elixir elm erlang fortran fsharp go golang gradle graphql groovy haskell html "
    "http ini java javascript js json json5 jsx julia kotlin latex less lisp lua makefile markdown matlab mermaid "
    "nginx nim nix objectivec ocaml pascal perl php plaintext powershell prolog properties protobuf python python3 r "
    "racket ruby rust sass scala scheme scss sh shell smalltalk solidity sql swift tcl terraform toml ts tsx "
    "typescript vbnet verilog vhdl vim xml yaml zig zsh"
)
# Names that other highlighters use, and Pygments does not.
_MORE = word_set(
    "angular angular-html angular-ts arkts armasm asciidoc astro autolisp avrasm avro ballerina batchfile bicep "
    "blade cadence cairo cfscript clojure-repl cmd conf cpp17 cpp20 css-less css-scss d2 dotenv editorconfig edn "
    "ejs env erlang-repl excel fsx gdresource gdshader git git-commit git-rebase gitattributes gitignore "
    "glimmer-js glimmer-ts gml go-mod hack hbs heex html-erb html-php html-vue ignorefile imba javadoc jinja-html "
    "jinja2 js-jsx jsdoc json-comments jsonc jsonl katex kdl latte log markup math mdx mikrotik move n1ql "
    "nextflow objective-cpp patch pgsql php-template pine plantuml plsql postcss powerquery prisma processing "
    "purebasic pycon+sql python-repl razor regex riscv routeros sh-session shaderlab shellscript shellsession "
    "splunk sqf squirrel stylus svelte svg tex-latex textile toit typespec uri url vb vega vue-html wasm web-idl "
    "webassembly wiki wit x86asm"
)


@cache
def _languages() -> frozenset[str]:
    """Return all names of languages: other names are text of the page that no reader sees."""
    known = {alias.lower() for _, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}
    return frozenset(known | _MORE | _BARE | _SAME.keys() | {*_SAME.values()})


def code_language(reader: Reader, node: int) -> str:
    """Return the language of the code block `node` in lower case, empty if it has no name that is known."""
    inner = _code_inside(reader, node)
    for own in (inner, node) if inner else (node,):
        if language := _named(reader, own, bare=True):
            return language
    around = reader.parent[node]
    for _ in range(_CODE_LEVELS):
        if around <= 0:
            break
        if language := _named(reader, around, bare=False):
            return language
        around = reader.parent[around]
    return ""


def _code_inside(reader: Reader, node: int) -> int:
    """Return the ``code`` element at the start of a block, possibly inside further ``pre``; 0 if there is none."""
    child = node + 1
    for _ in range(_CODE_LEVELS):
        if child >= reader.end[node]:
            return 0
        if reader.names[reader.tag[child]] == "code":
            return int(child)
        child = child + 1 if reader.names[reader.tag[child]] == "pre" else reader.end[child]
    return 0


def _named(reader: Reader, node: int, *, bare: bool) -> str:
    given = reader.given(node)
    for name in _ATTRIBUTES:
        if language := _clean(given.get(name, "")):
            return language
    tokens = given.get("class", "")[:_LONGEST_CLASS].lower().split()
    for token, after in pairwise([*tokens, ""]):
        if token.startswith("brush:") and (language := _clean(token[6:].strip(";") or after.strip(";"))):
            return language
        for prefix in _PREFIXES:
            if token.startswith(prefix):
                if language := _clean(token.removeprefix(prefix)):
                    return language
                break
    language = next((token for token in tokens if bare and token in _BARE), "")
    return _SAME.get(language, language)


def _clean(name: str) -> str:
    name = name.strip().lower()
    if name in _NONE or name not in _languages():
        return ""
    return _SAME.get(name, name)
