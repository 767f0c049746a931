"""What words on the command line mean."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from domsieve.errors import TargetError
from domsieve.snapshot.store import PageStore
from domsieve.tasks.targets import CacheTarget, FileTarget, UrlTarget, find_targets, output_name, site_of
from tests.command import fill, write_pages


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PageStore]:
    with PageStore(tmp_path / "cache") as store:
        yield store


class TestFindTargets:
    @pytest.mark.parametrize("url", ["http://example.org/a", "HTTPS://example.org/#/b", "http://[x"])
    def test_urls(self, store: PageStore, url: str) -> None:
        assert find_targets([url], store) == [UrlTarget(url, may_be_private=True)]

    def test_a_file(self, store: PageStore, tmp_path: Path) -> None:
        path = tmp_path / "page.of.mine.html"
        path.touch()
        assert find_targets([str(path)], store) == [FileTarget(path, tmp_path)]

    def test_a_file_needs_no_ending(self, store: PageStore, tmp_path: Path) -> None:
        (tmp_path / "page").touch()
        assert find_targets([str(tmp_path / "page")], store) == [FileTarget(tmp_path / "page", tmp_path)]

    def test_a_folder_with_folders_in_it(self, store: PageStore, tmp_path: Path) -> None:
        folder = tmp_path / "site"
        for name in ("b.html", "a.html", "sub/b.html", "sub/c.xhtml", "note.txt"):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        found = find_targets([str(folder)], store)
        files = ("a.html", "b.html", "sub/b.html", "sub/c.xhtml")
        assert found == [FileTarget(folder / name, folder) for name in files]

    def test_a_page_of_the_cache_by_the_beginning_of_its_id(self, store: PageStore) -> None:
        record, other = fill(store.root, ["http://example.org/1", "http://example.org/2"])
        assert find_targets([record.page_id[:10], other.page_id], store) == [
            CacheTarget(record),
            CacheTarget(other),
        ]

    def test_a_site_of_the_cache(self, store: PageStore) -> None:
        records = fill(store.root, ["http://example.org/2", "http://example.org/1"])
        assert find_targets(["EXAMPLE.org"], store) == [CacheTarget(records[1]), CacheTarget(records[0])]
        (record,) = fill(store.root, ["http://faß.example/"], site=site_of("http://faß.example/"))
        for name in ("Faß.example", "xn--fa-hia.example"):
            assert find_targets([name], store) == [CacheTarget(record)]

    def test_a_site_stands_for_the_newest_capture_of_each_page(self, store: PageStore) -> None:
        records = fill(store.root, ["http://example.org/", "http://example.org/"])
        assert find_targets(["example.org"], store) == [CacheTarget(records[1])]
        assert find_targets([records[0].page_id], store) == [CacheTarget(records[0])]

    def test_several_words_keep_their_order(self, store: PageStore, tmp_path: Path) -> None:
        path = write_pages(tmp_path / "site", 1)[0]
        assert find_targets(["http://example.org/", str(path)], store) == [
            UrlTarget("http://example.org/", may_be_private=True),
            FileTarget(path, path.parent),
        ]

    @pytest.mark.parametrize(
        ("word", "message"),
        [
            ("ftp://example.org/a", "only http and https pages are rendered"),
            ("file:///a.html", "only http and https pages are rendered"),
            ("javascript:alert(1)", "is not a URL, a file, a folder, or a page or site in the cache"),
            ("no/such.html", "is not a URL, a file, a folder, or a page or site in the cache"),
            ("abcdef012345", "No page ids of the cache .* begin with 'abcdef012345'"),
            ("x" * 300, "cannot be looked up: File name too long|is not a URL, a file, a folder"),
            (
                "bad\udcff",
                r"'bad\\udcff' is not a file or folder, and has characters that no address can have",
            ),
            ("http://example.org/\udcff", "has characters that no address can have"),
            ("http://example.org/\n", "has characters that no address can have"),
            ("", "is not a URL, a file, a folder|contains no .html"),
        ],
    )
    def test_errors(
        self,
        store: PageStore,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        word: str,
        message: str,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(TargetError, match=message):
            find_targets([word], store)

    def test_a_folder_without_pages(self, store: PageStore, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(TargetError, match=r"empty contains no \.html, \.htm or \.xhtml file"):
            find_targets([str(tmp_path / "empty")], store)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("http://Example.org/a", "example.org"),
        ("http://example.org:80/", "example.org"),
        ("https://example.org:443", "example.org"),
        ("https://example.org:80/", "example.org:80"),
        ("http://user:secret@example.org:8080/a@b", "example.org:8080"),
        ("http://[::1]:8080/", "[::1]:8080"),
        ("http://[::80]/", "[::80]"),
        ("http://Faß.example./", "xn--fa-hia.example"),
        ("http://xn--fa-hia.example/", "xn--fa-hia.example"),
        ("http://a b:80/", "a b"),
        ("http://example.org:port/", "example.org:port"),
    ],
)
def test_site_of(url: str, site: str) -> None:
    assert site_of(url) == site


class TestOutputName:
    URLS = (
        "http://example.org/",
        "https://example.org/",
        "http://example.org",
        "http://example.org/a",
        "http://example.org/A",
        "http://example.org/a/",
        "http://example.org/a?b",
        "http://example.org/a#b",
        "http://example.org/../../etc/passwd",
        "http://example.org/" + "x" * 300,
        "http://example.org/" + "x" * 301,
        "http://example.org/ä",
        "http://example.org/中文",
        "http://例え.jp/",
        "http://ä/",
        "http://con/",
        "http://example.org/a\\b:c*?<>|\0",
    )

    def test_distinct_urls_have_distinct_names(self) -> None:
        assert len({output_name(url) for url in self.URLS}) == len(self.URLS)

    @pytest.mark.parametrize("url", URLS)
    def test_names_are_safe_everywhere(self, url: str) -> None:
        name = output_name(url)
        assert re.fullmatch(r"([a-z0-9][a-z0-9-]*-)?[0-9a-f]{8}", name)
        assert len(name) <= 70
        assert name not in {"con", "prn", "aux", "nul"}

    def test_names_are_readable(self) -> None:
        assert output_name("http://example.org/articles/swifts?page=2").startswith(
            "example-org-articles-swifts-page-2-"
        )
