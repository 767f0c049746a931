"""k-means of many runs at once, on the inner products of the pages alone (CST and SST experiments)."""

import random

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Inner products are integers of this many bits: sums over clusters are then exact below 2,800 pages, so that no order
# of adding, and no library or machine, changes a partition.
_BITS = 30


def draw_seeds(pages: int, clusters: int, *, runs: int, seed: int) -> Ints:
    """Return the pages that each run starts from, (R, K), distinct in a run."""
    draw = random.Random(seed)
    return np.array([draw.sample(range(pages), clusters) for _ in range(runs)])


def cluster(gram: Floats, seeds: Ints, *, most_rounds: int = 100) -> Ints:
    """Return the clusters that Lloyd's k-means gives from each start, (R, P).

    A page goes to the nearest centre, of equally near ones to the first. A cluster that loses all its pages gets the
    page that is farthest from its own centre. A run ends when no page moves; O(rounds R K P^2).

    Parameters
    ----------
    gram : (P, P), inner products of the pages, at least 0.
    seeds : (R, K), the pages that are the first centres of each run.
    most_rounds : how often pages are assigned at most.
    """
    products = np.round(gram * (2**_BITS / max(float(gram.diagonal().max(initial=0)), np.finfo(float).tiny)))
    runs, clusters = seeds.shape
    label = np.full((runs, len(products)), -1, np.int64)
    moving = np.arange(runs)
    members = np.zeros((runs, clusters, len(products)))
    np.put_along_axis(members, seeds[:, :, None], 1.0, axis=2)
    for _ in range(most_rounds):
        found = _assigned(products, members)
        moved = (found != label[moving]).any(axis=1)
        label[moving] = found
        moving, found = moving[moved], found[moved]
        if not moving.size:
            break
        members = (found[:, None, :] == np.arange(clusters)[:, None]).astype(np.float64)
    return label


def _assigned(products: Floats, members: Floats) -> Ints:
    """Return the nearest centre of each page, (R, P); `members` are 0 or 1, (R, K, P)."""
    size = members.sum(axis=2)[:, :, None]
    shared = (members.reshape(-1, len(products)) @ products).reshape(members.shape)
    within = (members * shared).sum(axis=2)[:, :, None]
    distance = products.diagonal() - 2 * shared / size + within / size**2
    label: Ints = distance.argmin(axis=1)
    own = distance.min(axis=1)
    clusters = members.shape[1]
    for run in np.flatnonzero([len(set(row)) < clusters for row in label.tolist()]).tolist():
        _fill_empty(label[run], own[run], clusters)
    return label


def _fill_empty(label: Ints, distance: Floats, clusters: int) -> None:
    """Give each empty cluster of one run the farthest page of a cluster that has others, in place."""
    for empty in sorted(set(range(clusters)) - set(label.tolist())):
        alone = np.bincount(label, minlength=clusters)[label] == 1
        far = int(np.where(alone, -1.0, distance).argmax())
        label[far], distance[far] = empty, 0.0
