"""Nodes of a page for writers that look at single ones. Imports parts of the HTML writer."""

from domsieve.analysis.writers.html import Source


class Reader(Source):
    """The columns of a page as lists, and its addresses."""

    def given(self, node: int) -> dict[str, str]:
        """Return the attributes of `node`; of two of one name the first counts, as in browsers."""
        found: dict[str, str] = {}
        for name, value in self.attributes(node):
            found.setdefault(name, value)
        return found

    def address(self, node: int, value: str, *, linked: bool = False) -> str:
        """Return an address in an attribute of `node` made absolute, empty when it must not be written."""
        return (value and self._addresses.absolute(node, value, linked=linked)) or ""
