"""Pages from disk are grouped by address, else by likeness, and count once however often they are named or saved."""

import gzip
import json
from pathlib import Path

import pytest

import domsieve
from domsieve.analysis.site_groups import groups_of, traits_of
from domsieve.errors import UsageError
from domsieve.renderer.html_parser.content import file_origin, source_origin
from domsieve.renderer.html_parser.parser import read_html_file
from domsieve.tasks.sites import placed
from tests.command import page, run, write_pages


def made(site: str, number: int, *, head: str = "") -> str:
    """Return a page of a site: its classes, files and menu, and a text of its own."""
    menu = "".join(f'<a class="{site}-link" href="/{site}/part-{n}">Part {n}</a>' for n in range(5))
    return (
        f"<title>Page {number} of {site}</title>{head}<link rel=stylesheet href='/{site}.css'>"
        f'<div class="{site}-menu bar">{menu}</div><div class="{site}-body"><p>{page(number)[120:]}</p></div>'
        f'<script src="/js/{site}.js"></script><a href="/own-{site}-{number}">own</a>'
    )


@pytest.mark.parametrize(
    ("head", "address"),
    [
        ('<link rel="canonical" href="https://a.example/x">', "https://a.example/x"),
        ("<LINK HREF='http://a.example/x' REL='nofollow Canonical'/>", "http://a.example/x"),
        ('<meta property="og:url" content="https://a.example/x?b=1&amp;c">', "https://a.example/x?b=1&c"),
        ('<base href="https://a.example/dir/">', "https://a.example/dir/"),
        (
            '<base href="https://c.example/"><meta property="og:url" content="https://b.example/">'
            '<link rel=canonical href="https://a.example/">',
            "https://a.example/",
        ),
        ('<link rel=canonical href="/x"><base href="https://a.example/">', "https://a.example/"),
        ('<link rel=canonical href="javascript:alert(1)">', ""),
        ('<link rel=canonical href="https:///x">', ""),
        ('<link rel=stylesheet href="https://a.example/x.css">', ""),
        ("<link rel=canonical", ""),
        ("", ""),
    ],
)
def test_a_page_says_its_address(head: str, address: str) -> None:
    assert source_origin(f"<html><head>{head}</head><p>x".encode()).address == address


def test_the_callers_word_on_the_address_comes_first() -> None:
    source = b'<link rel=canonical href="https://a.example/">'
    assert source_origin(source, url="https://b.example/").address == "https://b.example/"


def test_compressed_files_say_it_too_and_files_that_are_absent_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.html.gz"
    path.write_bytes(gzip.compress(b'<link rel=canonical href="https://a.example/">'))
    found = file_origin(path)
    assert found
    assert found.address == "https://a.example/"
    assert file_origin(tmp_path / "absent") is None


def sites(folder: Path, names: list[str]) -> list[str]:
    """Return the site of each file of a folder."""
    return [
        place.site
        for place in placed([(str(folder), lambda name=name: file_origin(folder / name)) for name in names])  # type: ignore[misc]
    ]


class TestGroups:
    def test_by_address(self, tmp_path: Path) -> None:
        for number in range(4):
            host = "ab"[number % 2]
            head = f'<link rel=canonical href="https://{host}.example/{number}">'
            (tmp_path / f"{number}.html").write_text(made("same", number, head=head))
        found = sites(tmp_path, [f"{number}.html" for number in range(4)])
        assert found == ["a.example (raw)", "b.example (raw)"] * 2

    def test_by_likeness_where_there_is_none(self, tmp_path: Path) -> None:
        for number in range(6):
            (tmp_path / f"{number}.html").write_text(made(("red", "green")[number % 2], number))
        found = sites(tmp_path, [f"{number}.html" for number in range(6)])
        assert found == [f"{tmp_path} (1)", f"{tmp_path} (2)"] * 3

    def test_a_page_without_an_address_joins_those_it_is_like(self, tmp_path: Path) -> None:
        head = '<link rel=canonical href="https://a.example/">'
        for number in range(4):
            (tmp_path / f"{number}.html").write_text(made("red", number, head=head if number else ""))
        assert sites(tmp_path, [f"{number}.html" for number in range(4)]) == ["a.example (raw)"] * 4

    def test_pages_that_cannot_be_told_apart_are_of_the_folder(self, tmp_path: Path) -> None:
        names = [path.name for path in write_pages(tmp_path, 5)]
        assert sites(tmp_path, names) == [str(tmp_path)] * 5
        for number in range(5):
            (tmp_path / f"p{number + 1}.html").write_text(made("red", number))
        assert sites(tmp_path, names) == [str(tmp_path)] * 5

    def test_order_changes_no_group(self) -> None:
        sources = [made("red" if number < 5 else "green", number).encode() for number in range(10)]
        traits = [traits_of(source) for source in sources]
        forward, backward = groups_of(traits, [""] * 10), groups_of(traits[::-1], [""] * 10)[::-1]
        assert [a == forward[0] for a in forward] == [True] * 5 + [False] * 5
        assert [a == backward[0] for a in backward] == [True] * 5 + [False] * 5

    def test_the_toolbar_of_an_archive_is_of_no_site(self) -> None:
        toolbar = "".join(f'<i class="wm-{n}"></i>' for n in range(200))
        bar = f"<!-- BEGIN WAYBACK TOOLBAR INSERT -->{toolbar}<!-- END WAYBACK TOOLBAR INSERT -->"
        sources = [(bar + made(site, n)).encode() for site in ("red", "green") for n in range(3)]
        found = groups_of([traits_of(source) for source in sources], [""] * 6)
        assert found == ["1"] * 3 + ["2"] * 3


class TestOnce:
    """A page counts once for learning; results come for every name."""

    def learned(self, tmp_path: Path, *targets: Path) -> int:
        result = run("learn", *targets, "-o", tmp_path / "model", "--json", cache=tmp_path / "cache")
        assert result.exit_code == 0, result.stderr
        pages: int = json.loads(result.stdout)["pages"]
        return pages

    def test_named_twice_by_two_paths_and_saved_twice(self, tmp_path: Path) -> None:
        first, *rest = write_pages(tmp_path / "in", 3)
        (tmp_path / "in" / "copy.html").write_bytes(first.read_bytes())
        around = tmp_path / "in" / ".." / "in" / first.name
        assert self.learned(tmp_path, first, first, around, tmp_path / "in", *rest) == 3

    def test_saved_again_of_the_same_address(self, tmp_path: Path) -> None:
        head = '<link rel=canonical href="https://a.example/">'
        for number, time in ((1, "noon"), (1, "night"), (2, "noon")):
            name = tmp_path / f"{number}-{time}.html"
            name.write_text(f"<!-- {time} -->{made('red', number, head=head)}")
        assert self.learned(tmp_path, *sorted(tmp_path.glob("*.html"))) == 2

    def test_results_come_for_every_name_in_order(self, tmp_path: Path) -> None:
        first, second = write_pages(tmp_path / "in", 2)
        result = run("clean", first, second, first, "--json", cache=tmp_path / "cache")
        texts = [json.loads(line)["text"] for line in result.stdout.splitlines()]
        assert [f"Heading {number}" in text for number, text in zip((1, 2, 1), texts, strict=True)] == [
            True
        ] * 3
        five = run("clean", *[first] * 5, "--json", cache=tmp_path / "cache").stdout.splitlines()
        assert not any("by_site" in line for line in five)

    def test_of_the_library(self, tmp_path: Path) -> None:
        [path] = write_pages(tmp_path, 1)
        html = page(1)
        results = domsieve.clean([html, html.encode(), path, read_html_file(path), *[html] * 5])
        assert not any("by_site" in result.verdict.numbers for result in results)
        others = domsieve.clean([page(number) for number in range(5)])
        assert all("by_site" in result.verdict.numbers for result in others)


class TestUrl:
    def test_links_become_absolute(self, tmp_path: Path) -> None:
        [path] = write_pages(tmp_path, 1)
        path.write_text(
            "<article><h1>Heading</h1><p>Some words and <a href=b>a link</a> to it.</p></article>"
        )
        words: list[str | Path] = ["clean", path, "--method", "none", "--format", "markdown"]
        assert (
            "(https://a.example/dir/b)"
            in run(*words, "--url", "https://a.example/dir/x", cache=tmp_path).stdout
        )
        assert "https:" not in run(*words, cache=tmp_path).stdout
        path.write_text(f"<link rel=canonical href='https://c.example/'><body>{path.read_text()}")
        assert "(https://c.example/b)" in run(*words, cache=tmp_path).stdout

    @pytest.mark.parametrize("url", ["a.example", "ftp://a.example/", "https://", "http://a b/"])
    def test_what_is_no_address_is_refused(self, url: str, tmp_path: Path) -> None:
        [path] = write_pages(tmp_path, 1)
        assert run("clean", path, "--url", url, cache=tmp_path).exit_code == 2

    def test_it_is_for_one_file(self, tmp_path: Path) -> None:
        paths = write_pages(tmp_path, 2)
        result = run("records", *paths, "--url", "https://a.example/", cache=tmp_path)
        assert result.exit_code == 2
        assert "one file" in result.stderr
        with pytest.raises(UsageError):
            domsieve.clean(page(1), url="a.example")
