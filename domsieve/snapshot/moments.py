"""The column of a Snapshot that says how its page looks at other moments of its animations; few have it."""

from collections.abc import Iterator
from dataclasses import replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from domsieve.errors import InvalidSnapshotError
from domsieve.snapshot.page import MOMENTS, Snapshot
from domsieve.snapshot.strings import StringTable

_FURTHEST, _LATEST = float(np.finfo(np.float32).max), np.iinfo(np.int32).max


class Change(msgspec.Struct, array_like=True):
    """How a box differs at a moment from the page as it was captured.

    Parameters
    ----------
    x, y, width, height : what is added to its place and size, in CSS px.
    style : the computed properties that differ.
    seen : whether it is a text that counts at this moment: a reader may see it then.
    paint : what is added to its paint order.
    """

    x: float
    y: float
    width: float
    height: float
    style: dict[str, str]
    seen: bool = False
    paint: int = 0


_Said = msgspec.json.Decoder(list[Change | None])


def moments(page: Snapshot) -> Iterator[tuple[Snapshot, NDArray[np.bool_]]]:
    """Yield the page as it is at each of the other moments at which it was captured, and which nodes (N,) count then.

    Most pages have none.

    Raises
    ------
    InvalidSnapshotError : what the page has of a moment cannot be read.
    """
    if MOMENTS not in page.style_names:
        return
    said = page.strings.take(page.styles[:, page.style_names.index(MOMENTS)].tolist())
    try:
        changes = {row: _Said.decode(text) for row, text in enumerate(said) if text}
    except msgspec.MsgspecError as error:
        raise InvalidSnapshotError("Column 'moments' cannot be read; capture the page again.") from error
    known = page.strings.to_list()
    column = {name: number for number, name in enumerate(page.style_names)}
    for number in range(max(map(len, changes.values()), default=0)):
        styles, moved, more = page.styles.copy(), np.zeros((len(page.styles) + 1, 4)), dict[str, int]()
        counts, later = np.zeros(len(page.styles) + 1, np.bool_), np.zeros(len(page.styles) + 1)
        for row, said_of_row in changes.items():
            if number < len(said_of_row) and (change := said_of_row[number]):
                moved[row], counts[row] = (change.x, change.y, change.width, change.height), change.seen
                later[row] = change.paint
                for name in change.style.keys() & column.keys():
                    value = more.setdefault(change.style[name], len(known) + len(more))
                    styles[row, column[name]] = value
        box = np.clip(page.box + moved[page.style], -_FURTHEST, _FURTHEST).astype(np.float32)
        turn = np.clip(page.paint + later[page.style], 0, _LATEST)
        paint = np.where(page.paint < 0, -1, turn).astype(np.int32)
        strings = StringTable.from_strings([*known, *more])
        yield replace(page, box=box, paint=paint, styles=styles, strings=strings), counts[page.style]
