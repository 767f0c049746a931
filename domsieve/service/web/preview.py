"""Markdown as a document that does nothing: no script, no address, nothing that loads.

What a page wrote decides what stands here. So HTML stays text, links and pictures lose their addresses (a link shows
its own as a tool tip), and the document goes out under `PREVIEW_POLICY`: a sandbox without origin that allows its one
style, by its hash, and nothing else. Imports markdown-it, and of the project `plain`.
"""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from domsieve.plain import plain

_STYLE = (Path(__file__).parent / "static" / "preview.css").read_text(encoding="utf-8")
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode("ascii")
PREVIEW_POLICY = (
    f"sandbox; default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
"""For the preview alone. Its tests hold that it allows no script and nothing from anywhere."""
PREVIEWED = 64_000
"""Characters that are previewed: hostile ones take seconds for each 100,000, in the process that answers."""

_NESTING = 20
_LONGEST = 300  # characters of an address in a tool tip
_FENCE = "---\n"


def preview(markdown: str) -> str:
    """Return a whole HTML document that shows Markdown, its first `PREVIEWED` characters.

    YAML front matter is shown as it is.
    """
    text = markdown[:PREVIEWED]
    front, end = "", text.find(f"\n{_FENCE}", len(_FENCE) - 1) if text.startswith(_FENCE) else -1
    if end >= 0:
        front = f'<pre class="front">{escape(text[len(_FENCE) : end])}</pre>\n'
        text = text[end + 1 + len(_FENCE) :]
    rest = "" if len(markdown) <= PREVIEWED else '<p class="rest">The rest is not previewed.</p>\n'
    return (
        '<!DOCTYPE html>\n<html lang="und"><head><meta charset="utf-8"><title>Preview</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style></head>\n<body><main>\n{front}{_parser().render(text)}{rest}</main></body></html>\n"
    )


class _Inert(RendererHTML):
    """Writes elements without an address."""

    def link_open(self, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
        address = plain(str(tokens[at].attrGet("href") or ""))[:_LONGEST]
        return f'<span class="link" title="{escape(address)}">'

    def link_close(self, _tokens: Sequence[Token], _at: int, _options: Any, _env: Any) -> str:
        return "</span>"

    def image(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        words = self.renderInlineAsText(tokens[at].children or [], options, env)
        return f'<span class="image">{escape(words) or "picture"}</span>'


@cache
def _parser() -> MarkdownIt:
    options = {"html": False, "maxNesting": _NESTING}
    parser = MarkdownIt("commonmark", options, renderer_cls=_Inert)
    # HTML is text; a definition could give one address to many words.
    return parser.enable(["table", "strikethrough"]).disable(["html_block", "html_inline", "reference"])
