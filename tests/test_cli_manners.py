"""The manners of the command line: help, what is said, the configuration file, completion."""

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from msgspec import structs

from domsieve import cli
from domsieve.commands.command_groups import EXAMPLES, OPTION_GROUPS, option_group
from domsieve.declaration import OptionGroup
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.store import PageStore
from tests.command import COMMAND, fill, process, run, write_pages

URLS = ["https://example.org/", "https://example.org/a"]
WIDTH = 80
Words = tuple[str | Path, ...]


def commands_of(command: Any, above: str = "") -> dict[str, Any]:
    """Return every command by its words."""
    found: dict[str, Any] = {}
    for name, one in command.commands.items():
        words = f"{above} {name}".strip()
        found |= commands_of(one, words) if hasattr(one, "commands") else {words: one}
    return found


PROGRAM: Any = typer.main.get_command(cli.app)
COMMANDS = commands_of(PROGRAM)


def program() -> Path:
    """Return the installed command."""
    path = Path(sys.executable).parent / "domsieve"
    if not path.is_file():
        pytest.skip("the program is not installed beside this Python")
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    fill(folder, URLS)
    return folder


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return where the user's own file is looked for, when XDG_CONFIG_HOME is the folder of the test."""
    path = tmp_path / "domsieve/config.toml"
    path.parent.mkdir()
    return path


class TestHelp:
    def test_every_option_has_one_group_and_every_group_an_option(self) -> None:
        options = {
            name.removeprefix("--")
            for command in (PROGRAM, *COMMANDS.values())
            for parameter in command.params
            for name in parameter.opts
            if name.startswith("--")
        }
        assert options <= OPTION_GROUPS.keys()
        assert OPTION_GROUPS.keys() - options == {"help"}  # which Typer adds
        assert set(OPTION_GROUPS.values()) == set(get_args(OptionGroup))

    @pytest.mark.parametrize("words", COMMANDS)
    def test_each_shows_its_options_by_group_and_an_example(self, words: str, cache: Path) -> None:
        done = run(*words.split(), "--help", cache=cache)
        assert (done.exit_code, done.stderr) == (0, "")
        text = done.stdout
        headings = [line[:-1] for line in text.splitlines() if re.fullmatch(r"[A-Z][a-z]+:", line)]
        order = [name for name in ("Arguments", *get_args(OptionGroup), "Example") if name in headings]
        assert headings == order
        assert "Example" in headings
        assert all(len(line) <= WIDTH for line in text.splitlines())
        flat = "".join(text.split())  # lines end behind hyphens, too
        for parameter in COMMANDS[words].params:
            help_text = "".join((parameter.help or "").split())
            assert help_text, parameter.name
            assert help_text in flat
            if parameter.opts[0].startswith("--"):
                section = text.partition(f"\n{option_group(parameter)}:\n")[2].partition("\n\n")[0]
                assert parameter.opts[0] in section

    def test_no_sentence_on_a_command_is_cut(self, cache: Path) -> None:
        for words, group in (((), PROGRAM), (("cache",), PROGRAM.commands["cache"])):
            flat = " ".join(run(*words, "--help", cache=cache).stdout.split())
            assert "..." not in flat.replace("[ARGS]...", "")
            for one in group.commands.values():
                assert " ".join(one.help.partition("\n\n")[0].split()) in flat

    @pytest.mark.parametrize("words", COMMANDS)
    def test_the_examples_are_calls_that_the_program_takes(self, words: str) -> None:
        name, *rest = shlex.split(EXAMPLES[words])
        assert name == "domsieve"
        assert " ".join(rest).startswith(words)
        command, given = COMMANDS[words], rest[len(words.split()) :]
        context = command.make_context(words, given, resilient_parsing=True)
        assert context.args == []

    def test_it_loads_nothing_heavy(self) -> None:
        heavy = [
            "numpy",
            "rich",
            "playwright",
            "msgspec",
            "lxml",
            "tomllib",
            "domsieve.renderer",
            "domsieve.tasks",
        ]
        code = (
            "import contextlib, sys; from domsieve.cli import app\n"
            "with contextlib.suppress(SystemExit): app(['clean', '--help'])\n"
            f"sys.exit(', '.join(n for n in {heavy} if n in sys.modules) or 0)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


class TestLoudness:
    def test_quiet_says_errors_only_and_prints_the_same_results(self, cache: Path, tmp_path: Path) -> None:
        pages = write_pages(tmp_path / "pages", 2)
        (tmp_path / "pages/empty.html").write_text("")
        words: Words = ("clean", "--method", "sst", *pages, tmp_path / "pages/empty.html")
        loud = process(*words, cache=cache)
        assert b"--method auto cleans single pages" in loud.stderr
        for quiet in (("--quiet", *words), (*words, "-q")):
            done = process(*quiet, cache=cache)
            assert (done.returncode, done.stdout) == (loud.returncode, loud.stdout)
            assert [line.partition(b": ")[0].rpartition(b"/")[2] for line in done.stderr.splitlines()] == [
                b"empty.html",
                b"1 of 3 pages failed.",
            ]

    def test_quiet_drops_what_is_no_error(self, cache: Path) -> None:
        assert run("cache", "remove", "example.org", cache=cache).stderr == "2 pages removed\n"
        assert run("cache", "verify", "-q", cache=cache).stderr == ""

    def test_verbose_says_what_is_used_and_where_an_error_comes_from(
        self, cache: Path, config: Path, tmp_path: Path
    ) -> None:
        config.write_text("[all]\njson = true\n")
        home = {"XDG_CONFIG_HOME": str(tmp_path)}
        done = process("cache", "show", "--verbose", "0123456789", cache=cache, environment=home)
        said = done.stderr.decode()
        assert f"configuration: {config}\n" in said
        assert f"cache: {cache}\n" in said
        assert "Traceback" in said
        assert said.splitlines()[-1].startswith("domsieve: ")
        done = process("cache", "list", "--verbose", cache=cache)
        assert b"configuration: none\n" in done.stderr

    def test_both_at_once_are_refused(self, cache: Path) -> None:
        for words in (("-q", "cache", "list", "-v"), ("cache", "list", "-q", "-v")):
            done = run(*words, cache=cache)
            assert done.exit_code == 2
            assert "Give either --quiet or --verbose." in done.stderr

    def test_one_page_is_one_page(self, cache: Path) -> None:
        run("cache", "remove", "example.org", cache=cache)
        fill(cache, URLS[:1])
        assert run("cache", "verify", cache=cache).stderr == "1 page, 0 problems\n"
        assert run("cache", "remove", "example.org", cache=cache).stderr == "1 page removed\n"


class TestConfigurationFile:
    def test_it_gives_defaults_for_one_command_and_for_all(
        self, cache: Path, config: Path, tmp_path: Path
    ) -> None:
        page = write_pages(tmp_path / "pages", 1)[0]
        config.write_text(
            f'[all]\ncache = "{cache}"\n[clean]\nmethod = "tps"\n'
            'drop-kind = ["tables", "share"]\n[cache.list]\njson = true\n'
        )
        home = {"XDG_CONFIG_HOME": str(tmp_path), "DOMSIEVE_CACHE": ""}
        listed = process("cache", "list", cache=tmp_path, environment=home)
        assert (listed.returncode, listed.stderr) == (0, b"")
        assert listed.stdout.startswith(b'{"page_id"')
        cleaned = process("clean", page, "--json", cache=tmp_path, environment=home)
        assert b'"method":"tps"' in cleaned.stdout

    def test_a_table_has_the_parameters_of_the_method(self, config: Path, tmp_path: Path) -> None:
        page = write_pages(tmp_path / "pages", 1)[0]
        config.write_text('[clean]\nmethod = "tps"\nparams = {regions = 2, complement = true}\n')
        whole = json.loads(run("clean", page, "--json", "--config", config, cache=tmp_path).stdout)
        assert (whole["parameters"]["regions"], whole["parameters"]["complement"]) == (2, True)
        config.write_text('[clean]\nmethod = "tps"\nparams = {region = 2}\n')
        refused = run("clean", page, "--config", config, cache=tmp_path)
        assert refused.exit_code == 2
        assert "no parameter 'region'; it has" in refused.stderr
        config.write_text("[clean]\nparams = 3\n")
        assert "give a table of parameters" in run("clean", page, "--config", config, cache=tmp_path).stderr

    def test_the_command_line_wins_over_the_environment_and_that_over_the_file(
        self, cache: Path, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other, third = tmp_path / "other", tmp_path / "third"
        fill(other, URLS[:1])
        fill(third, [*URLS, "https://example.org/b"])
        config.write_text(f'[all]\ncache = "{other}"\nbrowser = "/no/such"\nquiet = true\n')
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        monkeypatch.delenv("DOMSIEVE_BROWSER", raising=False)

        assert len(run("cache", "list", "--cache", third, cache=cache).stdout.splitlines()) == 3
        assert len(run("cache", "list", cache=cache).stdout.splitlines()) == 2
        listed = process("cache", "list", cache=tmp_path, environment={"DOMSIEVE_CACHE": ""})
        assert len(listed.stdout.splitlines()) == 1
        assert "/no/such" in run("doctor", cache=cache).stderr
        monkeypatch.setenv("DOMSIEVE_BROWSER", "/no/other")
        assert "/no/other" in run("doctor", cache=cache).stderr
        # What is loud on the command line is loud.
        assert "2 pages, 0 problems" in run("cache", "verify", "--verbose", cache=cache).stderr
        assert run("cache", "verify", cache=cache).stderr == ""

    def test_an_option_takes_another_file(
        self, cache: Path, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        config.write_text("this is no TOML")
        other = tmp_path / "other.toml"
        other.write_text("[cache.list]\njson = true\n")
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        for words in (("--config", other, "cache", "list"), ("cache", "list", "--config", other)):
            assert run(*words, cache=cache).stdout.startswith('{"page_id"')
        done = run("cache", "list", "--config", tmp_path / "none.toml", cache=cache)
        assert done.exit_code == 2
        assert "none.toml cannot be read: No such file" in done.stderr

    def test_none_is_read_from_the_working_folder(self, cache: Path, tmp_path: Path) -> None:
        for name in ("config.toml", "domsieve.toml", ".domsieve.toml", "domsieve/config.toml"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("[all]\njson = true\n")
        for home in (".", ""):
            environment = {"XDG_CONFIG_HOME": home, "HOME": str(tmp_path / "nobody")}
            done = subprocess.run(
                [program(), "cache", "list"],
                capture_output=True,
                check=False,
                cwd=tmp_path,
                env={**os.environ, "DOMSIEVE_CACHE": str(cache), **environment},
            )
            assert (done.returncode, len(done.stdout.splitlines())) == (0, 2)
            assert b"{" not in done.stdout, home

    def test_it_is_found_in_the_home_of_the_user(self, cache: Path, tmp_path: Path) -> None:
        folder = tmp_path / ".config/domsieve"
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text('[all]\njson = true\n[cache.show]\ncache = "~/cache"\n')
        home = {"XDG_CONFIG_HOME": "", "HOME": str(tmp_path), "DOMSIEVE_CACHE": ""}
        listed = process("cache", "list", "--cache", cache, cache=cache, environment=home)
        page_id = re.findall(rb'"page_id": "(\w+)"', listed.stdout)[0].decode()
        shown = process("cache", "show", page_id, cache=cache, environment=home)
        assert (shown.returncode, shown.stderr) == (0, b"")

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (
                "[clean]\nmetod = 'sst'",
                ["'metod' in [clean]", "Did you mean method?", "There are: ", "params"],
            ),
            (
                "[claen]\nmethod = 'sst'",
                ["table 'claen'", "Did you mean clean?", "There are: all, ", "bulk.clean"],
            ),
            ("[cache.lst]\njson = true", ["table 'cache.lst'", "Did you mean cache.list?"]),
            ("[all]\nmetod = 'sst'", ["'metod' in [all]", "Did you mean method?"]),
            ("method = 'sst'", ["method is outside of a table", "[all]", "[clean]"]),
            ("[cache]\njson = true", ["cache.json is outside of a table"]),
            ("[clean]\ntimeout = '20'", ["timeout of [clean] is '20'; give a number."]),
            ("[clean]\ntimeout = true", ["timeout of [clean] is 'True'; give a number."]),
            ("[clean]\nmax-words = 30.5", ["max-words of [clean] is '30.5'; give a whole number."]),
            ("[clean]\nmax-words = 3", ["max-words of [clean] is '3'; ", "20"]),
            ("[clean]\nscroll = 1", ["scroll of [clean] is '1'; give true or false."]),
            ("[clean]\ncache = ['a']", ["cache of [clean] is", "give a path in quotes."]),
            ("[clean]\nclick = 3", ["click of [clean] is '3'; give a text in quotes, or a list of them."]),
            ("[clean]\nmethod = 'best'", ["is 'best'; give one of auto, sst, cst, "]),
            ("[all]\nformat = 'csv'", ["format of [all] is 'csv' for ", "give one of "]),
            ("[clean]\ndrop-kind = 'menus'", ["drop-kind of [clean] is 'menus'; ", "comments"]),
            ("[clean]\nconfig = 'other.toml'", ["unknown key 'config' in [clean]"]),
            ("[clean\n", ["is not valid TOML: "]),
        ],
    )
    def test_what_no_command_takes_is_one_line_with_file_key_and_choices(
        self, cache: Path, config: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: list[str]
    ) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(config.parents[1]))
        config.write_text(text)
        done = run("cache", "list", cache=cache)
        lines = done.stderr.splitlines()
        assert (done.exit_code, len(lines), done.stdout) == (2, 1, "")
        assert lines[0].startswith("domsieve: ")
        for part in (str(config), *said):
            assert part in lines[0]

    def test_help_is_there_whatever_is_in_it(
        self, cache: Path, config: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(config.parents[1]))
        config.write_text("[clean\n")
        for words in (("--help",), ("clean", "--help"), ("--version",)):
            assert run(*words, cache=cache).exit_code == 0


class TestInstalled:
    """What is asked of the installed program."""

    def test_it_completes_commands_and_options_in_a_shell(self, tmp_path: Path) -> None:
        test_mode = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
        shown = subprocess.run(
            [program(), "--show-completion", "bash"],
            capture_output=True,
            text=True,
            check=True,
            env=test_mode,
        )
        script = (
            f"PATH={shlex.quote(str(program().parent))}:$PATH\n{shown.stdout}\n"
            "COMP_WORDS=(domsieve cl) COMP_CWORD=1; _domsieve_completion domsieve; echo ${COMPREPLY[@]}\n"
            "COMP_WORDS=(domsieve clean --hid) COMP_CWORD=2; _domsieve_completion domsieve; echo ${COMPREPLY[@]}\n"
        )
        done = subprocess.run(
            ["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        assert (done.stdout.split(), done.stderr) == (["clean", "--hidden"], "")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no terminals of this kind")
class TestProgress:
    """A bar where stderr is a terminal; lines alone elsewhere."""

    def on_terminal(self, *words: str | Path, cache: Path, **environment: str) -> tuple[bytes, str]:
        """Return what a command prints to stdout, a pipe, and what a terminal gets from it."""
        import pty

        ours, theirs = pty.openpty()
        given = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "TERM", "CI"}}
        env = {**given, "TERM": "xterm", "COLUMNS": "100", "DOMSIEVE_CACHE": str(cache), **environment}
        with subprocess.Popen(
            [*COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=theirs, env=env
        ) as running:
            os.close(theirs)
            seen = []
            while True:
                try:
                    part = os.read(ours, 65_536)
                except OSError:  # the other end is closed
                    break
                if not part:
                    break
                seen.append(part)
            os.close(ours)
            printed, _ = running.communicate()
        assert running.returncode in {0, 1}
        return printed, b"".join(seen).decode()

    def test_a_terminal_shows_how_far_how_fast_and_how_long(self, cache: Path, tmp_path: Path) -> None:
        pages = write_pages(tmp_path / "pages", 12)
        words: Words = ("clean", "--method", "none", "--json", *pages)
        plain = process(*words, cache=cache)
        printed, seen = self.on_terminal(*words, cache=cache)
        assert printed == plain.stdout
        assert "\x1b[" in seen
        assert "cleaning" in seen
        assert "12/12" in seen
        assert re.search(r"[0-9.,]+ pages/(s|min)", seen)
        assert re.search(r"[0-9-]+:[0-9-]+\S* left", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen))
        assert plain.stderr == b""

    def test_errors_stand_above_the_bar(self, cache: Path, tmp_path: Path) -> None:
        pages = write_pages(tmp_path / "pages", 3)
        (tmp_path / "pages/empty.html").write_text("")
        _, seen = self.on_terminal(
            "clean", "--method", "none", *pages, tmp_path / "pages/empty.html", cache=cache
        )
        lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen).replace("\r", "\n").splitlines()
        assert [line for line in lines if "empty.html" in line]
        assert "1 of 4 pages failed." in lines

    @pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"QUIET": "1"}])
    def test_none_is_drawn_where_nobody_wants_it(
        self, cache: Path, tmp_path: Path, environment: dict[str, str]
    ) -> None:
        pages = write_pages(tmp_path / "pages", 3)
        quiet = ["--quiet"] if "QUIET" in environment else []
        words: Words = ("clean", "--method", "none", *quiet, *pages)
        printed, seen = self.on_terminal(*words, cache=cache, **environment)
        assert (seen, printed.count(b"==>")) == ("", 3)


class TestPrune:
    """What `cache prune` removes, in the words of `serve`."""

    @pytest.fixture
    def aged(self, tmp_path: Path) -> dict[str, str]:
        """Return the ids of captures of a cache by their age in days."""
        ids = {}
        with PageStore(tmp_path / "aged") as store:
            for days in (40, 20, 1):
                made = datetime.now(UTC) - timedelta(days=days)
                page = parse_html(f"<p>Page of {days} days</p>".encode(), url=f"https://example.org/{days}")
                origin = structs.replace(page.provenance, captured_at=made.isoformat(timespec="seconds"))
                record = store.put(
                    replace(page, provenance=origin), source=bytes(400_000), site="example.org"
                )
                ids[str(days)] = record.page_id
        return ids

    def kept(self, cache: Path) -> set[str]:
        return {line.rpartition("/")[2] for line in run("cache", "list", cache=cache).stdout.splitlines()}

    @pytest.mark.usefixtures("aged")
    def test_it_keeps_what_is_young_enough(self, tmp_path: Path) -> None:
        cache = tmp_path / "aged"
        dry = run("cache", "prune", "--keep-days", "30", "--dry-run", cache=cache)
        assert (len(dry.stdout.splitlines()), self.kept(cache)) == (1, {"40", "20", "1"})
        assert "would be removed, 2 kept" in dry.stderr
        done = run("cache", "prune", "--keep-days", "30", "--json", cache=cache)
        assert json.loads(done.stdout)["url"] == "https://example.org/40"
        assert done.stderr.startswith("1 page with ")
        assert self.kept(cache) == {"20", "1"}
        assert run("cache", "verify", cache=cache).exit_code == 0

    @pytest.mark.usefixtures("aged")
    def test_it_removes_the_oldest_until_the_others_fit(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("domsieve.commands.cache._AT_ONCE", 2)
        cache = tmp_path / "aged"
        assert run("cache", "prune", "--keep-megabytes", "1", cache=cache).exit_code == 0
        assert self.kept(cache) == {"40", "20", "1"}
        done = run("cache", "prune", "--keep-megabytes", "0", "--json", cache=cache)
        assert done.exit_code == 0
        assert [json.loads(line)["url"][-2:] for line in done.stdout.splitlines()] == ["40", "20", "/1"]
        assert "3 pages with" in done.stderr
        assert self.kept(cache) == set()

    def test_it_wants_to_know_what_is_kept(self, cache: Path) -> None:
        done = run("cache", "prune", cache=cache)
        assert (done.exit_code, "--keep-days" in done.stderr) == (2, True)

    def test_its_options_are_called_as_those_of_serve(self) -> None:
        def options(words: str) -> set[str]:
            return {name for parameter in COMMANDS[words].params for name in parameter.opts}

        assert {"--keep-days", "--keep-megabytes"} <= options("cache prune") & options("serve")
