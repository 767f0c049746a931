"""The log: one line of JSON per event on stderr, so that strangers cannot forge lines."""

import json
import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

_LOGGER = logging.getLogger("domsieve.service")


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON in ASCII, which escapes control and direction characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        facts: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            facts["trace"] = "".join(traceback.format_exception(*record.exc_info))
        return json.dumps(facts, default=str).replace("\x7f", "\\u007f")


def log(
    event: str, *, level: int = logging.INFO, trace: bool = False, **facts: str | int | float | None
) -> None:
    """Log an event with its facts; `trace` adds the exception that is being handled."""
    known = {name: value for name, value in facts.items() if value is not None}
    _LOGGER.log(level, event, extra={"facts": known}, exc_info=sys.exc_info() if trace else None)


@contextmanager
def logging_to_stderr() -> Iterator[None]:
    """Log as lines of JSON inside the block, without the server's own lines about requests."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.getLogger("uvicorn.access").disabled = True
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    root = logging.root
    before = root.handlers[:], root.level
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.handlers[:] = before[0]
        root.setLevel(before[1])
