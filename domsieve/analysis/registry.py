"""The registry of methods: name, estimator, options, requirements and documentation of each.

Estimators are imported on first use, because a command needs only one of them and some need slow libraries. The
command line, the service, the report, the experiments, the model files and the tests all use this registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from domsieve.errors import ParameterError, UsageError
from domsieve.types import Mode

if TYPE_CHECKING:
    from domsieve.analysis.estimator import Estimator, PageEstimator
    from domsieve.analysis.records.result import Records
    from domsieve.analysis.site_model import SiteModel
    from domsieve.analysis.verdict import Verdict
    from domsieve.snapshot.page import Scalar, Snapshot

SiteMethod = Literal["auto", "sst", "cst", "entropy", "template"]
"""Cleaning methods that learn from the pages of a site; ``"auto"`` also works on a single page."""

PageMethod = Literal["tps", "none"]
"""Cleaning methods that need a single page only."""

Method = Literal[SiteMethod, PageMethod]
"""All cleaning methods."""

MiningMethod = Literal["wobm", "mdr", "iepad", "tps+mdr"]
"""All methods that find records."""

DEFAULT_METHOD: SiteMethod = "auto"
"""The cleaning method used unless another is named."""

MIN_SITE_PAGES = 5
"""With fewer pages of a site most repeated parts still look unique, and a page by itself says more."""

_SET_LATER = ("favor", "threshold")

E = TypeVar("E", bound="Estimator")
E_co = TypeVar("E_co", bound="Estimator", covariant=True)


@dataclass(frozen=True, slots=True)
class MethodParams:
    """What a caller says about a method besides its name: the mode and the parameters that are not at their defaults.

    Parameters
    ----------
    mode : ``"site"`` for our defaults, ``"paper"`` for the published parameters.
    given : parameters of the estimator by name. `MethodEntry.make` checks them.
    """

    mode: Mode = "site"
    given: Mapping[str, Scalar] = field(default_factory=dict)

    @classmethod
    def of(cls, estimator: Estimator) -> MethodParams:
        """Return what tells an estimator from a new one of its class."""
        values = estimator.scalars()
        mode: Mode = "paper" if is_published(estimator) else "site"
        default = estimator.of_mode(mode).scalars()
        return cls(mode, {name: value for name, value in values.items() if value != default[name]})


@dataclass(frozen=True, slots=True)
class MethodEntry(Generic[E_co]):
    """A method in the registry.

    Parameters
    ----------
    name : the name in options and results.
    place : module and class in `domsieve.analysis`, such as ``"trees.sst.SiteStyleTree"``.
    title : the name in text for people.
    summary : what it does, in a few words.
    card : path of its documentation in the repository.
    min_pages : the number of pages of a site that it needs; with fewer, too little repeats.
    works_alone : whether it can clean a page without other pages of its site.
    combined : whether it runs two other methods, one after the other.
    """

    name: Method | MiningMethod
    place: str
    title: str
    summary: str
    card: str
    min_pages: int = 1
    works_alone: bool = False
    combined: bool = False

    @property
    def estimator(self) -> type[E_co]:
        """The class of the estimator, imported on first use."""
        module, _, name = self.place.rpartition(".")
        return cast("type[E_co]", getattr(import_module(f"domsieve.analysis.{module}"), name))

    def read(self, texts: Iterable[str]) -> dict[str, Scalar]:
        """Return the parameters that users wrote as ``NAME=VALUE``, by name.

        Raises
        ------
        ParameterError : a text has another form, the method has no such parameter, or the value is not valid.
        """
        given: dict[str, Scalar] = {}
        for text in texts:
            name, found, value = text.partition("=")
            name = name.strip()
            if not found:
                raise ParameterError(
                    f"{text!r} is not a parameter; write NAME=VALUE, such as threshold=0.2.",
                    parameter="params",
                )
            self._check_name(name)
            given[name] = self.estimator.parse(name, value)
        return given

    def make(self, params: MethodParams | None = None) -> E_co:
        """Return the estimator with these parameters. It checks their values when it is used.

        Raises
        ------
        UsageError : the method has no such mode.
        ParameterError : the method does not have one of the parameters, or the mode fixes it.
        """
        params = params or MethodParams()
        for name in params.given:
            self._check_name(name)
        return self.estimator.of_mode(params.mode, **params.given)

    def check(self, params: MethodParams) -> None:
        """Check the names and the values of parameters.

        Raises
        ------
        UsageError, ParameterError : as of `make`; or a value is not valid.
        """
        self.make(params).check()

    def _check_name(self, name: str) -> None:
        if name == "mode":
            raise ParameterError("mode is not one of the parameters; give it by itself.", parameter="mode")
        self.estimator.check_name(name)


SITE_METHODS: Mapping[Method, MethodEntry[SiteModel[Any]]] = {
    "auto": MethodEntry(
        "auto",
        "auto.cleaner.AutoCleaner",
        "Learned cleaner",
        "weighs all evidence, of a page and of its site",
        "docs/methods/auto.md",
        works_alone=True,
    ),
    "sst": MethodEntry(
        "sst",
        "trees.sst.SiteStyleTree",
        "Site style tree",
        "learns what repeats over the pages of a site",
        "docs/methods/sst.md",
        min_pages=MIN_SITE_PAGES,
    ),
    "cst": MethodEntry(
        "cst",
        "trees.cst.CompressedStructureTree",
        "Compressed structure tree",
        "the same on a folded tree",
        "docs/methods/cst.md",
        min_pages=MIN_SITE_PAGES,
    ),
    "entropy": MethodEntry(
        "entropy",
        "cleaning.entropy.EntropyFilter",
        "Entropy of words",
        "drops words that are the same everywhere",
        "docs/methods/entropy.md",
        min_pages=2,
    ),
    "template": MethodEntry(
        "template",
        "cleaning.template.TemplateFilter",
        "Template detection",
        "drops blocks that other pages have too",
        "docs/methods/template.md",
        min_pages=2,
    ),
}
"""The cleaning methods that learn from the pages of a site."""

PAGE_METHODS: Mapping[Method, MethodEntry[PageEstimator[Verdict]]] = {
    "tps": MethodEntry(
        "tps",
        "cleaning.tps.TagPathFilter",
        "Tag path sequence",
        "from one page alone, finds the main region",
        "docs/methods/tps.md",
    ),
    "none": MethodEntry(
        "none", "cleaning.none.NoCleaning", "No cleaning", "all that a reader sees", "docs/methods/none.md"
    ),
}
"""The cleaning methods that need only the page itself."""

METHODS: Mapping[Method, MethodEntry[SiteModel[Any] | PageEstimator[Verdict]]] = {
    **SITE_METHODS,
    **PAGE_METHODS,
}
"""All cleaning methods."""

MINERS: Mapping[MiningMethod, MethodEntry[PageEstimator[Records]]] = {
    "wobm": MethodEntry(
        "wobm",
        "records.wobm.WebObjectBlocks",
        "Web object blocks",
        "by layout; the best start",
        "docs/methods/wobm.md",
    ),
    "mdr": MethodEntry(
        "mdr",
        "records.mdr.DataRegionMiner",
        "Data regions",
        "by similar neighbours in the tree",
        "docs/methods/mdr.md",
    ),
    "iepad": MethodEntry(
        "iepad",
        "records.iepad.RepeatedPatterns",
        "Repeated patterns",
        "by patterns of tags",
        "docs/methods/iepad.md",
    ),
    "tps+mdr": MethodEntry(
        "tps+mdr",
        "filtered_mining.MainRegionMiner",
        "Main region, then data regions",
        "leaves menus out",
        "docs/methods/mdr.md",
        combined=True,
    ),
}
"""All methods that find records."""


def variants(methods: Mapping[Any, MethodEntry[E]]) -> dict[str, Callable[[], E]]:
    """Return a factory for each method, and for each with other published parameters as ``"NAME paper"``."""
    factories: dict[str, Callable[[], E]] = {}
    for entry in methods.values():
        factories[entry.name] = entry.estimator
        if entry.estimator.paper:
            factories[f"{entry.name} paper"] = partial(entry.estimator.of_mode, "paper")
    return factories


def entry_of(method: Method | MiningMethod) -> MethodEntry[Any]:
    """Return the entry of any method."""
    entries: dict[Any, MethodEntry[Any]] = {**METHODS, **MINERS}
    return entries[method]


def new_site_model(method: Method, params: MethodParams) -> SiteModel[Any]:
    """Return a new model of a site method, which has not learned any page.

    Raises
    ------
    UsageError : the method does not learn, or does not have one of the parameters.
    """
    if method not in SITE_METHODS:
        raise UsageError(
            f"The method {method} does not learn; use one of {', '.join(SITE_METHODS)}.", parameter="method"
        )
    return SITE_METHODS[method].make(params)


def page_cleaner(method: Method, params: MethodParams | None = None) -> Callable[[Snapshot], Verdict]:
    """Return a function that cleans one page by itself.

    Raises
    ------
    UsageError : the method needs more pages of the site, or does not have one of the parameters.
    """
    if method not in PAGE_METHODS and not METHODS[method].works_alone:
        raise UsageError(f"The method {method} needs more pages of the site.", parameter="method")
    return METHODS[method].make(params).transform


def is_published(estimator: Estimator) -> bool:
    """Return whether an estimator has the published parameters, where these differ from the defaults.

    The threshold does not count, because it can be chosen when the method is used.
    """
    default = type(estimator)().get_params()
    fixed = {name: value for name, value in (estimator.paper or {}).items() if name != "threshold"}
    published = {name: value for name, value in fixed.items() if default[name] != value}
    return bool(published) and published.items() <= estimator.get_params().items()


def check_fixed(params: MethodParams) -> None:
    """Check that only parameters are given that can change after a model was learned: `favor` and `threshold`.

    Raises
    ------
    UsageError : another one is given, or a mode.
    """
    fixed = "{} was fixed when the model was learned; leave it out, or learn another model."
    if params.mode != "site":
        raise UsageError(fixed.format("mode"), parameter="mode")
    for name in params.given:
        if name not in _SET_LATER:
            raise ParameterError(fixed.format(name), parameter=name)
