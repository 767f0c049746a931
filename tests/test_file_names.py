"""Files are named after the path of their page's address, safely on every system and independent of the order."""

import random
import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domsieve.tasks.file_names import PageKey, fault_of_name, file_names, folded

BASE = "https://docs.example.org"
# What addresses are made of, with much that is dangerous in a path.
PIECES = st.sampled_from(
    [
        "a",
        "A",
        "index.html",
        "index",
        "linux",
        "é",
        "e\u0301",
        "%C3%89",
        "ﬁ",
        "fi",
        "ß",
        "SS",
        "straße",
        "..",
        ".",
        "%2e%2e",
        "%2F",
        "%5C",
        "%00",
        "\\",
        "con",
        "CON.txt",
        "com¹",
        "aux",
        "a.",
        "a ",
        "a%20",
        "-rf",
        "~",
        "%D6%D0",
        ".git",
        "manifest.jsonl",
        "manifest",
        "changes",
        "gone",
        "x.md",
        "x.md.html",
        "",
        "\u202e",
        "\ud800",
        "中" * 90,
        "x" * 300,
        "ͅ",
        "\ufe0f",
        "a\ufe0f",
        "İ",
        "ı",
        "ς",
        "Σ",
        "q?a=1&b=2",
        "?",
        "?a/../../b",
        "#top",
        "1.2",
        "c++",
    ]
) | st.text(max_size=12)
PATHS = st.lists(PIECES, max_size=6).map("/".join)
HOSTS = st.sampled_from(
    [BASE, BASE, BASE, "http://docs.example.org", "https://example.md", "https://gone", "https://[::1]:8"]
)
PAGES = st.lists(
    st.tuples(st.builds("{}/{}".format, HOSTS, PATHS) | PATHS, st.integers(1, 3)), max_size=12, unique=True
)
ENDINGS = st.sampled_from([".md", ".html", ".jsonl"])


def named(*paths: str, ending: str = ".md") -> list[str]:
    """Return the names of pages of one site, in the order of their paths."""
    names = file_names([(BASE + path, 1) for path in paths], ending=ending)
    return [names[BASE + path, 1] for path in paths]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("", "index.md"),
        ("/", "index.md"),
        ("/install/linux", "install/linux.md"),
        ("/install/linux.html", "install/linux.md"),
        ("/install/README.md", "install/README.md"),
        ("/install/", "install/index.md"),
        ("/install/index.html", "install/index.md"),
        ("/articles?page=2&sort=new+first", "articles-page-2-sort-new-first.md"),
        ("/?p=12", "index-p-12.md"),
        ("/v1.2/caf%C3%A9", "v1.2/café.md"),
        ("/Ba%CC%88ume", "Bäume.md"),
        ("/a%2Fb/c%5Cd", "a-b/c-d.md"),
        ("/%2e%2e/%2e%2e/etc/passwd", "_/_/etc/passwd.md"),
        ("/.git/config", "_git/config.md"),
        ("/-rf", "_rf.md"),
        ("/con/aux.html", "_con/_aux.md"),
        ("/com1.tar/x", "_com1.tar/x.md"),
        ("/gone/x", "_gone/x.md"),
        ("/changes", "changes.md"),
        ("/x.md/y", "x-md/y.md"),
        ("/a.%20/b%00c", "a/b-c.md"),
        ("/c++/~user/", "c++/user/index.md"),
    ],
)
def test_names_are_readable_and_safe(path: str, name: str) -> None:
    assert named(path) == [name]


def test_files_of_domsieve_itself_keep_their_names() -> None:
    names = named("/manifest", "/changes", ending=".jsonl")
    assert names == ["_manifest.jsonl", "_changes.jsonl"]


def test_colliding_names_get_a_hash_and_the_shortest_address_keeps_the_name() -> None:
    first, second, third = named("/Install", "/install.html", "/install/")
    assert (first, third) == ("Install.md", "install/index.md")
    assert second.startswith("install-")
    assert len(second) == len("install-12345678.md")


def test_unicode_forms_collide() -> None:
    assert len({folded(name) for name in named("/caf%C3%A9", "/cafe%CC%81", "/CAF%C3%89")}) == 3


def test_several_sites_have_a_folder_each_and_a_single_one_has_none() -> None:
    pages = [("https://a.org/x", 1), ("http://127.0.0.1:8000/x", 1)]
    names = file_names(pages, ending=".md")
    assert list(names.values()) == ["a.org/x.md", "127.0.0.1-8000/x.md"]
    assert file_names(pages[:1], ending=".md") == {pages[0]: "x.md"}
    # A site that is added later gets a folder; the pages of the first stay, and new ones are beside them.
    more = [*pages, ("https://a.org/y", 1)]
    assert list(file_names(more, ending=".md", taken={pages[0]: "x.md"}).values()) == [
        "x.md",
        "y.md",
        "127.0.0.1-8000/x.md",
    ]
    later = file_names([("https://a.org/y", 1)], ending=".md", taken=names)
    assert later == {("https://a.org/y", 1): "a.org/y.md"}


def test_local_files_are_named_after_their_path() -> None:
    pages = [("guide/Start.html", 1), ("guide/start.htm.gz", 1), ("a.b.xhtml", 1)]
    names = file_names(pages, ending=".txt")
    assert names["a.b.xhtml", 1] == "a.b.txt"
    assert names["guide/Start.html", 1] == "guide/Start.txt"
    assert names["guide/start.htm.gz", 1].startswith("guide/start-")


def test_further_captures_of_an_address_are_numbered() -> None:
    assert list(file_names([(BASE, 1), (BASE, 2), (BASE, 3)], ending=".md").values()) == [
        "index.md",
        "index-2.md",
        "index-3.md",
    ]


@given(PAGES, ENDINGS, st.randoms(use_true_random=False))
def test_names_are_safe_distinct_and_independent_of_the_order(
    pages: list[PageKey], ending: str, chance: random.Random
) -> None:
    names = file_names(pages, ending=ending)
    assert names.keys() == set(pages)
    for name in names.values():
        assert fault_of_name(name) == ""
        assert name.endswith(ending)
        assert unicodedata.is_normalized("NFC", name)
        assert all(len(part.encode()) <= 160 for part in name.split("/"))
        assert len(name) <= 180
    assert len({folded(name) for name in names.values()}) == len(names)
    # No file has the name of a folder.
    folders = {folded(name[:end]) for name in names.values() for end, mark in enumerate(name) if mark == "/"}
    assert folders.isdisjoint(folded(name) for name in names.values())
    shuffled = chance.sample(pages, len(pages))
    assert file_names(shuffled, ending=ending) == names


@given(PAGES, PAGES, ENDINGS)
def test_names_stay_when_pages_are_added(first: list[PageKey], more: list[PageKey], ending: str) -> None:
    before = file_names(first, ending=ending)
    after = file_names([*more, *first], ending=ending, taken=before)
    assert {page: after[page] for page in before} == before
    assert len({folded(name) for name in after.values()}) == len(after) == len({*first, *more})
    assert not any(fault_of_name(name) for name in after.values())


@given(st.text(max_size=20), st.text(max_size=20))
def test_names_that_file_systems_take_for_the_same_fold_alike(name: str, other: str) -> None:
    forms: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
    for form in forms:
        for twin in (unicodedata.normalize(form, name), unicodedata.normalize(form, name.casefold())):
            assert folded(twin) == folded(name)
    if unicodedata.normalize("NFC", name).casefold() == unicodedata.normalize("NFC", other).casefold():
        assert folded(name) == folded(other)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/etc/passwd",
        "../x.md",
        "a/../x.md",
        "a//b.md",
        "./x.md",
        "a\\b.md",
        "c:x.md",
        "a\nb.md",
        "\udc80.md",
        "x\u202e.md",
        ".ssh/x.md",
        "a/.x",
        "con.md",
        "a/NUL",
        "x.",
        "x ",
        "manifest.jsonl",
        "Gone/x.md",
        "x" * 256,
        "changes.html",
        "a/" * 600 + "x",
        "lpt¹.md",
        "CONIN$",
    ],
)
def test_names_of_strangers_are_checked(name: str) -> None:
    assert fault_of_name(name)
