"""The archive that docs/archives.md reads: nine pages, of which one is damaged and one an error, and a picture."""

from tests.archive.made import answer, packed, record
from tests.command import page

_FERN = "http://fern.example"


def crawl() -> bytes:
    """Return the bytes of the archive."""
    gone = answer(b"<title>Gone</title><p>Gone.", status="404 Not Found")
    members = [
        *(packed([record(answer(page(n).encode()), url=f"{_FERN}/{n}", number=n)]) for n in range(1, 8)),
        packed([record(gone, url=f"{_FERN}/gone")]),
        packed([record(answer(page(8).encode()), url=f"{_FERN}/8", number=8)]),
        packed([record(answer(b"\x89PNG", kind="image/png"), url=f"{_FERN}/moss.png")]),
    ]
    members[3] = members[3][:-30]
    return b"".join(members)
