"""The options by which pages come from an archive instead of the network."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.commands.console import count, say, say_some

if TYPE_CHECKING:
    from domsieve.renderer.network.replay import Replay

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
    """Return the archive that takes the place of the network, None without one; say what of it is damaged.

    Raises
    ------
    UsageError : the time is to be that of no archive.
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
    """Say how much was asked that the archive does not hold."""
    if replay and (unknown := replay.unknown):
        say(f"{count(unknown, 'request')} had no answer in the archive.")
