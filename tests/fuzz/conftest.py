"""What holds for all fuzz tests: which are collected, and that the short run tries the same inputs each time.

Those of an integration are collected in its environment only; see `tests/integrations/conftest.py`.
"""

import os
import sys
from pathlib import Path

import pytest
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

_LISTS = Path(__file__).parents[1] / "integrations"
_NAME = Path(sys.prefix).name if Path(sys.prefix).parent.name == "integrations" else ""

collect_ignore = [f"test_{path.stem}.py" for path in _LISTS.glob("*.txt") if path.stem != _NAME]


@pytest.fixture(autouse=True)
def _same_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    # Hypothesis also draws the constants of all modules that are loaded, hence of tests that happened to run before.
    if not os.environ.get("DOMSIEVE_FUZZ_REPORT"):
        monkeypatch.setattr(providers, "_get_local_constants", Constants)
        providers.CONSTANTS_CACHE.cache.clear()
