"""Pages that are learned from are read once, as far as they fit, and judged together as each alone would be."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.verdict import Verdict
from domsieve.errors import DomsieveError, ModelError, TargetError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from domsieve.tasks import _page_cache as shelves
from domsieve.tasks._page_cache import PageCache, judged_together
from domsieve.tasks.page_cleaning import clean
from domsieve.tasks.pages import Page

MENU = "<ul><li><a href=/>Home</a><li><a href=/b>Books</a></ul>"


class Folder:
    """Pages of a site that count how often each is read."""

    def __init__(self, number: int = 6) -> None:
        self.reads = dict.fromkeys(range(number), 0)
        self.broken: set[int] = set()

    @property
    def pages(self) -> list[Page]:
        return [Page(f"{n}", f"{n}", "bees", partial(self.read, n)) for n in self.reads]

    def read(self, number: int) -> Snapshot:
        self.reads[number] += 1
        if number in self.broken:
            raise TargetError("There is no such page.", stage="read")
        story = "".join(f"<p>{' '.join(f'w{number}x{i}x{n}' for n in range(20))}.</p>" for i in range(3))
        return parse_html(f"{MENU}{story}".encode(), url=f"https://bees.example/{number}")


def cleaned(pages: list[Page]) -> list[tuple[Snapshot, Verdict] | DomsieveError]:
    return [result for _, result in clean(pages, method="sst", siblings=lambda _: [])]


def test_pages_are_read_once_for_learning_and_cleaning() -> None:
    folder = Folder()
    cleaned(folder.pages)
    assert set(folder.reads.values()) == {1}


def test_a_closed_cache_holds_nothing() -> None:
    folder = Folder()
    cache = PageCache()
    pages = cache.keeping(folder.pages)
    cache.close()
    for page in pages * 2:
        page.read()
    assert set(folder.reads.values()) == {2}


def test_what_has_no_room_is_read_again() -> None:
    folder = Folder()
    size = folder.read(0).nbytes
    folder.reads[0] = 0
    pages = PageCache(most_bytes=2 * size + size // 2).keeping(folder.pages)
    for _ in range(2):
        for page in pages:
            page.read()
    assert sorted(folder.reads.values()) == [1, 1, 2, 2, 2, 2]


def test_pages_that_are_read_again_make_room_for_others() -> None:
    folder = Folder(2)
    pages = PageCache(most_bytes=folder.read(0).nbytes + 100).keeping(folder.pages)
    folder.reads = {0: 0, 1: 0}
    for page in (pages[0], pages[0], pages[1], pages[1]):
        page.read()
    assert folder.reads == {0: 1, 1: 1}


@pytest.mark.parametrize("method", [SiteStyleTree, AutoCleaner])
def test_verdicts_are_those_of_each_page_alone(method: type[SiteStyleTree | AutoCleaner]) -> None:
    folder = Folder()
    model = method().fit([page.read() for page in folder.pages])
    for page, read in judged_together(folder.pages, model.transform):
        snapshot, judge = read()
        assert snapshot.digest() == page.read().digest()
        together, alone = judge(snapshot), model.transform(snapshot)
        assert np.array_equal(together.kept, alone.kept)
        assert np.array_equal(together.score, alone.score)
        assert together.known_share == alone.known_share == 1


@pytest.mark.parametrize(("learned", "batches"), [(6, 1), (4, 0)])
def test_the_learned_cleaner_judges_together_where_it_knows_the_site(
    monkeypatch: pytest.MonkeyPatch, learned: int, batches: int
) -> None:
    folder, sizes = Folder(), list[int]()
    model = AutoCleaner().fit([page.read() for page in folder.pages[:learned]])
    transform = AutoCleaner.transform

    def counted(self: AutoCleaner, pages: Any) -> Any:
        sizes.append(1 if isinstance(pages, Snapshot) else len(pages))
        return transform(self, pages)

    monkeypatch.setattr(AutoCleaner, "transform", counted)
    for _, read in judged_together(folder.pages, model.transform):
        snapshot, judge = read()
        judge(snapshot)
    assert sizes.count(6) == batches


def test_batches_are_no_larger_than_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Folder()
    model = SiteStyleTree().fit([page.read() for page in folder.pages])
    monkeypatch.setattr(shelves, "NODES_AT_ONCE", 1)
    folder.reads = dict.fromkeys(folder.reads, 0)
    first = next(iter(judged_together(folder.pages, model.transform)))
    assert first[1]()[0] is not None
    assert sum(folder.reads.values()) == 1


def test_a_page_that_cannot_be_read_fails_alone_and_in_its_place() -> None:
    folder = Folder()
    folder.broken = {2}
    results = cleaned(folder.pages)
    assert [isinstance(result, DomsieveError) for result in results] == [n == 2 for n in range(6)]


class Choosy(SiteStyleTree):
    """Judges no two pages together."""

    def transform(self, pages: Any) -> Any:
        if not isinstance(pages, Snapshot) and len(pages) > 1:
            raise ModelError("The model was learned from raw pages.")
        return super().transform(pages)


def test_what_cannot_be_judged_together_is_judged_alone() -> None:
    folder = Folder()
    model = Choosy().fit([page.read() for page in folder.pages])
    read = [one() for _, one in judged_together(folder.pages, model.transform)]
    assert [judge(snapshot).kept.any() for snapshot, judge in read] == [True] * 6
