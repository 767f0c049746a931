"""What a model finds on the pages of its learning, and which labels it needs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from msgspec.structs import replace

from domsieve.analysis.fields.extraction import PageFields
from domsieve.analysis.fields.fields_model import FieldsModel, LearnedField
from domsieve.analysis.fields.site_places import SitePlaces
from domsieve.analysis.fields.value_kinds import kind_of

_NEAR_LABELS = 40


def near_labels(site: SitePlaces, labels: frozenset[str], used: Iterable[int]) -> tuple[str, ...]:
    """Return the labels near the places of fields; others make no difference to the model."""
    near: Counter[str] = Counter()
    for bit in dict.fromkeys(used):
        own = site.pages[site.page_of(bit)].labels
        leaf = site.place(bit).leaf
        near.update(
            label for label in own[max(0, leaf - _NEAR_LABELS) : leaf + _NEAR_LABELS] if label in labels
        )
    return tuple(sorted(label for label, _ in near.most_common(500)))


def with_figures(model: FieldsModel, found: Sequence[PageFields]) -> FieldsModel:
    """Return the model with what it finds on the pages of its learning."""
    fields: dict[str, LearnedField] = {}
    rows = sum(len(page.records or (page.fields,)) for page in found)
    for name, learned in model.fields.items():
        values: list[str] = []
        count = 0
        for page in found:
            for row in page.records or (page.fields,):
                value = row[name].value if name in row else None
                if value is not None:
                    count += 1
                    values += [value] if isinstance(value, str) else value
        of_kind = sum(kind_of(value) == learned.kind for value in values) / len(values) if values else 1.0
        fields[name] = replace(
            learned,
            found=count,
            pages=rows,
            of_kind=round(of_kind, 3),
            length=round(median(map(len, values))) if values else 0,
        )
    return replace(model, fields=fields)
