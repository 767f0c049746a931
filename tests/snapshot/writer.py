"""A process that puts pages into a store until it has put enough or is killed: ``writer.py ROOT FIRST COUNT``."""

import sys
from itertools import count, islice
from pathlib import Path

from domsieve.snapshot.store import PageStore
from tests.snapshot.pages import made_up


def main() -> None:
    root, first, number = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    with PageStore(root) as store:
        for i in islice(count(first), number):
            page = made_up(i, 150, url=f"http://a.example/{i}")
            record = store.put(page, source=b"<p>source %d" % (i % 5))
            print(record.page_id, flush=True)


if __name__ == "__main__":
    main()
