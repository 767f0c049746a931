"""The cleaning methods by name: how each is made of the options of the command line, and what it needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.cleaning.entropy import EntropyFilter
from domsieve.analysis.cleaning.features import BlockFeatures
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.cleaning.template import TemplateFilter
from domsieve.analysis.cleaning.tps import TagPathFilter
from domsieve.analysis.columns.styles import StyleLevel
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees.cst import CompressedStructureTree
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.trees.tree_model import Mode
from domsieve.analysis.verdict import Verdict
from domsieve.errors import UsageError
from domsieve.snapshot import Snapshot

Method = Literal["sst", "cst", "entropy", "features", "tps", "template", "none"]


class Cleaner(Protocol):
    """What cleans a page."""

    def transform(self, pages: Snapshot, /) -> Verdict:
        """Return the verdict on one page."""
        ...


@dataclass(frozen=True, slots=True)
class Options:
    """Parameters that a caller may choose; None is the default of the method.

    `has_text` is a text that content is known by: where the main region lacks it, the rest of the page is kept. Case
    and white space do not matter.
    """

    mode: Mode = "site"
    threshold: float | None = None
    style: StyleLevel | None = None
    regions: int | None = None
    complement: bool | None = None
    has_text: str | None = None

    def given(self, *names: str) -> dict[str, Any]:
        """Return those of the named options that are not None."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True)
class SiteMethod:
    """A method that learns from the pages of a site.

    Parameters
    ----------
    make : the estimator with these options.
    takes : which of the options it heeds; all heed the mode.
    fewest : with fewer pages of a site little can be seen to repeat.
    """

    make: Callable[[Options], SiteModel[Any]]
    takes: frozenset[str]
    fewest: int


@dataclass(frozen=True, slots=True)
class PageMethod:
    """A method that needs but the page; parameters as those of a site method."""

    make: Callable[[Options], Cleaner]
    takes: frozenset[str]


class _MainRegion:
    """The tag path filter, with the content test of its Algorithm 6 where the caller gave a text."""

    def __init__(self, options: Options) -> None:
        mode: Literal["user", "paper"] = "paper" if options.mode == "paper" else "user"
        self._filter = TagPathFilter(mode=mode, **options.given("style", "regions", "complement"))
        self._wanted = options.has_text

    def transform(self, pages: Snapshot, /) -> Verdict:
        if self._wanted is None:
            return self._filter.transform(pages)
        wanted = _plain(self._wanted)

        def has_content(page: Snapshot, nodes: NDArray[np.int64]) -> bool:
            return wanted in _plain(" ".join(map(page.text_of, nodes.tolist())))

        return self._filter.transform(pages, has_content=has_content)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


_OF_TPS = ("regions", "complement", "has_text")
# With fewer pages of a site most of what repeats still looks unique, and the page method does better.
FEWEST_PAGES = 5

SITE_METHODS: Mapping[Method, SiteMethod] = {
    "sst": SiteMethod(
        lambda options: SiteStyleTree.of_mode(options.mode, **options.given("threshold", "style")),
        frozenset({"threshold", "style"}),
        FEWEST_PAGES,
    ),
    "cst": SiteMethod(
        lambda options: CompressedStructureTree.of_mode(options.mode, **options.given("style")),
        frozenset({"style"}),
        FEWEST_PAGES,
    ),
    "entropy": SiteMethod(
        lambda options: EntropyFilter(**options.given("threshold")), frozenset({"threshold"}), 2
    ),
    "template": SiteMethod(lambda _: TemplateFilter(), frozenset(), 2),
}
PAGE_METHODS: Mapping[Method, PageMethod] = {
    "features": PageMethod(
        lambda options: BlockFeatures(**options.given("threshold")), frozenset({"threshold"})
    ),
    "tps": PageMethod(_MainRegion, frozenset({"style", *_OF_TPS})),
    "none": PageMethod(lambda _: NoCleaning(), frozenset()),
}


def new_site_model(method: Method, options: Options) -> SiteModel[Any]:
    """Return a site method by name, which has learned nothing.

    Raises
    ------
    UsageError : it is no site method, or an option is not its own.
    """
    found = SITE_METHODS.get(method)
    if found is None:
        raise UsageError(f"The method {method} learns nothing; use one of {', '.join(SITE_METHODS)}.")
    check_options(method, options)
    return found.make(options)


def check_options(method: Method, options: Options) -> None:
    """Refuse options that a method would not heed.

    Raises
    ------
    UsageError : one is given.
    """
    takes = (SITE_METHODS.get(method) or PAGE_METHODS[method]).takes
    for name in sorted({"threshold", "style", *_OF_TPS} - takes):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} is no option of the method {method}.")
    if method == "features" and options.mode == "paper":
        raise UsageError("--mode paper is no mode of the method features; leave it out.")
    if method == "tps" and options.mode == "paper" and options.style is not None:
        raise UsageError("--style is fixed by --mode paper of the method tps; leave one of them out.")
    if options.has_text is not None and not _plain(options.has_text):
        raise UsageError("--has-text is empty, which every page has; give a text that content is known by.")


def check_fixed(options: Options) -> None:
    """Refuse options that were settled when a model was learned.

    Raises
    ------
    UsageError : one is given.
    """
    for name, given in (("mode", options.mode != "site"), ("style", options.style is not None)):
        if given:
            raise UsageError(
                f"--{name} was fixed when the model was learned; learn another one, or leave it out."
            )
