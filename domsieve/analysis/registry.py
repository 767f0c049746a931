"""Every method once: its name, its estimator, the options it takes, what it needs, and where it is described.

An estimator is loaded when it is first used: a command needs one of them, and some stand on libraries of their own.

The command line, the service, the report, the experiments, the model files and the tests read this registry. Its
names are those of `domsieve.vocabulary`.
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
    """Parameters that a caller may choose; None is the default of the method.

    `favor` and `threshold` may be chosen for a model that was learned before, too.

    `has_text` is a text that content is known by: where the main region lacks it, the rest of the page is kept. Case
    and white space do not matter.
    """

    mode: Mode = "site"
    favor: Favor | None = None
    threshold: float | None = None
    style: StyleLevel | None = None
    regions: int | None = None
    complement: bool | None = None
    has_text: str | None = None

    def given(self) -> dict[str, Any]:
        """Return by name the options besides the mode that are not None."""
        return {name: value for name in _CHOSEN if (value := getattr(self, name)) is not None}


_CHOSEN = tuple(field.name for field in fields(Options) if field.name != "mode")


@dataclass(frozen=True, slots=True)
class MethodEntry(Generic[E_co]):
    """A method as all rooms of the program know it.

    Parameters
    ----------
    name : its name.
    place : where its class is, in this package: the module, then the class.
    title : what people call it.
    summary : what it does, in a few words.
    card : the file that describes it, from the root of the project.
    fewest : pages of a site that it needs; with fewer, little can be seen to repeat.
    judges_alone : whether it judges a page by itself where fewer than `FEWEST_PAGES` of its site are known.
    calls : options that are no parameters of the estimator but of a call.
    combined : whether it is two other methods, one behind the other.
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
        """Its class, loaded now if it was not."""
        module, _, name = self.place.rpartition(".")
        return cast(type[E_co], getattr(import_module(f"domsieve.analysis.{module}"), name))

    @property
    def takes(self) -> list[str]:
        """Names of the `Options` besides the mode that the method heeds."""
        known = {*self.estimator.parameter_names(), *self.calls}
        return [name for name in _CHOSEN if name in known]

    def make(self, options: Options | None = None) -> E_co:
        """Return the estimator with these options, by default its own.

        Raises
        ------
        UsageError : an option is not one of this method, or its mode fixes it.
        """
        options = options or Options()
        given = options.given()
        for name in given:
            if name not in self.takes:
                takes = ", ".join(self.takes) or "none besides the mode"
                raise UsageError(
                    f"{name} is not an option of the method {self.name}, which takes {takes}.", parameter=name
                )
        if options.has_text is not None and not options.has_text.split():
            raise UsageError(
                "has_text is empty, which every page has; give a text that only the content has.",
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
"""The cleaning methods that need but the page."""

METHODS: Mapping[Method, MethodEntry[SiteModel[Any] | PageEstimator[Verdict]]] = {
    **SITE_METHODS,
    **PAGE_METHODS,
}
"""Every cleaning method."""

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
"""Every method that finds records."""


def variants(methods: Mapping[Any, MethodEntry[E]]) -> dict[str, Callable[[], E]]:
    """Return what makes each of the methods; those whose published parameters are others, as ``"NAME paper"`` too."""
    found: dict[str, Callable[[], E]] = {}
    for entry in methods.values():
        found[entry.name] = entry.estimator
        if entry.estimator.paper:
            found[f"{entry.name} paper"] = partial(entry.estimator.of_mode, "paper")
    return found


def new_site_model(method: Method, options: Options) -> SiteModel[Any]:
    """Return a site method by name, which has learned nothing.

    Raises
    ------
    UsageError : it is no site method, or an option is not its own.
    """
    if method not in SITE_METHODS:
        raise UsageError(
            f"The method {method} does not learn; use one of {', '.join(SITE_METHODS)}.", parameter="method"
        )
    return SITE_METHODS[method].make(options)


def page_cleaner(method: Method, options: Options | None = None) -> Callable[[Snapshot], Verdict]:
    """Return what cleans a page by itself.

    Raises
    ------
    UsageError : the method needs more pages of the site, or an option is not one of the method.
    """
    if method not in PAGE_METHODS and not METHODS[method].judges_alone:
        raise UsageError(f"The method {method} needs more pages of the site.", parameter="method")
    options = options or Options()
    cleaner = METHODS[method].make(options)
    if options.has_text is None:
        return cleaner.transform
    from domsieve.analysis.cleaning.tps import contains_text

    return partial(cleaner.transform, has_content=contains_text(options.has_text))  # no other method takes it


def check_options(method: Method, options: Options) -> None:
    """Refuse options that a method would not heed.

    Raises
    ------
    UsageError : one is given.
    """
    METHODS[method].make(options)


def check_fixed(options: Options) -> None:
    """Refuse options that were settled when a model was learned.

    Raises
    ------
    UsageError : one is given.
    """
    for name, given in (("mode", options.mode != "site"), ("style", options.style is not None)):
        if given:
            raise UsageError(
                f"{name} was fixed when the model was learned; learn another one, or leave it out.",
                parameter=name,
            )
