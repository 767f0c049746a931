"""What `learn --explain` prints."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from domsieve.commands.console import count

if TYPE_CHECKING:
    from domsieve.analysis.report.thresholds import ThresholdHelp

_LONGEST = 60


def help_table(found: "ThresholdHelp") -> str:
    """Return the table of thresholds for people."""
    low, high = found.gap
    lines = [
        f"{count(found.pages, 'page')} with {count(found.words, 'word')} in {count(found.blocks, 'block')}",
        "",
        "threshold   kept words   kept blocks   first dropped here",
    ]
    for step in found.steps:
        share = 100 * step.words / max(found.words, 1)
        words = f"{step.words:,} ({share:.0f} %)"
        shown = " · ".join(map(_one_line, step.border))
        lines.append(f"{step.threshold:9.2f}   {words:>10}   {step.blocks:>11,}   {shown}".rstrip())
    lines += [
        "",
        f"widest gap: no block between {low:.3f} and {high:.3f}",
        f"proposed: --param threshold={found.proposed:.2f} (the model's own: {found.used:.2f})",
    ]
    return "\n".join(lines)


def help_facts(found: "ThresholdHelp") -> dict[str, Any]:
    """Return the same for machines."""
    return asdict(found)


def _one_line(text: str) -> str:
    """Return captured text that fits a line and cannot steer a terminal."""
    flat = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
