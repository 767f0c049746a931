"""Figures as files: the same rows give the same bytes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that stay apart for colour-blind readers (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999", "#F0E442")


def new_figure(width: float = 8.0, height: float = 4.5) -> "tuple[Figure, Axes]":
    """Return an empty figure of a size in inches, and its axes."""
    figure, (axes,) = new_panels(1, width=width, height=height)
    return figure, axes


def new_panels(count: int, *, width: float = 8.0, height: float = 4.5) -> "tuple[Figure, list[Axes]]":
    """Return an empty figure of a size in inches with axes side by side, which share what stands at their left."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    panels = list(figure.subplots(1, count, sharey=True, squeeze=False)[0])
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_prop_cycle(color=COLOURS)
    return figure, panels


def save_figure(
    figure: "Figure", folder: Path, name: str, *, forms: Sequence[Literal["png", "svg"]] = ("png", "svg")
) -> list[Path]:
    """Write a figure below a folder as NAME in each of the forms, and return the files."""
    import matplotlib as mpl

    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.{form}" for form in forms]
    # What would tell when or by what a file was written stays out, so that equal figures are equal bytes.
    unsaid = {"png": {"Software": None}, "svg": {"Date": None}}
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        for form, file in zip(forms, files, strict=True):
            figure.savefig(file, dpi=144, metadata=unsaid[form])
    return files
