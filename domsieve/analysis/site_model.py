"""Base class of site methods: learn batch by batch, merge partial models, pack counts for files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, cast, overload

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Batch, Bools, page_batch
from domsieve.analysis.columns.tables import Table
from domsieve.analysis.estimator import Estimator
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending, spending_on_site
from domsieve.errors import BudgetError, ModelError
from domsieve.snapshot.page import Scalar, Snapshot
from domsieve.vocabulary import StyleLevel

_TYPES = frozenset(["<u8", "<i8", "<i4", "|b1"])
_MOST_PAGES = 1 << 40


def packed_counts(counts: Any) -> dict[str, Any]:
    """Return the fields of counts, a frozen dataclass, as plain values."""
    return {field.name: _pack(getattr(counts, field.name)) for field in fields(counts)}


def unpacked_counts(make: Callable[..., Any], packed: dict[str, Any]) -> Any:
    """Return the counts that `packed_counts` was given.

    Parameters
    ----------
    make : their class, whose `check` refuses those that cannot be.
    packed : their fields, from MessagePack.

    Raises
    ------
    ValueError, TypeError, KeyError, AttributeError : they are none.
    """
    counts = make(**{name: _unpack(value) for name, value in packed.items()})
    if type(counts.pages) is not int or not 0 < counts.pages <= _MOST_PAGES:
        raise ValueError("a number of pages that cannot be")
    counts.check()
    return counts


def _pack(value: Any) -> Any:
    """Return a field of counts as MessagePack knows it: a table as a map, all else as it is."""
    if not isinstance(value, Table):
        return value
    return {
        "key": _bytes(value.key),
        "fixed": {name: _bytes(column) for name, column in value.fixed.items()},
        "sums": {name: _bytes(column) for name, column in value.sums.items()},
    }


def _unpack(packed: Any) -> Any:
    if isinstance(packed, list):
        return tuple(packed)
    if not isinstance(packed, dict):
        return packed
    table = Table(
        _array(packed["key"]),
        {name: _array(column) for name, column in packed["fixed"].items()},
        {name: _array(column) for name, column in packed["sums"].items()},
    )
    if any(column.shape != table.key.shape for column in (*table.fixed.values(), *table.sums.values())):
        raise ValueError("columns of different length")
    return table


def _bytes(column: np.ndarray[Any, Any]) -> tuple[str, bytes]:
    column = column.astype(column.dtype.newbyteorder("<"), copy=False)
    return column.dtype.str, column.tobytes()


def _array(packed: tuple[str, bytes]) -> np.ndarray[Any, Any]:
    kind, data = packed
    if kind not in _TYPES:
        raise ValueError(f"a column of type {kind}")
    return np.frombuffer(data, kind)


FEWEST_PAGES = 5
"""With fewer pages of a site most of what repeats still looks unique, and a page by itself says more."""
_NODES_PER_BATCH = 60_000


class Counts(Protocol):
    """What was learned of some pages; equal pages give equal counts, whatever their order."""

    @property
    def pages(self) -> int:
        """Number of pages learned."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes held, about."""
        ...

    def check(self) -> None:
        """Do nothing where the counts, which somebody may have made up, can be worked with.

        Raises
        ------
        ValueError, TypeError : they cannot.
        """
        ...


C = TypeVar("C", bound=Counts)
T = TypeVar("T")


class SiteModel(Estimator, Generic[C]):
    """An estimator over the pages of one site whose statistics are additive.

    A method gives the type of its `counts`, how partial counts are `joined`, `facts`,
    `_count` and `_verdicts`.
    """

    counts: ClassVar[Callable[..., Any]]
    joined: ClassVar[Callable[[Sequence[Any]], Any]]
    style_: StyleLevel | None = None
    """Level of presentation styles that the counts are made of; None for methods that know no styles."""

    def fit(self, pages: Iterable[Snapshot], y: None = None) -> Self:  # noqa: ARG002
        """Learn the site from its pages alone, forgetting what was learned before."""
        self._parts: list[C] = []
        self.style_ = None
        return self.partial_fit(pages)

    def partial_fit(self, pages: Iterable[Snapshot], y: None = None) -> Self:  # noqa: ARG002
        """Learn further pages; what is known in the end depends neither on their order nor on their grouping.

        Raises
        ------
        ModelError : rendered and raw pages are mixed where that matters.
        UsageError : a parameter is not what it may be.
        """
        self._check()
        for batch in batches(pages):
            with spending("learn", batch.pages[0].provenance.url):
                counts = self._count(batch)
            with spending_on_site("learn", pages=self.learned):
                self._add(counts)
        return self

    def fit_transform(self, pages: Iterable[Snapshot], y: None = None) -> list[Verdict]:
        """Learn the site from its pages and return the verdict on each; holds all of them until then."""
        held = list(pages)
        return self.fit(held, y).transform(held)

    def merge(self, other: Self) -> Self:
        """Take over all that `other` has learned of the same site.

        Raises
        ------
        ModelError : the two differ in parameters or in style, or `other` has learned nothing.
        """
        if self.get_params() != other.get_params() or (self.style_ or other.style_) != other.style_:
            raise ModelError(
                "Only site models of equal parameters and styles merge; learn one of them again."
            )
        counts = other.counts_
        self.style_ = other.style_
        self._add(counts)
        return self

    @overload
    def transform(self, pages: Snapshot) -> Verdict: ...
    @overload
    def transform(self, pages: Sequence[Snapshot]) -> list[Verdict]: ...
    def transform(self, pages: Snapshot | Sequence[Snapshot]) -> Verdict | list[Verdict]:
        """Return the verdict on one page, or one verdict per page of a sequence; changes nothing learned.

        Raises
        ------
        ModelError : nothing was learned, or pages of another kind.
        UsageError : a parameter is not what it may be.
        """
        if isinstance(pages, Snapshot):
            return self.transform([pages])[0]
        self._check()
        return [verdict for batch in batches(pages) for verdict in self._judged(batch)]

    def _judged(self, batch: Batch) -> list[Verdict]:
        with spending(self.name, batch.pages[0].provenance.url):
            return self._verdicts(batch)

    def restore(self, counts: C, *, style: StyleLevel | None) -> None:
        """Take `counts` for all that was learned, as when a model is read from disk.

        Raises
        ------
        ValueError : a model of these parameters learns others.
        UsageError : a parameter is not what it may be.
        """
        self._check()
        if not self._learns(counts, style):
            raise ValueError("counts of other parameters")
        self._parts, self.style_ = [counts], style

    @property
    def learned(self) -> int:
        """Number of pages learned so far."""
        return sum(part.pages for part in getattr(self, "_parts", ()))

    @property
    def counts_(self) -> C:
        """Counts over all pages learned so far."""
        if not getattr(self, "_parts", None):
            raise ModelError("The site model has learned no page yet; call fit or partial_fit first.")
        if len(self._parts) > 1:
            with spending_on_site("learn", pages=self.learned):
                self._parts = [type(self).joined(self._parts)]
        return self._parts[0]

    def facts(self) -> dict[str, int]:
        """Return how much was learned, by name."""
        raise NotImplementedError

    def _learns(self, counts: C, style: StyleLevel | None) -> bool:  # noqa: ARG002
        """Return whether a model of these parameters may have learned such counts, of this style."""
        return style is None

    def _count(self, batch: Batch) -> C:
        raise NotImplementedError

    def _verdicts(self, batch: Batch) -> list[Verdict]:
        raise NotImplementedError

    def _derived(self, key: object, make: Callable[[], T]) -> T:
        """Return what is made of all that was learned, once per `key`; a site that costs too much does so once."""
        known, made = getattr(self, "_made", (None, None))
        if known != key:
            try:
                with spending_on_site("learn", pages=self.learned):
                    made = make()
            except BudgetError as error:
                made = error
            self._made = key, made
        if isinstance(made, BudgetError):
            raise made
        return cast(T, made)

    def _add(self, counts: C) -> None:
        parts: list[C] = [*getattr(self, "_parts", ()), counts]
        # Parts of like size merge, so that every row is sorted a logarithmic number of times.
        while len(parts) > 1 and parts[-2].nbytes < 2 * parts[-1].nbytes:
            parts[-2:] = [type(self).joined(parts[-2:])]
        self._parts = parts

    def __sklearn_is_fitted__(self) -> bool:
        return self.learned > 0

    def __reduce__(self) -> tuple[Any, ...]:
        counts = msgspec.msgpack.encode(packed_counts(self.counts_)) if self.learned else b""
        return _unpickled, (type(self), self.get_params(), self.style_, zstandard.compress(counts))

    def __copy__(self) -> Self:
        twin = type(self).__new__(type(self))
        vars(twin).update(vars(self))  # counts are never changed, so both may have them
        return twin


def _unpickled(
    kind: type[SiteModel[Any]], parameters: dict[str, Any], style: StyleLevel | None, packed: bytes
) -> SiteModel[Any]:
    model = kind(**parameters)
    if counts := zstandard.decompress(packed):
        model.restore(unpacked_counts(kind.counts, msgspec.msgpack.decode(counts)), style=style)
    return model


def verdicts_of(
    batch: Batch,
    method: str,
    *,
    kept: Bools,
    score: NDArray[Any],
    reason: NDArray[Any],
    reasons: tuple[str, ...],
    numbers: Mapping[str, NDArray[Any]],
    parameters: Mapping[str, Scalar],
    known_shares: Sequence[float | None] = (),
) -> list[Verdict]:
    """Return one verdict per page of the batch, from columns over its N nodes and a share for each page or none."""
    return [
        Verdict(
            method,
            kept[a:b],
            score[a:b].astype(np.float32, copy=False),
            reason[a:b].astype(np.uint8, copy=False),
            reasons,
            {name: column[a:b].astype(np.float32, copy=False) for name, column in numbers.items()},
            parameters,
            known_share=known_shares[page] if known_shares else None,
        )
        for page, (a, b) in enumerate(pairwise(batch.first.tolist()))
    ]


def batches(pages: Iterable[Snapshot]) -> Iterator[Batch]:
    """Cut pages into batches large enough that calls cost little, small enough to stay in the caches."""
    held: list[Snapshot] = []
    nodes = 0
    for page in pages:
        held.append(page)
        nodes += len(page)
        if nodes >= _NODES_PER_BATCH:
            yield _batch_of(held)
            held, nodes = [], 0
    if held:
        yield _batch_of(held)


def _batch_of(pages: list[Snapshot]) -> Batch:
    with spending("read", pages[0].provenance.url):
        return page_batch(pages[0]) if len(pages) == 1 else Batch.of(pages)
