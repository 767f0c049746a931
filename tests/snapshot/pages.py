"""Snapshots made up for the tests of the package."""

import dataclasses
from typing import Any

import numpy as np
from hypothesis import strategies as st

from domsieve.snapshot.page import Kind, Provenance, Snapshot, subtree_ends
from domsieve.snapshot.strings import Interner

STYLE_NAMES = ("display", "font-size")


def made_up(
    seed: int, nodes: int, *, rendered: bool = True, exact: bool = True, url: str = "http://a.example/"
) -> Snapshot:
    """Return a page of `nodes` nodes; `exact` boxes are multiples of 1/64 px."""
    rng = np.random.default_rng(seed)
    parent = [-1]
    for node in range(1, nodes):  # up some levels from the node before
        above = node - 1
        for _ in range(int(rng.integers(0, 4))):
            above = max(parent[above], 0)
        parent.append(above)
    inner = np.bincount(np.array(parent[1:], np.int64), minlength=nodes) > 0
    kind = np.where(inner | (rng.random(nodes) < 0.5), Kind.ELEMENT, Kind.TEXT).astype(np.uint8)
    kind[0] = Kind.DOCUMENT
    strings, tags = Interner(), Interner()
    counts = np.where(kind == Kind.ELEMENT, rng.integers(0, 4, nodes), 0)
    total = int(counts.sum())
    text = [strings(f"text {rng.integers(nodes)} żółw") if one == Kind.TEXT else -1 for one in kind]
    boxed = (rng.random(nodes) < 0.8) & (np.arange(nodes) > 0) & rendered
    box = rng.integers(-5_000, 200_000, (nodes, 4)).astype(np.float32) / np.float32(64 if exact else 7)
    box[~boxed] = np.nan
    rows = 4 if rendered else 0
    return Snapshot(
        parent=np.array(parent, np.int32),
        end=subtree_ends(parent),
        kind=kind,
        tag=np.array(
            [tags("#text" if one == Kind.TEXT else f"t{rng.integers(9)}") for one in kind], np.int32
        ),
        text=np.array(text, np.int32),
        style=np.where(boxed, rng.integers(0, 4, nodes), -1).astype(np.int32),
        box=box,
        paint=np.where(boxed, rng.integers(0, nodes, nodes), -1).astype(np.int32),
        attr_start=np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        attr_name=strings.ids([f"name{i % 7}" for i in range(total)]),
        attr_value=strings.ids([f"value {i % 50}" for i in range(total)]),
        styles=strings.ids([f"{i}px" for i in range(rows * len(STYLE_NAMES))]).reshape(
            rows, len(STYLE_NAMES)
        ),
        style_names=STYLE_NAMES,
        tags=tags.table(),
        strings=strings.table(),
        provenance=Provenance(
            url=url,
            final_url=url,
            producer="rendered" if rendered else "raw",
            captured_at=f"2026-01-01T00:00:{seed % 60:02}+00:00",
            options={"images": True, "settle": "adaptive"},
            build="headless-shell" if rendered else "",
        ),
    )


def changed(page: Snapshot, **columns: Any) -> Snapshot:
    """Return the page with some of its columns replaced."""
    return dataclasses.replace(page, **columns)


snapshots = st.builds(
    made_up, st.integers(0, 1_000), st.integers(1, 300), rendered=st.booleans(), exact=st.booleans()
)
