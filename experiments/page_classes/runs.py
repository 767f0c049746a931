"""The runs of the classification experiments: which pages of which sites are learned from and tested (CST, SST)."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import product
from typing import Literal

from experiments.corpora.class_grids import Unit


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a pair of classes.

    Parameters
    ----------
    train : the units of the first and of the second class that are learned from.
    test : the units that are classified, in the order of sites and classes.
    """

    train: tuple[Unit, Unit]
    test: tuple[Unit, ...]


def runs_of_pair(
    classes: Mapping[str, Set[str]],
    pair: tuple[str, str],
    *,
    configuration: Literal[1, 2, 3],
) -> Iterator[Run]:
    """Yield the runs of a pair of classes in a configuration of the SST experiment; the second is that of CST.

    Parameters
    ----------
    classes : the classes that each site has pages of.
    pair : two classes.
    configuration : 1 learns both classes from one site and tests all others; 2 learns them from two sites and tests
        the others; 3 does so and tests all that was not learned, the other class of the two sites included.
    """
    first, second = pair
    units = [(site, name) for site in sorted(classes) for name in pair if name in classes[site]]
    sources = product(sorted(classes), repeat=2)
    for one, other in sources:
        learned = ((one, first), (other, second))
        if (configuration == 1) != (one == other) or not set(learned) <= set(units):
            continue
        if configuration == 3:
            test = [unit for unit in units if unit not in learned]
        else:
            test = [unit for unit in units if unit[0] not in {one, other}]
        yield Run(learned, tuple(test))
