"""What a page may be, what is refused, and which pages are learned from together."""

import asyncio
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import domsieve
from domsieve.library.inputs import sources_of
from domsieve.renderer.html_parser.parser import parse_html, read_html_file
from domsieve.snapshot.page import Snapshot
from tests.command import page, write_pages

HTML = "<h1>Swifts</h1><p>A hundred days, and a hundred more.</p>"


def snapshot(url: str) -> Snapshot:
    return parse_html(HTML.encode(), url=url)


class TestOnePage:
    @pytest.mark.parametrize("given", [HTML, HTML.encode(), bytearray(HTML.encode()), snapshot("")], ids=type)
    def test_every_kind_gives_the_same(self, given: Any) -> None:
        assert domsieve.clean(given).text == "Swifts\nA hundred days, and a hundred more.\n"

    def test_a_path_is_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "swifts.html"
        file.write_text(HTML, encoding="utf-8")
        result = domsieve.clean(file)
        assert result.text.startswith("Swifts\n")
        assert result.url == str(file)

    def test_a_str_is_read_as_it_is_whatever_the_page_says_of_its_encoding(self) -> None:
        said = '<meta charset="iso-8859-1"><p>Grüße aus Köln \ud800.</p>'
        assert domsieve.clean(said).text == "Grüße aus Köln ?.\n"
        assert domsieve.clean(said.replace("\ud800", "").encode("iso-8859-1")).text == "Grüße aus Köln .\n"

    def test_url_says_where_html_came_from(self) -> None:
        for given in ('<p><a href="b">Next</a> page', b'<p><a href="b">Next</a> page'):
            result = domsieve.clean(given, url="https://example.org/a/", method="none")
            assert result.url == "https://example.org/a/"
            assert "https://example.org/a/b" in result.markdown

    def test_markdown_of_html_without_address_keeps_its_links_relative(self) -> None:
        assert "[Next](b)" in domsieve.clean('<p><a href="b">Next</a> page', method="none").markdown


class TestStrangersText:
    def test_no_text_opens_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        secret = tmp_path / "<b>secret"
        secret.write_text("<p>the secret</p>", encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        names: list[str | bytes] = ["<b>secret", str(secret), b"<b>secret", str(secret).encode()]
        for name in names:
            result = domsieve.clean(name, method="none")
            assert "the secret" not in result.text
        assert "the secret" in domsieve.clean(secret, method="none").text

    @pytest.mark.parametrize("text", ["page.html", "/etc/passwd", "file:///etc/passwd", "", "5 < 6 & 7 > 3"])
    def test_a_str_without_markup_is_refused_with_a_hint(self, text: str) -> None:
        with pytest.raises(domsieve.UsageError, match=r"Path\(\.\.\.\)") as caught:
            domsieve.clean(text)
        assert caught.value.parameter == "page"

    @pytest.mark.parametrize("text", ["http://a.test/ b", "https://\ud800.test", "HTTP://a.test/\n<p>text"])
    def test_what_only_begins_as_a_url_is_refused(self, text: str) -> None:
        with pytest.raises(domsieve.UsageError, match="characters that no URL has"):
            domsieve.clean(text)

    def test_bytes_are_never_fetched(self) -> None:
        assert domsieve.clean(b"http://127.0.0.1:9/").text == "http://127.0.0.1:9/\n"

    def test_a_text_with_an_origin_is_never_fetched(self) -> None:
        with pytest.raises(domsieve.UsageError, match="a URL is its own address"):
            domsieve.clean("http://127.0.0.1:9/", url="http://example.org/")


class TestRefused:
    @pytest.mark.parametrize("given", [None, 3, {"a": HTML}, io.StringIO(HTML), object(), [HTML, 3]])
    def test_what_is_no_page(self, given: Any) -> None:
        with pytest.raises(domsieve.UsageError, match="give a URL, HTML as str or bytes") as caught:
            domsieve.clean(given)
        assert caught.value.parameter == "page"

    def test_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(domsieve.UsageError, match="is a folder; give its files"):
            domsieve.clean(tmp_path)

    @pytest.mark.parametrize("url", ["example.org", 3, "ftp://example.org/", "http://[", "http://a.test/ b"])
    def test_an_origin_that_is_no_address(self, url: Any) -> None:
        with pytest.raises(domsieve.UsageError) as caught:
            domsieve.clean(HTML, url=url)
        assert caught.value.parameter == "url"

    def test_an_origin_for_a_snapshot(self) -> None:
        with pytest.raises(domsieve.UsageError, match="knows its address"):
            domsieve.clean(snapshot(""), url="http://example.org/")

    @pytest.mark.parametrize("url", ["http://example.org/", ["http://example.org/"], 3])
    def test_origins_that_do_not_fit_a_list(self, url: Any) -> None:
        with pytest.raises(domsieve.UsageError, match="a list of 2 addresses"):
            domsieve.clean([HTML, HTML], url=url)

    @pytest.mark.parametrize("call", [domsieve.compare, domsieve.render])
    @pytest.mark.parametrize("url", [HTML, Path("a.html"), "file:///etc/passwd", 3, "http://a b"])
    def test_what_is_no_url(self, call: Callable[[Any], Any], url: Any) -> None:
        with pytest.raises(domsieve.UsageError):
            call(url)

    @pytest.mark.parametrize("urls", [["http://127.0.0.1:9/"], [], iter(()), ("a", "b")])
    def test_several_urls_to_render(self, urls: Any) -> None:
        with pytest.raises(domsieve.UsageError, match="give one URL, or call clean") as caught:
            domsieve.render(urls)
        assert caught.value.parameter == "url"
        with pytest.raises(domsieve.UsageError, match="give one URL, or call clean"):
            asyncio.run(domsieve.render_async(urls))


class TestLists:
    def test_results_come_in_the_order_of_the_pages(self, tmp_path: Path) -> None:
        files = write_pages(tmp_path / "b", 3) + write_pages(tmp_path / "a", 3)
        given: list[domsieve.PageInput] = [HTML, *files[::-1], snapshot("http://example.org/")]
        results = domsieve.clean(given, method="none")
        assert [result.url for result in results] == ["", *map(str, files[::-1]), "http://example.org/"]

    def test_of_many_pages_those_that_fail_are_results(self, tmp_path: Path) -> None:
        results = domsieve.clean([HTML, "nothing", tmp_path / "absent.html", HTML])
        assert [result.error is None for result in results] == [True, False, False, True]
        assert "has no tag" in str(results[1].error)
        assert "No such file" in str(results[2].error)

    def test_no_pages_no_results(self) -> None:
        assert domsieve.clean([]) == []
        assert domsieve.records(iter(())) == []
        assert domsieve.compare([]) == []

    def test_a_list_of_one_is_a_list(self) -> None:
        (result,) = domsieve.clean([HTML])
        assert result.error is None

    def test_any_iterable_is_a_list(self) -> None:
        assert len(domsieve.clean(HTML for _ in range(3))) == 3

    def test_the_same_page_twice(self) -> None:
        first, second = domsieve.clean([HTML, HTML])
        assert first.text == second.text


def of_site(result: domsieve.CleanResult) -> bool:
    """Return whether the site had a say in a result."""
    return "by_site" in result.verdict.numbers


class TestSites:
    def test_pages_of_a_folder_are_learned_from_together(self, tmp_path: Path) -> None:
        results = domsieve.clean(write_pages(tmp_path, 5))
        assert all(map(of_site, results))
        assert all("Imprint" not in result.text and "Heading" in result.text for result in results)

    def test_few_pages_are_cleaned_one_by_one(self, tmp_path: Path) -> None:
        assert not any(map(of_site, domsieve.clean(write_pages(tmp_path, 4))))

    def test_html_without_addresses_is_one_site(self) -> None:
        assert all(map(of_site, domsieve.clean([page(n) for n in range(5)])))

    def test_hosts_part_sites(self) -> None:
        urls = [*(f"http://a.test/{n}" for n in range(5)), *(f"http://b.test/{n}" for n in range(4))]
        results = domsieve.clean([page(n) for n in range(9)], url=urls)
        assert list(map(of_site, results)) == [True] * 5 + [False] * 4

    def test_a_mixed_list_is_parted(self, tmp_path: Path) -> None:
        (file,) = write_pages(tmp_path, 1)
        given = ["http://a.test/x#y", HTML, snapshot("http://a.test/z"), file, read_html_file(file)]
        sites = [source.site for source in sources_of(given)]
        raw = f"{tmp_path} (raw)"
        assert sites == ["a.test", "HTML without an address (raw)", "a.test (raw)", raw, raw]

    def test_an_origin_may_be_left_open(self) -> None:
        sites = [source.site for source in sources_of([HTML, HTML], ["http://A.test:80/x", None])]
        assert sites == ["a.test (raw)", "HTML without an address (raw)"]
