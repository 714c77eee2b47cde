"""Files that runs store, such as screenshots: one folder a run, largest file, largest total of a run, endings
by type, and deletion by age and size.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolcrib.clock import may_have_jumped
from toolcrib.config.paths import make_private
from toolcrib.config.safe_files import write_atomic
from toolcrib.errors import NotFound, ResultTooLarge

LARGEST = 32 * 1024 * 1024
"""Bytes of one file."""
LARGEST_RUN = 1024 * 1024 * 1024
"""Bytes of all files of one run."""
_TYPES = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "text/plain": "txt",
    "application/json": "json",
}
_ENDINGS = {ending: media_type for media_type, ending in _TYPES.items()}
_REPLAY = "replay"
_ID = re.compile(r"[0-9a-f]{16}\.[a-z]{3,4}\Z")


class RunArtifacts:
    """All methods block."""

    SOURCE = "(run)"
    """In the decisions to replay: the run that they are of, whose secrets they have marks for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, run: str, data: bytes, media_type: str) -> str:
        """Store a file; returns its id. The same content is stored once. Raises `ResultTooLarge`."""
        id_ = f"{hashlib.sha256(data).hexdigest()[:16]}.{_TYPES.get(media_type, 'bin')}"
        folder = self._of(run)
        path = folder / id_
        if path.exists():
            return id_
        if len(data) > LARGEST or _size(folder) + len(data) > LARGEST_RUN:
            raise ResultTooLarge(
                f"A run cannot store {len(data)} more bytes.",
                hint=f"A file may have {LARGEST >> 20} MiB, all files of a run {LARGEST_RUN >> 20} MiB.",
            )
        make_private(folder)
        write_atomic(path, data)
        return id_

    def read(self, run: str, id_: str) -> tuple[str, bytes]:
        """The media type and the content; raises `NotFound`."""
        path = self._of(run) / id_
        try:
            if not _ID.match(id_):
                raise FileNotFoundError
            data = path.read_bytes()
        except FileNotFoundError:
            raise NotFound(
                f"The run {run} has no file {id_[:40]!r}.",
                hint="Files of old runs are deleted after a while.",
            ) from None
        return _ENDINGS.get(path.suffix[1:], "application/octet-stream"), data

    def replay(self, run: str, decisions: Mapping[str, Any]) -> None:
        """Let a run that has not started yet use recorded decisions, by step."""
        make_private(self._of(run))
        write_atomic(self._of(run) / _REPLAY, json.dumps(decisions).encode())

    def recorded(self, run: str, step: str) -> Mapping[str, Any] | None:
        """The decision that this step replays; None if the run is no replay. Raises `NotFound`."""
        decisions = self._decisions(run)
        if decisions is None:
            return None
        if step not in decisions:
            hint = "Start it without a replay, so that a model decides."
            raise NotFound(f"The replayed run has no recorded decision for {step!r}.", hint=hint)
        found: Mapping[str, Any] = decisions[step]
        return found

    def replayed(self, run: str) -> str:
        """The run whose decisions this one replays; itself if it is no replay."""
        return str((self._decisions(run) or {}).get(self.SOURCE, run))

    def _decisions(self, run: str) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = json.loads((self._of(run) / _REPLAY).read_bytes())
        except FileNotFoundError:
            return None
        return found

    def remove(self, run: str) -> None:
        shutil.rmtree(self._of(run), ignore_errors=True)

    def trim(self, *, days: float, total: int) -> None:
        """Delete the files of older runs, then of the oldest ones until all have at most `total` bytes."""
        if not self.folder.is_dir():
            return
        now = time.time()
        folders = sorted((path for path in self.folder.iterdir() if path.is_dir()), key=_changed)
        oldest = 0.0 if may_have_jumped([_changed(path) for path in folders], now) else now - days * 86_400
        sizes = {path: _size(path) for path in folders}
        for path in folders:
            if _changed(path) < oldest or sum(sizes.values()) > total:
                shutil.rmtree(path, ignore_errors=True)
                del sizes[path]

    def _of(self, run: str) -> Path:
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", run)[:80]
        if plain != run:
            plain = f"{plain}-{hashlib.sha256(run.encode()).hexdigest()[:8]}"
        return self.folder / plain


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _size(folder: Path) -> int:
    if not folder.is_dir():
        return 0
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
