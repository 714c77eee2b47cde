"""The running host's own log: facts as JSON lines, in a file that does not grow without end."""

from __future__ import annotations

import json
import logging
import logging.handlers
from io import TextIOWrapper
from pathlib import Path

LARGEST = 1024 * 1024
KEPT = 3
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def keep_log(path: Path) -> None:
    """Write what this process logs from now on to a file."""
    handler = _PrivateFile(
        path, maxBytes=LARGEST, backupCount=KEPT, encoding="utf-8", errors="backslashreplace", delay=True
    )
    handler.setFormatter(_Lines())
    root = logging.getLogger()
    root.addHandler(handler)
    if root.level > logging.INFO or root.level == logging.NOTSET:
        root.setLevel(logging.INFO)


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """A file that only this user can read, also after it was rotated."""

    def _open(self) -> TextIOWrapper:
        stream = super()._open()
        Path(self.baseFilename).chmod(0o600)
        return stream


class _Lines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the facts."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        facts = {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info:
            facts["traceback"] = self.formatException(record.exc_info)
        return json.dumps({**line, **facts}, default=str, ensure_ascii=False)
