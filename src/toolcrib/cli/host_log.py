"""The running host's own log: facts as JSON lines, in a file that does not grow without end."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import Any

LARGEST = 1024 * 1024
KEPT = 3
LONGEST = 20_000
"""Characters kept of a message or a traceback."""
_PLAIN = (bool, int, float, type(None))
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def keep_log(path: Path, mask: Callable[[str, int], str]) -> None:
    """Write what this process logs from now on to a file; `mask` hides the secrets of a text and cuts it.

    Libraries log at INFO every address they request, with any key in it: of them, only warnings are kept.
    """
    handler = _PrivateFile(path, encoding="utf-8", errors="backslashreplace", delay=True)
    handler.setFormatter(_Lines(mask))
    logging.getLogger().addHandler(handler)
    ours = logging.getLogger("toolcrib")
    if ours.getEffectiveLevel() > logging.INFO:
        ours.setLevel(logging.INFO)


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

    def __init__(self, mask: Callable[[str, int], str]) -> None:
        super().__init__()
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._mask(record.getMessage(), LONGEST),
        }
        facts = {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info:
            facts["traceback"] = self.formatException(record.exc_info)
        return json.dumps({**line, **self._masked(facts)}, ensure_ascii=False)

    def _masked(self, facts: dict[str, Any]) -> dict[str, Any]:
        return {
            key: value if isinstance(value, _PLAIN) else self._mask(str(value), LONGEST)
            for key, value in facts.items()
        }
