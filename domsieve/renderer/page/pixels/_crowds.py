"""Texts of drawings whose letters are laid or turned one by one, so that they may be on top of each other."""

from collections.abc import Sequence

import numpy as np

from domsieve.renderer.page.pixels._scene import Scene
from domsieve.snapshot.page import Kind

# What places or turns letters one by one, or may do so, as paths do that begin anew.
_LAYS = {"textlength", "rotate"}
_PLACES = ("x", "y", "dx", "dy")
_HOLDERS = {"text", "tspan", "textpath"}
_CHANGERS = {"animate", "set"}
LEAST_ROOM = 0.6
"""Letters that have less room than this share of their width are on top of each other."""
# Nobody reads letters that turn by so many degrees, in the mean.
_MOST_TURN = 60


def crowds(scene: Scene) -> dict[int, list[int]]:
    """Return the texts of each document whose letters may be laid or turned one by one; see `put_crowds`."""
    laid, placed = np.zeros((2, scene.kind.size), np.bool_)
    holders = np.flatnonzero(np.isin(scene.names, [*_HOLDERS]) & scene.is_drawing)
    for one in holders.tolist():
        said = scene.attributes(one)
        laid[one] = scene.names[one] == "textpath" or not _LAYS.isdisjoint(said)
        placed[one] = any(len(said.get(name, "").replace(",", " ").split()) > 1 for name in _PLACES)
    for one in np.flatnonzero(np.isin(scene.names, [*_CHANGERS])).tolist():
        if scene.attributes(one).get("attributename", "").lower() in {*_LAYS, *_PLACES}:
            laid[holders[scene.document_of[holders] == scene.document_of[one]]] = True
    texts = np.unique(scene.owner)
    texts = texts[scene.kind[texts] == Kind.TEXT]
    first = scene.below(laid)[texts]
    found: dict[int, list[int]] = {}
    for one in (*texts[first].tolist(), *texts[~first & scene.below(placed)[texts]].tolist()):
        found.setdefault(int(scene.document_of[one]), []).append(one)
    return found


def put_crowds(scene: Scene, nodes: Sequence[int], answers: Sequence[Sequence[float] | None]) -> None:
    """Tell a scene which of some texts cannot be read.

    Parameters
    ----------
    nodes : those of a document that `crowds` has found, in this order: first those that are the likeliest.
    answers : of each text the answer of ``crowded`` in ``lines.js``; None for one that was not looked at.
    """
    for node, answer in zip(nodes, answers, strict=True):
        if answer is not None:
            room, turn = answer
            scene.unread[node] |= room < LEAST_ROOM or turn > _MOST_TURN
