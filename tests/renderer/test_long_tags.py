"""Tags with few attributes are found by columns, and nothing is read otherwise than by looking at each tag."""

import random

import pytest

from domsieve.renderer.html_parser import _long_tags as long_tags
from domsieve.renderer.html_parser._long_tags import with_few_attributes

PIECES = (
    *(b"<a", b"<b ", b">", b'"', b"'", b"=", b" ", b"x", b"y ", b"/", b"<"),
    *(b'="', b"= '", b'" ', b"a=1 ", b"         "),
)


def test_it_reads_as_by_looking_at_each_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    for name, value in (("MOST_ATTRIBUTES", 6), ("_LEAST_BYTES", 12), ("_LOOKS", 2), ("_LOOKS_AT_ANY", 40)):
        monkeypatch.setattr(long_tags, name, value)
    documents = [b"".join(draw.choices(PIECES, k=draw.randrange(90))) for _ in range(10_000)]
    quick = [with_few_attributes(document) for document in documents]
    monkeypatch.setattr(
        long_tags, "_may_be_long", lambda _: ([0], 10**9)
    )  # as if too much had been looked at
    plain = [with_few_attributes(document) for document in documents]
    assert quick == plain
    assert 0.1 < sum(bool(reasons) for _, reasons in quick) / len(quick) < 0.9


@pytest.mark.parametrize("document", [b"", b"<", b"<p", b"a > b", b"<p class='x'>bees"])
def test_short_documents_stay_as_they_are(document: bytes) -> None:
    assert with_few_attributes(document) == (document, [])
