"""The validator of WACZ accepts what is written, byte for byte as it is and not when it is changed."""

import subprocess
import sys
from pathlib import Path

from examples.serve import serve_demo
from tests.archive.test_writing import PICTURE, POSTED, REFUSED, asked, made

VALIDATOR = Path(sys.executable).with_name("wacz")


def validated(path: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [VALIDATOR, "validate", "-f", path], capture_output=True, text=True, check=False, timeout=600
    )


def accepts(path: Path) -> bool:
    done = validated(path)
    return (done.returncode, "invalid" in done.stdout.lower(), "Valid" in done.stdout) == (0, False, True)


def test_answers_of_all_kinds_are_accepted(tmp_path: Path) -> None:
    path = made(tmp_path / "a.wacz", asked(), PICTURE, POSTED, REFUSED)
    assert accepts(path), validated(path)


def test_what_a_browser_recorded_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "site.wacz"
    with serve_demo() as base:
        options = ["--archive", str(path), "--cache", str(tmp_path / "cache"), "--driver", "pipe"]
        urls = [f"{base}/articles/swifts", f"{base}/shop"]
        subprocess.run(
            [sys.executable, "-m", "domsieve.cli", "render", *options, *urls], check=True, timeout=600
        )
    assert accepts(path), validated(path)


def test_what_was_changed_is_not(tmp_path: Path) -> None:
    path = made(tmp_path / "a.wacz", asked())
    data = path.read_bytes()
    assert data.count(b'"title": "a"') == 1
    path.write_bytes(data.replace(b'"title": "a"', b'"title": "b"'))
    assert not accepts(path)
