"""Drop or restore hidden text, after every method.

Hidden text may be an instruction that an attacker planted for language models, or words for search engines. Methods
look at repetition and structure, so this step does not depend on the method.
"""

from dataclasses import dataclass, replace

import numpy as np

from domsieve.analysis.columns.batch import Ints, below, prune
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.page_columns import has_tag
from domsieve.analysis.columns.visible import HIDING_REASONS, hidden_texts, shown_nodes
from domsieve.analysis.columns.words import WORDS_PER_SINGLE, Characters, CharIs
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot


def drop_hidden(page: Snapshot, verdict: Verdict, *, keep: bool) -> Verdict:
    """Return the verdict with hidden text dropped, or kept inside kept content.

    Parameters
    ----------
    page, verdict : a page and the verdict on it.
    keep : keep a hidden text if its nearest visible ancestor is kept. Otherwise all hidden text is dropped, and the
        reason says how it is hidden.
    """
    hiding = hidden_texts(page)
    hidden = np.flatnonzero(hiding)
    kept, reason, score = verdict.kept.copy(), verdict.reason.copy(), verdict.score.copy()
    if keep:
        kept[hidden[kept[_shown_above(page, hidden)]]] = True
        kept = prune(kept, page.end)
    else:
        kept[hidden] = False
        reason[hidden] = len(verdict.reasons) + hiding[hidden] - 1
        score[hidden] = 0
    return replace(
        verdict,
        kept=kept,
        score=score,
        reason=reason,
        reasons=(*verdict.reasons, *HIDING_REASONS[1:]),
        parameters={**verdict.parameters, "keep_hidden": keep},
    )


def hidden_words(page: Snapshot, verdict: Verdict) -> int:
    """Return the number of words, separated by white space, that `drop_hidden` has dropped."""
    hiding = [number for number, reason in enumerate(verdict.reasons) if reason in HIDING_REASONS[1:]]
    texts = np.flatnonzero(np.isin(verdict.reason, hiding) & (page.text >= 0))
    return sum(len(text.split()) for text in page.strings.take(page.text[texts].tolist()))


# Guesses: a paragraph has 15 words or more, as in `auto`. Less than 60 words may be one notice.
_PARAGRAPH_WORDS, _LEAST_RUNNING = 15, 60


@dataclass(frozen=True, slots=True)
class HiddenPart:
    """How much of a page is hidden.

    Parameters
    ----------
    words, hidden : numbers of words on the page, and of those that are hidden; see `hidden_part`.
    is_content_like : most of the hidden words are in paragraphs of 15 or more words without links, and these have 60
        words or more.
    """

    words: int
    hidden: int
    is_content_like: bool

    @property
    def share(self) -> float:
        """Share of the page's words that are hidden, in [0, 1]; 0 for a page without words."""
        return self.hidden / self.words if self.words else 0.0


def hidden_part(page: Snapshot) -> HiddenPart:
    """Return how much of a page's text is hidden, and whether it reads like content.

    A character of a script without spaces counts as 0.625 words. Text in elements that browsers never show, such as
    ``script``, does not count.
    """
    blocks = page_blocks(page)
    characters = Characters.of(blocks.text)
    words = characters.words - (1 - WORDS_PER_SINGLE) * characters.having(CharIs.SINGLE)
    hidden = blocks.hidden > 0
    in_link = below(has_tag(page, "a"), page.end.astype(np.int64))[blocks.voice]
    running = words[hidden & ~in_link & (words >= _PARAGRAPH_WORDS)].sum()
    total = words[hidden].sum()
    return HiddenPart(int(words.sum()), int(total), bool(running >= max(_LEAST_RUNNING, total / 2)))


def _shown_above(page: Snapshot, nodes: Ints) -> Ints:
    """Return the nearest visible ancestor of each node."""
    shown = shown_nodes(page)
    above = page.parent[nodes].astype(np.int64)
    while (hidden := ~shown[above] & (above > 0)).any():
        above[hidden] = page.parent[above[hidden]]
    return above
