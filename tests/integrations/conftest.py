"""Tests of the neighbours of other packages are run by ``make integrations``, each in an environment of its own.

Elsewhere none of them is collected: what they import is not installed there. In its environment, a test file is found
by its own name, `test_NAME.py` beside `NAME.txt`.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
# An environment of `tools/integrations.py` lies in a folder of its name.
_NAME = Path(sys.prefix).name if Path(sys.prefix).parent.name == "integrations" else ""

collect_ignore = [path.name for path in HERE.glob("test_*.py") if path.stem != f"test_{_NAME}"]
