"""Fuzz tests of an integration are collected in its environment only; see `tests/integrations/conftest.py`."""

import sys
from pathlib import Path

_LISTS = Path(__file__).parents[1] / "integrations"
_NAME = Path(sys.prefix).name if Path(sys.prefix).parent.name == "integrations" else ""

collect_ignore = [f"test_{path.stem}.py" for path in _LISTS.glob("*.txt") if path.stem != _NAME]
