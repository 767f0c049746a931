"""A web site made from a seed: one template, texts of words by Zipf's law, lists of varying length.

The pages of a smaller site are the first pages of a larger one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
_VOCABULARY = 200_000
_ZIPF_EXPONENT = 1.0
_ZIPF_SHIFT = 2.7  # Mandelbrot's: the commonest word makes 7 % of a text, as in English
_SECTIONS = 12
_MENU = 9


@dataclass(frozen=True, slots=True)
class GeneratedPage:
    """Address and source of a page."""

    url: str
    html: str


def generated_site(pages: int, *, seed: int = 0) -> Iterator[GeneratedPage]:
    """Yield the first `pages` pages of the site that belongs to `seed`, one after another."""
    weights = 1 / (np.arange(_VOCABULARY) + _ZIPF_SHIFT) ** _ZIPF_EXPONENT
    bounds = np.cumsum(weights / weights.sum())
    frame = _Writer(np.random.default_rng([seed, 0]), bounds)
    sections = [frame.words(2) for _ in range(_SECTIONS)]
    menu = "".join(f'<li><a href="/s{i}/">{sections[i]}</a></li>' for i in range(_MENU))
    notice = frame.words(30)
    for number in range(pages):
        writer = _Writer(np.random.default_rng([seed, number + 1]), bounds)
        section = int(writer.random.integers(_SECTIONS))
        yield GeneratedPage(
            f"https://site.example/s{section}/p{number}.html",
            f"<!DOCTYPE html><html><head><title>{writer.words(6)}</title></head><body>"
            f'<header class="top"><a href="/"><img src="/logo.png" alt="{sections[0]}"></a>'
            f'<nav class="menu"><ul>{menu}</ul></nav></header>'
            f'<p class="crumbs"><a href="/">Home</a> / <a href="/s{section}/">{sections[section]}</a></p>'
            f'<div class="page"><main><article>{writer.article()}</article>{writer.comments()}</main>'
            f'<aside><h3>Latest</h3><ul class="latest">{writer.teasers(5)}</ul>'
            f"<h3>Sections</h3><ul>{menu}</ul></aside></div>"
            f"<footer><p>{notice}</p><ul>{menu}</ul></footer></body></html>",
        )


def generated_page(sections: int, *, seed: int = 0) -> GeneratedPage:
    """Return a page of articles, comments and lists of links that grows with its `sections`, some 110 nodes each."""
    weights = 1 / (np.arange(_VOCABULARY) + _ZIPF_SHIFT) ** _ZIPF_EXPONENT
    writer = _Writer(np.random.default_rng([seed, sections]), np.cumsum(weights / weights.sum()))
    parts = (
        f"<section><article>{writer.article()}</article>{writer.comments()}"
        f'<ul class="more">{writer.teasers(int(writer.random.integers(3, 9)))}</ul></section>'
        for _ in range(sections)
    )
    source = f"<!DOCTYPE html><html><head><title>{writer.words(6)}</title></head><body>{''.join(parts)}</body></html>"
    return GeneratedPage(f"https://site.example/long/{sections}-{seed}.html", source)


class _Writer:
    """Writes the parts of one page with its own random numbers."""

    def __init__(
        self, random: np.random.Generator, bounds: np.ndarray[tuple[int], np.dtype[np.float64]]
    ) -> None:
        self.random = random
        self._bounds = bounds

    def words(self, count: int) -> str:
        return " ".join(map(_word, np.searchsorted(self._bounds, self.random.random(count)).tolist()))

    def article(self) -> str:
        picture = (
            f'<figure><img src="/i/{self.random.integers(10**9)}.jpg">'
            f"<figcaption>{self.words(9)}</figcaption></figure>"
        )
        parts = [self._paragraph() for _ in range(self.random.integers(4, 14))]
        parts.insert(int(self.random.integers(len(parts))), picture if self.random.random() < 0.6 else "")
        parts.insert(int(self.random.integers(len(parts))), f"<h2>{self.words(4)}</h2>")
        return f"<h1>{self.words(7)}</h1><p class='by'>By {self.words(2)}</p>" + "".join(parts)

    def _paragraph(self) -> str:
        text = self.words(int(self.random.integers(15, 60)))
        if self.random.random() < 0.3:
            text += " " + self._link(3)
        return f"<p>{text} <b>{self.words(2)}</b> {self.words(8)}.</p>"

    def comments(self) -> str:
        comments = "".join(
            f'<li><h4>{self.words(2)}</h4><div class="text"><p>{self.words(20)}</p></div></li>'
            for _ in range(self.random.integers(0, 8))
        )
        return f'<section class="comments"><ol>{comments}</ol></section>'

    def teasers(self, count: int) -> str:
        return "".join(f"<li>{self._link(8)}</li>" for _ in range(count))

    def _link(self, words: int) -> str:
        section, page = self.random.integers(_SECTIONS), self.random.integers(10**6)
        return f'<a href="/s{section}/p{page}.html">{self.words(words)}</a>'


def _word(rank: int) -> str:
    """Return the word of this frequency rank; commoner words are shorter."""
    word = ""
    rank += 1
    while rank:
        rank, syllable = divmod(rank, len(_SYLLABLES))
        word += _SYLLABLES[syllable]
    return word
