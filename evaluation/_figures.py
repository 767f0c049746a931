"""Figures as files: the same rows give the same bytes."""

from pathlib import Path
from typing import TYPE_CHECKING

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


def save_figure(figure: "Figure", folder: Path, name: str) -> list[Path]:
    """Write a figure as NAME.png and NAME.svg below a folder, and return the files."""
    import matplotlib as mpl

    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.{form}" for form in ("png", "svg")]
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(files[0], dpi=144, metadata={"Software": None})
        figure.savefig(files[1], metadata={"Date": None})
    return files
