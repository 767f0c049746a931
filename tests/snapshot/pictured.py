"""Snapshots with the column of what pictures say, made from others, as if pictures of them had been taken."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import numpy as np

from domsieve.options import CaptureOptions
from domsieve.snapshot.page import PIXELS, Snapshot
from domsieve.snapshot.strings import Interner

SAYINGS = ("", "seen", "unseen", "unsure")


def captured(page: Snapshot, options: CaptureOptions, said: Mapping[str, str] | None = None) -> Snapshot:
    """Return the page as a capture with these options.

    Parameters
    ----------
    page : a rendered page.
    options : the options; with `pixels`, the page gets the column.
    said : what pictures say of texts; of all others they say that they are seen.
    """
    origin = msgspec.structs.replace(page.provenance, status=200, options=options.canonical())
    page = replace(page, provenance=origin)
    return pictured(page, said or {}) if options.pixels else page


def pictured(page: Snapshot, said: Mapping[str, str]) -> Snapshot:
    """Return the page with what pictures say of its texts."""
    sayings = [*dict.fromkeys((*SAYINGS, *said.values()))]
    strings = Interner()
    for text in page.strings.to_list():
        strings(text)
    styles = np.concatenate(
        [
            np.column_stack((page.styles, np.full(len(page.styles), strings(saying), np.int32)))
            for saying in sayings
        ]
    )
    row = np.array([sayings.index(_saying(page, node, said)) for node in range(len(page))], np.int32)
    style = np.where(page.style >= 0, page.style + row * len(page.styles), -1).astype(np.int32)
    return replace(
        page,
        style=style,
        styles=styles,
        style_names=(*page.style_names, PIXELS),
        strings=strings.table(),
    )


def _saying(page: Snapshot, node: int, said: Mapping[str, str]) -> str:
    return said.get(page.text_of(node), "seen") if page.text[node] >= 0 else ""
