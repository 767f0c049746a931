"""Every example of docs/python.md runs, one after the other, and prints what stands below it."""

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from examples.serve import serve_demo
from tests.command import ROOT, run

DOCUMENT = ROOT / "docs/python.md"
ADDRESS = "http://127.0.0.1:8000"
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.browser
@pytest.mark.slow
def test_all_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = DOCUMENT.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "example"}
    printed = ""
    outputs = 0
    with serve_demo() as base:

        def localized(words: str) -> str:
            return words.replace(ADDRESS, base).replace(ADDRESS.removeprefix("http://"), base[7:])

        for block in BLOCK.finditer(text):
            kind, content = block.groups()
            line = text[: block.start()].count("\n") + 2
            if kind == "text":
                assert printed.strip().splitlines() == localized(content).splitlines(), f"{DOCUMENT}:{line}"
                outputs += 1
                continue
            if kind == "console":
                command, *words = shlex.split(localized(content).removeprefix("$ "))
                assert command == "domsieve"
                assert run(*words, cache=tmp_path / "other").exit_code == 0
                continue
            # Lines of tracebacks are those of the document.
            code = compile("\n" * (line - 1) + localized(content), str(DOCUMENT), "exec")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, names)
            printed = out.getvalue()
    assert outputs == sum("print(" in content for kind, content in BLOCK.findall(text)) > 10
    # What needs a page that somebody else has opened is marked "py", and not run here.
    assert text.count("```") == 2 * (len(BLOCK.findall(text)) + text.count("```py\n"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clean", "field-club", "shop.csv"]
