"""What commands print: results on stdout; messages, errors and progress on stderr; and exit codes."""

import json
import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

import typer

if TYPE_CHECKING:
    from rich.progress import Progress, Task

    from domsieve.errors import DomsieveError
    from domsieve.snapshot.store import PageStore
    from domsieve.tasks.pages import Page

EXIT_SOME_FAILED, EXIT_USAGE, EXIT_NOTHING, EXIT_BROWSER, EXIT_STORAGE, EXIT_INTERRUPTED = 1, 2, 3, 4, 5, 130
EXIT_CHANGED, EXIT_DRIFT = 6, 7

Loudness = Literal["quiet", "normal", "verbose"]
_LEVELS: Mapping[Loudness, int] = {"quiet": logging.ERROR, "normal": logging.INFO, "verbose": logging.DEBUG}
MOST_LINES = 20
"""Maximum number of damaged parts of archives, or wrong lines of lists, that are reported one by one."""


@dataclass
class _Voice:
    """How much is written to stderr, and how to write while there is a progress bar."""

    loudness: Loudness = "normal"
    beside: Callable[[str], None] | None = None
    aside: Callable[[Callable[[], None]], None] | None = None


_voice = _Voice()

# Options whose name differs from the parameter.
_OPTIONS = {
    "allow_hosts": "--allow-host",
    "cookies": "--cookie",
    "deny_hosts": "--deny-host",
    "executable": "--browser",
    "from_archive": "--from",
    "headers": "--header",
    "private_hosts": "--private-host",
    "public_hosts": "--public-host",
    "time": "--timeout",
    "viewport_px": "--viewport",
}


@contextmanager
def failures() -> Iterator[None]:
    """Report a `DomsieveError` as one line on stderr, and exit with the code of its class."""
    from domsieve.errors import BrowserNotFoundError, DomsieveError, StorageError, UsageError

    handler = _Lines()
    handler.setFormatter(_PlainLines("%(message)s"))
    root, ours = logging.getLogger(), logging.getLogger("domsieve")
    level, level_of_ours = root.level, ours.level
    if not root.handlers:
        root.addHandler(handler)
        # Debug messages of other libraries are not for users of --verbose.
        root.setLevel(max(_LEVELS[_voice.loudness], logging.INFO))
        ours.setLevel(_LEVELS[_voice.loudness])
    if isinstance(sys.stdout, TextIOWrapper):  # results are always UTF-8, but file names may not be
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    if isinstance(sys.stderr, TextIOWrapper):  # whatever the environment says
        sys.stderr.reconfigure(errors="backslashreplace")
    codes = ((UsageError, EXIT_USAGE), (BrowserNotFoundError, EXIT_BROWSER), (StorageError, EXIT_STORAGE))
    try:
        yield
        sys.stdout.flush()
    except DomsieveError as error:
        if _voice.loudness == "verbose":
            for line in "".join(traceback.format_exception(error)).splitlines():
                say_more(line)
        say_error(f"domsieve: {explained(error)}")
        raise typer.Exit(
            next((code for kind, code in codes if isinstance(error, kind)), EXIT_NOTHING)
        ) from error
    except KeyboardInterrupt as error:
        say_error("domsieve: interrupted; what was finished is kept. Run the same command again to continue.")
        raise typer.Exit(EXIT_INTERRUPTED) from error
    except BrokenPipeError as error:
        # The reader closed the pipe. Python would report that again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from error
    finally:
        if handler in root.handlers:
            root.removeHandler(handler)
            root.setLevel(level)
            ours.setLevel(level_of_ours)


def need_extra(extra: str, packages: Sequence[str]) -> None:
    """Check that the packages of an extra are installed.

    Parameters
    ----------
    extra : name of the extra, which is also the name of the command.
    packages : names under which its packages are imported.

    Raises
    ------
    UsageError : a package is missing.
    """
    from domsieve.errors import UsageError

    if missing := [name for name in packages if find_spec(name) is None]:
        raise UsageError(
            f"{extra} needs packages that are not installed ({', '.join(missing)}); "
            f"install domsieve with the extra {extra}."
        )


def explained(error: "DomsieveError", *, after: str = "") -> str:
    """Return the message of an error with the name of the option, and with advice.

    `after` is what stands before it on the line; a page that is named there is not named again.
    """
    from domsieve.errors import ParameterError, UsageError

    text = error.told(after=after)
    if isinstance(error, UsageError) and error.parameter and not isinstance(error, ParameterError):
        option, rest = option_of(error.parameter), text.removeprefix(f"{error.parameter} ")
        text = f"{option}: {text}" if rest == text else f"{option} {rest}"
    return text + advice(error)


def say_failed(page: str, error: "DomsieveError") -> None:
    """Print the error of a page after its label or address."""
    say_error(f"{page}: {explained(error, after=page)}")


class FailedPages:
    """Counts pages that failed, and says why each did.

    Parameters
    ----------
    count : the number of pages that have failed before.
    """

    def __init__(self, count: int = 0) -> None:
        self.count = count

    def __call__(self, page: "Page", error: "DomsieveError") -> None:
        """Count a page, and print its error."""
        self.count += 1
        say_failed(page.label, error)


def option_of(parameter: str) -> str:
    """Return the option for a parameter of the library."""
    return _OPTIONS.get(parameter, f"--{parameter.replace('_', '-')}")


def advice(error: "DomsieveError") -> str:
    """Return a sentence, after a space, about an option or a command that helps with an error; or an empty str."""
    from domsieve.errors import BudgetError, CacheIndexError, PolicyError, UnknownPageError, UsageError

    if isinstance(error, UsageError) and error.parameter == "input_paths":
        return " --input-paths says that the lines are files."
    if isinstance(error, CacheIndexError):
        return " `domsieve cache verify --repair` rebuilds it from the pages."
    if isinstance(error, UnknownPageError):
        return " `domsieve cache list` shows what the cache holds."
    if isinstance(error, PolicyError) and error.reason == "private":
        return " --allow-private opens others; say so for pages that you trust."
    if isinstance(error, BudgetError):
        option = "--analysis-timeout" if error.resource == "time" else "--analysis-megabytes"
        return f" {option} allows more."
    return ""


class _Lines(logging.StreamHandler[TextIO]):
    """Writes to stderr, above the progress bar if there is one."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)

    def emit(self, record: logging.LogRecord) -> None:
        if _voice.beside is not None:
            _voice.beside(self.format(record))
        else:
            super().emit(record)


class _PlainLines(logging.Formatter):
    """Adds advice, and escapes control characters of pages, servers and file names; tracebacks are safe."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        from domsieve.sanitize import plain

        return plain(super().formatMessage(record) + self._hint(getattr(record, "reason", None)))

    @staticmethod
    def _hint(reason: str | None) -> str:
        if reason is None:
            return ""
        from domsieve.tasks.page_cleaning import FEW_PAGES

        if reason == FEW_PAGES:
            return " `domsieve site` fetches more; --method auto cleans single pages."
        return ""


def set_loudness(loudness: Loudness) -> None:
    """Set how much is written to stderr from now on: only errors, the usual messages, or everything."""
    _voice.loudness = loudness


def loudness() -> Loudness:
    """Return how much is written to stderr."""
    return _voice.loudness


def set_writers(
    beside: Callable[[str], None] | None, aside: Callable[[Callable[[], None]], None] | None
) -> None:
    """Set functions that write lines above the progress bar, and that hide it while a result is written."""
    _voice.beside, _voice.aside = beside, aside


def say(text: str) -> None:
    """Write a line to stderr, except with ``--quiet``."""
    if _voice.loudness != "quiet":
        _write(text)


def say_error(text: str) -> None:
    """Write an error to stderr, even with ``--quiet``."""
    _write(text)


def say_kept(path: Path | None) -> None:
    """Report a file that was kept because a user has edited or added it; None for no file."""
    if path is not None:
        say_error(f"{path} has been edited, or was not written by domsieve; it is kept as it is.")


def say_more(text: str) -> None:
    """Write a line to stderr with ``--verbose`` only."""
    if _voice.loudness == "verbose":
        _write(text)


def say_some(lines: Sequence[str], *, more: str) -> None:
    """Write the first of many errors, and the number of the others.

    Parameters
    ----------
    lines : the errors.
    more : the text after the number of the others.
    """
    for line in lines[:MOST_LINES]:
        say_error(line)
    if len(lines) > MOST_LINES:
        say_error(f"{len(lines) - MOST_LINES:,} {more}")


def _write(text: str) -> None:
    from domsieve.sanitize import plain

    if _voice.beside is not None:
        _voice.beside(plain(text))
    else:
        typer.echo(plain(text), err=True)


def count(number: int, what: str) -> str:
    """Return a number with its noun: ``1 page``, ``2,000 pages``."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def print_text(text: str, *, end: str = "\n") -> None:
    """Write a result to stdout, unchanged; the progress bar is hidden meanwhile."""

    def write() -> None:
        sys.stdout.write(f"{text}{end}")
        sys.stdout.flush()

    if _voice.aside is not None:
        _voice.aside(write)
    else:
        write()


def print_line(text: str) -> None:
    """Write a line of a result to stdout, with control characters escaped."""
    from domsieve.sanitize import plain

    print_text(plain(text))


def open_cache(cache: Path | None, *, repair: bool = False) -> "PageStore":
    """Open the cache at `cache`, or else `DOMSIEVE_CACHE`, or else ``pages_cache``.

    Its folder is created when something is stored; call `create` before work that does.

    `repair` also opens a cache with a damaged index, to repair it.
    """
    from domsieve.files import default_cache_dir
    from domsieve.snapshot.store import PageStore

    folder = cache or default_cache_dir()
    say_more(f"cache: {folder}")
    return PageStore(folder, create=False, repair=repair)


def check_place(option: str, path: Path | None, *, is_folder: bool = False) -> None:
    """Check before the work that results can be written to a path.

    Parameters
    ----------
    option : the option with the path.
    path : a file, or a folder that is created if necessary; its parent folder must exist.
    is_folder : whether it is a folder.

    Raises
    ------
    UsageError : something else is at the path, or the parent folder does not exist.
    """
    from domsieve.errors import UsageError

    if path is None:
        return
    try:
        if not is_folder and path.is_dir():
            raise UsageError(f"{option} {path}: this is a folder; give the name of a file in it.")
        if is_folder and path.exists() and not path.is_dir():
            raise UsageError(f"{option} {path}: this is a file; give a folder.")
        if not path.absolute().parent.is_dir():
            raise UsageError(f"{option} {path}: the folder {path.parent} does not exist; create it first.")
    except OSError as error:
        raise UsageError(f"{option} {path}: {error.strerror}.") from error


def finish(done: int, failed: int) -> None:
    """End the command with the exit code for failed pages; return if none failed."""
    if failed:
        say_error(f"{failed:,} of {count(done + failed, 'page')} failed.")
        raise typer.Exit(EXIT_SOME_FAILED if done else EXIT_NOTHING)


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    from domsieve.sanitize import utf8

    print_text(utf8(json.dumps(value, ensure_ascii=False, default=str)))


class Bar:
    """A progress bar. It appears when there is more than one part.

    Parameters
    ----------
    what : the work, such as ``"rendering"``.
    parts : what is counted, such as ``"pages"``.
    """

    def __init__(self, what: str, parts: str) -> None:
        self._what, self._parts = what, parts
        self.done = self._total = 0
        self._shown: Progress | None = None

    def expect(self, parts: int) -> None:
        """Increase the total."""
        self.set_total(self._total + parts)

    def set_total(self, parts: int) -> None:
        """Set the total."""
        self._total = parts
        if self._shown is None and parts > 1 and _may_draw():
            self._show()
        if self._shown is not None:
            self._shown.update(self._shown.task_ids[0], total=parts)

    def advance(self, parts: int = 1) -> None:
        """Increase the number of finished parts."""
        self.done += parts
        if self._shown is not None:
            self._shown.advance(self._shown.task_ids[0], parts)

    def end(self) -> None:
        """Remove the bar."""
        if self._shown is not None:
            set_writers(None, None)
            self._shown.stop()
            self._shown = None

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            ProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text

        parts = self._parts

        class Rate(ProgressColumn):
            """Finished parts per second, or per minute if they are few."""

            def render(self, task: "Task") -> Text:
                speed = task.finished_speed or task.speed
                if not speed:
                    return Text("")
                return Text(f"{speed:,.1f} {parts}/s" if speed >= 1 else f"{60 * speed:,.1f} {parts}/min")

        self._shown = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            Rate(),
            TimeRemainingColumn(compact=True),
            TextColumn("left"),
            console=Console(stderr=True, highlight=False),
            transient=True,
            redirect_stdout=False,  # stdout is only for results
            redirect_stderr=False,
        )
        self._shown.add_task(self._what, total=self._total, completed=self.done)
        self._shown.start()
        set_writers(self._beside, self._aside)

    def _beside(self, text: str) -> None:
        if self._shown is not None:
            self._shown.console.print(text, markup=False, emoji=False, soft_wrap=True)

    def _aside(self, write: Callable[[], None]) -> None:
        if self._shown is None or not sys.stdout.isatty():
            write()
            return
        self._shown.stop()
        write()
        self._shown.start()


@contextmanager
def progress(what: str, parts: str = "pages", *, total: int = 0) -> Iterator[Bar]:
    """Provide a progress bar for a block of work."""
    bar = Bar(what, parts)
    try:
        bar.set_total(total)
        yield bar
    finally:
        bar.end()


def _may_draw() -> bool:
    """Return whether stderr is a terminal, and the user wants progress bars."""
    if loudness() == "quiet" or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stderr.isatty()
