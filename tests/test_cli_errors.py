"""Errors on the command line: the library says what is wrong, the command line adds what helps."""

import ast
import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

import domsieve
from domsieve import cli
from domsieve.commands.console import failures, option_of
from domsieve.commands.removed import REMOVED
from domsieve.errors import UsageError
from domsieve.renderer.network.egress import Egress
from tests.command import ROOT, run


def test_what_is_refused_as_private_names_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    async def nobody(_: str, __: int) -> list[str]:
        return ["10.0.0.7"]

    for host, is_named in (
        ("10.0.0.7", True),
        ("printer.local", True),
        ("example.org", True),
        ("a b", False),
    ):
        with pytest.raises(typer.Exit), failures():
            asyncio.run(Egress(resolver=nobody).decide("http", host, 80))
        assert ("--allow-private" in capsys.readouterr().err) is is_named


def test_an_index_that_cannot_be_used_names_the_command(tmp_path: Path) -> None:
    (tmp_path / "index.sqlite3").write_bytes(b"no database at all, but long enough to be taken for one" * 20)
    result = run("cache", "list", cache=tmp_path)
    assert result.exit_code == 5
    assert "repair the cache. `domsieve cache verify --repair` rebuilds it" in result.stderr
    assert run("cache", "verify", cache=tmp_path).exit_code == 5
    mended = run("cache", "verify", "--repair", cache=tmp_path)
    assert mended.exit_code == 5
    assert mended.stdout.endswith("is damaged: file is not a database; repair the cache. (mended)\n")
    assert run("cache", "verify", cache=tmp_path).exit_code == 0


@pytest.mark.parametrize(
    ("message", "parameter", "told"),
    [
        ("max_words is 3; give 20.", "max_words", "--max-words is 3; give 20."),
        ("The method cst has no mode.", "mode", "--mode: The method cst has no mode."),
        ("executable is no file.", "executable", "--browser is no file."),
        ("It cannot be.", None, "It cannot be."),
    ],
)
def test_a_wrong_parameter_is_told_as_the_option(
    capsys: pytest.CaptureFixture[str], message: str, parameter: str | None, told: str
) -> None:
    with pytest.raises(typer.Exit), failures():
        raise UsageError(message, parameter=parameter)
    assert capsys.readouterr().err == f"domsieve: {told}\n"


def options_of_commands() -> set[str]:
    waiting: list[Any] = [typer.main.get_command(cli.app)]
    found: set[str] = set()
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        found |= {option for one in command.params for option in one.opts if option.startswith("--")}
    return found


# The parameters of Playwright's pages, and the options that need a browser, of which the first one is named.
NAMED_ELSEWHERE = ("renderer/page/from_playwright.py", "tasks/render_modes.py")


def test_the_library_names_no_option_and_parameters_of_commands_have_one() -> None:
    options = options_of_commands()
    assert {"--param", "--token-file", "--workers"} <= options
    package = Path(domsieve.__file__).parent
    named: set[str] = set()
    for path in package.rglob("*.py"):
        room = path.relative_to(package).parts[0]
        if room in {"commands", "cli.py"}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            # Estimators and calls of the library have parameters that no command sets.
            if (
                isinstance(node, ast.keyword)
                and node.arg == "parameter"
                and room not in {"analysis", "integrations", "library", "declaration.py", "options.py"}
                and path not in {package / one for one in NAMED_ELSEWHERE}
            ):
                assert isinstance(node.value, ast.Constant), path
                named.add(str(node.value.value))
            if isinstance(node, ast.Raise) and node.exc is not None:
                raised = ast.unparse(node.exc)
                assert "`domsieve" not in raised, (path, raised)
                assert not [option for option in options if re.search(rf"{option}\b", raised)], (path, raised)
    assert {"port", "private_hosts", "deny_hosts"} <= named
    assert {option_of(parameter) for parameter in named} <= options


@pytest.mark.parametrize(("extra", "package"), [("serve", "uvicorn")])
def test_what_an_extra_would_install_is_missing(extra: str, package: str) -> None:
    hide = f"import sys; sys.modules['{package}'] = None; import importlib.util as u; f = u.find_spec; "
    hide += f"u.find_spec = lambda n, p=None: None if n == '{package}' else f(n, p); "
    code = hide + f"from domsieve import cli; cli.app(['{extra}'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert f"the extra {extra}" in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_a_removed_command_says_what_to_use_and_is_not_listed(tmp_path: Path) -> None:
    for words in (["evaluate"], ["evaluate", "all", "--data", "x"], ["-q", "evaluate", "--help"]):
        result = run(*words, cache=tmp_path)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == (
            "domsieve: `domsieve evaluate` is now `python -m experiments NAME --data DIR` in a checkout.\n"
        )
    assert "evaluate" not in run("--help", cache=tmp_path).stdout


def test_what_was_removed_is_no_command_and_no_option_now() -> None:
    commands: dict[str, Any] = {"": typer.main.get_command(cli.app)}
    for name in ("", "bulk", "cache"):
        commands |= {f"{name} {word}".strip(): one for word, one in commands[name].commands.items()}
    for removed in REMOVED:
        command, _, option = f" {removed}".rpartition(" --")
        assert option or removed not in commands
        for name, one in commands.items():
            if option and command.strip() in {"", name}:
                assert f"--{option}" not in {each for parameter in one.params for each in parameter.opts}


@pytest.mark.parametrize("option", [name for name in REMOVED if name.startswith("--")])
def test_a_removed_option_says_what_to_use(option: str, tmp_path: Path) -> None:
    for words in ([option, "2"], [f"{option}=2"], ["page.html", option]):
        result = run("clean", *words, cache=tmp_path)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == f"domsieve: `domsieve clean {option}` is now {REMOVED[option]}.\n"


def test_an_option_may_be_removed_from_one_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REMOVED, "clean --gone", "`--param gone=X`")
    assert "is now `--param gone=X`" in run("clean", "--gone", cache=tmp_path).stderr
    other = run("compare", "--gone", cache=tmp_path)
    assert other.exit_code == 2
    assert "is now" not in other.stderr


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[evaluate]\ndata = 'x'\n", "unknown table 'evaluate'. It is now `python -m experiments"),
        ("[weigh]\nformat = 'npz'\n", "unknown table 'weigh'. It is now `domsieve vectorize`"),
        (
            "[clean]\nkeep-hidden = true\n",
            "unknown key 'keep-hidden' in [clean]. It is now `hidden = \"keep\"`.",
        ),
        *(
            (f"[{table}]\n{name[2:]} = 1\n", f"It is now {name[2:].replace('-', '_')} in the table `params`.")
            for name, now in REMOVED.items()
            if name.startswith("--") and now.startswith("`--param")
            for table in ("clean", "all")
        ),
    ],
)
def test_a_configuration_file_with_what_was_removed_says_what_to_use(
    text: str, wanted: str, tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8")
    result = run("clean", "page.html", "--config", file, cache=tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert wanted in result.stderr


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[" * 100_000, "is not a storage-state file: "),
        (b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "is not a storage-state file: "),
        (b'{"cookies": [{"name": "a", "value": 1, "domain": "b"}]}', "Expected `str`, got `int`"),
        (b'{"cookies": [{"name": "a", "value": "1"}]}', "missing required field `domain`"),
        (b'{"origins": [{"origin": ["x"]}]}', "Expected `str`, got `array`"),
        (b'{"cookies": "\xff"}', "is not a storage-state file: "),
    ],
)
def test_a_wrong_storage_state_is_one_error(tmp_path: Path, content: bytes, why: str) -> None:
    file = tmp_path / "state.json"
    file.write_bytes(content)
    urls = ("http://127.0.0.1:8123/1", "http://127.0.0.1:8123/2")
    done = run("render", *urls, "--storage-state", file, cache=tmp_path / "cache")
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert why in done.stderr


def test_a_session_that_others_may_read_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_bytes(b"{}")
    for mode, is_reported in ((0o644, True), (0o600, False)):
        file.chmod(mode)
        done = run("render", "http://127.0.0.1:8123/1", "--storage-state", file, cache=tmp_path / "cache")
        assert ("chmod 600" in done.stderr) is is_reported
