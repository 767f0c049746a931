"""Base classes of all methods: estimators compatible with scikit-learn, with validated parameters.

The annotation of a parameter says which values are valid: a `Literal`, ``bool``, ``int`` or ``float`` with `Bounds`,
``str`` with `Known` words, any `Text`, or None. Every method checks its parameters before it works on a page.

This module does not import scikit-learn, which takes seconds to load. Compatibility needs little:
`sklearn.base.clone` reads the parameters and passes them to the class, and pipelines also set them and ask for tags.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from inspect import Parameter, signature
from reprlib import Repr
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

import numpy as np

from domsieve.budget import spending
from domsieve.errors import ParameterError, UsageError
from domsieve.snapshot.page import Scalar, Snapshot
from domsieve.types import Mode

R = TypeVar("R")

_REPR = Repr()
_REPR.maxstring = _REPR.maxother = 60


@dataclass(frozen=True, slots=True)
class Bounds:
    """The range of finite numbers that a parameter accepts.

    Parameters
    ----------
    least, most : the limits; infinite for none.
    above, below : exclude the limit itself: numbers must be above `least`, below `most`.
    """

    least: float = -math.inf
    most: float = math.inf
    above: bool = False
    below: bool = False

    def holds(self, value: float) -> bool:
        """Return whether a number is in the range; infinity and NaN never are."""
        low = value > self.least if self.above else value >= self.least
        high = value < self.most if self.below else value <= self.most
        return low and high and math.isfinite(value)

    def __str__(self) -> str:
        low = f"{'above' if self.above else 'at least'} {self.least:g}"
        high = f"{'below' if self.below else 'at most'} {self.most:g}"
        edges = [text for text, edge in ((low, self.least), (high, self.most)) if math.isfinite(edge)]
        both = len(edges) == 2 and not (self.above or self.below)
        return f"from {self.least:g} to {self.most:g}" if both else " and ".join(edges)


@dataclass(frozen=True, slots=True)
class Known:
    """The words that a parameter accepts, if they are too many to list in messages.

    Parameters
    ----------
    words : the words.
    name : what messages show instead of the list, such as ``"a known ISO 639-1 code"``.
    """

    words: frozenset[str]
    name: str


@dataclass(frozen=True, slots=True)
class AnyText:
    """Marks a parameter that accepts any text with at least one character that is not white space."""


Share = Annotated[float, Bounds(0, 1)]
"""A number from 0 to 1."""
Text = Annotated[str, AnyText()]
"""A text that is not empty."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """One type of value that a parameter accepts."""

    kind: type
    words: tuple[str, ...] = ()
    bounds: Bounds | None = None
    known: Known | None = None

    def holds(self, value: object) -> bool:
        if self.kind is str and not (self.words or self.known):
            return isinstance(value, str) and bool(value.split())
        if self.words or self.known:
            return isinstance(value, str) and (
                value in self.words or (self.known is not None and value in self.known.words)
            )
        if self.kind is NoneType:
            return value is None
        if self.kind is bool:
            return isinstance(value, bool | np.bool_)
        # Python counts True and False as integers; here they are not numbers.
        numbers = int | np.integer if self.kind is int else int | np.integer | float | np.floating
        if isinstance(value, bool) or not isinstance(value, numbers):
            return False
        try:
            return self.bounds is None or self.bounds.holds(value)
        except OverflowError:  # an integer too large for a float
            return False

    def names(self) -> list[str]:
        """Return the valid values as messages show them."""
        if self.words:
            return [repr(word) for word in self.words]
        if self.known:
            return [self.known.name]
        if self.kind is str:
            return ["a text"]
        if self.kind in {bool, NoneType}:
            return ["True", "False"] if self.kind is bool else ["None"]
        noun = "a whole number" if self.kind is int else "a number"
        return [f"{noun} {self.bounds}" if self.bounds else noun]

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the valid values."""
        if self.words or self.known:
            return {"enum": [*self.words] if self.words else _known_words(self)}
        if self.kind in _SCHEMAS:
            return dict(_SCHEMAS[self.kind])
        found: dict[str, Any] = {"type": "integer" if self.kind is int else "number"}
        limits = self.bounds or Bounds()
        if math.isfinite(limits.least):
            found["exclusiveMinimum" if limits.above else "minimum"] = limits.least
        if math.isfinite(limits.most):
            found["exclusiveMaximum" if limits.below else "maximum"] = limits.most
        return found


_SCHEMAS: Mapping[type, Mapping[str, Any]] = {
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    str: {"type": "string", "pattern": r"\S"},
}
_WRITTEN: Mapping[str, Any] = {"true": True, "false": False, "none": None}


class Estimator:
    """Base class of methods.

    A method's parameters are the keyword arguments of its ``__init__``, which stores each in an attribute of the same
    name and does nothing else.
    """

    name: ClassVar[str]
    """The name of the method, such as ``"sst"``."""
    paper: ClassVar[Mapping[str, Any] | None] = MappingProxyType({})
    """The published parameters that differ from the defaults; None if the method has no published parameters."""
    schema_rules: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """What `check` asks of several parameters together, in the words of JSON Schema."""

    @classmethod
    def of_mode(cls, mode: Mode, **changes: Any) -> Self:
        """Return an estimator with the default or the published parameters.

        Parameters
        ----------
        mode : ``"site"`` for our defaults, ``"paper"`` for the published parameters.
        **changes : parameters to set to other values.

        Raises
        ------
        UsageError : the mode does not exist, or the method has no published parameters.
        """
        if mode not in get_args(Mode):
            raise _invalid_value(cls, "mode", mode, [repr(word) for word in get_args(Mode)], get_args(Mode))
        if mode == "paper" and cls.paper is None:
            raise UsageError(
                f"{cls.__name__}: mode is 'paper', which this method does not have; it may be 'site'.",
                parameter="mode",
            )
        return cls(**{**(cls.paper or {} if mode == "paper" else {}), **changes})

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Return the names of the parameters in alphabetical order."""
        return sorted(cls._defaults())

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = signature(cls.__init__).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is Parameter.KEYWORD_ONLY}

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the parameters by name.

        Parameters
        ----------
        deep : ignored; for scikit-learn. No parameter is an estimator.
        """
        return {name: getattr(self, name) for name in self.parameter_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name. Their values are checked when the method is used.

        Raises
        ------
        ParameterError : a name is unknown. Then no parameter is set.
        """
        for name in parameters:
            self.check_name(name)
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    @classmethod
    def check_name(cls, name: str) -> None:
        """Check that there is a parameter of this name.

        Raises
        ------
        ParameterError : there is none; the message lists the parameters.
        """
        known = cls.parameter_names()
        if name not in known:
            valid = f"it has {', '.join(known)}" if known else "it has none"
            raise ParameterError(
                f"{cls.__name__} has no parameter {name!r}; {valid}{_suggestion(name, known)}.",
                parameter=name,
            )

    @classmethod
    def parse(cls, name: str, text: str) -> Scalar:
        """Return the value of a parameter that a user wrote as text.

        Parameters
        ----------
        name : a parameter of the method.
        text : a word or a number; ``true``, ``false`` and ``none`` in upper or lower case.

        Raises
        ------
        ParameterError : there is no such parameter, or the value is not valid.
        """
        cls.check_name(name)
        read: Scalar = text
        for convert in (int, float):
            try:
                read = convert(text)
                break
            except ValueError:
                continue
        else:
            read = _WRITTEN.get(text.strip().lower(), text)
        for value in (text, read):
            if any(choice.holds(value) for choice in _choices(cls)[name]):  # type: ignore[arg-type]
                return value
        raise _wrong_parameter(cls, name, read)

    @classmethod
    def parameter_schemas(cls) -> dict[str, dict[str, Any]]:
        """Return the JSON Schema of each parameter by its name."""
        found = {}
        for name, choices in _choices(cls).items():  # type: ignore[arg-type]
            schemas = [choice.schema() for choice in choices]
            found[name] = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        return found

    def scalars(self) -> dict[str, Scalar]:
        """Return the parameters by name for files, with numpy numbers converted to Python numbers."""
        return {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self.get_params().items()
        }

    def check(self) -> None:
        """Check the values of all parameters.

        Raises
        ------
        ParameterError : a value is invalid; the message has the parameter, its value and the valid values.
        """
        for name, choices in _choices(type(self)).items():  # type: ignore[arg-type]
            value = getattr(self, name)
            if not any(choice.holds(value) for choice in choices):
                raise _wrong_parameter(type(self), name, value)

    def __repr__(self) -> str:
        default = self._defaults()
        changed = [f"{n}={value!r}" for n, value in self.get_params().items() if value != default[n]]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()


class PageEstimator(Estimator, Generic[R]):
    """Base class of single-page methods, which learn nothing from other pages.

    Subclasses implement `_result`, which returns the result of one page.
    """

    def fit(self, pages: Iterable[Snapshot], y: None = None) -> Self:  # noqa: ARG002
        """Check the parameters and return self; the pages are ignored. For pipelines of scikit-learn.

        Raises
        ------
        UsageError : a parameter has an invalid value.
        """
        self.check()
        return self

    def fit_transform(self, pages: Sequence[Snapshot], y: None = None) -> list[R]:  # noqa: ARG002
        """Return the results of `transform`."""
        return self.transform(pages)

    @overload
    def transform(self, pages: Snapshot) -> R: ...
    @overload
    def transform(self, pages: Sequence[Snapshot]) -> list[R]: ...
    def transform(self, pages: Snapshot | Sequence[Snapshot]) -> R | list[R]:
        """Return the result of one page, or a list with one result per page of a sequence.

        Raises
        ------
        UsageError : a parameter has an invalid value.
        BudgetError : a page costs too much time or memory.
        """
        self.check()
        return self._metered(pages) if isinstance(pages, Snapshot) else [*map(self._metered, pages)]

    def _metered(self, page: Snapshot) -> R:
        with spending(self.name, page.provenance.url):
            return self._result(page)

    def _result(self, page: Snapshot) -> R:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


@cache
def _choices(estimator: type[Estimator]) -> dict[str, tuple[_Choice, ...]]:
    """Return the types of values that each parameter accepts, from the annotations of ``__init__``."""
    hints = get_type_hints(estimator.__init__, include_extras=True)
    return {name: tuple(map(_choice, _parts(hints[name]))) for name in estimator._defaults()}


def _parts(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)


def _choice(part: Any) -> _Choice:
    kind, *notes = get_args(part) if get_origin(part) is Annotated else (part,)
    if get_origin(kind) is Literal:
        return _Choice(str, words=get_args(kind))
    if kind not in {bool, int, float, str, NoneType} or (kind is str and not notes):
        raise TypeError(f"A parameter of this annotation cannot be checked: {part}.")
    return _Choice(
        kind,
        bounds=next((note for note in notes if isinstance(note, Bounds)), None),
        known=next((note for note in notes if isinstance(note, Known)), None),
    )


def _known_words(choice: _Choice) -> list[str]:
    return sorted(choice.known.words) if choice.known else []


def _wrong_parameter(estimator: type[Estimator], name: str, value: object) -> ParameterError:
    """Return the error for an invalid value of a parameter, with the valid values."""
    choices = _choices(estimator)[name]  # type: ignore[arg-type]
    names = [text for choice in choices for text in choice.names()]
    words = [word for choice in choices for word in (*choice.words, *_known_words(choice))]
    return _invalid_value(estimator, name, value, names, words)


def _invalid_value(
    estimator: type[Estimator], name: str, value: object, names: Sequence[str], words: Sequence[str]
) -> ParameterError:
    """Return the error for an invalid value.

    Parameters
    ----------
    names : the valid values as the message lists them.
    words : those of them that are words, for a suggestion.
    """
    shown = _REPR.repr(value.item() if isinstance(value, np.generic) else value)
    valid = f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
    suggestion = _suggestion(value, words) if isinstance(value, str) else ""
    return ParameterError(
        f"{estimator.__name__}: {name} is {shown}; it may be {valid}{suggestion}.", parameter=name
    )


def _suggestion(word: str, words: Sequence[str]) -> str:
    near = get_close_matches(word, words, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
