"""Code of a page as text, with its language and line ends."""

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise

from pygments.lexers import get_all_lexers

from domsieve.analysis.columns.flow import BREAK, CELL, SPACE, word_set
from domsieve.analysis.writers._media import Reader
from domsieve.analysis.writers.html import Written
from domsieve.budget import check

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
