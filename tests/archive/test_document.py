"""Every example of docs/archives.md runs and prints what stands below it."""

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import Any

from tests.archive.made import answer, packed, record, written
from tests.command import ROOT, page, process

DOCUMENT = ROOT / "docs/archives.md"
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FERN = "http://fern.example"


def crawl() -> bytes:
    """Return the archive of the document: nine pages, of which one is damaged and one an error, and a picture."""
    members = [
        *(packed([record(answer(page(n).encode()), url=f"{FERN}/{n}", number=n)]) for n in range(1, 8)),
        packed([record(answer(b"<title>Gone</title><p>Gone.", status="404 Not Found"), url=f"{FERN}/gone")]),
        packed([record(answer(page(8).encode()), url=f"{FERN}/8", number=8)]),
        packed([record(answer(b"\x89PNG", kind="image/png"), url=f"{FERN}/moss.png")]),
    ]
    members[3] = members[3][:-30]
    return b"".join(members)


def test_all_examples_run(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, crawl(), "crawl.warc.gz")
    names: dict[str, Any] = {"__name__": "example"}
    printed = ""
    kinds = []
    for kind, content in BLOCK.findall(DOCUMENT.read_text(encoding="utf-8")):
        kinds.append(kind)
        if kind == "text":
            assert printed == content
        elif kind == "console":
            line, _, told = content.partition("\n")
            done = process(*shlex.split(line)[2:], cache=tmp_path / "cache", cwd=tmp_path)
            assert (done.returncode, done.stderr.decode()) == (1, told)
        else:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(content, str(DOCUMENT), "exec"), names)
            printed = out.getvalue()
    assert kinds == ["console", "python", "text", "python", "text"]
    assert len(list((tmp_path / "clean").iterdir())) == 7
