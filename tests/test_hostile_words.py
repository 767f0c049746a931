"""Words of strangers in results and messages: they steer no terminal, no spreadsheet and no reader of Markdown."""

import json
import logging
import re
from pathlib import Path

import pytest

from domsieve.commands.console import failures, say
from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.sanitize import plain
from domsieve.snapshot.store import PageStore
from domsieve.tasks.file_names import fault_of_name, folded
from tests.command import process, result_files, run

STEERING = "\x1b]0;title\x07\x1b[31m\x9b31m\u202e\u2066\u2028\r\nforged: line\x00\x7f"
# Tags, controls and marks that could act wherever the text is shown.
ACTS = set("\x00\x07\x1b\x7f\x9b\r\u202e\u2066\u2028")
CELLS = "".join(f"<td>{text}</td>" for text in ("=1+1", "+1", "@SUM(A1)", "-2"))
PAGE = (
    "<!doctype html><meta charset=utf-8><title>\x1b[31mtitle</title>"
    "<p class='\"><script>alert(1)</script>' onclick=alert(1)>First &lt;script&gt;alert(1)&lt;/script&gt; "
    "&lt;img src=x onerror=alert(1)&gt; [text](javascript:alert(1)) `code` **bold**</p><p># no heading</p>"
    "<kbd onclick=alert(1)>Esc</kbd>"
    "<p><a href=\"javascript:alert(1)\">run</a> <a href='JAVA\tSCRIPT:alert(1)'>run again</a> "
    "<a href='data:text/html,<script>alert(1)</script>'>data</a> <a href='/a) [x](y \"t\"'>path</a> "
    "<a href='/ok'>a ](javascript:alert(1)) b</a></p>"
    "<img alt='](x)![y' src=javascript:alert(1)><style>p::before{content:'x'}</style>"
    f"<table><tr>{CELLS}</tr></table>"
)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


def clean(page: Path, form: str) -> str:
    result = run("clean", page, "--method", "none", "--format", form, cache=page.parent / "cache")
    assert result.exit_code == 0
    return result.stdout


def test_plain_text_is_one_line_that_steers_nothing() -> None:
    assert not ACTS & set(plain(STEERING))
    assert plain(STEERING).count("\n") == 0
    assert plain("\x1b[31m a\nb") == "\\x1b[31m a b"
    assert plain("żółw 中文 ab\udcff \xa0") == "żółw 中文 ab\udcff \xa0"


def test_messages_and_logs_are_lines_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"failed: {STEERING}")
    root = logging.getLogger()
    handlers, root.handlers = root.handlers, []
    try:
        with failures():
            logging.getLogger("renderer").warning("lost %s", STEERING)
    finally:
        root.handlers = handlers
    lines = capsys.readouterr().err.split("\n")
    assert len(lines) == 3
    assert not ACTS & set("".join(lines))


def test_an_error_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    import typer

    with pytest.raises(typer.Exit), failures():
        raise TargetError(f"There is no {STEERING}", url=f"http://a.test/{STEERING}")
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert not ACTS & set(error)


def test_addresses_of_the_cache_are_lines_of_their_own(tmp_path: Path) -> None:
    with PageStore(tmp_path / "cache") as store:
        for number in range(2):
            page = parse_html(b"<p>words", url=f"http://a.test/{number}{STEERING}")
            store.put(page, source=b"<p>words", site="a.test")
    listed = run("cache", "list", cache=tmp_path / "cache").stdout
    assert len(listed.splitlines()) == 2
    assert not ACTS & set(listed)
    cleaned = process("clean", "a.test", "--method", "none", cache=tmp_path / "cache").stdout.decode()
    assert re.findall("^==> .* <==$", cleaned, re.MULTILINE) == [
        cleaned.splitlines()[0],
        cleaned.splitlines()[3],
    ]
    assert not ACTS & set(cleaned)


def test_file_names_are_no_commands(tmp_path: Path) -> None:
    for name in ("a\x1b[31m\n==> forged <==.html", "b.html"):
        (tmp_path / name).write_text("<p>words</p>", encoding="utf-8")
    result = process("clean", tmp_path, "--method", "none", cache=tmp_path / "cache")
    assert b"\x1b" not in result.stdout + result.stderr
    assert len(re.findall(rb"^==> ", result.stdout, re.MULTILINE)) == 2


def test_markdown_leads_nowhere_that_runs(page: Path) -> None:
    text = clean(page, "markdown")
    links = re.findall(r"(?<!\\)\]\(([^)]*)\)", text)
    assert links
    assert all(re.match(r"https?:|/", link) for link in links), links
    assert "(/a%29" in text
    unescaped = re.sub(r"\\.", "", text)
    assert not re.search(r"<(?!/?(?:kbd|mark|su[bp])>)[a-z/!]", unescaped), "no tag but the four bare ones"
    assert re.findall(r"<[a-z/!][^>]*>", unescaped) == ["<kbd>", "</kbd>"]
    assert "# no heading" not in [line.strip() for line in text.splitlines()]


def test_html_runs_nothing(page: Path) -> None:
    parsed = parse_html(clean(page, "html").encode(), url="http://a.test/")
    found = [item for node in range(len(parsed)) for item in parsed.attributes(node).items()]
    assert {name for name, _ in found} <= {"charset", "content", "href", "http-equiv", "alt", "src", "class"}
    addresses = [value for name, value in found if name in {"href", "src"}]
    assert addresses
    assert all(value.startswith("/") for value in addresses)
    assert not {"script", "style", "iframe"} & set(parsed.tags.to_list())
    assert "<script>alert(1)</script>" in "".join(parsed.strings.to_list()), "shown as text"


def test_text_and_json_hold_no_controls(page: Path) -> None:
    for form in ("text", "json"):
        assert not set("\x00\x07\x1b\x7f\x9b\r") & set(clean(page, form))
    facts = json.loads(clean(page, "json"))
    assert "[31mtitle" in json.dumps(facts, ensure_ascii=False)


def test_text_and_json_keep_marks_of_direction(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<meta charset=utf-8><p>a\u202eb\u2066c\u2069 and d", encoding="utf-8")
    for form in ("text", "json"):
        assert "a\u202eb\u2066c\u2069 and d" in clean(path, form)


def test_formulas_of_tables_stay_text(tmp_path: Path) -> None:
    rows = "".join(
        f"<li><a href=/p{n}>{start}1+cmd|x!A{n}</a> <span>{n}.50</span><p>words {n} more</p></li>"
        for n, start in enumerate("=+-@=+-@")
    )
    path = tmp_path / "list.html"
    path.write_text(f"<!doctype html><ul>{rows}</ul>", encoding="utf-8")
    result = process("records", path, cache=tmp_path / "cache")
    assert result.returncode == 0
    cells = re.findall(rb"(?:^|,)\"?([=+@-])", result.stdout, re.MULTILINE)
    assert cells == []
    assert result.stdout.count(b"cmd|x!A") == 8


TWINS = (
    "http://a.test/../../etc/passwd",
    "http://a.test/..%2f..%2fetc",
    "http://a.test/CON",
    "http://con/",
    "http://a.test/" + "x" * 300,
    "http://a.test/" + "x" * 301,
    "http://a.test/caf\u00e9",
    "http://a.test/cafe\u0301",
    "http://a.test/Case",
    "http://a.test/case",
    "http://a.test/a:b\\c",
    "http://a.test/\x00",
)


def test_files_named_after_addresses_stay_in_their_folder_and_apart(tmp_path: Path) -> None:
    with PageStore(tmp_path / "cache") as store:
        for url in TWINS:
            source = f"<title>../../{url}</title><p>words".encode()
            store.put(parse_html(source, url=url), source=source, site="a.test")
    out = tmp_path / "folder" / "out"
    out.parent.mkdir()
    result = process("clean", "a.test", "--method", "none", "--output-dir", out, cache=tmp_path / "cache")
    assert result.returncode == 0
    written = result_files(out)
    assert len({folded(name) for name in written}) == len(TWINS)
    assert not any(map(fault_of_name, written))
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    cached = [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert all(re.fullmatch(r"[0-9a-f]+(\.\w+)*|index\.\S+|[\w.-]+lock", name) for name in cached), cached
