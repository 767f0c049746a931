"""IEPAD: find token patterns that repeat at regular distances in one page; each occurrence is a record.

Chang, Lui: IEPAD: Information Extraction Based on Pattern Discovery, WWW 2001.

    paper                         here
    PAT tree, maximal repeats     `maximal_repeats` (suffix array)
    encoding level                `encoding`
    regularity V, density D       `regularity`, `density`
    multiple string alignment     `_extended` (centre star)

Where our sources of the paper are silent:

- Occurrences are taken from the left, without overlap.
- A pattern that mostly overlaps its next occurrence is not a record (it repeats a shorter one, or ends with its own
  beginning), and neither is a pattern without any start tag or content.
- Occurrences are divided into runs where a gap is more than twice the lower median gap.
- Of overlapping rotations of one pattern the best is reported: balanced and beginning with a start tag, then with
more
  occurrences, then the earlier one.
- Coverage counts tokens inside occurrences first, because a pattern that misses every other record has the same span.
"""

from bisect import bisect
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from rapidfuzz.distance import Levenshtein

from domsieve.analysis.columns.batch import Ints, page_batch
from domsieve.analysis.estimator import Bounds, PageEstimator, Share
from domsieve.analysis.records._repeats import TEXT, Encoding, Tokens, maximal_repeats, page_tokens
from domsieve.analysis.records.result import Records
from domsieve.budget import check
from domsieve.snapshot.page import Scalar, Snapshot

_JUMP = 2.0
# The distance is a guess that worked on the development sites; the other two bound the time of an alignment.
_MOST_DISTANCE, _MOST_SEGMENTS, _LONGEST_SEGMENT = 0.3, 20, 400


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A token pattern with occurrences that are regular and dense enough.

    Parameters
    ----------
    text : the tokens of the pattern, one character each.
    start, stop : (k,), occurrence i has the tokens ``start[i] .. stop[i]``. Occurrences are ascending and do not
        overlap; all are as long as the pattern, unless they were extended by alignment.
    """

    text: str
    start: Ints
    stop: Ints

    @property
    def span(self) -> tuple[int, int]:
        """Range of tokens from the first to the last occurrence."""
        return int(self.start[0]), int(self.stop[-1])


class RepeatedPatterns(PageEstimator[Records]):
    """Finds the token patterns of a page that repeat at regular distances, in O(n log² n) for n tokens.

    Each region is one pattern. The `numbers` of a region are ``regularity`` and ``density`` of its occurrences, and
    ``coverage``, the share of the tokens of the page between the first and the last of them.

    Parameters
    ----------
    encoding : ``"block"``: only block-level tags are tokens, and everything between two of them is one token.
        ``"all"``: every tag is a token.
    least_length : minimum number of tokens of a pattern, at least 1.
    least_count : minimum number of occurrences, at least 2.
    most_regularity : the paper's V must be below this; it is 0 for occurrences at equal distances.
    least_density : the paper's D must be above this, in [0, 1]; it is 1 for occurrences without gaps.
    choose : ``"coverage"``: report patterns that do not overlap, those that cover most of the page first. ``"all"``:
        report every pattern within the limits, which finds more records and many false ones.
    align : extend a pattern over the tokens between its occurrences if these are similar.
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
        """Return the patterns of a page with these tokens, in the order of their first occurrence."""
        text = "".join(map(chr, (tokens + 1).tolist()))  # + 1 avoids NUL characters
        repeats = maximal_repeats(tokens, least_length=self.least_length, least_count=self.least_count)
        # A pattern whose occurrences have more tokens in total than twice the page overlaps itself.
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
    """Return the runs of occurrences that are regular and dense.

    If all occurrences together are not regular, they are divided at large gaps.

    Parameters
    ----------
    at : ascending positions of the occurrences.
    length : number of tokens of the pattern.
    least_count, most_regularity, least_density : see `RepeatedPatterns`.
    """
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
    """Return the paper's V of at least two positions: the standard deviation of their gaps over the mean gap."""
    gaps = np.diff(at)
    return float(gaps.std() / gaps.mean())


def density(at: Ints, length: int) -> float:
    """Return the paper's D of a pattern of `length` tokens at two or more positions: the share it covers."""
    return float((at.size - 1) * length / (at[-1] - at[0]))


def apart(at: Ints, length: int) -> Ints:
    """Return those of the ascending positions `at`, from the left, at which `length` tokens do not overlap."""
    if (np.diff(at) >= length).all():
        return at
    kept: list[int] = []
    for position in at.tolist():
        if not kept or position >= kept[-1] + length:
            kept.append(position)
    return np.array(kept, np.int64)


def _not_overlapping(patterns: list[Pattern]) -> list[Pattern]:
    """Return the patterns that do not overlap one with more tokens."""
    taken: list[tuple[int, int]] = []
    order = sorted(patterns, key=lambda p: (-_filled(p), p.span[0] - p.span[1], *_merit(p)))
    return [pattern for pattern in order if _take(taken, pattern.span)]


def _different(patterns: list[Pattern]) -> list[Pattern]:
    """Return the patterns without those that are always inside a longer one, and without worse rotations."""
    outer: dict[bytes, int] = {}  # ends of first occurrences by the gaps between occurrences
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
    """Insert a span into the sorted list `taken` unless it overlaps one; return whether it was inserted."""
    place = bisect(taken, span)
    if (place and taken[place - 1][1] > span[0]) or (place < len(taken) and taken[place][0] < span[1]):
        return False
    taken.insert(place, span)
    return True


def _merit(pattern: Pattern) -> tuple[bool, int, int, str]:
    """Return a sort key by which the better of two rotations comes first."""
    return not _balanced(pattern.text), -pattern.start.size, pattern.span[0], pattern.text


def _balanced(text: str) -> bool:
    """Return whether a pattern begins with a start tag and closes all tags that have an end tag."""
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

    Centre star alignment: the centre is the segment with the least edit distance to all others. If most segments are
    similar to it, relative to the length of the record, occurrences are extended over the similar ones. The last
    occurrence is extended over the following tokens, up to `limit`, that are most similar to the centre.
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
    following = text[pattern.span[1] : min(pattern.span[1] + 2 * len(centre), limit)]
    beginnings = [following[:n] for n in range(len(following) + 1)]
    nearest = min(beginnings, key=lambda beginning: Levenshtein.distance(beginning, centre))
    if like_the_centre(nearest):
        alike.add(nearest)
    longer = np.array([len(segment) if segment in alike else 0 for segment in [*segments, nearest]], np.int64)
    return replace(pattern, stop=pattern.stop + longer)


def _as_records(
    page: Snapshot, tokens: Tokens, patterns: list[Pattern], parameters: dict[str, Scalar]
) -> Records:
    """Return the patterns as regions; a record has the nodes that begin in its tokens."""
    first, stop = [], []
    for pattern in patterns:
        # No node begins in an end tag, so the range of nodes comes from the first and last other token.
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
    """Return the lowest proper ancestor of the nodes ``first .. stop``."""
    node = int(page.parent[first])
    while page.end[node] < stop:
        node = int(page.parent[node])
    return node
