"""A progress bar on stderr for long work: how much is done, how fast, and how long the rest will take.

There is one only where stderr is a terminal that may be drawn on; elsewhere lines say the same.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from domsieve.commands.console import loudness, set_writers

if TYPE_CHECKING:
    from rich.progress import Progress, Task


class Bar:
    """What a command tells of its progress. It is shown once more than one part of the work is known.

    Parameters
    ----------
    what : is done, such as ``"rendering"``.
    parts : what is counted, such as ``"pages"``.
    """

    def __init__(self, what: str, parts: str) -> None:
        self._what, self._parts = what, parts
        self.done = self._total = 0
        self._shown: Progress | None = None

    def expect(self, parts: int) -> None:
        """Hear that there are so many more parts."""
        self.set_total(self._total + parts)

    def set_total(self, parts: int) -> None:
        """Hear how many parts there are altogether."""
        self._total = parts
        if self._shown is None and parts > 1 and _may_draw():
            self._show()
        if self._shown is not None:
            self._shown.update(self._shown.task_ids[0], total=parts)

    def advance(self, parts: int = 1) -> None:
        """Hear that so many more parts are done."""
        self.done += parts
        if self._shown is not None:
            self._shown.advance(self._shown.task_ids[0], parts)

    def end(self) -> None:
        """Take the bar away."""
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
            """How many parts are done in a second, or in a minute where that is few."""

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
            redirect_stdout=False,  # results go to stdout, and nowhere else
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
    """Lend a bar, and take it away at the end of the work."""
    bar = Bar(what, parts)
    try:
        bar.set_total(total)
        yield bar
    finally:
        bar.end()


def _may_draw() -> bool:
    """Return whether stderr is a terminal that may be drawn on, and somebody wants to see it."""
    if loudness() == "quiet" or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stderr.isatty()
