"""The keyword parameters of the calls: their types, defaults and groups, each declared once.

The signatures of the calls and of their async twins are made from the dictionaries here.
"""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, TypedDict, TypeVar, get_args, get_type_hints

from domsieve.analysis.estimator import Estimator
from domsieve.analysis.site_model import SiteModel
from domsieve.budget import USUAL, AnalysisBudget
from domsieve.errors import UsageError
from domsieve.library.checks import check_choice, check_count, check_flag, check_time, texts_of, wrong
from domsieve.renderer.browser.connection import DriverName
from domsieve.renderer.network.addresses import HostRules
from domsieve.renderer.network.egress import private_host
from domsieve.renderer.options import Budget, CaptureOptions
from domsieve.types import BlockKind, FieldName, Method, MiningMethod

AnyPath = str | os.PathLike[str]
MethodChoice = Method | Estimator
"""A cleaning method: its name, or an object with its parameters."""

_RULES = "NAME, *.NAME or ADDRESS[/BITS], such as ['*.example.org']"
_HOSTS = {
    "private_hosts": "HOST or HOST:PORT, such as ['127.0.0.1:8000']",
    "deny_hosts": _RULES,
    "allow_hosts": _RULES,
}

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkOptions:
    """How URLs are fetched, and what one page may cost.

    Parameters
    ----------
    timeout : time limit for one page, at most a day. A page that is late is cut, and its result says so.
    concurrency : the number of pages that are open at the same time; None for one per processor.
    private_hosts : hosts that may be reached although their addresses are private, such as this machine: ``HOST`` or
        ``HOST:PORT``. Without them every URL must be public, because a stranger may have chosen it.
    allow_private : whether pages may reach all of this machine and all private networks.
    deny_hosts : hosts that are never reached: ``NAME``, ``*.NAME`` or ``ADDRESS[/BITS]``.
    allow_hosts : if there are any, only these hosts are reached.
    driver : how to talk to Chrome: ``"playwright"``, or ``"pipe"``, which needs less processor time and works on
        Linux and macOS. Captures are the same.
    browser : path of a Chrome, or its name on PATH; None to search for one.
    keep_errors : whether to use pages that count as failed: answers of HTTP status 400 and above, what is not HTML or
        text, empty documents, and pages that were cut before their first text.
    analysis_budget : the processor time and the memory that the analysis of one page may need. A page that needs more
        fails with a `BudgetError`.

    Raises
    ------
    UsageError : a value is wrong; its `parameter` names it.
    """

    timeout: timedelta = Budget().time
    concurrency: int | None = None
    private_hosts: Iterable[str] = ()
    allow_private: bool = False
    deny_hosts: Iterable[str] = ()
    allow_hosts: Iterable[str] = ()
    driver: DriverName = "playwright"
    browser: str | None = None
    keep_errors: bool = False
    analysis_budget: AnalysisBudget = USUAL

    def __post_init__(self) -> None:
        check_time("timeout", self.timeout)
        check_count("concurrency", self.concurrency)
        check_flag("allow_private", self.allow_private)
        check_choice("driver", self.driver, get_args(DriverName))
        check_flag("keep_errors", self.keep_errors)
        if not isinstance(self.analysis_budget, AnalysisBudget):
            raise wrong("analysis_budget", self.analysis_budget, "give AnalysisBudget")
        for name, wish in _HOSTS.items():
            object.__setattr__(self, name, texts_of(name, getattr(self, name), wish))
        self.places()
        self.rules()

    def places(self) -> tuple[tuple[str, int | None], ...]:
        """Return the private hosts and their ports; a port of None stands for any."""
        return tuple(map(private_host, self.private_hosts))

    def rules(self) -> HostRules | None:
        """Return the rules of denied and allowed hosts, None if there are none."""
        if not (self.deny_hosts or self.allow_hosts):
            return None
        return HostRules.of(self.deny_hosts, self.allow_hosts)


@dataclass(frozen=True, slots=True)
class Default:
    """The default of a keyword parameter."""

    value: object


class FetchKeywords(TypedDict, total=False):
    """How URLs become pages."""

    cache: Annotated[AnyPath | None, Default(None)]
    capture: Annotated[CaptureOptions | None, Default(None)]
    network: Annotated[NetworkOptions | None, Default(None)]


class CompareKeywords(FetchKeywords, total=False):
    """How rendered pages are compared with their raw source."""

    twice: Annotated[bool, Default(value=False)]


class SelectKeywords(FetchKeywords, total=False):
    """Which parts of pages are used."""

    select: Annotated[Iterable[str], Default(())]
    drop: Annotated[Iterable[str], Default(())]


class CleanKeywords(SelectKeywords, total=False):
    """How pages are cleaned."""

    method: Annotated[MethodChoice | None, Default(None)]
    model: Annotated[SiteModel[Any] | AnyPath | None, Default(None)]
    keep_hidden: Annotated[bool, Default(value=False)]
    keep_kinds: Annotated[Iterable[BlockKind], Default(())]
    drop_kinds: Annotated[Iterable[BlockKind], Default(())]


class RecordsKeywords(SelectKeywords, total=False):
    """How records are found, and which of their fields are wanted."""

    method: Annotated[MiningMethod | Estimator, Default("wobm")]
    fields: Annotated[Iterable[FieldName], Default(())]


_NETWORK = (
    "timeout",
    "concurrency",
    "private_hosts",
    "allow_private",
    "driver",
    "keep_errors",
    "analysis_budget",
)
_METHOD = {
    "favor": 'AutoCleaner(favor="precision")',
    "mode": 'SiteStyleTree.of_mode("paper")',
    "threshold": "SiteStyleTree(threshold=0.2)",
    "style": 'SiteStyleTree(style="html")',
    "regions": "TagPathFilter(regions=2)",
    "complement": "TagPathFilter(complement=True)",
    "has_text": 'TagPathFilter(has_text="in stock")',
}
REMOVED: Mapping[str, str] = {
    "options": "capture=CaptureOptions(...)",
    **{name: f"network=NetworkOptions({name}=...)" for name in _NETWORK},
    **{name: f"method={example}" for name, example in _METHOD.items()},
}
"""What to pass instead of keyword parameters that were removed."""


def takes(keywords: type) -> Callable[[F], F]:
    """Give a call, for `help` and for editors, the keyword parameters of a `TypedDict` in place of its last one."""

    def with_signature(call: F) -> F:
        own = [*inspect.signature(call).parameters.values()][:-1]
        more = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default.value, annotation=annotation
            )
            for name, (annotation, default) in _declared(keywords).items()
        ]
        call.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
        return call

    return with_signature


def given(call: str, keywords: type, how: Mapping[str, Any]) -> dict[str, Any]:
    """Return all keyword parameters of a call: those that the caller gave, and the defaults of the others.

    Raises
    ------
    UsageError : one was removed; the message says what to pass instead.
    TypeError : the call has no such parameter.
    """
    declared = _declared(keywords)
    for name in how:
        if name not in declared:
            if name in REMOVED:
                raise UsageError(f"{name} was removed from {call}(); pass {REMOVED[name]}.", parameter=name)
            raise TypeError(
                f"{call}() got an unexpected keyword argument {name!r}; it takes {', '.join(declared)}"
            )
    return {name: how.get(name, default.value) for name, (_, default) in declared.items()}


def _declared(keywords: type) -> dict[str, tuple[Any, Default]]:
    """Return the annotation and the default of each key of a `TypedDict`."""
    found = {}
    for name, hint in get_type_hints(keywords, include_extras=True).items():
        annotation, default = get_args(hint)
        found[name] = annotation, default
    return found
