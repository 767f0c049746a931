"""Markdown read back as a reader on GitHub would have it: CommonMark with tables and strikethrough."""

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

# The strictest preset for nesting, as other readers may be.
_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
BARE_TAG = re.compile("</?(?:sub|sup|kbd|mark)>")


@dataclass
class Reading:
    """What a document says.

    Parameters
    ----------
    words : all words, in order; those of descriptions of images are not among them.
    headings : level and words.
    code : language and text of each block of code.
    inline_code : text of each.
    tables : rows of cells, the head first.
    items : depth, sign or number, and words of the first paragraph of each item.
    links, images : words or description, and address.
    marks : name and words of emphasis and bare tags.
    html : all raw HTML.
    quotes : words of each outermost quote.
    """

    words: list[str] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    code: list[tuple[str, str]] = field(default_factory=list)
    inline_code: list[str] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    items: list[tuple[int, str, str]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    images: list[tuple[str, str]] = field(default_factory=list)
    marks: list[tuple[str, str]] = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    quotes: list[str] = field(default_factory=list)
    rules: int = 0


def read(markdown: str) -> Reading:
    """Return what a reader finds in a document."""
    found = Reading()
    texts: list[str] = []
    depth, quoted = 0, -1
    ordered: list[tuple[bool, int]] = []
    sign = ""
    tokens = _PARSER.parse(markdown)
    for i, token in enumerate(tokens):
        if token.type in {"bullet_list_open", "ordered_list_open"}:
            ordered.append((token.type.startswith("ordered"), int(token.attrGet("start") or 1) - 1))
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            ordered.pop()
        elif token.type == "list_item_open":
            numbered, last = ordered[-1]
            ordered[-1] = (numbered, last + 1)
            depth, sign = len(ordered), str(last + 1) if numbered else "-"
        elif token.type == "blockquote_open" and token.level == 0:
            quoted = len(texts)
        elif token.type == "blockquote_close" and token.level == 0:
            found.quotes.append(" ".join(" ".join(texts[quoted:]).split()))
        elif token.type == "table_open":
            found.tables.append([])
        elif token.type == "tr_open":
            found.tables[-1].append([])
        elif token.type in {"fence", "code_block"}:
            found.code.append((token.info, token.content))
            texts.append(token.content)
        elif token.type == "html_block":
            found.html.append(token.content)
        elif token.type == "hr":
            found.rules += 1
        elif token.type == "inline":
            text = _inline(token, found)
            texts.append(text)
            before = tokens[i - 1]
            if before.type == "heading_open":
                found.headings.append((int(before.tag[1]), text))
            elif before.type in {"th_open", "td_open"}:
                found.tables[-1][-1].append(text)
            if sign:
                found.items.append((depth, sign, text))
                sign = ""
    found.words = " ".join(texts).split()
    return found


def _inline(token: Token, found: Reading) -> str:
    text = ""
    opened: list[tuple[int, str]] = []
    for child in token.children or []:
        if child.type == "text":
            text += child.content
        elif child.type == "code_inline":
            text += child.content
            found.inline_code.append(child.content)
        elif child.type == "softbreak":
            text += " "
        elif child.type == "hardbreak":
            text += "\n"
        elif child.type == "image":
            found.images.append((child.content, str(child.attrGet("src"))))
        elif child.type == "html_inline":
            found.html.append(child.content)
            if child.content.startswith("</"):
                start, name = opened.pop()
                found.marks.append((name, text[start:]))
            else:
                opened.append((len(text), child.content.strip("<>")))
        elif child.nesting == 1:
            opened.append((len(text), str(child.attrGet("href"))))
        elif child.nesting == -1:
            start, address = opened.pop()
            if child.type == "link_close":
                found.links.append((text[start:], address))
            else:
                found.marks.append((child.tag, text[start:]))
        else:
            raise AssertionError(child.type)
    return text
