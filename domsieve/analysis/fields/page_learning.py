"""Learn the fields of pages that have one of each, from example pages and unlabelled pages."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from domsieve.analysis.fields.candidates import Hit, ValueFinder, listed_hits, not_found, short
from domsieve.analysis.fields.choice import Chooser, Hypothesis, aligned, chosen, weighted
from domsieve.analysis.fields.examples import Example, Wanted
from domsieve.analysis.fields.extraction import extract_from
from domsieve.analysis.fields.fields_model import MOST_DESCRIPTIONS, Description, FieldsModel, LearnedField
from domsieve.analysis.fields.figures import near_labels, with_figures
from domsieve.analysis.fields.places import PagePlaces
from domsieve.analysis.fields.site_places import SitePlaces
from domsieve.analysis.fields.value_kinds import DIGIT_KINDS, ValueKind, kind_of
from domsieve.errors import UsageError

_SEPARATORS = ("; ", " | ", " · ", " and ", " & ", ", ")
_LIKE_NAMES = 0.8


def learn_pages(
    examples: Sequence[Example], read: Sequence[PagePlaces], labels: frozenset[str]
) -> FieldsModel:
    """Return a model of the fields of pages.

    Parameters
    ----------
    examples : the examples with their fields.
    read : the places of all pages, those of the examples first; described with `labels`.
    labels : the labels of the site.

    Raises
    ------
    UsageError : a value is not on its page, or examples contradict each other.
    """
    site = SitePlaces(read)
    finders = [ValueFinder(places) for places in read[: len(examples)]]
    fields: dict[str, LearnedField] = {}
    used: list[int] = []
    for name in dict.fromkeys(name for example in examples for name in example.fields):
        fields[name] = _field(name, examples, site, finders, used)
    model = FieldsModel(
        examples=len(examples), pages=len(read), labels=near_labels(site, labels, used), fields=fields
    )
    return with_figures(model, [extract_from(places, model) for places in read])


def _field(
    name: str, examples: Sequence[Example], site: SitePlaces, finders: Sequence[ValueFinder], used: list[int]
) -> LearnedField:
    """Return the descriptions of a field; the bits of its places are added to `used`."""
    said: list[tuple[int, Wanted]] = [
        (number, example.fields[name]) for number, example in enumerate(examples) if name in example.fields
    ]
    many = any(wanted.many for _, wanted in said)
    selectors = tuple(dict.fromkeys(wanted.css for _, wanted in said if wanted.css))
    by_css = tuple(Description(css=css, pick="all" if many else "first") for css in selectors)
    given = [(number, value) for number, wanted in said for value in wanted.values]
    kinds = [kind_of(value) for _, value in given]
    kind: ValueKind = Counter(kinds).most_common(1)[0][0] if kinds else "text"
    digits = bool(kinds) and all(one in DIGIT_KINDS for one in kinds)
    if not given:
        return LearnedField(many=many, kind=kind, descriptions=by_css)
    known = [number for number, _ in said]
    judged = 0
    for number in known:
        judged |= site.page_masks[number]
    others = range(len(examples), len(site.pages))
    chooser = Chooser(site, judged, others, many, digits)
    found = _hypotheses(name, chooser, examples, finders, said)
    have = [number for number, wanted in said if wanted.values]
    ranked = weighted(found, others, have, many=many)
    descriptions = (*by_css, *chosen(ranked, many=many))[:MOST_DESCRIPTIONS]
    if many and descriptions and not any(len(wanted.values) > 1 for _, wanted in said):
        descriptions = _divided(site, descriptions, others)
    if not descriptions:
        raise _contradiction(name, examples, finders, said, site, digits=digits, many=many)
    used += [bit for one in descriptions for bit in site.places_of(one.source, one.where)]
    return LearnedField(many=many, kind=kind, digits=digits, descriptions=descriptions)


def _divided(
    site: SitePlaces, descriptions: tuple[Description, ...], others: Sequence[int]
) -> tuple[Description, ...]:
    """Return descriptions that divide the texts of a list, if texts of other pages look like several values.

    The examples have only lists of one value, so they do not show what separates values. A separator is believed if
    both sides of it nearly always have two to five words, as names of people do.
    """
    first = descriptions[0]
    texts = [
        text
        for bit in site.places_of(first.source, first.where)
        if site.page_of(bit) in others and (text := first.part.of(site.place(bit).text))
    ]
    splits: list[str] = []
    for separator in _SEPARATORS:
        pieces = [text.split(separator) for text in texts if separator in text]
        names = sum(all(2 <= len(piece.split()) <= 5 for piece in each) for each in pieces)
        if pieces and names >= _LIKE_NAMES * len(pieces):
            splits.append(separator)
            texts = [piece for text in texts for piece in text.split(separator)]
    return tuple(
        msgspec.structs.replace(one, part=msgspec.structs.replace(one.part, split=tuple(splits)))
        if (one.source, one.part) == (first.source, first.part)
        else one
        for one in descriptions
    )


def _hypotheses(
    name: str,
    chooser: Chooser,
    examples: Sequence[Example],
    finders: Sequence[ValueFinder],
    said: Sequence[tuple[int, Wanted]],
) -> list[Hypothesis]:
    site = chooser.site

    def cost(bit: int, hit: Hit) -> float:
        return finders[site.page_of(bit)].cost(hit)

    wanted: list[list[tuple[int, Hit]]] = []
    joined: list[list[tuple[int, Hit]]] = []
    separators: list[str] = []
    for number, one in said:
        first = site.first[number]
        for value in one.values:
            hits = finders[number].hits(value)
            if not hits:
                raise not_found(name, value, examples[number].label, finders[number])
            wanted.append([(first + hit.number, hit) for hit in hits])
        if one.many and (listed := listed_hits(one.values, finders[number])):
            joined.append([(first + listed[0].number, listed[0])])
            separators += listed[1]
        elif one.many and one.values:
            joined.append([(first + hit.number, hit) for hit in finders[number].hits(one.values[0])])
    found = chooser.hypotheses(*aligned(site, wanted, cost))
    if separators:
        # All values of a list are in one text, such as "A. Coleman, R. Hauck".
        found += chooser.hypotheses(*aligned(site, joined, cost), splits=tuple(dict.fromkeys(separators))[:8])
    return found


def _contradiction(
    name: str,
    examples: Sequence[Example],
    finders: Sequence[ValueFinder],
    said: Sequence[tuple[int, Wanted]],
    site: SitePlaces,
    *,
    digits: bool,
    many: bool,
) -> UsageError:
    """Return the error of examples that no description fits, naming the one without which the others agree."""
    for left_out in range(len(said)):
        rest = [one for number, one in enumerate(said) if number != left_out]
        if not any(wanted.values for _, wanted in rest):
            continue
        judged = 0
        for number, _ in rest:
            judged |= site.page_masks[number]
        chooser = Chooser(site, judged, range(len(examples), len(site.pages)), many, digits)
        if len(said) > 2 and _hypotheses(name, chooser, examples, finders, rest):
            odd, wanted = examples[said[left_out][0]].label, said[left_out][1]
            value = ", ".join(wanted.values) or "missing"
            return UsageError(
                f"The examples contradict each other: {name!r} of {odd} ({short(value)!r}) is at another place "
                "than in the other examples; correct or remove it.",
                parameter="examples",
            )
    labels = " and ".join(examples[number].label for number, _ in said[:2])
    return UsageError(
        f"The examples contradict each other: no place has {name!r} in {labels}"
        + (f" and {len(said) - 2} more" if len(said) > 2 else "")
        + "; check these values, or give a selector.",
        parameter="examples",
    )
