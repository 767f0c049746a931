"""Makes a worker misbehave by the path of a page; imported by the `sitecustomize` of a test.

``/hang`` never comes out of a regular expression, which keeps Python's lock; ``/eat`` holds more and more memory;
``/wait`` waits for the file `gate`. Each says in a file of its name, in the folder `MISDOING`, which process it is in
and which one it has started.
"""

import os
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from domsieve.service.jobs import _job_results as job_results
from domsieve.service.jobs import _job_work as job_work

FOLDER = Path(os.environ["MISDOING"])
PIECE_BYTES = 50_000_000
PIECES = 30

_well = job_results.page_result


def page_result(request: Any, *rest: Any) -> Any:
    """Misbehave, or return what is right."""
    name = urlsplit(request.url).path.strip("/")
    if name in {"hang", "eat"}:
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        _tell(name, f"{os.getpid()} {child.pid}")
        if name == "hang":
            re.match("(a+)+$", "a" * 60 + "b")
        held = [b"x" * PIECE_BYTES for _ in range(PIECES)]
        threading.Event().wait()
        del held
    if name == "wait":
        _tell(name, f"{os.getpid()}")
        while not (FOLDER / "gate").exists():
            time.sleep(0.01)
    return _well(request, *rest)


def _tell(name: str, words: str) -> None:
    new = FOLDER / f"{name}.{threading.get_ident()}"  # two may say the same at once
    new.write_text(words, "ascii")
    new.rename(FOLDER / name)


vars(job_work)["page_result"] = page_result
