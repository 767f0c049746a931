"""Columns of a table of records as they are aligned. Imports the leaves."""

from dataclasses import dataclass, field

from domsieve.analysis.records.leaves import FieldKind, Leaf


@dataclass(slots=True, eq=False)
class Column:
    """Leaves of several records that stand at the same place; `exact` and `place` stand for class and path."""

    kind: FieldKind
    exact: str
    place: str
    leaves: dict[int, Leaf] = field(default_factory=dict)
