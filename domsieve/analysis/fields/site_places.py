"""The places of all pages of the learning in one index: which places have a feature, as bits of whole numbers."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from domsieve.analysis.fields.places import PagePlaces, Place
from domsieve.budget import check


class SitePlaces:
    """The places of P pages as M bits; bit ``first[p] + i`` is place i of page p.

    Parameters
    ----------
    pages : the pages, described with the labels of the site.
    """

    def __init__(self, pages: Sequence[PagePlaces]) -> None:
        self.pages = pages
        self.first = [0]
        for page in pages:
            self.first.append(self.first[-1] + len(page.places))
        self.size = self.first[-1]
        self._bits: dict[str, int] = {}
        self._sources: dict[str, int] = {}

    @cached_property
    def _numbers(self) -> Mapping[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        bit = 0
        for page in self.pages:
            check()
            for place in page.places:
                for feature in place.features:
                    if feature in numbers:
                        numbers[feature].append(bit)
                    else:
                        numbers[feature] = [bit]
                bit += 1
        return numbers

    @cached_property
    def page_masks(self) -> list[int]:
        """The bits of each page."""
        return [
            ((1 << (stop - start)) - 1) << start
            for start, stop in zip(self.first, self.first[1:], strict=False)
        ]

    def bits(self, feature: str) -> int:
        """Return the places that have a feature."""
        if feature not in self._bits:
            self._bits[feature] = self.of_numbers(self._numbers.get(feature, ()))
        return self._bits[feature]

    def source(self, name: str) -> int:
        """Return the places of a source."""
        if not self._sources:
            by_source: dict[str, list[int]] = {}
            bit = 0
            for page in self.pages:
                for place in page.places:
                    by_source.setdefault(place.source, []).append(bit)
                    bit += 1
            self._sources = {source: self.of_numbers(found) for source, found in by_source.items()}
        return self._sources.get(name, 0)

    def of_numbers(self, numbers: Iterable[int]) -> int:
        """Return bits as one number."""
        marks = np.zeros(self.size, np.bool_)
        marks[list(numbers)] = True
        return int.from_bytes(np.packbits(marks, bitorder="little").tobytes(), "little")

    def numbers_of(self, bits: int) -> list[int]:
        """Return the numbers of the bits that are set, ascending."""
        data = np.frombuffer(bits.to_bytes(self.size // 8 + 1, "little"), np.uint8)
        found: list[int] = np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist()
        return found

    def page_of(self, bit: int) -> int:
        """Return the page of a place."""
        return int(np.searchsorted(self.first, bit, side="right")) - 1

    def place(self, bit: int) -> Place:
        """Return a place."""
        page = self.page_of(bit)
        return self.pages[page].places[bit - self.first[page]]

    def places_of(self, source: str, where: Iterable[str]) -> list[int]:
        """Return the bits of the places of a source that have all features."""
        places = self.source(source)
        for feature in where:
            places &= self.bits(feature)
        return self.numbers_of(places)
