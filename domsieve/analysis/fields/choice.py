"""Choose descriptions: conjunctions of few features that are right on all examples and plausible on other pages.

Each place that has the value of the first example is a seed. It is aligned with the places of the other values that
share most of its features. From the features that they all share, a description takes those that exclude most wrong
places, one after another: on example pages every other place is wrong; on other pages a single value should have
exactly one place. This is done with all features, and with those of each family alone, so that the descriptions of a
field fail for different reasons. Then they judge each other on the other pages: a description that says the same as
most of the others counts more (as in truth discovery: Yin, Han, Yu; TKDE 2008).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from domsieve.analysis.fields.candidates import Hit
from domsieve.analysis.fields.extraction import likeness
from domsieve.analysis.fields.fields_model import MOST_DESCRIPTIONS, Description, Pick
from domsieve.analysis.fields.places import FAMILIES
from domsieve.analysis.fields.site_places import SitePlaces
from domsieve.analysis.fields.text_parts import Part, learned_parts, oddness
from domsieve.analysis.fields.value_kinds import folded, has_digit
from domsieve.budget import check

_MOST_SEEDS = 10
_MOST_FEATURES = 5
_MORE, _MORE_OF_LIST = 0.15, 0.3  # cost of a further place on another page: descriptions shall be specific
_LIKE = 0.9  # least agreement of other descriptions of a list with the best one
_WRONG = 2.0  # cost of a wrong place on an example page
_ABSENT = 0.5  # cost of no place on all other pages: fields may be missing
# How easily a small change of a page breaks a kind of feature, as a cost; 0.02 for all others.
_FRAGILE = {
    **dict.fromkeys(("nth", "nth-last"), 0.25),
    **dict.fromkeys(("path", "child", "text", "item", "x"), 0.2),
    **dict.fromkeys(("previous", "holds", "colour", "column"), 0.1),
    **dict.fromkeys(("tags", "begins", "size"), 0.05),
    **dict.fromkeys(("before", "below"), 0.03),
}
# What only one value of a list has.
_FOR_ONE = dict.fromkeys(("left", "nth", "nth-last", "child", "text", "previous", "item"), 0.5)
# A place always has something, even where the field is missing; so what says only where it is counts less.
_LESS_SURE = frozenset(("structure", "look"))
_SURE = 0.4
_FAMILY_SETS: tuple[tuple[str, ...], ...] = (
    ("names", "words", "structure", "look", "embedded"),
    ("words",),
    ("names",),
    ("structure",),
    ("look",),
    ("embedded",),
)


@dataclass(slots=True, eq=False)
class Positives:
    """Where the values of a field are on the example pages, as bits.

    Parameters
    ----------
    hits : a hit for each value, aligned with each other, each with its bit.
    right : bits that are no mistakes: the hits, and other places of the page with the same values.
    """

    hits: list[tuple[int, Hit]]
    right: int


@dataclass(slots=True, eq=False)
class Hypothesis:
    """A description that is right on all examples.

    Parameters
    ----------
    description : the description; its weight is set at the end.
    seed : number of the seed it comes from.
    families : the features that it could use.
    cost : see `Chooser.cost`.
    prior : how likely it is before the pages have been compared, from 0 to 1.
    answers : by page, the values.
    """

    description: Description
    seed: int
    families: tuple[str, ...]
    cost: float
    prior: float
    answers: list[tuple[str, ...]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Chooser:
    """Chooses descriptions for one field.

    Parameters
    ----------
    site : the places of all pages.
    judged : bits of places that are known to be right or wrong: those of the example pages.
    others : numbers of the other pages.
    many : whether the field is a list, or a field of records.
    digits : whether its values have digits.
    extra_cost : a further cost of the places of a description.
    """

    site: SitePlaces
    judged: int
    others: Sequence[int]
    many: bool
    digits: bool
    extra_cost: Callable[[int], float] = lambda _: 0.0

    def hypotheses(
        self, groups: Sequence[Positives], costs: Sequence[float], splits: Sequence[str] = ()
    ) -> list[Hypothesis]:
        """Return descriptions for all seeds.

        Parameters
        ----------
        groups : the aligned places of each seed.
        costs : of each seed; see `ValueFinder.cost`.
        splits : separators of the values in the text of a place.
        """
        found: list[Hypothesis] = []
        seen: set[tuple[Description, tuple[str, ...]]] = set()
        for seed, (group, seed_cost) in enumerate(zip(groups, costs, strict=True)):
            check()
            source = self.site.place(group.hits[0][0]).source
            shared = frozenset.intersection(*(self.site.place(bit).features for bit, _ in group.hits))
            for families in _FAMILY_SETS:
                features = sorted(f for f in shared if FAMILIES[f.partition(" ")[0]] in families)
                if not features:
                    continue
                where, places, cost, pick = self._conjunction(source, features, group)
                if not where or cost >= _WRONG:
                    continue
                part = self._part(group, places, splits)
                if part is None:
                    continue
                one = Description(source=source, where=where, pick=pick, part=part)
                key = (one, families) if len(families) == 1 else (one, ())
                if key in seen:
                    continue
                seen.add(key)
                prior = 1.0 / (1.0 + 2.0 * cost + seed_cost + 0.2 * oddness(part))
                if one.families <= _LESS_SURE:
                    prior *= _SURE
                found.append(Hypothesis(one, seed, families, cost, prior, self._answers(one, places)))
        return found

    def _conjunction(
        self, source: str, features: Sequence[str], group: Positives
    ) -> tuple[tuple[str, ...], int, float, Pick]:
        """Return the features of a description, its places, its cost, and which of several places is meant."""
        places = self.site.source(source)
        where: list[str] = []
        cost, pick = 1e9, "all"
        for _ in range(_MOST_FEATURES):
            best: tuple[float, str, int, Pick] | None = None
            for feature in features:
                if feature in where:
                    continue
                rest = places & self.site.bits(feature)
                if rest == places and where:
                    continue
                price, its_pick = self.cost(rest, group)
                price += sum(self._fragility(one) for one in (*where, feature))
                if best is None or price < best[0]:
                    best = price, feature, rest, its_pick
            if best is None or best[0] >= cost - 1e-9:
                break
            cost, feature, places, pick = best
            where.append(feature)
        return tuple(where), places, cost, pick  # type: ignore[return-value]

    def _fragility(self, feature: str) -> float:
        kind = feature.partition(" ")[0]
        return _FRAGILE.get(kind, 0.02) + (_FOR_ONE.get(kind, 0.0) if self.many else 0.0)

    def cost(self, places: int, group: Positives) -> tuple[float, Pick]:
        """Return the cost of a description with these places, and which of several places of a page it means.

        A place of an example page that is not right costs 2, unless it is always behind, or always before, the right
        one; more or less than one place of another page costs up to 1, shared by all pages.
        """
        wrong = places & self.judged & ~group.right
        pick: Pick = "all" if self.many else "first"
        cost = 0.0
        if wrong:
            if self.many:
                cost = _WRONG * wrong.bit_count()
            else:
                before = behind = 0
                for bit, _ in group.hits:
                    own = wrong & self.site.page_masks[self.site.page_of(bit)]
                    before += (own & ((1 << bit) - 1)).bit_count()
                    behind += (own >> bit).bit_count()
                stray = wrong.bit_count() - before - behind
                pick = "first" if before <= behind else "last"
                cost = _WRONG * (min(before, behind) + stray) + 0.1 * min(max(before, behind), 10)
        if self.others:
            share = 1.0 / len(self.others)
            for page in self.others:
                count = (places & self.site.page_masks[page]).bit_count()
                if count == 0:
                    cost += _ABSENT * share
                elif count > 1:
                    cost += (_MORE_OF_LIST if self.many else _MORE) * share * min(count - 1, 4)
        return cost + self.extra_cost(places), pick

    def _part(self, group: Positives, places: int, splits: Sequence[str]) -> Part | None:
        """Return the part of the texts that is the value, None if no part is right for all examples."""
        if any(hit.absolute for _, hit in group.hits):
            return Part(absolute=True)
        elsewhere = places & ~self.judged if self.others else places & ~group.right
        texts = [self.site.place(bit).text for bit in self.site.numbers_of(elsewhere)[:60]]
        parts = learned_parts([hit.span for _, hit in group.hits], texts, number=self.digits)
        if not parts:
            return None
        return msgspec.structs.replace(parts[0], split=tuple(splits)) if splits else parts[0]

    def _answers(self, one: Description, places: int) -> list[tuple[str, ...]]:
        """Return the values of a description on each page."""
        answers: list[list[tuple[str, ...]]] = [[] for _ in self.site.pages]
        for bit in self.site.numbers_of(places):
            page = self.site.page_of(bit)
            place = self.site.place(bit)
            text = self.site.pages[page].absolute(place) if one.part.absolute else place.text
            values = tuple(v for v in one.part.values(text) if not self.digits or has_digit(v))
            if values:
                answers[page].append(values)
        if one.pick == "all":
            return [tuple(folded(value) for values in page for value in values) for page in answers]
        at = 0 if one.pick == "first" else -1
        return [(folded(page[at][0]),) if page else () for page in answers]


def _agreement(answer: tuple[str, ...], votes: Mapping[tuple[str, ...], float]) -> float:
    """Return what a list has in common with the others, weighted by their votes."""
    total = sum(votes.values())
    return sum(weight * likeness(answer, other) for other, weight in votes.items()) / total if total else 1.0


def weighted(
    found: Sequence[Hypothesis], others: Sequence[int], examples: Sequence[int], *, many: bool
) -> list[tuple[float, Hypothesis]]:
    """Return the hypotheses with their weights, the heaviest first.

    Parameters
    ----------
    found : the hypotheses of a field.
    others : the pages on which they judge each other.
    examples : the example pages that have the field.
    many : whether the field is a list, so that lists agree by the values that they share.
    """
    weights = [one.prior for one in found]
    varied = len({one.answers[page] for one in found for page in examples}) > 1
    for _ in range(3 if others else 0):
        agreed = [0.0] * len(found)
        asked = [0] * len(found)
        for page in others:
            votes: Counter[tuple[str, ...]] = Counter()
            for one, weight in zip(found, weights, strict=True):
                votes[one.answers[page]] += weight  # type: ignore[assignment]
            if not votes:
                continue
            most = max(votes.values())
            for number, one in enumerate(found):
                answer = one.answers[page]
                if not answer and set(votes) == {()}:
                    continue
                asked[number] += 1
                agreed[number] += votes[answer] / most if not many else _agreement(answer, votes)
        weights = [one.prior * (agreed[number] + 1) / (asked[number] + 1) for number, one in enumerate(found)]
    if len(others) >= 5:
        for number, one in enumerate(found):
            said = {one.answers[page] for page in others if one.answers[page]}
            if len(said) == 1 and (varied or len({*one.answers}) <= 1) and len(found) > 1:
                weights[number] *= 0.5  # what every page says is rather a label
    order = sorted(range(len(found)), key=lambda number: (-weights[number], number))
    return [(weights[number], found[number]) for number in order]


def chosen(
    ranked: Sequence[tuple[float, Hypothesis]], *, many: bool, least: float = 0.3
) -> list[Description]:
    """Return the descriptions to keep: the best ones, from different families and different places."""
    kept: list[tuple[float, Hypothesis]] = []
    if not ranked:
        return []
    top = ranked[0][0]
    first = ranked[0][1].description.source, ranked[0][1].description.part
    families: Counter[tuple[str, ...]] = Counter()
    seeds: set[tuple[tuple[str, ...], int]] = set()
    for weight, one in ranked:
        if weight < least * top or len(kept) >= MOST_DESCRIPTIONS - 1:
            break
        own = tuple(sorted(one.description.families))
        if many and (
            (one.description.source, one.description.part) != first or not _agrees(one, ranked[0][1])
        ):
            continue  # other texts divide a list into other values
        if families[own] >= (2 if len(own) == 1 else 1) or (own, one.seed) in seeds:
            continue
        families[own] += 1
        seeds.add((own, one.seed))
        kept.append((weight, one))
    return [
        Description(
            source=one.description.source,
            where=one.description.where,
            pick=one.description.pick,
            part=one.description.part,
            weight=round(weight / top, 3),
        )
        for weight, one in kept
    ]


def _agrees(one: Hypothesis, best: Hypothesis) -> bool:
    """Return whether a description of a list mostly gives the same values as the best one."""
    pairs = [(a, b) for a, b in zip(one.answers, best.answers, strict=True) if a or b]
    return not pairs or sum(likeness(a, b) for a, b in pairs) >= _LIKE * len(pairs)


def aligned(
    site: SitePlaces,
    wanted: Sequence[Sequence[tuple[int, Hit]]],
    cost: Callable[[int, Hit], float],
) -> tuple[list[Positives], list[float]]:
    """Return the places of all values for each seed, with the cost of the seed.

    Parameters
    ----------
    site : the places of all pages.
    wanted : for each value, the places that have it, as bits, the best first; none is empty.
    cost : of a hit at a bit; see `ValueFinder.cost`.
    """
    groups: list[Positives] = []
    costs: list[float] = []
    right = site.of_numbers(bit for hits in wanted for bit, hit in hits if hit.is_whole)
    seen: set[tuple[int, ...]] = set()
    rarest = min(
        range(len(wanted)), key=lambda number: (len(wanted[number]) > 0, len(wanted[number]), number)
    )
    for seed_bit, seed in wanted[rarest][: 3 * _MOST_SEEDS]:
        if len(groups) >= _MOST_SEEDS:
            break
        place = site.place(seed_bit)
        group = []
        for hits in wanted:
            if hits is wanted[rarest]:
                group.append((seed_bit, seed))
                continue
            same = [
                (bit, hit)
                for bit, hit in hits
                if site.place(bit).source == place.source and hit.absolute == seed.absolute
            ]
            if not same:
                break
            group.append(
                max(
                    same,
                    key=lambda one: (
                        len(site.place(one[0]).features & place.features)
                        - 3 * (one[1].is_whole != seed.is_whole)
                    ),
                )
            )
        else:
            key = tuple(bit for bit, _ in group)
            if key in seen:
                continue
            seen.add(key)
            same_source = site.source(place.source)
            groups.append(Positives(group, (right & same_source) | site.of_numbers(key)))
            costs.append(sum(cost(bit, hit) for bit, hit in group) / len(group))
    return groups, costs
