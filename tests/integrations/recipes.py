"""The recipes of the guide to integrations, taken out of it, so that what is tested is what is read."""

import re
from pathlib import Path
from typing import Any

_GUIDE = Path(__file__).parents[2] / "docs" / "integrations.md"
_BLOCK = re.compile(r"```py\n(.*?)```", re.DOTALL)


def source(marker: str) -> str:
    """Return the recipe that has a text in it."""
    (code,) = [
        block for block in _BLOCK.findall(_GUIDE.read_text(encoding="utf-8")) if f"class {marker}" in block
    ]
    return str(code)


def recipe(marker: str) -> dict[str, Any]:
    """Run the recipe of a class; return all that it defines."""
    names: dict[str, Any] = {"__name__": "recipe"}
    exec(compile(source(marker), str(_GUIDE), "exec"), names)
    return names
