"""Where the pages of a command come from: standard input, lists, and what lists pages itself."""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace as replace_fields

from domsieve.options import CaptureOptions
from domsieve.snapshot.store import PageStore
from tests.analysis.pages import page as laid_out
from tests.command import fill, page, result_files, run, write_pages
from tests.renderer.bad_server import Server, serving
from tests.renderer.test_listings import sends


def kept(stdout: str) -> list[str]:
    """Return the headings of the pages that were cleaned."""
    return [line for line in stdout.splitlines() if line.startswith("Heading")]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        for number in (1, 2, 3):
            server.pages[f"/{number}"] = sends(page(number).encode(), "text/html")
        server.pages["/robots.txt"] = sends(b"User-agent: *\nDisallow: /3", "text/plain")
        items = "".join(f"<item><link>{server.url(f'/{number}')}</link></item>" for number in (2, 1, 3))
        server.pages["/feed"] = sends(
            f"<rss><channel>{items}</channel></rss>".encode(), "application/rss+xml"
        )
        sitemap = f"<urlset><url><loc>{server.url('/2')}</loc></url></urlset>".encode()
        server.pages["/sitemap.xml.gz"] = sends(gzip.compress(sitemap), "application/gzip")
        server.pages["/icon.svg"] = sends(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml")
        yield server


class TestStandardInput:
    def test_a_page(self, tmp_path: Path) -> None:
        result = run("clean", "-", "--format", "markdown", cache=tmp_path, stdin=page(7))
        assert result.exit_code == 0
        assert "Heading 7" in result.stdout
        assert "Imprint" not in result.stdout

    def test_a_packed_page_whose_address_is_given(self, tmp_path: Path) -> None:
        source = gzip.compress(page(7).encode() + b"<p><a href=b>more</a> of " + b"it " * 40)
        result = run("clean", "-", "--url", "https://example.org/a/", "--json", cache=tmp_path, stdin=source)
        assert result.exit_code == 0
        assert json.loads(result.stdout)["url"] == "https://example.org/a/"

    def test_nothing_is_kept_for_it(self, tmp_path: Path) -> None:
        result = run("clean", "-", cache=tmp_path / "cache", stdin=page(7))
        assert result.exit_code == 0
        assert not (tmp_path / "cache").exists()

    def test_text_that_is_not_html_is_refused(self, tmp_path: Path) -> None:
        result = run("clean", "-", cache=tmp_path, stdin="root:x:0:0:root:/root:/bin/bash\n")
        assert result.exit_code == 3
        assert not result.stdout
        assert "text/plain, not an HTML page" in result.stderr

    def test_it_is_read_only_once(self, tmp_path: Path) -> None:
        for words in (["-", "-"], ["-", "--input-file", "-"]):
            result = run("clean", *words, cache=tmp_path, stdin="")
            assert result.exit_code == 2
            assert "only once" in result.stderr

    def test_nothing_is_a_failed_page(self, tmp_path: Path) -> None:
        result = run("clean", "-", cache=tmp_path, stdin="")
        assert result.exit_code == 3
        assert result.stderr.startswith("stdin: ")

    def test_what_renders_takes_no_page(self, tmp_path: Path) -> None:
        for command in ("render", "compare"):
            result = run(command, "-", cache=tmp_path, stdin=page(1))
            assert result.exit_code == 2


class TestLists:
    def test_a_target_a_line(self, tmp_path: Path) -> None:
        paths = write_pages(tmp_path / "pages", 3)
        listed = tmp_path / "list.txt"
        listed.write_text(f"\ufeff# my pages\n{paths[0]}\n\n  {paths[2]}\n", encoding="utf-8")
        result = run("clean", "--input-file", listed, "--input-paths", cache=tmp_path / "cache")
        assert (result.exit_code, kept(result.stdout)) == (0, ["Heading 1", "Heading 3"])
        result = run("clean", paths[1], "--input-file", listed, "--input-paths", cache=tmp_path / "cache")
        assert kept(result.stdout) == ["Heading 2", "Heading 1", "Heading 3"]
        lines = f"{paths[1]}\n{paths[0]}\n"
        result = run("clean", "--input-file", "-", "--input-paths", cache=tmp_path / "cache", stdin=lines)
        assert kept(result.stdout) == ["Heading 2", "Heading 1"]

    def test_a_bad_line_stops_no_other(self, tmp_path: Path) -> None:
        [path] = write_pages(tmp_path / "pages", 1)
        lines = f"ftp://example.org/\n{path}\nno such file\n"
        result = run("clean", "--input-file", "-", "--input-paths", cache=tmp_path / "cache", stdin=lines)
        assert (result.exit_code, kept(result.stdout)) == (1, ["Heading 1"])
        assert "standard input, line 1: ftp://example.org/ is neither a file nor a folder" in result.stderr
        assert "standard input, line 3: no such file is neither a file nor a folder" in result.stderr
        assert result.stderr.endswith("2 of 3 pages failed.\n")

    def test_a_list_of_a_stranger_reads_no_file(self, tmp_path: Path) -> None:
        [path] = write_pages(tmp_path / "pages", 1)
        fill(tmp_path / "cache", ["http://127.0.0.1:8123/secret"], site="127.0.0.1:8123")
        own = ("/etc/passwd", str(path), str(path.parent), path.as_uri(), "127.0.0.1:8123")
        lines = "\n".join([*own, "http://127.0.0.1:8123/secret", "http://127.0.0.1:8123/other"])
        for command in ("clean", "render", "compare"):
            result = run(command, "--input-file", "-", cache=tmp_path / "cache", stdin=lines)
            assert (result.exit_code, result.stdout) == (3, "")
            assert result.stderr.count("from lists. --input-paths says that the lines are files.") == 5
            assert "root:" not in result.stderr
        words = ("bulk", "clean", "--input-file", "-", "--output-dir", tmp_path / "out")
        result = run(*words, cache=tmp_path / "cache", stdin=str(path))
        assert result.exit_code == 2
        assert "add --input-paths" in result.stderr

    def test_addresses_of_a_list_must_be_public_even_if_the_cache_has_them(self, tmp_path: Path) -> None:
        url = "http://127.0.0.1:8123/1"
        with PageStore(tmp_path / "cache") as store:
            rendered = laid_out(page(1), producer="rendered", url=url)
            provenance = replace_fields(rendered.provenance, options=CaptureOptions().canonical())
            store.put(replace(rendered, provenance=provenance), site="127.0.0.1:8123")
        result = run("clean", url, "--method", "none", cache=tmp_path / "cache")
        assert (result.exit_code, kept(result.stdout)) == (0, ["Heading 1"])
        result = run("clean", "--input-file", "-", cache=tmp_path / "cache", stdin=url)
        assert (result.exit_code, result.stdout) == (3, "")
        assert "only public addresses are opened" in result.stderr

    def test_a_missing_list_and_no_targets_are_told(self, tmp_path: Path) -> None:
        result = run("clean", "--input-file", tmp_path / "none.txt", cache=tmp_path / "cache")
        assert result.exit_code == 2
        assert "none.txt: No such file" in result.stderr
        for command in ("clean", "records", "learn", "vectorize", "report", "render", "compare"):
            output = (
                ["--output", str(tmp_path / "made")] if command in {"learn", "vectorize", "report"} else []
            )
            result = run(command, *output, cache=tmp_path / "cache")
            assert result.exit_code == 2
            assert "or --input-file" in result.stderr

    def test_a_file_that_lists_nothing_of_the_web(self, tmp_path: Path) -> None:
        feed = tmp_path / "feed.xml"
        feed.write_text("<rss><channel><item><link>/a</link></item></channel></rss>", encoding="utf-8")
        result = run("clean", feed, cache=tmp_path / "cache")
        assert result.exit_code == 2
        assert "lists no http or https address" in result.stderr


class TestChunks:
    def test_passages_of_pages_as_json_lines(self, tmp_path: Path) -> None:
        paths = write_pages(tmp_path / "pages", 2)
        words = ("clean", "--format", "chunks", "--method", "none", "--max-words", "20")
        result = run(*words, *paths, cache=tmp_path / "cache")
        assert result.exit_code == 0
        passages = [json.loads(line) for line in result.stdout.splitlines()]
        assert [(p["number"], p["of"]) for p in passages] == [(1, 3), (2, 3), (3, 3)] * 2
        assert passages[1]["headings"] == ["Heading 1"]
        assert passages[1]["metadata"]["title"] == "Heading 1"
        result = run(*words, "--output-dir", tmp_path / "out", *paths, cache=tmp_path / "cache")
        assert result_files(tmp_path / "out") == ["p1.jsonl", "p2.jsonl"]

    def test_their_length_is_for_them_only(self, tmp_path: Path) -> None:
        for words in (["--max-words", "50"], ["--format", "chunks", "--max-words", "5"]):
            result = run("clean", *words, tmp_path / "none.html", cache=tmp_path / "cache")
            assert result.exit_code == 2
            assert "--max-words" in result.stderr


class TestSelection:
    def test_parts_are_chosen_before_any_method(self, tmp_path: Path) -> None:
        paths = write_pages(tmp_path / "pages", 2)
        for words in (["clean", "--method", "none"], ["clean", "--method", "auto", "--favor", "recall"]):
            result = run(*words, "--select", "p", "--drop", "main > p + p", *paths, cache=tmp_path / "cache")
            assert result.exit_code == 0
            assert result.stdout.count("word1a") == result.stdout.count("word2a") == 1
            assert "Heading" not in result.stdout
        result = run("clean", "--method", "none", "--drop", "div", paths[0], cache=tmp_path / "cache")
        assert "Imprint" not in result.stdout

    def test_a_page_without_what_is_selected_fails(self, tmp_path: Path) -> None:
        paths = write_pages(tmp_path / "pages", 2)
        paths[1].write_text(page(2).replace("main>", "section>"), encoding="utf-8")
        for command in ("clean", "records"):
            result = run(command, "--select", "main", *paths, cache=tmp_path / "cache")
            assert result.exit_code == 1
            assert f"{paths[1]}: Nothing on the page matches 'main'." in result.stderr

    def test_what_is_no_selector_is_refused_before_the_work(self, tmp_path: Path) -> None:
        output = ["-o", str(tmp_path / "made.npz")]
        for words in (["clean"], ["records"], ["learn", *output], ["vectorize", *output]):
            result = run(*words, "--drop", "a:hover", tmp_path / "none.html", cache=tmp_path / "cache")
            assert result.exit_code == 2
            assert (
                "--drop 'a:hover' is not a CSS selector that domsieve supports: :hover is not supported."
                in result.stderr
            )


@pytest.mark.browser
@pytest.mark.slow
class TestListings:
    def test_a_feed_stands_for_its_pages_that_robots_may_visit(self, server: Server, tmp_path: Path) -> None:
        result = run("clean", server.url("/feed"), cache=tmp_path)
        assert kept(result.stdout) == ["Heading 2", "Heading 1"]
        assert f"[1/1] {server.url('/feed')} lists 3 pages\n" in result.stderr
        assert f"{server.url('/3')} failed: The site's robots.txt" in result.stderr
        assert (result.exit_code, result.stderr.splitlines()[-1]) == (1, "1 of 3 pages failed.")
        named = run("clean", server.url("/feed"), server.url("/3"), cache=tmp_path)
        assert kept(named.stdout) == ["Heading 2", "Heading 1", "Heading 3"]
        assert named.exit_code == 0

    def test_packed_sitemaps_and_those_on_disk_do_too(self, server: Server, tmp_path: Path) -> None:
        result = run("render", server.url("/sitemap.xml.gz"), cache=tmp_path / "cache")
        assert (result.exit_code, result.stdout.split()[1:]) == (0, [server.url("/2")])
        index = f"<sitemapindex><sitemap><loc>{server.url('/sitemap.xml.gz')}</loc></sitemap></sitemapindex>"
        (tmp_path / "index.xml").write_text(index, encoding="utf-8")
        result = run("clean", tmp_path / "index.xml", "--allow-private", cache=tmp_path / "cache")
        assert (result.exit_code, kept(result.stdout)) == (0, ["Heading 2"])

    def test_other_files_still_fail(self, server: Server, tmp_path: Path) -> None:
        result = run("render", server.url("/icon.svg"), cache=tmp_path)
        assert result.exit_code == 3
        assert "image/svg+xml, not an HTML page" in result.stderr

    def test_captures_older_than_wanted_are_made_anew(self, server: Server, tmp_path: Path) -> None:
        url = server.url("/1")
        assert len(run("render", url, cache=tmp_path).stderr.splitlines()) == 1
        assert run("render", url, "--max-age", "1", cache=tmp_path).stderr == ""
        with PageStore(tmp_path) as store:
            [record] = store.records()
            page = store.get(record.page_id)
            yesterday = msgspec.structs.replace(page.provenance, captured_at="2024-02-29T12:00:00+00:00")
            store.remove([record.page_id])
            store.put(replace(page, provenance=yesterday), source=b"", site=record.site)
        assert run("render", url, "--max-age", "100000", cache=tmp_path).stderr == ""
        assert "[1/1]" in run("render", url, "--max-age", "1", cache=tmp_path).stderr
        assert run("render", url, "--max-age", "0.5", cache=tmp_path).stderr == ""
        assert "[1/1]" in run("render", url, "--refresh", cache=tmp_path).stderr
        assert run("render", url, "--max-age", "1e300", cache=tmp_path).exit_code == 2


class TestWhatIsNoPage:
    @pytest.mark.parametrize(
        ("name", "source"),
        [
            ("passwd", "root:x:0:0:root:/root:/bin/bash\n"),
            ("notes.txt", "Compare a<b, and <b>bold</b> words.\n"),
            ("README.md", "# Title\n\n<!-- a comment -->\n"),
        ],
    )
    def test_other_text_is_refused(self, tmp_path: Path, name: str, source: str) -> None:
        (tmp_path / name).write_text(source)
        result = run("clean", str(tmp_path / name), cache=tmp_path / "cache")
        assert result.exit_code == 3
        assert "text/plain, not an HTML page" in result.stderr

    @pytest.mark.parametrize("name", ["page", "page.txt", "page.html"])
    def test_a_page_has_any_name(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text(page(7))
        result = run("clean", str(tmp_path / name), cache=tmp_path / "cache")
        assert result.exit_code == 0
        assert "Heading 7" in result.stdout

    @pytest.mark.parametrize("command", ["clean", "render", "site"])
    @pytest.mark.parametrize(
        ("word", "meant"),
        [
            ("example.org/x", " Did you mean https://example.org/x?"),
            ("127.0.0.1:8101/x", " Did you mean http://127.0.0.1:8101/x?"),
            ("localhost:8101", " Did you mean http://localhost:8101?"),
            ("missing.html", ""),
            ("no host", ""),
        ],
    )
    def test_an_address_without_its_scheme(self, tmp_path: Path, command: str, word: str, meant: str) -> None:
        result = run(command, word, cache=tmp_path / "cache")
        assert result.exit_code == 2
        assert meant in result.stderr
        assert bool(meant) == ("Did you mean" in result.stderr)
        assert not (tmp_path / "cache").exists()


def test_the_pages_with_the_most_hidden_words_are_named(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}.html").write_text(page(number))
    for number, words in ((1, 2), (2, 400)):
        hidden = f"<p style='display:none'>{'secret ' * words}</p>"
        (tmp_path / f"{number}.html").write_text(page(number) + hidden)
    result = run("clean", "--method", "none", str(tmp_path), cache=tmp_path / "cache")
    assert result.exit_code == 0
    assert re.search(r"dropped: 402 words, most on \S*2.html \(400\); --hidden keep keeps it", result.stderr)


def test_other_pages_of_the_cache_have_a_say_and_that_is_said(tmp_path: Path) -> None:
    site = "127.0.0.1:8123"
    urls = [f"http://{site}/{number}" for number in range(1, 7)]
    with PageStore(tmp_path / "cache") as store:
        for number, url in enumerate(urls, 1):
            rendered = laid_out(page(number), producer="rendered", url=url)
            origin = replace_fields(rendered.provenance, options=CaptureOptions().canonical())
            store.put(replace(rendered, provenance=origin), site=site)
    together = run("clean", "--json", urls[0], cache=tmp_path / "cache")
    assert f"{site}: judged with 5 other pages of this site; --alone judges without." in together.stderr
    assert json.loads(together.stdout)["site_pages"] == 6
    alone = run("clean", "--json", "--alone", urls[0], cache=tmp_path / "cache")
    assert "judged with" not in alone.stderr
    assert json.loads(alone.stdout)["site_pages"] == 0
    blocks = [json.loads(result.stdout)["blocks"] for result in (together, alone)]
    assert [any("by_site" in block["numbers"] for block in found) for found in blocks] == [True, False]
