"""The input of commands: arguments, lines of files, standard input, and archives to replay."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from domsieve.commands.console import count, say, say_some

if TYPE_CHECKING:
    from domsieve.renderer.network.replay import Replay
    from domsieve.tasks.targets import ListedWord, Word

FromArchive = Annotated[
    Path | None,
    typer.Option(
        "--from",
        help="Render from this WARC or WACZ archive instead of the network; by default all its pages.",
    ),
]
FixedTime = Annotated[
    bool,
    typer.Option(
        "--fixed-time",
        help="With --from: scripts see the archive's time and the same random numbers each run.",
    ),
]


def replay_of(archive: Path | None, *, fixed_time: bool) -> "Replay | None":
    """Open the archive to use instead of the network, and report its damaged parts; return None without one.

    Raises
    ------
    UsageError : `fixed_time` without an archive.
    TargetError : the archive cannot be read, or contains no page.
    """
    if archive is None:
        from domsieve.errors import UsageError

        if fixed_time:
            raise UsageError("--fixed-time is for pages from an archive; give --from, too.")
        return None
    from domsieve.renderer.network.replay import Replay

    replay = Replay.of(archive)
    damages = [f"{damage.label}: {damage.message}" for damage in replay.answers.damages]
    say_some(damages, more="further parts of archives cannot be read.")
    return replay


def say_unknown(replay: "Replay | None") -> None:
    """Report the number of requests that the archive could not serve."""
    if replay and (unknown := replay.unknown):
        say(f"{count(unknown, 'request')} had no response in the archive.")


_STDIN = "-"
_MOST_BYTES = 50_000_000  # of a page; ordinary pages are much smaller


def words_of(words: Sequence[str] | None, input_file: Path | None, *, are_paths: bool) -> "list[Word]":
    """Return the words in the arguments and in the lines of the file; one of the two may be standard input.

    Parameters
    ----------
    words : the arguments.
    input_file : the file; None for no file.
    are_paths : its lines are files and folders, not addresses.

    Raises
    ------
    UsageError : there are none, standard input is used twice, or the file cannot be read.
    """
    from domsieve.errors import UsageError
    from domsieve.tasks.targets import PipedTarget

    named: list[Word] = list(words or ())
    if named.count(_STDIN) + (str(input_file) == _STDIN) > 1:
        raise UsageError("Standard input can be read only once.")
    if not named and input_file is None:
        raise UsageError("Name the pages: give URLs, files or other targets, or --input-file.")
    if _STDIN in named:
        source = sys.stdin.buffer.read(_MOST_BYTES + 1)
        if len(source) > _MOST_BYTES:
            raise UsageError(f"Standard input is longer than {_MOST_BYTES:,} bytes; pages are shorter.")
        named[named.index(_STDIN)] = PipedTarget(source)
    return [*named, *(lines_of(input_file, are_paths=are_paths) if input_file else ())]


def lines_of(input_file: Path, *, are_paths: bool) -> "Iterator[ListedWord]":
    """Yield the words in the lines of a file; ``-`` means standard input.

    Raises
    ------
    UsageError : the file cannot be read.
    """
    from domsieve.errors import UsageError

    try:
        if str(input_file) == _STDIN:
            yield from _words_in(sys.stdin, "standard input", are_paths=are_paths)
            return
        with input_file.open(encoding="utf-8-sig", errors="surrogateescape") as lines:
            yield from _words_in(lines, str(input_file), are_paths=are_paths)
    except OSError as error:
        raise UsageError(f"--input-file {input_file}: {error.strerror}.") from error


def _words_in(lines: TextIO, name: str, *, are_paths: bool) -> "Iterator[ListedWord]":
    """Yield a word for each line that is not empty and does not begin with #."""
    from domsieve.tasks.targets import ListedWord

    words = ((number, line.strip()) for number, line in enumerate(lines, 1))
    for number, word in words:
        if word and not word.startswith("#"):
            yield ListedWord(word, f"{name}, line {number}", is_path=are_paths)
