"""IEPAD as a page method: token patterns that repeat at regular distances, each occurrence a record.

Chang, Lui: IEPAD: Information Extraction Based on Pattern Discovery, WWW 2001.

    paper                         here
    PAT tree, maximal repeats     `maximal_repeats` (suffix array)
    encoding level                `encoding`
    regularity V, density D       `regularity`, `density`
    multiple string alignment     `_extended` (centre star)

Where our sources of the paper are silent: occurrences are taken leftmost without overlap; a pattern that mostly
overlaps its next occurrence (a shorter one several times over, or with its own beginning behind it) is no record, nor
is one without any start tag or content; occurrences part into runs where a gap is more than twice the lower median
gap; of overlapping rotations of one pattern the best stands: balanced and beginning with a start tag, then more
occurrences, then the earlier one; to choose by coverage, only tokens inside occurrences count at first, since a
pattern that misses every other record spans as much. Imports the columns.
"""

from bisect import bisect
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from rapidfuzz.distance import Levenshtein

from domsieve.analysis.columns.batch import Ints, page_batch
from domsieve.analysis.estimator import Bounds, PageEstimator, Share
from domsieve.analysis.records.repeats import TEXT, Encoding, Tokens, maximal_repeats, page_tokens
from domsieve.analysis.records.result import Records
from domsieve.budget import check
from domsieve.snapshot.page import Scalar, Snapshot

_JUMP = 2.0
_MOST_DISTANCE, _MOST_SEGMENTS, _LONGEST_SEGMENT = 0.3, 20, 400


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A token pattern with occurrences that are regular and dense enough.

    Parameters
    ----------
    text : its tokens, one character each.
    start, stop : (k,), occurrence i is the tokens ``start[i] .. stop[i]``, ascending, without overlap; all are as
        long as the pattern unless they were extended by alignment.
    """

    text: str
    start: Ints
    stop: Ints

    @property
    def span(self) -> tuple[int, int]:
        """From the first token of the first occurrence to behind the last token of the last one."""
        return int(self.start[0]), int(self.stop[-1])


class RepeatedPatterns(PageEstimator[Records]):
    """Finds the token patterns of a page that repeat at regular distances; O(n log² n) in the tokens of a page.

    A region is a pattern. Its figures: ``regularity`` and ``density`` of the occurrences, and ``coverage``, the share
    of the tokens of the page from the first to the last of them.

    Parameters
    ----------
    encoding : ``"block"``: only block-level tags are tokens, and all between them is one; ``"all"``: every tag.
    least_length, least_count : tokens of a pattern and occurrences it must have at least.
    most_regularity : V of a pattern must be below this; 0 is occurrences at equal distances.
    least_density : D of a pattern must be above this; 1 is occurrences that follow each other.
    choose : ``"coverage"`` takes the patterns that cover most of the page, as far as they do not overlap; ``"all"``
        takes every pattern that passes, which finds more records and many false ones.
    align : whether to extend a pattern over what stands between its occurrences, where that is alike.
    """

    name = "iepad"

    def __init__(
        self,
        *,
        encoding: Encoding = "block",
        least_length: Annotated[int, Bounds(1)] = 3,
        least_count: Annotated[int, Bounds(2)] = 3,
        most_regularity: Annotated[float, Bounds(0)] = 0.5,
        least_density: Share = 0.25,
        choose: Literal["coverage", "all"] = "coverage",
        align: bool = True,
    ) -> None:
        self.encoding = encoding
        self.least_length = least_length
        self.least_count = least_count
        self.most_regularity = most_regularity
        self.least_density = least_density
        self.choose = choose
        self.align = align

    def _result(self, page: Snapshot) -> Records:
        tokens = page_tokens(page_batch(page), encoding=self.encoding)
        return _as_records(page, tokens, self._patterns(tokens.token), self.scalars())

    def _patterns(self, tokens: Ints) -> list[Pattern]:
        """Return the patterns of a page of these tokens, in the order of their first occurrence."""
        text = "".join(map(chr, (tokens + 1).tolist()))  # no NUL, so that positions are those of the tokens
        repeats = maximal_repeats(tokens, least_length=self.least_length, least_count=self.least_count)
        # A pattern of more tokens than twice the page, all occurrences together, repeats within itself.
        counts = repeats.last - repeats.first
        found: list[Pattern] = []
        for m in np.flatnonzero(repeats.length * counts <= 2 * tokens.size).tolist():
            check()
            at, length = repeats.positions(m), int(repeats.length[m])
            pattern = text[at[0] : at[0] + length]
            own = tokens[at[0] : at[0] + length]
            opens = bool(((own % 2 == 1) | (own == TEXT)).any())
            if not opens or np.median(np.diff(at)) < length:
                continue
            runs = regular_runs(
                apart(at, length),
                length,
                least_count=self.least_count,
                most_regularity=self.most_regularity,
                least_density=self.least_density,
            )
            found += [Pattern(pattern, run, run + length) for run in runs]
        chosen = _not_overlapping(found) if self.choose == "coverage" else _different(found)
        chosen.sort(key=lambda pattern: (*pattern.span, pattern.text))
        if not self.align:
            return chosen
        limits = [len(text)] * len(chosen)
        if self.choose == "coverage":
            limits = [*(pattern.span[0] for pattern in chosen[1:]), len(text)]
        return [_extended(text, pattern, limit) for pattern, limit in zip(chosen, limits, strict=False)]


def regular_runs(
    at: Ints, length: int, *, least_count: int, most_regularity: float, least_density: float
) -> list[Ints]:
    """Return the runs of occurrences that are regular and dense: all of them, or else what gaps part."""
    runs = [at]
    if at.size > 2 and regularity(at) >= most_regularity:
        gaps = np.diff(at)
        typical = np.sort(gaps)[(gaps.size - 1) // 2]
        runs = np.split(at, np.flatnonzero(gaps > _JUMP * typical) + 1)
    return [
        run
        for run in runs
        if run.size >= least_count
        and regularity(run) < most_regularity
        and density(run, length) > least_density
    ]


def regularity(at: Ints) -> float:
    """Return V of occurrences at these positions, at least two: the deviation of their gaps over the mean."""
    gaps = np.diff(at)
    return float(gaps.std() / gaps.mean())


def density(at: Ints, length: int) -> float:
    """Return D of occurrences of a pattern of `length` tokens at these positions, at least two."""
    return float((at.size - 1) * length / (at[-1] - at[0]))


def apart(at: Ints, length: int) -> Ints:
    """Return the leftmost of the ascending positions `at` whose patterns of `length` tokens do not overlap."""
    if (np.diff(at) >= length).all():
        return at
    kept: list[int] = []
    for position in at.tolist():
        if not kept or position >= kept[-1] + length:
            kept.append(position)
    return np.array(kept, np.int64)


def _not_overlapping(patterns: list[Pattern]) -> list[Pattern]:
    """Return the patterns of the widest cover, as far as they do not overlap one of wider cover."""
    taken: list[tuple[int, int]] = []
    order = sorted(patterns, key=lambda p: (-_filled(p), p.span[0] - p.span[1], *_merit(p)))
    return [pattern for pattern in order if _take(taken, pattern.span)]


def _different(patterns: list[Pattern]) -> list[Pattern]:
    """Return the patterns but those inside a longer one all along, and worse rotations at the same place."""
    outer: dict[bytes, int] = {}  # where the first occurrences end, by the gaps between occurrences
    whole: list[Pattern] = []
    for pattern in sorted(patterns, key=lambda p: (int(p.start[0]), -int(p.stop[0]))):
        gaps, stop = np.diff(pattern.start).tobytes(), int(pattern.stop[0])
        if outer.get(gaps, 0) < stop:
            outer[gaps] = stop
            whole.append(pattern)
    rotations: dict[str, list[tuple[str, list[tuple[int, int]]]]] = defaultdict(list)
    chosen = []
    for pattern in sorted(whole, key=_merit):
        alike = rotations["".join(sorted(pattern.text))]
        taken = next((spans for twice, spans in alike if pattern.text in twice), None)
        if taken is None:
            taken = []
            alike.append((pattern.text * 2, taken))
        if _take(taken, pattern.span):
            chosen.append(pattern)
    return chosen


def _take(taken: list[tuple[int, int]], span: tuple[int, int]) -> bool:
    """Add a span to those `taken`, which are in order, unless it overlaps one; return whether it was added."""
    place = bisect(taken, span)
    if (place and taken[place - 1][1] > span[0]) or (place < len(taken) and taken[place][0] < span[1]):
        return False
    taken.insert(place, span)
    return True


def _merit(pattern: Pattern) -> tuple[bool, int, int, str]:
    """Return what sorts the better one of two rotations first."""
    return not _balanced(pattern.text), -pattern.start.size, pattern.span[0], pattern.text


def _balanced(text: str) -> bool:
    """Return whether a pattern begins with a start tag and closes what it opens; void tags need no end."""
    open_tags: list[int] = []
    tokens = [ord(character) - 1 for character in text]
    ends = {token for token in tokens if token and token % 2 == 0}
    for token in tokens:
        if token % 2 and token + 1 in ends:
            open_tags.append(token)
        elif token in ends and (not open_tags or open_tags.pop() != token - 1):
            return False
    return tokens[0] % 2 == 1 and not open_tags


def _filled(pattern: Pattern) -> int:
    return int((pattern.stop - pattern.start).sum())


def _extended(text: str, pattern: Pattern, limit: int) -> Pattern:
    """Return the pattern with its occurrences extended over the segments between them.

    Centre star: the centre is the segment with the least edit distance to all others. Occurrences are extended
    over segments like it, measured against the whole record, if most are; the last one over the beginning of what
    follows, up to the token `limit`, that is most like the centre.
    """
    check()
    gaps = zip(pattern.stop.tolist(), pattern.start[1:].tolist(), strict=False)
    segments = [text[a:b] for a, b in gaps if b - a <= _LONGEST_SEGMENT]
    if len(segments) < pattern.start.size - 1:
        return pattern
    counts = Counter(segments)
    common = sorted(counts, key=lambda segment: (-counts[segment], segment))[:_MOST_SEGMENTS]
    centre = min(
        common, key=lambda s: sum(counts[other] * Levenshtein.distance(s, other) for other in common)
    )

    def like_the_centre(segment: str) -> bool:
        longest = len(pattern.text) + max(len(segment), len(centre))
        return Levenshtein.distance(segment, centre) <= _MOST_DISTANCE * longest

    alike = {segment for segment in counts if like_the_centre(segment)}
    if not centre or 2 * sum(counts[segment] for segment in alike) <= len(segments):
        return pattern
    behind = text[pattern.span[1] : min(pattern.span[1] + 2 * len(centre), limit)]
    beginnings = [behind[:n] for n in range(len(behind) + 1)]
    nearest = min(beginnings, key=lambda beginning: Levenshtein.distance(beginning, centre))
    if like_the_centre(nearest):
        alike.add(nearest)
    longer = np.array([len(segment) if segment in alike else 0 for segment in [*segments, nearest]], np.int64)
    return replace(pattern, stop=pattern.stop + longer)


def _as_records(
    page: Snapshot, tokens: Tokens, patterns: list[Pattern], parameters: dict[str, Scalar]
) -> Records:
    """Return the patterns as regions; a record is the nodes that begin in its tokens."""
    first, stop = [], []
    for pattern in patterns:
        # End tags begin no node: the first node is that of the first other token, the end that of the last.
        opens = np.flatnonzero(tokens.stop > tokens.first)
        first.append(tokens.first[opens[np.searchsorted(opens, pattern.start)]])
        stop.append(tokens.stop[opens[np.searchsorted(opens, pattern.stop) - 1]])
    spans = [(int(a[0]), int(b[-1])) for a, b in zip(first, stop, strict=True)]
    sizes = [pattern.start.size for pattern in patterns]
    pieces = np.array([np.concatenate(first), np.concatenate(stop)]).T if patterns else np.zeros((0, 2))
    bases = [(p.start, len(p.text)) for p in patterns]
    return Records(
        method=RepeatedPatterns.name,
        parent=np.array([_around(page, *span) for span in spans], np.int64),
        span=np.array(spans, np.int64).reshape(-1, 2),
        length=np.array([length for _, length in bases], np.int64),
        region=np.repeat(np.arange(len(patterns)), sizes),
        start=np.arange(sum(sizes) + 1),
        pieces=pieces.astype(np.int64),
        numbers={
            "regularity": np.array([regularity(at) for at, _ in bases], np.float64),
            "density": np.array([density(at, length) for at, length in bases], np.float64),
            "coverage": np.array([np.diff(p.span)[0] / tokens.token.size for p in patterns], np.float64),
        },
        parameters=parameters,
    )


def _around(page: Snapshot, first: int, stop: int) -> int:
    """Return the lowest node whose subtree holds the nodes ``first .. stop`` below it."""
    node = int(page.parent[first])
    while page.end[node] < stop:
        node = int(page.parent[node])
    return node
