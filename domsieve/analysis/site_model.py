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
from domsieve.types import StyleLevel

_TYPES = frozenset(["<u8", "<i8", "<i4", "|b1"])
_MOST_PAGES = 1 << 40  # far above any site; a larger number in a file is made up


def packed_counts(counts: Any) -> dict[str, Any]:
    """Return the fields of a model's counts, a frozen dataclass, as plain values."""
    return {field.name: _pack(getattr(counts, field.name)) for field in fields(counts)}


def unpacked_counts(make: Callable[..., Any], packed: dict[str, Any]) -> Any:
    """Return the counts behind the result of `packed_counts`.

    Parameters
    ----------
    make : the class of the counts, whose `check` validates them.
    packed : their fields, as decoded from MessagePack.

    Raises
    ------
    ValueError, TypeError, KeyError, AttributeError : the fields are not valid counts.
    """
    counts = make(**{name: _unpack(value) for name, value in packed.items()})
    if type(counts.pages) is not int or not 0 < counts.pages <= _MOST_PAGES:
        raise ValueError(f"pages is not a whole number from 1 to {_MOST_PAGES}")
    counts.check()
    return counts


def _pack(value: Any) -> Any:
    """Return a field of counts for MessagePack: a table as a map, everything else unchanged."""
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
        raise ValueError("the columns of a table have different lengths")
    return table


def _bytes(column: np.ndarray[Any, Any]) -> tuple[str, bytes]:
    column = column.astype(column.dtype.newbyteorder("<"), copy=False)
    return column.dtype.str, column.tobytes()


def _array(packed: tuple[str, bytes]) -> np.ndarray[Any, Any]:
    kind, data = packed
    if kind not in _TYPES:
        raise ValueError(f"a column has the unknown type {kind}")
    return np.frombuffer(data, kind)


# So that numpy calls cost little per node, but the columns fit into the CPU's cache.
_NODES_PER_BATCH = 60_000


class Counts(Protocol):
    """What was learned from some pages. The order of the pages does not matter."""

    @property
    def pages(self) -> int:
        """Number of pages learned."""
        ...

    @property
    def nbytes(self) -> int:
        """Approximate size in bytes."""
        ...

    def check(self) -> None:
        """Raise an error unless the counts, which may come from an untrusted file, are consistent.

        Raises
        ------
        ValueError, TypeError : they are not.
        """
        ...


C = TypeVar("C", bound=Counts)
T = TypeVar("T")


class SiteModel(Estimator, Generic[C]):
    """Base class of methods that learn from the pages of one site, with additive statistics.

    Subclasses define `counts`, `joined`, `facts`, `_count` and `_verdicts`.
    """

    counts: ClassVar[Callable[..., Any]]
    """The class of the counts."""
    joined: ClassVar[Callable[[Sequence[Any]], Any]]
    """Returns the sum of several counts."""
    style_: StyleLevel | None = None
    """The level of presentation styles behind the counts; None for methods without styles."""

    def fit(self, pages: Iterable[Snapshot], y: None = None) -> Self:  # noqa: ARG002
        """Learn a site from its pages and forget everything learned before.

        Raises
        ------
        ModelError : rendered and raw pages are mixed, and the method needs one kind.
        UsageError : a parameter has an invalid value.
        BudgetError : a page or the site costs too much time or memory.
        """
        self._parts: list[C] = []
        self.style_ = None
        return self.partial_fit(pages)

    def partial_fit(self, pages: Iterable[Snapshot], y: None = None) -> Self:  # noqa: ARG002
        """Learn more pages. The result does not depend on their order or on how they are divided among calls.

        Raises
        ------
        ModelError : rendered and raw pages are mixed, and the method needs one kind.
        UsageError : a parameter has an invalid value.
        BudgetError : a page or the site costs too much time or memory.
        """
        self.check()
        for batch in batches(pages):
            with spending("learn", batch.pages[0].provenance.url):
                counts = self._count(batch)
            with spending_on_site("learn", pages=self.learned):
                self._add(counts)
        return self

    def fit_transform(self, pages: Iterable[Snapshot], y: None = None) -> list[Verdict]:
        """Learn a site from its pages and return the verdict on each. All pages are held in memory."""
        pages = list(pages)
        return self.fit(pages, y).transform(pages)

    def merge(self, other: Self) -> Self:
        """Add everything that `other` has learned about the same site to this model.

        Raises
        ------
        ModelError : the two have different parameters or styles, or `other` has not learned any page.
        """
        if self.get_params() != other.get_params() or (self.style_ or other.style_) != other.style_:
            raise ModelError(
                "Two site models can be merged only if they have equal parameters and styles; "
                "learn one of them again."
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
        """Return the verdict on one page, or a list with one verdict per page of a sequence.

        Raises
        ------
        ModelError : the model has not learned any page, or has learned pages of another kind (rendered or raw).
        UsageError : a parameter has an invalid value.
        BudgetError : a page costs too much time or memory.
        """
        if isinstance(pages, Snapshot):
            return self.transform([pages])[0]
        self.check()
        return [verdict for batch in batches(pages) for verdict in self._judged(batch)]

    def _judged(self, batch: Batch) -> list[Verdict]:
        with spending(self.name, batch.pages[0].provenance.url):
            return self._verdicts(batch)

    def restore(self, counts: C, *, style: StyleLevel | None) -> None:
        """Replace everything learned by `counts`, for example from a model file.

        Raises
        ------
        ValueError : the counts do not match the model's parameters.
        UsageError : a parameter has an invalid value.
        """
        self.check()
        if not self._learns(counts, style):
            raise ValueError("its counts do not match its parameters")
        self._parts, self.style_ = [counts], style

    @property
    def learned(self) -> int:
        """Number of pages learned so far."""
        return sum(part.pages for part in getattr(self, "_parts", ()))

    @property
    def counts_(self) -> C:
        """Counts over all pages learned so far.

        Raises
        ------
        ModelError : the model has not learned any page.
        """
        if not getattr(self, "_parts", None):
            raise ModelError("The site model has learned no page yet; call fit or partial_fit first.")
        if len(self._parts) > 1:
            with spending_on_site("learn", pages=self.learned):
                self._parts = [type(self).joined(self._parts)]
        return self._parts[0]

    def facts(self) -> dict[str, int]:
        """Return sizes of what was learned, by name, such as the number of element nodes."""
        raise NotImplementedError

    def _learns(self, counts: C, style: StyleLevel | None) -> bool:  # noqa: ARG002
        """Return whether a model with these parameters could have learned these counts in this style."""
        return style is None

    def _count(self, batch: Batch) -> C:
        raise NotImplementedError

    def _verdicts(self, batch: Batch) -> list[Verdict]:
        raise NotImplementedError

    def _derived(self, key: object, make: Callable[[], T]) -> T:
        """Return ``make()``, cached for the last `key`. A `BudgetError` is cached and raised again, too."""
        cached_key, result = getattr(self, "_cached", (None, None))
        if cached_key != key:
            try:
                with spending_on_site("learn", pages=self.learned):
                    result = make()
            except BudgetError as error:
                result = error
            self._cached = key, result
        if isinstance(result, BudgetError):
            raise result
        return cast(T, result)

    def _add(self, counts: C) -> None:
        parts: list[C] = [*getattr(self, "_parts", ()), counts]
        # Parts of similar size are merged, so that each row is sorted a logarithmic number of times.
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
        vars(twin).update(vars(self))  # counts are immutable, so both can share them
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
    threshold: float | Sequence[float | None] | None = None,
) -> list[Verdict]:
    """Split columns over the N nodes of a batch into one verdict per page.

    Parameters
    ----------
    method : the name of the method.
    kept, score, reason, numbers : columns (N,), as in `Verdict`.
    reasons, parameters : as in `Verdict`.
    known_shares : `Verdict.known_share` of each page; empty if the method has none.
    threshold : as in `Verdict`, of all pages or of each.
    """
    return [
        Verdict(
            method,
            kept[a:b],
            score[a:b].astype(np.float32, copy=False),
            reason[a:b].astype(np.uint8, copy=False),
            reasons,
            {name: column[a:b].astype(np.float32, copy=False) for name, column in numbers.items()},
            parameters,
            threshold=threshold[page] if isinstance(threshold, Sequence) else threshold,
            known_share=known_shares[page] if known_shares else None,
        )
        for page, (a, b) in enumerate(pairwise(batch.first.tolist()))
    ]


def batches(pages: Iterable[Snapshot]) -> Iterator[Batch]:
    """Yield the pages in batches of about 60,000 nodes."""
    group: list[Snapshot] = []
    nodes = 0
    for page in pages:
        group.append(page)
        nodes += len(page)
        if nodes >= _NODES_PER_BATCH:
            yield _batch_of(group)
            group, nodes = [], 0
    if group:
        yield _batch_of(group)


def _batch_of(pages: list[Snapshot]) -> Batch:
    with spending("read", pages[0].provenance.url):
        return page_batch(pages[0]) if len(pages) == 1 else Batch.of(pages)
