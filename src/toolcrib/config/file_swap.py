"""Replaces several files and folders at once, as a restore does: after a crash, all of them are the old ones.
Undoes an interrupted restore.

A journal is on the disk before the first one is moved, and is deleted after the last. The next process that
opens the home and finds a journal puts the old ones back. The lock of the journal is held while it exists, so
that nobody does so too early.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from toolcrib.config.safe_files import exclusive, synchronise_folder, write_atomic
from toolcrib.errors import ConfigError

VERSION = 1
_STAGED = "restore-new"
_SAVED = "restore-old"


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """A file or folder, and what takes its place; without `staged` it is removed."""

    target: Path
    staged: Path | None
    saved: Path
    """Where the old one is until the swap is complete."""
    existed: bool


def replacement(target: Path, new: Path | None) -> Replacement:
    """Move `new` next to the target, on the same file system; the target is not changed yet."""
    mark = uuid4().hex[:12]
    staged = None
    if new is not None:
        staged = _beside(target, f"{mark}.{_STAGED}")
        try:
            shutil.move(new, staged)
            _synchronise(staged)
        except BaseException:
            _remove(staged)
            raise
    return Replacement(
        target=target,
        staged=staged,
        saved=_beside(target, f"{mark}.{_SAVED}"),
        existed=os.path.lexists(target),
    )


def swap(journal: Path, replacements: Sequence[Replacement]) -> None:
    """Replace all of them, or none. The caller holds the lock of the journal."""
    write_atomic(
        journal, json.dumps({"version": VERSION, "steps": [_as_json(r) for r in replacements]}).encode()
    )
    try:
        for item in replacements:
            if item.existed:
                item.target.rename(item.saved)
            if item.staged is not None:
                item.staged.rename(item.target)
        _synchronise_folders(replacements)
    except BaseException:
        roll_back(journal)
        raise
    journal.unlink()
    synchronise_folder(journal.parent)
    for item in replacements:
        _remove(item.saved)


def discard(replacements: Iterable[Replacement]) -> None:
    """Delete what was staged and not used."""
    for item in replacements:
        if item.staged is not None:
            _remove(item.staged)


@contextmanager
def recovered(journal: Path, patience: float) -> Iterator[None]:
    """Hold the lock of the journal inside the block; an interrupted swap is undone first."""
    with exclusive(journal, patience):
        roll_back(journal)
        yield


def roll_back(journal: Path) -> None:
    """Put the old files back after an interrupted swap; may itself be interrupted and repeated."""
    try:
        steps = _read(journal)
    except FileNotFoundError:
        return
    for item in reversed(steps):
        if os.path.lexists(item.saved):
            _remove(item.target)
            item.saved.rename(item.target)
        elif not item.existed:
            _remove(item.target)
    _synchronise_folders(steps)
    discard(steps)
    journal.unlink()
    synchronise_folder(journal.parent)


def remove_leftovers(targets: Iterable[Path]) -> None:
    """Delete what a process that was killed outside of a swap left next to these."""
    for target in targets:
        for mark in (_STAGED, _SAVED):
            for found in target.parent.glob(f".{target.name}.*.{mark}"):
                _remove(found)


def _beside(target: Path, ending: str) -> Path:
    return target.with_name(f".{target.name}.{ending}")


def _as_json(item: Replacement) -> dict[str, Any]:
    return {
        "target": str(item.target),
        "staged": str(item.staged) if item.staged else None,
        "saved": str(item.saved),
        "existed": item.existed,
    }


def _read(journal: Path) -> list[Replacement]:
    try:
        found = json.loads(journal.read_bytes())
        if found["version"] != VERSION:
            raise ValueError(found["version"])
        return [
            Replacement(
                target=Path(step["target"]),
                staged=Path(step["staged"]) if step["staged"] else None,
                saved=Path(step["saved"]),
                existed=bool(step["existed"]),
            )
            for step in found["steps"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{journal} is damaged, so an interrupted restore cannot be undone.",
            hint=f"The old files end in {_SAVED}: rename them back, then delete {journal.name}.",
        ) from error


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _synchronise(path: Path) -> None:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    for file in files:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _synchronise_folders(steps: Iterable[Replacement]) -> None:
    for folder in {item.target.parent for item in steps}:
        synchronise_folder(folder)
