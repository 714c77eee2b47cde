"""Copies a user's folder within limits (files, bytes): plain files, and links that stay inside. Lists the
folders that are not copied, such as `.git`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toolcrib.errors import NotFound, UsageError

MOST_FILES = 20_000
MOST_BYTES = 2 * 1024 * 1024 * 1024
SKIPPED = frozenset(
    {".git", ".hg", ".svn", "__pycache__", ".venv", "node_modules", ".mypy_cache", ".ruff_cache"}
)
"""Build products and version control."""


@dataclass(frozen=True)
class FolderDigest:
    """The size and hash of a folder's content."""

    files: int
    size: int
    digest: str

    def __str__(self) -> str:
        return f"{self.files} file{'s' if self.files != 1 else ''}, {size_in_words(self.size)}"


def size_in_words(size: int) -> str:
    """`12 bytes`, `3.4 KB`, `5.6 MB`."""
    if size >= 100_000:
        return f"{size / 1e6:.1f} MB"
    return f"{size / 1e3:.1f} KB" if size >= 10_000 else f"{size} bytes"


def survey(folder: Path, *, only: Path | None = None, skip: frozenset[str] = frozenset()) -> FolderDigest:
    """Count and hash the files to copy; raises `UsageError` for unsafe ones."""
    total, count = 0, 0
    whole = hashlib.sha256()
    for path in [only] if only else sorted(_walk(folder, skip)):
        found = path.lstat()
        count += 1
        total += found.st_size
        if count > MOST_FILES or total > MOST_BYTES:
            raise UsageError(
                f"{folder} contains more than {MOST_FILES} files or {MOST_BYTES >> 30} GB.",
                hint="Move the server into its own folder, and use that.",
            )
        # As `copy` writes it: executable or not, regardless of for whom.
        executable = 0o111 if found.st_mode & 0o111 else 0
        whole.update(f"{path.relative_to(folder)}\0{executable:o}\0".encode())
        whole.update(os.fsencode(path.readlink()) if path.is_symlink() else file_digest(path).encode())
    return FolderDigest(count, total, whole.hexdigest())


def copy(folder: Path, target: Path, *, only: Path | None = None, skip: frozenset[str] = frozenset()) -> None:
    """Copy the files that `survey` counts; permissions become 0755 or 0644."""
    for path in [only] if only else _walk(folder, skip):
        place = target / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            place.symlink_to(path.readlink())
            continue
        shutil.copyfile(path, place)
        place.chmod(0o755 if path.stat().st_mode & 0o111 else 0o644)


def check_present(path: Path) -> None:
    """Raise `NotFound` if the file or folder is missing."""
    if not path.exists():
        raise NotFound(f"{path} does not exist.", hint="Check the path.")


def matching(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_size(folder: Path) -> int:
    """The bytes of all files in a folder; files removed meanwhile are not counted."""
    total = 0
    for current, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += Path(current, name).lstat().st_size
    return total


def _walk(folder: Path, skip: frozenset[str]) -> Iterator[Path]:
    root = folder.resolve()
    for current, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in skip]
        linked = [name for name in folders if Path(current, name).is_symlink()]
        folders[:] = [name for name in folders if name not in linked]
        for name in (*names, *linked):
            path = Path(current, name)
            _check(path, root)
            yield path


def _check(path: Path, root: Path) -> None:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        if path.readlink().is_absolute() or not path.resolve().is_relative_to(root):
            raise UsageError(
                f"{path} is a link to a place outside the folder.", hint="Replace the link with a copy."
            )
    elif not stat.S_ISREG(mode):
        raise UsageError(f"{path} is neither a file nor a folder.", hint="Remove it from the folder.")
