"""The gaps between words in the text of a page are those that Chrome's own ``innerText`` has."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.writers.text import write_text
from domsieve.snapshot.page import Snapshot
from tests.renderer.conftest import Studio

pytestmark = pytest.mark.browser

CASES = 300
WORDS = ("ab", "cd,", "(ef", "gh)", "ij.", "“kl”", "mn\u00a0op", "一二")
BLANKS = (" ", "\n", "\n   ", "  ")
IN_LINE = (
    "<b>{}</b>",
    "<a href=#>{}</a>",
    "<span> {}</span>",
    "<i>{} </i>",
    "<span style='display:none'>{}</span>",
    "<span style='white-space:pre'>{}</span>",
    "<code>{}</code>",
)
BLOCKS = (
    "<p>{}</p>",
    "<div>{}</div>",
    "<ul><li>{}</li>\n<li>ab</li></ul>",
    "<h2> {}</h2>",
    "<table><tr><td>{}</td> <td>ab</td></tr><tr><td>cd</td></tr></table>",
    "<div style='display:flex'><div>{}</div><div>ab</div></div>",
)
SCRIPT = "for (const part of document.querySelectorAll('.case')) part.dataset.seen = part.innerText"


def in_line(random: Random, depth: int) -> str:
    """Return a line of words, blanks and elements that make no block."""
    parts = []
    for _ in range(random.randint(1, 5)):
        kind = random.random()
        if kind < 0.45 or not depth:
            parts.append(random.choice(WORDS))
        elif kind < 0.7:
            parts.append(random.choice(BLANKS))
        elif kind < 0.78:
            parts.append("<br>")
        else:
            parts.append(random.choice(IN_LINE).format(in_line(random, depth - 1)))
    return "".join(parts)


def fragment(random: Random) -> str:
    """Return blocks and lines side by side."""
    parts = []
    for _ in range(random.randint(1, 3)):
        line = in_line(random, 3)
        parts.append(random.choice(BLOCKS).format(line) if random.random() < 0.5 else line)
    return "".join(parts)


def text_of(page: Snapshot, node: int) -> str:
    """Return what is written of the visible text below a node."""
    inside = np.zeros(len(page), np.bool_)
    inside[node : page.end[node]] = True
    visible = NoCleaning().transform(page)
    return write_text(page, replace(visible, kept=visible.kept & inside))


def cases(studio: Studio, fragments: list[str]) -> list[tuple[str, str, str]]:
    """Return each fragment with what Chrome says stands there, and what is written."""
    body = "".join(f"<div class=case>{part}</div>" for part in fragments)
    page = studio.show(f"<!doctype html><body>{body}<script>{SCRIPT}</script>").snapshot
    found = [node for node in range(len(page)) if page.attributes(node).get("class") == "case"]
    return [
        (part, page.attributes(node)["data-seen"].replace("\u00a0", " "), text_of(page, node))
        for part, node in zip(fragments, found, strict=True)
    ]


def test_between_words_is_that_of_the_browser(studio: Studio) -> None:
    random = Random(5)
    for source, seen, written in cases(studio, [fragment(random) for _ in range(CASES)]):
        # Empty lines say nothing: Chrome has some between paragraphs and behind line breaks.
        assert lines_with_words(written) == lines_with_words(seen), source


def test_in_code_is_that_of_the_browser_to_the_character(studio: Studio) -> None:
    random = Random(6)
    code = [
        f"<pre>{in_line(random, 3)}{random.choice(BLANKS)}{in_line(random, 3)}</pre>" for _ in range(CASES)
    ]
    for source, seen, written in cases(studio, code):
        assert lines_of_code(written) == lines_of_code(seen), source


def lines_with_words(text: str) -> list[str]:
    """Return the lines that are not blank, without blanks at their ends."""
    return [*filter(None, map(str.strip, text.split("\n")))]


def lines_of_code(text: str) -> list[str]:
    """Return lines without blanks at their ends, those of blanks only left out at both ends."""
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n").split("\n")
