"""How the learned cleaner is learned: evidence and labels of the blocks of pages, then tokens and trees.

Nothing of a page that is judged reaches what judges it: scores of tokens come from other groups of pages (domains,
sites) than those that the trees learn from together with them.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.auto.block_features import Row
from domsieve.analysis.auto.cleaner import BlockEvidence, Choice, choose, choose_balanced, with_alike
from domsieve.analysis.auto.context_features import MeasuredBlocks
from domsieve.analysis.auto.model import AutoModel, BoostedTrees, Calibration, probabilities, with_odds
from domsieve.analysis.auto.tokens import BUCKETS, TOKEN_UNIT, PageTokens, TokenWeights
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot
from experiments.measures.oracles import WordBlocks, best_choice
from experiments.measures.word_scores import count_words
from experiments.systems.tree_learning import learn_trees

Corpus = Literal["wcxb", "magic", "trafilatura", "sites"]
Figures = NDArray[np.float32]

INNER_FOLDS = 4
MOST_BLOCKS = 200
"""Blocks of a page that the trees learn from, drawn at random; they stand for all."""
SEED = 0
_ALPHA = {"names": 3e-5, "texts": 1e-5}
_ROUNDS = 4
_FEWEST_GROUPS = 2  # a token of one domain alone says nothing of others
_MOST_OF_NAME = 2.0
IMPORTANCE: Mapping[Corpus, float] = {"trafilatura": 2.0}
"""How much the pages of a corpus count; 1 if it is not named. A page of trafilatura's has few blocks with labels."""
_ADDRESS = ("address depth", "address words", "address hyphens", "address digits")


class TreeSays(NamedTuple):
    """What the style tree of a site says of B blocks: bool (B,) what it keeps, and float32 (B,) its scores."""

    keeps: NDArray[np.bool_]
    score: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class LearningPage:
    """The B visible blocks of a page, with all that is learned from and measured.

    Parameters
    ----------
    corpus, group, name : where the page is from; pages of one group (a domain, a site) are learned from together, or
        left out together.
    kind : such as ``"article"``.
    language : the language of the page, empty where it does not matter.
    figures : float32 (F, B), those that need no tokens; `names` says which, and `groups` of which group each is.
    tokens : their tokens; None where there is no block.
    words : float64 (B,), their words, as the choice counts them.
    long : bool (B,), which are long texts outside of links.
    truth : their words and those of the truth, as the measure counts them.
    content : bool (B,), the best choice that knows the truth.
    known : bool (B,), blocks whose label is known.
    neutral : bool (B,), blocks that are no noise and not in the truth.
    single_share : share of the words that are characters of scripts without spaces, in [0, 1].
    by_tree : what the style tree of the site says; None where none is known.
    by_few : what it says when it was learned from few pages of the site.
    """

    corpus: Corpus
    group: str
    name: str
    kind: str
    language: str
    names: tuple[str, ...]
    groups: tuple[str, ...]
    figures: Figures
    tokens: PageTokens | None
    words: NDArray[np.float64]
    long: NDArray[np.bool_]
    truth: WordBlocks
    content: NDArray[np.bool_]
    known: NDArray[np.bool_]
    neutral: NDArray[np.bool_]
    single_share: float
    by_tree: TreeSays | None = None
    by_few: TreeSays | None = None

    def __len__(self) -> int:
        return self.words.size

    @property
    def weight(self) -> NDArray[np.float64]:
        """How much each block counts: long ones more than short ones, long pages not much more than short ones."""
        weight = np.sqrt(np.maximum(self.words, 0.25) / np.sqrt(max(float(self.words.sum()), 1.0)))
        return np.asarray(weight * self.known * IMPORTANCE.get(self.corpus, 1.0))


def part_of(group: str, parts: int, salt: str) -> int:
    """Return the part, from 0 on, that a group of pages belongs to."""
    return int.from_bytes(hashlib.sha256(f"{salt}:{group}".encode()).digest()[:4]) % parts


def evidence_of(
    snapshot: Snapshot,
    truth: str,
    *,
    corpus: Corpus,
    group: str,
    name: str,
    kind: str,
    language: str = "",
    neutral: NDArray[np.bool_] | None = None,
    by_tree: Verdict | None = None,
    by_few: Verdict | None = None,
) -> LearningPage:
    """Return the blocks of a page with their labels; `neutral` (N,) is given by node."""
    blocks = MeasuredBlocks.of(snapshot, page_blocks(snapshot))
    counted: list[Counter[str]] = [count_words(text) for text in blocks.text]
    known = WordBlocks.of(counted, count_words(truth))
    none, every = np.zeros(len(blocks), np.bool_), np.ones(len(blocks), np.bool_)
    evidence = BlockEvidence.of(blocks) if len(blocks) else None
    figures, names, groups = _flat({} if evidence is None else evidence.figures, len(blocks))
    return LearningPage(
        corpus=corpus,
        group=group,
        name=name,
        kind=kind,
        language=language,
        names=names,
        groups=groups,
        figures=figures,
        tokens=None if evidence is None else evidence.tokens,
        words=blocks.words,
        long=blocks.long,
        truth=known,
        content=best_choice(known, always=none, perhaps=every),
        known=every,
        neutral=none if neutral is None else neutral[blocks.voice],
        single_share=blocks.single_share,
        by_tree=_said(by_tree, blocks),
        by_few=_said(by_few, blocks),
    )


def with_segments(
    page: LearningPage, texts: Sequence[str], wanted: Sequence[str], unwanted: Sequence[str]
) -> LearningPage:
    """Return a page with the labels that segments of its text give.

    A block with a wanted segment is content, one with an unwanted segment is not, and so are the blocks that are a
    part of one. The labels of all others, and of blocks with both, are unknown.

    Parameters
    ----------
    texts : the text of each of the B blocks.
    wanted, unwanted : segments that belong to the content, and that do not.
    """
    held = [_holds(texts, segments) for segments in (wanted, unwanted)]
    return replace(page, content=held[0] & ~held[1], known=held[0] ^ held[1])


_SHORTEST_PART = 25  # letters; shorter texts may be anywhere


def _holds(texts: Sequence[str], segments: Sequence[str]) -> NDArray[np.bool_]:
    """Return which texts hold one of the segments, or are a part of one."""
    spaced = [" ".join(segment.split()) for segment in segments if segment.strip()]

    def holds(text: str) -> bool:
        text = " ".join(text.split())
        return any(one in text or (len(text) >= _SHORTEST_PART and text in one) for one in spaced)

    return np.array([holds(text) for text in texts], np.bool_)


def _said(verdict: Verdict | None, blocks: MeasuredBlocks) -> TreeSays | None:
    return None if verdict is None else TreeSays(verdict.kept[blocks.voice], verdict.score[blocks.voice])


def _flat(
    found: Mapping[str, Mapping[str, Row]], number: int
) -> tuple[Figures, tuple[str, ...], tuple[str, ...]]:
    """Return figures by group and name as a table (F, B), and the name and the group of each."""
    flat = [(group, name, row) for group, rows in found.items() for name, row in rows.items()]
    table = np.empty((len(flat), number), np.float32)
    for row, (_, _, column) in zip(table, flat, strict=True):
        row[:] = column
    return table, tuple(name for _, name, _ in flat), tuple(group for group, _, _ in flat)


def learn_tokens(pages: Sequence[LearningPage]) -> TokenWeights:
    """Return the weights of tokens by averaged logistic regression."""
    return TokenWeights(*(_learn_kind(pages, kind) for kind in ("names", "texts")))


def _learn_kind(pages: Sequence[LearningPage], kind: str) -> NDArray[np.int16]:
    # Loaded on use: every task of every experiment runs in a process of its own, and few learn anything.
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import SGDClassifier

    told = [(page, page.tokens) for page in pages if page.tokens is not None]
    pages = [page for page, _ in told]
    found = [tokens.names() if kind == "names" else tokens.text for _, tokens in told]
    before = np.cumsum([0, *map(len, pages)])
    rows = np.concatenate([one.block + first for one, first in zip(found, before, strict=False)])
    columns = np.concatenate([one.bucket for one in found])
    values = np.concatenate([one.value for one in found])
    table = csr_matrix((values, (rows, columns)), shape=(int(before[-1]), BUCKETS))
    if kind == "names":
        table.data = np.minimum(table.data, _MOST_OF_NAME)
    weight = np.concatenate([page.weight for page in pages])
    content = np.concatenate([page.content for page in pages])
    known = np.flatnonzero(weight)
    model = SGDClassifier(
        loss="log_loss", alpha=_ALPHA[kind], max_iter=_ROUNDS, tol=None, average=True, random_state=SEED
    )
    model.fit(table[known], content[known], sample_weight=weight[known] / weight[known].mean())
    held: dict[str, set[int]] = defaultdict(set)
    for page, one in zip(pages, found, strict=True):
        held[page.group].update(np.unique(one.bucket[page.known[one.block]]).tolist())
    groups = np.zeros(BUCKETS, np.int64)
    for buckets in held.values():
        groups[list(buckets)] += 1
    weights = np.where(groups >= _FEWEST_GROUPS, model.coef_[0], 0.0)
    most = np.iinfo(np.int16).max
    return np.asarray(np.clip(np.rint(weights * TOKEN_UNIT), -most, most), np.int16)


@dataclass(frozen=True, slots=True, eq=False)
class PageModel:
    """What was learned of pages by themselves: tokens and trees, and the figures that the trees ask about."""

    names: tuple[str, ...]
    groups: tuple[str, ...]
    tokens: TokenWeights
    trees: BoostedTrees

    def log_odds(self, page: LearningPage) -> NDArray[np.int64]:
        """Return the log-odds (B,) of content of the blocks of a page, in `UNIT`."""
        if not len(page):
            return np.zeros(0, np.int64)
        odds = self.trees.log_odds(self.trees.leaves(all_figures(page, self.tokens)[0]))
        return odds if page.tokens is None else with_alike(odds, page.words, page.tokens.likeness)


def all_figures(
    page: LearningPage, weights: TokenWeights
) -> tuple[Figures, tuple[str, ...], tuple[str, ...]]:
    """Return the figures (F, B) of the blocks of a page with those of tokens, their names, and their groups."""
    if page.tokens is None:
        return np.zeros((0, 0), np.float32), (), ()
    said, names, groups = _flat(page.tokens.figures(weights), len(page))
    return np.concatenate((page.figures, said)), (*page.names, *names), (*page.groups, *groups)


def _without_address(page: LearningPage) -> LearningPage:
    """Return the page as if its address was not known, if it is of the half of the groups where that is so."""
    if part_of(page.group, 2, "address"):
        return page
    figures = page.figures.copy()
    figures[[name in _ADDRESS for name in page.names]] = np.nan
    return replace(page, figures=figures)


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """What the trees learn from: the blocks that were drawn of pages, and the tokens that were learned of all.

    Parameters
    ----------
    names, groups : of the F figures; `groups` says of which group each is.
    figures : float32 (B, F).
    content, weight : (B,).
    tokens : learned of all the pages, for those that are judged.
    """

    names: tuple[str, ...]
    groups: tuple[str, ...]
    figures: Figures
    content: NDArray[np.bool_]
    weight: NDArray[np.float64]
    tokens: TokenWeights

    @classmethod
    def of(cls, pages: Sequence[LearningPage]) -> "Lessons":
        """Return the lessons of pages.

        The scores of tokens that the trees learn with are those that other groups of pages have taught. The address
        is unknown for half of the groups: users often give none, and a page without one is no front page.
        """
        pages = [_without_address(page) for page in pages if page.known.any()]
        parts = [part_of(page.group, INNER_FOLDS, "inner") for page in pages]
        crossed = [
            learn_tokens([page for page, part in zip(pages, parts, strict=True) if part != left])
            for left in range(INNER_FOLDS)
        ]
        chance = np.random.default_rng(SEED)
        tables, content, weight = [], [], []
        for page, part in zip(pages, parts, strict=True):
            figures, names, groups = all_figures(page, crossed[part])
            known = drawn = np.flatnonzero(page.known)
            if known.size > MOST_BLOCKS:
                drawn = np.sort(chance.choice(known, MOST_BLOCKS, replace=False))
            tables.append(figures[:, drawn].T)
            content.append(page.content[drawn])
            weight.append(page.weight[drawn] * (known.size / drawn.size))
        return cls(
            names,
            groups,
            np.concatenate(tables),
            np.concatenate(content),
            np.concatenate(weight),
            learn_tokens(pages),
        )

    def learned(self, *, without: str = "") -> PageModel:
        """Return what is learned of them, without one of the groups of figures."""
        kinds = tuple(dict.fromkeys(self.groups))
        figures = self.figures
        if without:
            # A figure that is the same for all blocks is never asked about.
            figures = figures.copy()
            figures[:, [group == without for group in self.groups]] = 0
        codes = np.array([kinds.index(group) for group in self.groups])
        trees = learn_trees(figures, self.content, self.weight, codes)
        return PageModel(self.names, kinds, self.tokens, trees)


def learn_pages(pages: Sequence[LearningPage]) -> PageModel:
    """Return what is learned of pages by themselves."""
    return Lessons.of(pages).learned()


def chosen(page: LearningPage, odds: NDArray[np.int64], *, beta: float | None = None) -> Choice:
    """Return the choice of blocks of a page by their log-odds, without those that its corpus calls neutral."""
    likely = np.where(page.neutral, 0.0, probabilities(odds))
    choice = (
        choose_balanced(likely, page.words, page.long)
        if beta is None
        else choose(likely, page.words, beta=beta)
    )
    return choice._replace(kept=choice.kept & ~page.neutral)


_MOSTLY = 0.5
"""From this share of characters on, a page counts as one of a script without spaces."""
_GAINS = tuple(step / 10 for step in range(101))


def calibration_of(
    promised: Sequence[float], single_share: Sequence[float], found: Sequence[float]
) -> Calibration:
    """Return the calibration by P pages: a curve that never falls, and the gain of scripts without spaces.

    The gain is the one by which pages of such scripts have, on average, the F1 that the curve of the others says. It
    is one number, because such pages are few.

    Parameters
    ----------
    promised, single_share : of each page, as for `Calibration.f1`.
    found : the F1 of each page, in [0, 1].
    """
    values, shares, true = np.array(promised), np.array(single_share), np.array(found)
    single, gain = shares >= _MOSTLY, 0.0

    def raised(pages: NDArray[np.bool_], gain: float) -> list[float]:
        pairs = zip(values[pages].tolist(), shares[pages].tolist(), strict=True)
        return [with_odds(value, 1 + gain * share) for value, share in pairs]

    if single.any() and not single.all():
        curve = _curve_of(values[~single], true[~single])
        errors = [
            abs(float((np.interp(raised(single, one), *curve) - true[single]).mean())) for one in _GAINS
        ]
        gain = _GAINS[int(np.argmin(errors))]
    return Calibration(*_curve_of(raised(np.ones_like(single), gain), true), gain)


def _curve_of(
    expected: Sequence[float] | NDArray[np.float64], found: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from sklearn.isotonic import IsotonicRegression

    model = IsotonicRegression(y_min=0, y_max=1).fit(expected, found)
    return np.round(model.X_thresholds_, 4), np.round(model.y_thresholds_, 4)


UNCALIBRATED = Calibration(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.0)
"""The calibration of a model that is only measured: what is promised counts as it is."""


def model_of(learned: PageModel, calibration: Calibration) -> AutoModel:
    """Return the model of the program, from what was learned of pages and the calibration of its expected F1."""
    return AutoModel(learned.names, learned.groups, learned.tokens, learned.trees, calibration)
