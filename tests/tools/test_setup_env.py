"""Set-up does what is missing, once, and mends what was interrupted."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tools import setup_env


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "requirements-dev.lock").write_text("one==1\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    return tmp_path


class Recorder:
    """Stands for ``setup_env.run``: makes an environment without packages and notes what was asked."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.failing: str | None = None

    def __call__(self, command: Sequence[str | Path]) -> int:
        words = [str(word) for word in command]
        step = next(word for word in ("venv", "--require-hashes", "--editable") if word in words)
        self.steps.append(step)
        if step == "venv":
            shutil.rmtree(words[-1], ignore_errors=True)
            program = Path(words[-1]) / "bin/python"
            program.parent.mkdir(parents=True)
            program.symlink_to(sys.executable)
        return int(step == self.failing)

    def taken(self) -> list[str]:
        steps, self.steps = self.steps, []
        return steps


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(setup_env, "run", recorder)
    return recorder


ALL = ["venv", "--require-hashes", "--editable"]


def test_second_run_calls_no_pip(root: Path, recorder: Recorder) -> None:
    setup_env.ensure_environment(root, root / ".venv")
    assert recorder.taken() == ALL
    setup_env.ensure_environment(root, root / ".venv")
    assert recorder.taken() == []


@pytest.mark.parametrize(
    ("changed", "steps"), [("requirements-dev.lock", ALL), ("pyproject.toml", ["--editable"])]
)
def test_a_change_renews_what_depends_on_it(
    root: Path, recorder: Recorder, changed: str, steps: list[str]
) -> None:
    setup_env.ensure_environment(root, root / ".venv")
    recorder.taken()
    with (root / changed).open("a", encoding="utf-8") as file:
        file.write("# more\n")
    setup_env.ensure_environment(root, root / ".venv")
    assert recorder.taken() == steps
    setup_env.ensure_environment(root, root / ".venv")
    assert recorder.taken() == []


@pytest.mark.parametrize("failing", ALL)
def test_a_half_made_environment_is_made_anew(root: Path, recorder: Recorder, failing: str) -> None:
    recorder.failing = failing
    with pytest.raises(setup_env.SetupError):
        setup_env.ensure_environment(root, root / ".venv")
    recorder.failing = None
    recorder.taken()
    setup_env.ensure_environment(root, root / ".venv")
    assert recorder.taken() == ALL


def spoil_stamp(venv: Path) -> None:
    (venv / setup_env.STAMP).write_text("{", encoding="utf-8")


def lose_python(venv: Path) -> None:
    (venv / "bin/python").unlink()


@pytest.mark.parametrize("damage", [spoil_stamp, lose_python])
def test_a_damaged_environment_is_made_anew(
    root: Path, recorder: Recorder, damage: Callable[[Path], None]
) -> None:
    setup_env.ensure_environment(root, root / ".venv")
    recorder.taken()
    damage(root / ".venv")
    setup_env.ensure_environment(root, root / ".venv")
    assert recorder.taken() == ALL


@pytest.mark.parametrize("words", [[], [setup_env.WITHOUT_BROWSER]])
def test_a_browser_is_looked_for_unless_told_otherwise(
    root: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    looked: list[Path] = []
    monkeypatch.setattr(setup_env, "ROOT", root)
    monkeypatch.setattr(setup_env, "ensure_browser", lambda _, venv: looked.append(venv))
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert setup_env.main([*words, str(root / "other")]) == 0
    assert recorder.taken() == ALL
    assert looked == ([] if words else [root / "other"])


class Machine:
    """A checkout and a PATH of stub programs. Chrome is there when the file ``chrome`` is."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.venv = root / ".venv"
        self.path = root / "path"
        self.chrome = root / "chrome"
        self.log = root / "log"
        self.log.touch()
        look = f"test -e {self.chrome} || {{ echo none >&2; exit 3; }}; echo ours; echo {self.chrome}"
        self.program(self.venv / "bin/python", look)
        self.program(self.venv / "bin/playwright", "exit 1")

    def program(self, path: Path, script: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "${{0##*/}} $*" >> {self.log}\n{script}\n', encoding="utf-8")
        path.chmod(0o755)

    def installs(self) -> list[str]:
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [line for line in lines if not line.startswith("python ")]

    def looks(self) -> int:
        return self.log.read_text(encoding="utf-8").count("python -m tools.find_browser")


@pytest.fixture
def machine(root: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(root)
    monkeypatch.setenv("PATH", str(machine.path))
    monkeypatch.delenv("DOMSIEVE_BROWSER", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return machine


PLAYWRIGHT = "playwright install --only-shell chromium"


def test_a_chrome_that_starts_is_left_alone(machine: Machine) -> None:
    machine.chrome.touch()
    setup_env.ensure_browser(machine.root, machine.venv)
    assert machine.installs() == []


def test_a_chrome_is_looked_for_again_only_after_a_change(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.chrome.touch()
    setup_env.ensure_browser(machine.root, machine.venv)
    setup_env.ensure_browser(machine.root, machine.venv)
    assert machine.looks() == 1
    machine.chrome.write_text("newer", encoding="utf-8")
    setup_env.ensure_browser(machine.root, machine.venv)
    assert machine.looks() == 2
    monkeypatch.setenv("DOMSIEVE_BROWSER", "another")
    setup_env.ensure_browser(machine.root, machine.venv)
    assert machine.looks() == 3
    machine.chrome.unlink()
    with pytest.raises(setup_env.SetupError):
        setup_env.ensure_browser(machine.root, machine.venv)
    assert machine.looks() == 4


def test_playwright_is_asked_first(machine: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    machine.program(machine.path / "apt-get", "exit 1")
    machine.program(machine.venv / "bin/playwright", f": > {machine.chrome}; echo downloading")
    setup_env.ensure_browser(machine.root, machine.venv)
    assert machine.installs() == [PLAYWRIGHT]
    out, err = capfd.readouterr()
    assert out == ""
    assert PLAYWRIGHT in err


def test_root_of_debian_gets_the_package(machine: Machine) -> None:
    machine.program(machine.path / "apt-get", f'case "$*" in *headless-shell) : > {machine.chrome};; esac')
    setup_env.ensure_browser(machine.root, machine.venv)
    update, install = machine.installs()[1:]
    assert update.startswith("apt-get ")
    assert update.endswith(" update")
    assert install.endswith(" install -y --no-install-recommends chromium-headless-shell")


def test_root_without_that_package_gets_the_libraries(machine: Machine) -> None:
    machine.program(machine.path / "apt-get", "exit 100")
    machine.program(
        machine.venv / "bin/playwright", f'case "$*" in install-deps*) : > {machine.chrome};; esac'
    )
    setup_env.ensure_browser(machine.root, machine.venv)
    assert machine.installs()[-1] == "playwright install-deps chromium-headless-shell"


def test_others_than_root_are_told_what_to_do(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.program(machine.path / "apt-get", "exit 0")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(setup_env.SetupError, match="none"):
        setup_env.ensure_browser(machine.root, machine.venv)
    assert machine.installs() == [PLAYWRIGHT]


def test_nothing_is_installed_beside_a_browser_that_was_asked_for(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOMSIEVE_BROWSER", "/no/such")
    with pytest.raises(setup_env.SetupError, match="none"):
        setup_env.ensure_browser(machine.root, machine.venv)
    assert machine.installs() == []


def test_nothing_is_installed_when_the_search_itself_fails(machine: Machine) -> None:
    machine.program(machine.venv / "bin/python", "echo Traceback >&2; exit 1")
    with pytest.raises(setup_env.SetupError, match="Traceback"):
        setup_env.ensure_browser(machine.root, machine.venv)
    assert machine.installs() == []


def test_a_command_over_its_limit_ends_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "child"
    wait = subprocess.Popen.wait

    def wait_for_the_child(process: "subprocess.Popen[bytes]", timeout: float | None = None) -> int:
        if timeout != 77.0:
            return wait(process, timeout)
        while not note.exists() or not note.read_text(encoding="utf-8").endswith("\n"):
            time.sleep(0.01)
        raise subprocess.TimeoutExpired("sh", timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", wait_for_the_child)
    assert setup_env.run(["sh", "-c", f"sleep 600 & echo $! > {note}; wait"], limit_s=77.0) == 124
    child = int(note.read_text(encoding="utf-8"))
    state = Path(f"/proc/{child}/stat")
    for _ in range(2400):
        # An orphan stays as a zombie until the system's first process collects it.
        if not state.exists() or state.read_text(encoding="utf-8").split()[2] == "Z":
            break
        time.sleep(0.05)
    else:
        pytest.fail("the child is still there")


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_an_old_python_gives_one_clear_error() -> None:
    done = subprocess.run(
        ["make", "-C", setup_env.ROOT, "setup", "PYTHON=false no-such"],
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in done.stderr.splitlines() if "***" in line]
    assert done.returncode != 0
    assert len(errors) == 1
    assert "domsieve needs Python 3.11 or newer and found none as: false no-such" in errors[0]
