"""What methods lose and leak on one page, and what choices that know the truth would make of the same blocks.

Blocks are the lines of text that a reader can see. A method keeps a block when it keeps the longest text in it.
Where selectors say what is content, that text says so of its block too; where the truth is a text, the blocks of
the best choice are the content.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.page_blocks import PageBlocks, page_blocks
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.snapshot.page import Kind
from experiments.corpora.whole_sites import LabelledPage, without_neutral
from experiments.error_diary.block_kinds import KINDS, kinds_of
from experiments.measures.oracles import WordBlocks, best_choice, best_elements
from experiments.measures.word_scores import count_words, score

Bools = NDArray[np.bool_]
Kept = Mapping[str, Bools]


@dataclass(slots=True)
class Account:
    """What one method loses and leaks on some pages.

    Parameters
    ----------
    pages, words, f : number of pages, words of content in blocks, and the sum of F1 as blocks.
    lost, leaked : words of content that were dropped, and of noise that were kept, by kind.
    restored, removed : sum of F1 with all lost, or without all leaked, blocks of a kind; ``"all"`` kinds too.
    """

    pages: int = 0
    words: int = 0
    f: float = 0.0
    lost: Counter[str] = field(default_factory=Counter)
    leaked: Counter[str] = field(default_factory=Counter)
    restored: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    removed: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def figures(self) -> dict[str, Any]:
        """Return pages, words and means over pages as JSON, F1 with four digits."""
        means = {
            name: {kind: round(total / self.pages, 4) for kind, total in sums.items()}
            for name, sums in (("restored", self.restored), ("removed", self.removed))
        }
        return {
            "pages": self.pages,
            "words": self.words,
            "mean": round(self.f / self.pages, 4),
            "lost": dict(self.lost),
            "leaked": dict(self.leaked),
            **means,
        }


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPage:
    """One page with its truth as blocks.

    Parameters
    ----------
    page : where it comes from.
    blocks : its B blocks.
    chosen : int64 (B',), those that can be seen and are not neutral, which alone count.
    words : their words and the truth.
    counts : the multiset of the words of each.
    kind : int64 (B',), indices into `KINDS`.
    content : bool (B',), which are content.
    """

    page: LabelledPage
    blocks: PageBlocks
    chosen: NDArray[np.int64]
    words: WordBlocks
    counts: list[Counter[str]]
    kind: NDArray[np.int64]
    content: Bools

    @classmethod
    def of(cls, page: LabelledPage) -> "JudgedPage":
        """Return the page with its blocks and what is true of them."""
        blocks = page_blocks(page.snapshot)
        chosen = np.flatnonzero((blocks.hidden == 0) & ~page.neutral[blocks.voice])
        counts = [count_words(blocks.text[i]) for i in chosen.tolist()]
        words = WordBlocks.of(counts, count_words(page.truth or ""))
        kind = kinds_of(page.snapshot, blocks)[chosen]
        if page.main is not None:
            content = page.main[blocks.voice[chosen]]
        else:
            nothing = np.zeros(chosen.size, np.bool_)
            content = best_choice(words, always=nothing, perhaps=~nothing)
        return cls(page, blocks, chosen, words, counts, kind, content)

    def kept(self, verdict: Verdict) -> Bools:
        """Return which of the B' blocks a verdict keeps."""
        return verdict.kept[self.blocks.voice[self.chosen]]

    def f1(self, verdict: Verdict) -> float:
        """Return the word F1 of the text that a verdict leaves, neutral text left out."""
        return self.text_f1(write_text(self.page.snapshot, without_neutral(self.page, verdict)))

    def text_f1(self, text: str) -> float:
        """Return the word F1 of a text."""
        return score(count_words(text), count_words(self.page.truth or "")).f1

    def like(self, text: str) -> Bools:
        """Return the B' blocks that give a text best: what an extractor kept that returns no more than text."""
        nothing = np.zeros(self.chosen.size, np.bool_)
        return best_choice(WordBlocks.of(self.counts, count_words(text)), always=nothing, perhaps=~nothing)

    def choices(self, kept: Kept, peer: Bools) -> dict[str, float]:
        """Return F1 of choices that know the truth.

        ``"by block"`` follows for each block one of the methods, ``"by block, peer"`` one of them or the peer,
        ``"blocks"`` none; ``"element"`` and ``"holder"`` are those of `best_elements`; ``"all"`` is all text.
        """
        ours = [flags for name, flags in kept.items() if name != "none"]
        first, last = self.elements()
        elements = best_elements(self.words, first, last)
        every = np.ones(self.chosen.size, np.bool_)
        found = {
            name: self.words.f1(
                best_choice(self.words, always=np.all(by, axis=0), perhaps=np.any(by, axis=0))
            )
            for name, by in (("by block", ours), ("by block, peer", [*ours, peer]))
        }
        best = (
            best_choice(self.words, always=~every, perhaps=every)
            if self.page.main is not None
            else self.content
        )
        return {
            "all": self.words.f1(every),
            **found,
            "blocks": self.words.f1(best),
            "element": elements.best,
            "holder": elements.holder,
        }

    def of_kinds(self, names: Collection[str]) -> Bools:
        """Return which of the B' blocks are of one of these kinds."""
        return np.isin(self.kind, [KINDS.index(name) for name in names])

    def account(self, kept: Bools, account: Account) -> None:
        """Add what is lost and leaked by a choice of blocks to an account."""
        lost, leaked, f = self.content & ~kept, kept & ~self.content, self.words.f1(kept)
        account.pages += 1
        account.words += int(self.words.size[self.content].sum())
        account.f += f
        for number, name in enumerate(KINDS):
            of_kind = self.kind == number
            account.restored[name] += self._cured(
                kept | (lost & of_kind), lost & of_kind, account.lost, name, f
            )
            account.removed[name] += self._cured(
                kept & ~(leaked & of_kind), leaked & of_kind, account.leaked, name, f
            )
        account.restored["all"] += self.words.f1(kept | lost)
        account.removed["all"] += self.words.f1(kept & ~leaked)

    def main_error(self, kept: Bools) -> tuple[int, int, str]:
        """Return how many words are lost and leaked, and the kind of the most of them."""
        wrong: Counter[str] = Counter()
        for label, flags in (("lost", self.content & ~kept), ("leaked", kept & ~self.content)):
            for number in np.flatnonzero(flags).tolist():
                wrong[f"{label} {KINDS[self.kind[number]]}"] += int(self.words.size[number])
        lost, leaked = (sum(n for name, n in wrong.items() if name.startswith(x)) for x in ("lost", "leaked"))
        return lost, leaked, min(wrong, key=lambda name: (-wrong[name], name), default="nothing in sight")

    def _cured(self, better: Bools, wrong: Bools, words: Counter[str], kind: str, f: float) -> float:
        """Count the words of the blocks that are `wrong`, and return F1 without these errors."""
        if not wrong.any():
            return f
        words[kind] += int(self.words.size[wrong].sum())
        return self.words.f1(better)

    def elements(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first block in each element that holds whole blocks, and one past the last."""
        page, start, end = self.page.snapshot, self.blocks.start[self.chosen], self.blocks.end[self.chosen]
        element = np.flatnonzero(page.kind == Kind.ELEMENT)
        first = np.searchsorted(start, element)
        last = np.searchsorted(start, page.end[element])
        holds = first < last
        holds[holds] = end[last[holds] - 1] <= page.end[element[holds]]
        return first[holds].astype(np.int64), last[holds].astype(np.int64)
