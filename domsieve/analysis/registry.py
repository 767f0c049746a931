"""The registry of methods: name, estimator, options, requirements and documentation of each.

Estimators are imported on first use, because a command needs only one of them and some need slow libraries. The
command line, the service, the report, the experiments, the model files and the tests all use this registry.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from domsieve.analysis.estimator import Estimator, PageEstimator
from domsieve.analysis.site_model import FEWEST_PAGES, SiteModel
from domsieve.analysis.verdict import Verdict
from domsieve.errors import UsageError
from domsieve.snapshot.page import Snapshot
from domsieve.vocabulary import Favor, Method, MiningMethod, Mode, StyleLevel

if TYPE_CHECKING:
    from domsieve.analysis.records.result import Records

E = TypeVar("E", bound=Estimator)
E_co = TypeVar("E_co", bound=Estimator, covariant=True)


@dataclass(frozen=True, slots=True)
class Options:
    """Parameters of methods that a caller can set; None is the method's default.

    `favor` and `threshold` can also be set for a model that has already been learned.

    Parameters
    ----------
    mode : ``"site"`` for our defaults, ``"paper"`` for the published parameters.
    favor : prefer ``"precision"`` or ``"recall"``; ``"balance"`` is the default of methods that have it.
    threshold : the limit below which a block is noise; its range depends on the method.
    style : the presentation style that two elements must share to be equal.
    regions : the number of parts of the page that make up the main region, at least 1.
    complement : keep everything outside the main region instead.
    has_text : a text that only the content has; if it is not in the main region, the rest of the page is kept. Case
        and white space are ignored.
    """

    mode: Mode = "site"
    favor: Favor | None = None
    threshold: float | None = None
    style: StyleLevel | None = None
    regions: int | None = None
    complement: bool | None = None
    has_text: str | None = None

    def given(self) -> dict[str, Any]:
        """Return the options other than the mode that are not None, by name."""
        return {name: value for name in _CHOSEN if (value := getattr(self, name)) is not None}


_CHOSEN = tuple(field.name for field in fields(Options) if field.name != "mode")


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
    fewest : the number of pages of a site that it needs, because with fewer little repeats.
    judges_alone : whether it can clean a page without others of its site.
    calls : options that are arguments of `transform` instead of parameters of the estimator.
    combined : whether it runs two other methods, one after the other.
    """

    name: Method | MiningMethod
    place: str
    title: str
    summary: str
    card: str
    fewest: int = 1
    judges_alone: bool = False
    calls: frozenset[str] = frozenset()
    combined: bool = False

    @property
    def estimator(self) -> type[E_co]:
        """The class of the estimator, imported on first use."""
        module, _, name = self.place.rpartition(".")
        return cast(type[E_co], getattr(import_module(f"domsieve.analysis.{module}"), name))

    @property
    def takes(self) -> list[str]:
        """Names of the `Options` other than the mode that the method accepts."""
        known = {*self.estimator.parameter_names(), *self.calls}
        return [name for name in _CHOSEN if name in known]

    def make(self, options: Options | None = None) -> E_co:
        """Return the estimator with these options.

        Raises
        ------
        UsageError : the method does not have one of the options, or the mode fixes it.
        """
        options = options or Options()
        given = options.given()
        for name in given:
            if name not in self.takes:
                takes = ", ".join(self.takes) or "none other than the mode"
                raise UsageError(
                    f"{name} is not an option of the method {self.name}, which takes {takes}.", parameter=name
                )
        if options.has_text is not None and not options.has_text.split():
            raise UsageError(
                "has_text is empty; give a text that only the content has.",
                parameter="has_text",
            )
        return self.estimator.of_mode(
            options.mode, **{name: value for name, value in given.items() if name not in self.calls}
        )


SITE_METHODS: Mapping[Method, MethodEntry[SiteModel[Any]]] = {
    "auto": MethodEntry(
        "auto",
        "auto.cleaner.AutoCleaner",
        "Learned cleaner",
        "weighs all evidence, of a page and of its site",
        "docs/methods/auto.md",
        judges_alone=True,
    ),
    "sst": MethodEntry(
        "sst",
        "trees.sst.SiteStyleTree",
        "Site style tree",
        "learns what repeats over the pages of a site",
        "docs/methods/sst.md",
        fewest=FEWEST_PAGES,
    ),
    "cst": MethodEntry(
        "cst",
        "trees.cst.CompressedStructureTree",
        "Compressed structure tree",
        "the same on a folded tree",
        "docs/methods/cst.md",
        fewest=FEWEST_PAGES,
    ),
    "entropy": MethodEntry(
        "entropy",
        "cleaning.entropy.EntropyFilter",
        "Entropy of words",
        "drops words that are the same everywhere",
        "docs/methods/entropy.md",
        fewest=2,
    ),
    "template": MethodEntry(
        "template",
        "cleaning.template.TemplateFilter",
        "Template detection",
        "drops blocks that other pages have too",
        "docs/methods/template.md",
        fewest=2,
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
        calls=frozenset({"has_text"}),
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

MINERS: Mapping[MiningMethod, MethodEntry[PageEstimator["Records"]]] = {
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


def new_site_model(method: Method, options: Options) -> SiteModel[Any]:
    """Return a new model of a site method, which has not learned any page.

    Raises
    ------
    UsageError : the method does not learn, or does not have one of the options.
    """
    if method not in SITE_METHODS:
        raise UsageError(
            f"The method {method} does not learn; use one of {', '.join(SITE_METHODS)}.", parameter="method"
        )
    return SITE_METHODS[method].make(options)


def page_cleaner(method: Method, options: Options | None = None) -> Callable[[Snapshot], Verdict]:
    """Return a function that cleans one page by itself.

    Raises
    ------
    UsageError : the method needs more pages of the site, or does not have one of the options.
    """
    if method not in PAGE_METHODS and not METHODS[method].judges_alone:
        raise UsageError(f"The method {method} needs more pages of the site.", parameter="method")
    options = options or Options()
    cleaner = METHODS[method].make(options)
    if options.has_text is None:
        return cleaner.transform
    from domsieve.analysis.cleaning.tps import contains_text

    # `make` accepts has_text for this method only.
    return partial(cleaner.transform, has_content=contains_text(options.has_text))


def check_options(method: Method, options: Options) -> None:
    """Check that a method has all of the given options.

    Raises
    ------
    UsageError : it does not.
    """
    METHODS[method].make(options)


def check_fixed(options: Options) -> None:
    """Check that no option is given that cannot change after a model was learned.

    Raises
    ------
    UsageError : one is given.
    """
    for name, given in (("mode", options.mode != "site"), ("style", options.style is not None)):
        if given:
            raise UsageError(
                f"{name} was fixed when the model was learned; leave it out, or learn another model.",
                parameter=name,
            )
