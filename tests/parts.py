"""Which tests run one after another in one process: those of a file, or of a part of a long one."""

import itertools
from collections import defaultdict
from collections.abc import Iterator

import pytest

# Long files whose tests need nothing of each other but a browser or servers: into how many parts they are divided, so
# that one file does not keep one worker busy when the others have nothing left.
PARTS = {
    "docs/test_documents.py": 2,
    "renderer/test_hidden_text_fetched.py": 12,
    "renderer/test_hidden_text.py": 5,
    "renderer/test_moments.py": 2,
    "renderer/test_pixels.py": 5,
    "renderer/test_pixels_letters.py": 2,
    "renderer/test_pixels_places.py": 2,
}


class Parts:
    """The parts of tests, which are to be asked for in the order of their collection."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)

    def of(self, nodeid: str) -> str:
        """Return the name of the part that a test is in."""
        file = nodeid.partition("::")[0]
        number = self._numbers[file].setdefault(nodeid, len(self._numbers[file]))
        return f"{file} {number % PARTS.get(file.removeprefix('tests/'), 1)}"


def following(test: pytest.Item, mark: str) -> Iterator[pytest.Item]:
    """Yield the tests with a mark that come after a test in its part, and are run by the same process."""
    names = Parts()
    parts = {item: names.of(item.nodeid) for item in test.session.items}
    after = itertools.dropwhile(lambda item: item is not test, parts)
    for item in itertools.islice(after, 1, None):
        if parts[item] == parts[test] and item.get_closest_marker(mark):
            yield item
