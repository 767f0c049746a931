"""The language of a block of code, from the classes and attributes that highlighters leave.

Pygments, Prism, highlight.js, Chroma, Shiki, Rouge, SyntaxHighlighter, pandoc and GitHub name it on the block, on the
``code`` inside it or on one of the elements around it. Imports the reader of nodes.
"""

import re
from itertools import pairwise

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.writers.reader import Reader

_ATTRIBUTES = ("data-lang", "data-language", "data-code-lang")
# The longest first, since the first that fits is taken.
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
_NAME = re.compile(r"[a-z0-9][a-z0-9+#._-]{0,29}")
_AROUND = 3
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
# Names that stand as classes of their own: highlight.js, pandoc and rustdoc write them so.
_BARE = word_set(
    "ada apache arduino asm awk bash basic batch c clojure cmake cobol coffeescript console cpp crystal csharp css "
    "csv d dart delphi diff dockerfile elixir elm erlang fortran fsharp go golang gradle graphql groovy haskell html "
    "http ini java javascript js json json5 jsx julia kotlin latex less lisp lua makefile markdown matlab mermaid "
    "nginx nim nix objectivec ocaml pascal perl php plaintext powershell prolog properties protobuf python python3 r "
    "racket ruby rust sass scala scheme scss sh shell smalltalk solidity sql swift tcl terraform toml ts tsx "
    "typescript vbnet verilog vhdl vim xml yaml zig zsh"
)


def code_language(reader: Reader, node: int) -> str:
    """Return the language of the block of code `node` in lower case, empty where nothing names it."""
    inner = _code_inside(reader, node)
    for own in (inner, node) if inner else (node,):
        if language := _named(reader, own, bare=True):
            return language
    around = reader.parent[node]
    for _ in range(_AROUND):
        if around <= 0:
            break
        if language := _named(reader, around, bare=False):
            return language
        around = reader.parent[around]
    return ""


def _code_inside(reader: Reader, node: int) -> int:
    """Return the `code` that is the first element of a block, or of another in it; 0 if there is none."""
    child = node + 1
    for _ in range(_AROUND):
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
    found = next((token for token in tokens if bare and token in _BARE), "")
    return _SAME.get(found, found)


def _clean(name: str) -> str:
    name = name.strip().lower()
    if name in _NONE or not _NAME.fullmatch(name):
        return ""
    return _SAME.get(name, name)
