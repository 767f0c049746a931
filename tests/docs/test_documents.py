"""README and the pages of docs/ are followed, each in a folder of its own: commands run, outputs are what is shown.

``DOMSIEVE_TEST_DOCS=all`` follows those too that take long; ``make test-all`` sets it. What no test runs is marked
in the page, with the reason (`tests/docs/blocks.py`), and its commands are at least parsed.
"""

import os
import re
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from domsieve.cli import app
from examples.manual import manual_served, write_manual
from examples.serve import serve_demo
from tests.archive.crawl import crawl
from tests.command import ROOT
from tests.docs.blocks import blocks
from tests.docs.pages import SERVICE, Follower

PAGES = [
    ROOT / "README.md",
    ROOT / "examples/README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/tutorials").glob("*.md")),
    *sorted((ROOT / "docs/methods").glob("*.md")),
]
# Pages whose steps take long, because they render many pages or start servers.
LONG = {
    "docs/bulk.md",
    "docs/cli.md",
    "docs/compare.md",
    "docs/methods/cst.md",
    "docs/report.md",
    "docs/tutorials/browser.md",
    "docs/tutorials/classifier.md",
    "examples/README.md",
}


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    with serve_demo() as demo, manual_served() as manual:
        host = {"127.0.0.1:8000": demo, "127.0.0.1:8898": demo, "127.0.0.1:8001": manual}
        yield {old: new.removeprefix("http://") for old, new in host.items()}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def something_to_do(page: Path) -> bool:
    return any(not block.not_run and (block.is_shell or block.language == "python") for block in blocks(page))


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if something_to_do(page)], ids=name)
def test_a_page_can_be_followed(
    page: Path, servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name(page) in LONG and os.environ.get("DOMSIEVE_TEST_DOCS") != "all":
        pytest.skip("takes long: make test-all follows it")
    folder = tmp_path / "here"
    write_manual(folder / "pages")
    for file in ("page.html", "new.html"):
        (folder / file).write_bytes((folder / "pages" / "gaps.html").read_bytes())
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "crawl.warc.gz").write_bytes(crawl())
    monkeypatch.chdir(folder)
    monkeypatch.delenv("DOMSIEVE_CACHE", raising=False)
    addresses = {**servers, SERVICE: f"127.0.0.1:{free_port()}"}
    assert Follower(page, folder, addresses).follow() > 0


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_of_a_page_has_the_options_that_it_is_shown_with(page: Path) -> None:
    for block in blocks(page):
        for step in block.steps() if block.is_shell else ():
            for words in _calls(step.command):
                _check(words, f"{name(page)}:{step.line}")


def _calls(command: str) -> Iterator[list[str]]:
    """Yield the words of each call of domsieve in a line of shell."""
    for part in re.split(r"\s(?:\||&&|>|<|2>|&)(?:\s|$)|\s#\s", f" {command}"):
        words = shlex.split(part)
        while words and "=" in words[0]:
            words.pop(0)
        if words and (words[0] == "domsieve" or words[0].endswith("/bin/domsieve")):
            yield words[1:]


def _check(words: list[str], place: str) -> None:
    """Look up the command and the options of a call without running it; words in capitals are placeholders."""
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands"):
        assert words, place
        if words[0].startswith("--") or words[0].isupper():
            return
        assert words[0] in command.commands, f"{place}: there is no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)} | {"--help"}
    for option in (word.partition("=")[0] for word in words):
        assert not re.match(r"-[-a-z]", option) or option in known, f"{place}: there is no option {option}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_python_that_is_not_run_is_python(page: Path) -> None:
    for block in blocks(page):
        if block.language in ("py", "python"):
            compile(block.text, f"{name(page)}:{block.line}", "exec", flags=0x2000)  # top-level await


def test_foreign_hosts_are_named_where_nothing_is_run() -> None:
    """A command that names a foreign host is marked; hosts of archives and of ``url=`` are only names."""
    for page in PAGES:
        for block in blocks(page):
            if (block.is_shell or block.language == "python") and not block.not_run:
                hosts = set(re.findall(r"https?://([a-z0-9.-]+)", block.text))
                assert hosts <= {"127.0.0.1", "fern.example", "harbour.example"}, (
                    f"{name(page)}:{block.line}: {hosts}"
                )


def test_links_lead_to_files_and_headings() -> None:
    anchors: dict[Path, set[str]] = {}

    def headings(file: Path) -> set[str]:
        if file not in anchors:
            text = re.sub(r"^```.*?^```", "", file.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
            titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles)
            anchors[file] = {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}
        return anchors[file]

    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks/README.md"]:
        text = re.sub(r"^(    |```).*$", "", page.read_text("utf-8"), flags=re.MULTILINE)
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text)):
            if link.startswith(("http:", "https:")):
                continue
            path, _, anchor = link.partition("#")
            file = (page.parent / path).resolve() if path else page
            assert file.exists(), f"{name(page)}: {link}"
            assert not anchor or anchor in headings(file), f"{name(page)}: {link}"
