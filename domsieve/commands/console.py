"""What all commands share: errors as one line and an exit code, results to stdout, the rest to stderr."""

import json
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from domsieve.errors import DomsieveError
    from domsieve.snapshot import PageStore

EXIT_SOME_FAILED, EXIT_USAGE, EXIT_NOTHING, EXIT_BROWSER, EXIT_STORAGE, EXIT_INTERRUPTED = 1, 2, 3, 4, 5, 130

# Where the option is not called as the parameter.
_OPTIONS = {
    "cookies": "--cookie",
    "executable": "--browser",
    "headers": "--header",
    "private_hosts": "--private-host",
    "public_hosts": "--public-host",
    "time": "--timeout",
    "tokens": "--token-file",
    "viewport_px": "--viewport",
}


@contextmanager
def failures() -> Iterator[None]:
    """Turn errors of the project's tree into one line on stderr and the exit code of their branch."""
    from domsieve.errors import BrowserNotFoundError, DomsieveError, StorageError, UsageError

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_PlainLines("%(message)s"))
    root = logging.getLogger()
    level = root.level
    if not root.handlers:
        root.addHandler(handler)
        root.setLevel(logging.INFO)
    if isinstance(sys.stdout, TextIOWrapper):  # results are UTF-8 everywhere; file names need not be
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    if isinstance(sys.stderr, TextIOWrapper):  # whatever the environment says of it
        sys.stderr.reconfigure(errors="backslashreplace")
    codes = ((UsageError, EXIT_USAGE), (BrowserNotFoundError, EXIT_BROWSER), (StorageError, EXIT_STORAGE))
    try:
        yield
        sys.stdout.flush()
    except DomsieveError as error:
        say(f"domsieve: {explained(error)}")
        raise typer.Exit(
            next((code for kind, code in codes if isinstance(error, kind)), EXIT_NOTHING)
        ) from error
    except KeyboardInterrupt as error:
        say("domsieve: interrupted; what was finished is kept. Run the same command again to continue.")
        raise typer.Exit(EXIT_INTERRUPTED) from error
    except BrokenPipeError as error:
        # The reader of our output has seen enough; Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from error
    finally:
        if handler in root.handlers:
            root.removeHandler(handler)
            root.setLevel(level)


def need_extra(extra: str, packages: Sequence[str]) -> None:
    """See that what a command needs beyond the rest is installed.

    Parameters
    ----------
    extra : name of the extra, which is that of the command.
    packages : what it installs, as it is imported.

    Raises
    ------
    UsageError : some of it is missing.
    """
    from domsieve.errors import UsageError

    if missing := [name for name in packages if find_spec(name) is None]:
        raise UsageError(
            f"{extra} needs packages that are not installed ({', '.join(missing)}): pip install 'domsieve[{extra}]'"
        )


def explained(error: "DomsieveError") -> str:
    """Return an error as users of the command line read it: by the name of the option, and with what helps."""
    from domsieve.errors import UsageError

    text = str(error)
    if isinstance(error, UsageError) and error.parameter is not None:
        option, rest = option_of(error.parameter), text.removeprefix(f"{error.parameter} ")
        text = f"{option}: {text}" if rest == text else f"{option} {rest}"
    return text + advice(error)


def option_of(parameter: str) -> str:
    """Return the option that stands for a parameter of the library."""
    return _OPTIONS.get(parameter, f"--{parameter.replace('_', '-')}")


def advice(error: "DomsieveError") -> str:
    """Return what to do about an error, where an option or a command helps: a sentence behind a space, or nothing."""
    from domsieve.errors import BudgetError, CacheIndexError, PolicyError, UnknownPageError

    if isinstance(error, CacheIndexError):
        return " `domsieve cache verify --repair` makes it anew from the pages."
    if isinstance(error, UnknownPageError):
        return " `domsieve cache list` shows what the cache holds."
    if isinstance(error, PolicyError) and error.reason == "private":
        return " --allow-private opens others; say so for pages that you trust."
    if isinstance(error, BudgetError):
        option = "--analysis-timeout" if error.resource == "time" else "--analysis-megabytes"
        return f" {option} allows more."
    return ""


class _PlainLines(logging.Formatter):
    """Adds what helps, and keeps pages, servers and file names from steering the terminal; tracebacks are ours."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        from domsieve.plain import plain

        return plain(super().formatMessage(record) + self._hint(getattr(record, "reason", None)))

    @staticmethod
    def _hint(reason: str | None) -> str:
        if reason is None:
            return ""
        from domsieve.tasks import FEW_PAGES

        if reason == FEW_PAGES:
            return " `domsieve site` fetches more; --method auto cleans single pages."
        return ""


def say(text: str) -> None:
    """Write a line for people to stderr."""
    from domsieve.plain import plain

    typer.echo(plain(text), err=True)


def print_line(text: str) -> None:
    """Write a line of a result for people."""
    from domsieve.plain import plain

    typer.echo(plain(text))


def open_cache(cache: Path | None, *, repair: bool = False) -> "PageStore":
    """Return the cache of captured pages: `cache`, else `DOMSIEVE_CACHE`, else ``pages_cache``.

    `repair` opens one with a damaged index, too, to be verified.
    """
    from domsieve.files import default_cache_dir
    from domsieve.snapshot import PageStore

    return PageStore(cache or default_cache_dir(), repair=repair)


def check_place(option: str, path: Path | None, *, is_folder: bool = False) -> None:
    """Refuse a place for results that could not be written when the work is done.

    Parameters
    ----------
    option : names it.
    path : the file, or the folder that is made if need be; the folder in which it lies must be there.
    is_folder : whether it is a folder.

    Raises
    ------
    UsageError : something else is there, or there is no folder for it.
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
            raise UsageError(f"{option} {path}: there is no folder {path.parent}; make it first.")
    except OSError as error:
        raise UsageError(f"{option} {path}: {error.strerror}.") from error


def finish(done: int, failed: int) -> None:
    """End the command with the exit code of failed pages; return when none failed."""
    if failed:
        say(f"{failed} of {done + failed} pages failed.")
        raise typer.Exit(EXIT_SOME_FAILED if done else EXIT_NOTHING)


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    from domsieve.plain import utf8

    typer.echo(utf8(json.dumps(value, ensure_ascii=False, default=str)))
