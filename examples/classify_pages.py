"""Learns to tell the articles of the demo site from its products, from the matrix that `domsieve vectorize` writes.

    python -m examples.classify_pages                # renders the demo site first
    python -m examples.classify_pages weights.npz    # the matrix of the demo site, written before

Each page is classified by a model that was fitted on all others.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, load_npz
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer
from sklearn.svm import LinearSVC

from domsieve.cli import app
from examples.serve import DEMO, serve_demo

KINDS = ("article", "product")
SHOWN = 5


def main(arguments: Sequence[str]) -> None:
    """Classify the pages of the matrix named, or of one made of the demo site."""
    if arguments:
        classify(Path(arguments[0]))
        return
    with tempfile.TemporaryDirectory() as folder, serve_demo() as base:
        file = Path(folder, "weights.npz")
        urls = [base + entry["route"] for entry in routes()]
        app(["vectorize", *urls, "-o", str(file), "--cache", folder], standalone_mode=False)
        classify(file)


def classify(file: Path) -> None:
    """Print how many pages are told apart, and the words that tell most."""
    names = json.loads(Path(f"{file}.names.json").read_text(encoding="utf-8"))
    kinds = np.array([kind_of(url) for url in names["pages"]])
    wanted = np.isin(kinds, KINDS)
    weights, kinds = load_npz(file)[wanted], kinds[wanted]
    # The square root keeps one frequent word from outweighing all others of a page.
    damped = FunctionTransformer(csr_matrix.sqrt)
    model = make_pipeline(damped, Normalizer(), LinearSVC(C=10, random_state=0))
    guesses = cross_val_predict(model, weights, kinds, cv=LeaveOneOut())
    for kind in KINDS:
        print(f"{kind}: {(guesses[kinds == kind] == kind).sum()} of {(kinds == kind).sum()} pages found")
    for kind, words in telling_words(model, weights, kinds, np.array(names["features"])).items():
        print(f"telling of {kind}: {', '.join(words)}")


def telling_words(
    model: Pipeline, weights: csr_matrix, kinds: NDArray[np.str_], features: NDArray[np.str_]
) -> dict[str, list[str]]:
    """Return the words that speak most for each of the two kinds."""
    order = np.argsort(model.fit(weights, kinds)[-1].coef_[0], kind="stable")
    return {KINDS[0]: features[order[:SHOWN]].tolist(), KINDS[1]: features[order[::-1][:SHOWN]].tolist()}


def routes() -> list[dict[str, str]]:
    """Return the pages of the demo site."""
    found: list[dict[str, str]] = json.loads((DEMO / "routes.json").read_text(encoding="utf-8"))
    return found


def kind_of(url: str) -> str:
    """Return the kind of a page of the demo site, by its address."""
    parts = urlsplit(url)
    route = parts.path + (f"#{parts.fragment}" if parts.fragment else "")
    return {entry["route"]: entry["kind"] for entry in routes()}[route]


if __name__ == "__main__":
    main(sys.argv[1:])
