"""What the benchmarks share: their command line and tables."""

import argparse
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path


def command_line(description: str | None, *, data: str) -> argparse.ArgumentParser:
    """Return a parser with ``--data``, by default the folder `data` in the one that ``DOMSIEVE_DATA`` names."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    above = os.environ.get("DOMSIEVE_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(above, data) if above else None,
        required=not above,
        help=f"folder of the corpora; by default $DOMSIEVE_DATA/{data}",
    )
    return parser


def print_table(head: Sequence[str], rows: Iterable[tuple[str, Mapping[str, float]]]) -> None:
    """Print one Markdown row per name with its figures by column; a figure that is not there stays blank."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for name, figures in rows:
        values = [figures.get(column, "") for column in head[1:]]
        cells = [f"{value:.3f}" if isinstance(value, float) else str(value) for value in values]
        print(f"| {name} | " + " | ".join(cells) + " |")


def print_check(claim: str, exceptions: Collection[str]) -> None:
    """Print whether a claim holds, and where not."""
    print(f"{claim}: " + (f"no ({', '.join(exceptions)})" if exceptions else "yes"))


def between(text: str, name: str, figures: str) -> str:
    """Return a Markdown text with `figures` between the comments that carry a name.

    Raises
    ------
    ValueError : the text has no such comments.
    """
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"There is no place for the figures of {name}.")
    return f"{before}{begin}\n{figures.strip()}\n\n{end}{after}"
