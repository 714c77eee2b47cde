"""The running host's own log: facts as JSON lines, in a file that does not grow without end."""

from __future__ import annotations

import json
import logging
from io import TextIOWrapper
from pathlib import Path

LARGEST = 1024 * 1024
KEPT = 3
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def keep_log(path: Path) -> None:
    """Write what this process logs from now on to a file."""
    handler = _PrivateFile(path, encoding="utf-8", errors="backslashreplace", delay=True)
    handler.setFormatter(_Lines())
    root = logging.getLogger()
    root.addHandler(handler)
    if root.level > logging.INFO or root.level == logging.NOTSET:
        root.setLevel(logging.INFO)


class _PrivateFile(logging.FileHandler):
    """A file that only this user can read, and older ones beside it. (`logging.handlers` would bring half a
    megabyte of other things.)"""

    def emit(self, record: logging.LogRecord) -> None:
        """Write it, to a new file when the last one is large."""
        try:
            if self.stream is not None and self.stream.tell() >= LARGEST:
                self.close()
                _set_aside(Path(self.baseFilename))
        except OSError:
            self.handleError(record)
        super().emit(record)

    def _open(self) -> TextIOWrapper:
        stream = super()._open()
        Path(self.baseFilename).chmod(0o600)
        return stream


def _set_aside(path: Path) -> None:
    """Make room for a new file: `host.log.1` is the newest of the older ones."""
    for number in range(KEPT - 1, -1, -1):
        older = path.with_name(f"{path.name}.{number}") if number else path
        if older.exists():
            older.replace(path.with_name(f"{path.name}.{number + 1}"))


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
