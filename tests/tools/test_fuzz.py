"""The long run of the fuzz tests: it finds, keeps and counts, and goes on where it stopped."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fuzz.fuzzing import LONGER
from tools.fuzz import ROOT, State, fuzz, groups, main

SOUND = """
from hypothesis import strategies as st
from tests.fuzz.fuzzing import fuzzed

@fuzzed(4, text=st.text())
def test_text_is_text(text: str) -> None:
    assert text == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
"""
FAULTY = """
from hypothesis import strategies as st
from tests.fuzz.fuzzing import fuzzed

@fuzzed(25, data=st.binary(), numbers=st.lists(st.integers()))
def test_two_faults(data: bytes, numbers: list[int]) -> None:
    assert b"\\xff" not in data
    if any(number > 10 for number in numbers):
        raise ValueError("large")
"""
ENDLESS = """
from pathlib import Path
from hypothesis import strategies as st
from tests.fuzz.fuzzing import fuzzed

tried = []

@fuzzed(1_000_000, text=st.text())
def test_without_end(text: str) -> None:
    tried.append(text)
    if len(tried) == 3:
        Path(__file__).with_name("begun").touch()
"""


@pytest.fixture
def tests(tmp_path: Path) -> Path:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_sound.py").write_text(SOUND)
    (folder / "test_faulty.py").write_text(FAULTY)
    return folder


def test_what_fails_is_kept_and_hides_nothing(
    tests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = tmp_path / "build"
    assert groups(tests) == ["faulty", "sound"]
    for seed, following in ((7, 8), (None, 9)):
        assert fuzz(tests, build, minutes=0, seed=seed, only=["faulty"]) == 1
        assert State.load(build / "state.json").seed == following
    kept = [json.loads(path.read_text()) for path in sorted((tests / "found" / "faulty").iterdir())]
    assert {facts["fault"].partition(":")[0].partition(" at ")[0] for facts in kept} == {
        "AssertionError",
        "ValueError",
    }
    assert {"data": {"bytes": "\xff"}, "numbers": []} in [facts["input"] for facts in kept]
    assert {"data": {"bytes": ""}, "numbers": [11]} in [facts["input"] for facts in kept]
    assert "faulty::test_two_faults" in capsys.readouterr().err
    assert State.load(build / "state.json").groups["faulty"].rounds == 2


def test_a_run_without_a_fault_counts_its_inputs(tests: Path, tmp_path: Path) -> None:
    assert fuzz(tests, tmp_path, minutes=0, seed=None, only=["sound"]) == 0
    state = State.load(tmp_path / "state.json")
    assert (state.seed, state.groups["sound"].inputs) == (2, 4 * LONGER)


def test_an_interrupt_keeps_what_was_done(tests: Path, tmp_path: Path) -> None:
    (tests / "test_endless.py").write_text(ENDLESS)
    code = (
        "import sys; from pathlib import Path; from tools.fuzz import main\n"
        "sys.exit(main(['--only', 'endless'], *map(Path, sys.argv[1:])))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, tests, tmp_path], cwd=ROOT, stderr=subprocess.PIPE, text=True
    ) as process:
        while not (tests / "begun").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 130, said
    state = State.load(tmp_path / "state.json")
    assert state.groups["endless"].inputs >= 3


def test_an_unknown_group_is_refused(tests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "nothing"], tests, tmp_path) == 2
    assert "there is no nothing; there are faulty, sound" in capsys.readouterr().err
