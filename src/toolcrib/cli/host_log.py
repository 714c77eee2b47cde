"""The log of the running host: JSON lines in a file that is rotated. Its largest size, how many old files are
kept, the longest text, and masked secrets."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import Any

MAX_BYTES = 1024 * 1024
KEPT_FILES = 3
MAX_TEXT = 20_000
"""Characters kept of a message or a traceback."""
_PLAIN = (bool, int, float, type(None))
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def keep_log(path: Path, mask: Callable[[str, int], str]) -> None:
    """Log to a file from now on; `mask` hides secrets and cuts texts.

    Of libraries only warnings are kept, at any level that they or the user set: at INFO they log requested
    addresses, which may contain keys.
    """
    for earlier in [known for known in logging.getLogger().handlers if isinstance(known, _PrivateFile)]:
        logging.getLogger().removeHandler(earlier)
        earlier.close()
    handler = _PrivateFile(path, encoding="utf-8", errors="backslashreplace", delay=True)
    handler.setFormatter(_Lines(mask))
    handler.addFilter(_is_kept)
    logging.getLogger().addHandler(handler)
    ours = logging.getLogger("toolcrib")
    if ours.getEffectiveLevel() > logging.INFO:
        ours.setLevel(logging.INFO)


def _is_kept(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] == "toolcrib"


class _PrivateFile(logging.FileHandler):
    """A rotated file that only this user can read. (`logging.handlers` would import half a megabyte.)"""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if self.stream is not None and self.stream.tell() >= MAX_BYTES:
                self.close()
                _rotate(Path(self.baseFilename))
        except OSError:
            self.handleError(record)
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is of `logging`
        """Say nothing if the disk is full or gone: `doctor` reports it."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def _open(self) -> TextIOWrapper:
        stream = super()._open()
        Path(self.baseFilename).chmod(0o600)
        return stream


def _rotate(path: Path) -> None:
    """Rename the files: `host.log.1` is the newest of the old ones."""
    for number in range(KEPT_FILES - 1, -1, -1):
        older = path.with_name(f"{path.name}.{number}") if number else path
        if older.exists():
            older.replace(path.with_name(f"{path.name}.{number + 1}"))


class _Lines(logging.Formatter):
    """One JSON object per line: time, level, logger, message, and extra fields."""

    def __init__(self, mask: Callable[[str, int], str]) -> None:
        super().__init__()
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._mask(record.getMessage(), MAX_TEXT),
        }
        facts = {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info:
            facts["traceback"] = self.formatException(record.exc_info)
        return json.dumps({**line, **self._masked(facts)}, ensure_ascii=False)

    def _masked(self, facts: dict[str, Any]) -> dict[str, Any]:
        return {
            key: value if isinstance(value, _PLAIN) else self._mask(str(value), MAX_TEXT)
            for key, value in facts.items()
        }
