"""The cleaning methods by name: how each is made of the options of the command line, and what it needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from analysis import (
    CompressedStructureTree,
    EntropyFilter,
    Mode,
    NoCleaning,
    SiteModel,
    SiteStyleTree,
    StyleLevel,
    TagPathFilter,
    TemplateFilter,
    Verdict,
)
from snapshot import Snapshot, UsageError

Method = Literal["sst", "cst", "entropy", "tps", "template", "none"]


class Cleaner(Protocol):
    """What cleans a page."""

    def transform(self, pages: Snapshot, /) -> Verdict:
        """Return the verdict on one page."""
        ...


@dataclass(frozen=True, slots=True)
class Options:
    """Parameters that a caller may choose; None is the default of the method."""

    mode: Mode = "site"
    threshold: float | None = None
    style: StyleLevel | None = None

    def given(self, *names: str) -> dict[str, Any]:
        """Return those of the named options that are not None."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True)
class SiteMethod:
    """A method that learns from the pages of a site.

    Parameters
    ----------
    make : the estimator with these options.
    takes : which of the options threshold and style it heeds; all heed the mode.
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
    "tps": PageMethod(
        lambda options: TagPathFilter(
            mode="paper" if options.mode == "paper" else "user", **options.given("style")
        ),
        frozenset({"style"}),
    ),
    "none": PageMethod(lambda _: NoCleaning(), frozenset()),
}


def site_model(method: Method, options: Options) -> SiteModel[Any]:
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
    for name in sorted({"threshold", "style"} - takes):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} is no option of the method {method}.")
