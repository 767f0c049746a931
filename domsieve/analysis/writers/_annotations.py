"""Callouts (notes, tips, warnings) and footnotes of a page."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.columns.page_columns import AttributeIndex
from domsieve.analysis.writers._media import Reader
from domsieve.analysis.writers.html import Written
from domsieve.budget import check
from domsieve.snapshot.page import Snapshot

TAGS = word_set("aside blockquote details div section table")
# GitHub has five kinds; others are mapped to the most similar one.
_KINDS = {
    **dict.fromkeys(
        word_set("note info abstract summary tldr seealso see-also question faq quote example"), "NOTE"
    ),
    **dict.fromkeys(word_set("tip hint success check done"), "TIP"),
    **dict.fromkeys(word_set("important versionadded"), "IMPORTANT"),
    **dict.fromkeys(word_set("warning warn attention deprecated"), "WARNING"),
    **dict.fromkeys(word_set("caution danger error failure fail bug critical"), "CAUTION"),
}
_MARKERS = word_set(
    "admonition admonitionblock alert callout custom-block hint markdown-alert notecard starlight-aside "
    "theme-admonition"
)
_PREFIXES = (
    *("admonition-", "alert-", "alert--", "callout-", "callout--", "hint-", "hint--", "markdown-alert-"),
    *("starlight-aside--", "theme-admonition-"),
)
_ALONE = word_set("caution important note tip warning")
_LONGEST_CLASS = 500


def callout_kind(value: str) -> str | None:
    """Return the kind of callout that a class names, as GitHub writes it, or None."""
    tokens = value[:_LONGEST_CLASS].lower().split()
    if len(tokens) == 1 and tokens[0] in _ALONE:  # DocBook, rustdoc
        return tokens[0].upper()
    if _MARKERS.isdisjoint(tokens):
        return None
    for token in tokens:
        for prefix in _PREFIXES:
            if token.startswith(prefix) and token[len(prefix) :] in _KINDS:
                return _KINDS[token[len(prefix) :]]
    for token in tokens:
        if token in _KINDS and token not in _MARKERS:
            return _KINDS[token]
    if "hint" in tokens and "admonition" in tokens:
        return "TIP"
    return "NOTE" if "admonition" in tokens else None


def details_kind(value: str) -> str | None:
    """Return the kind of callout that the class of a ``details`` element names, or None; used by MkDocs."""
    return next((_KINDS[token] for token in value[:_LONGEST_CLASS].lower().split() if token in _KINDS), None)


def says_kind(words: str, kind: str) -> bool:
    """Return whether a title only repeats the kind, such as "Warning!"."""
    return words.strip(" :!.*").upper() == kind


_REFERRING = word_set("footnote footnote-ref footnote-reference footnoteref fn-ref")
_HELD = word_set("li aside dd")
_NO_LINE = word_set("blockquote dl h1 h2 h3 h4 h5 h6 hr ol pre table ul")
_LABEL = re.compile("[A-Za-z]?[0-9]{1,6}|[A-Za-z]|[ivxlc]{1,8}")
_NUMBERED = re.compile(
    r"[0-9]{1,6}[a-z]?|[\[(](?:anm|fn|n|nb|nota|note|ref|注|註)[\s:.-]?[0-9]{1,4}[\])]", re.IGNORECASE
)
_MOST_WORDS, _MOST_NODES, _AROUND = 400, 2_000, 3  # longer notes are sections of a page. Guesses
_SIGNS = "[](){}.,*^ \t\n"


@dataclass(frozen=True, slots=True)
class Footnotes:
    """The footnotes of a page.

    Parameters
    ----------
    references : labels by node of the reference: the link, or the superscript around it.
    notes : labels by node of the note.
    skipped : nodes in notes that only repeat the number or link back to the reference.
    """

    references: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    skipped: frozenset[int] = frozenset()


def find_footnotes(
    page: Snapshot, reader: Reader, attributes: AttributeIndex, texts: Mapping[int, Written]
) -> Footnotes:
    """Return the footnotes of a page that are kept and have a kept reference.

    Parameters
    ----------
    page, reader, attributes : the page, its nodes and its attributes.
    texts : written texts by node.
    """
    if not {"li", "aside", "dd"} & set(reader.names):
        return Footnotes()
    targets = attributes.found("href", _fragment)
    links = sorted(node for node in targets if reader.names[reader.tag[node]] == "a")
    if not links:
        return Footnotes()
    wanted = {targets[link] for link in links}
    ids = attributes.found("id", lambda value: value if value in wanted else None)
    holders = {
        name: node
        for node, name in sorted(ids.items(), reverse=True)
        if reader.names[reader.tag[node]] in _HELD
    }
    inside = np.zeros(len(page), np.int64)
    inside[list(texts)] = 1
    before = np.concatenate(([0], np.cumsum(inside))).tolist()
    text_nodes = sorted(texts)
    result = Footnotes()
    used: set[str] = set()
    signs: dict[int, str] = {}
    fit: dict[int, bool] = {}
    for link in links:
        check()
        note = holders.get(targets[link])
        end = reader.end[link]
        if note is None or note <= link < reader.end[note] or not 0 < before[end] - before[link] <= 4:
            continue
        said = "".join(texts[n].text for n in text_nodes[before[link] : before[end]])
        words = _words([said])
        root = _referring(reader, link, before)
        # Words that refer to a note are no label of it: readers see them here only.
        is_label = bool(_LABEL.fullmatch(words))
        is_word = any(map(str.isalpha, words)) and not _NUMBERED.fullmatch(said.strip())
        if not root or not 0 < len(words) <= 12 or (is_word and not is_label):
            continue
        if note not in fit:
            fit[note] = _is_one_line(reader, note, texts, text_nodes[before[note] : before[reader.end[note]]])
        if not fit[note]:
            continue
        if note not in result.notes:
            label = words if is_label else str(len(result.notes) + 1)
            while label in used:
                label = f"{label[:12]}-{len(used) + 1}"
            used.add(label)
            result.notes[note], signs[note] = label, words
        elif words != signs[note]:  # the note has the label of another one
            continue
        result.references[root] = result.notes[note]
    back = {
        link
        for link in links
        if _is_inside(reader, link, result.notes)
        and not _has_letters(texts[n].text for n in text_nodes[before[link] : before[reader.end[link]]])
    }
    labels = attributes.found("class", lambda value: True if "label" in value.split() else None)
    back |= {
        node
        for node in labels
        if reader.parent[node] in result.notes
        and _words(texts[n].text for n in text_nodes[before[node] : before[reader.end[node]]])
        in {signs[reader.parent[node]], ""}
    }
    return Footnotes(result.references, result.notes, frozenset(back))


def _fragment(value: str) -> str | None:
    return value[1:] if 1 < len(value) < 500 and value.startswith("#") else None


def _referring(reader: Reader, link: int, before: list[int]) -> int:
    """Return the outermost node that contains only the reference, 0 if the link is not a reference."""
    given = reader.given(link)
    is_reference = (
        given.get("role") == "doc-noteref"
        or "data-footnote-ref" in given
        or not _REFERRING.isdisjoint(given.get("class", "").lower().split())
    )
    root = link
    above = reader.parent[link]
    for _ in range(_AROUND):
        if above <= 0 or before[reader.end[above]] - before[above] != before[reader.end[link]] - before[link]:
            break
        if reader.names[reader.tag[above]] not in {"sup", "span"}:
            break
        is_reference |= reader.names[reader.tag[above]] == "sup"
        root = above
        above = reader.parent[above]
    if not is_reference:
        inner = [reader.names[reader.tag[n]] for n in range(link + 1, min(reader.end[link], link + 5))]
        is_reference = "sup" in inner
    return int(root) if is_reference else 0


def _is_one_line(reader: Reader, note: int, texts: Mapping[int, Written], nodes: list[int]) -> bool:
    """Return whether a note is text that no Markdown parser reads as a link definition."""
    end = reader.end[note]
    if end - note > _MOST_NODES or not nodes:
        return False
    if any(reader.names[reader.tag[n]] in _NO_LINE for n in range(note + 1, end)):
        return False
    words = " ".join(texts[n].text for n in nodes).split()
    known = [word for word in words if any(sign.isalnum() for sign in word)]
    return 1 < len(known) < _MOST_WORDS and not any(word[0] in "\"'(<" for word in words[1:3])


def _words(texts: Iterable[str]) -> str:
    """Return the number or the sign of a note in texts of it."""
    sign = "".join(texts)
    return sign.strip(_SIGNS) or "*" * sign.count("*")


def _is_inside(reader: Reader, node: int, notes: Mapping[int, str]) -> bool:
    for _ in range(_AROUND * 2):
        if node in notes:
            return True
        if node <= 0:
            return False
        node = reader.parent[node]
    return False


def _has_letters(texts: Iterable[str]) -> bool:
    return any(sign.isalnum() for text in texts for sign in text)
