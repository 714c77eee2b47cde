"""The versioned folders of installed servers: creating, activating and removing them, and how many old
versions are kept for a rollback. An incomplete version is never active.

`<installs>/<server>/versions/<id>/` holds one version, built in place because environments cannot be moved.
Its `install.json` is written last. `current` is a link that is replaced atomically, so that a start finds
either the old or the new version, complete.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from toolcrib.config.paths import make_private, server_folder
from toolcrib.config.safe_files import write_atomic
from toolcrib.errors import InstallFailed, NotFound
from toolcrib.servers.installed import CURRENT, LAUNCH_FILE
from toolcrib.servers.installers.engine.plan import LaunchCommand, Record

RECORD_FILE = "install.json"
VERSIONS = "versions"
KEPT = 3
"""Versions kept for a rollback, besides the active one."""


class InstalledVersions:
    """The versions of one server."""

    def __init__(self, installs: Path, name: str) -> None:
        self.name = name
        self.folder = server_folder(installs, name)

    def version_folder(self, identity: str) -> Path:
        return self.folder / VERSIONS / identity

    @property
    def current(self) -> Record | None:
        """The active version, if complete."""
        return read_current(self.folder)

    def versions(self) -> list[Record]:
        """All complete versions, oldest first."""
        found = [_read(folder) for folder in self._folders() if not folder.name.startswith(".")]
        return sorted((record for record in found if record), key=lambda record: record.installed_at)

    def previous(self, version: str | None = None) -> Record:
        """The version before the active one, or the newest with this number; raises `NotFound`."""
        versions, current = self.versions(), self.current
        if version is not None:
            others = [record for record in versions if record.version == version and record != current]
        elif current is not None:
            others = [record for record in versions if record.installed_at < current.installed_at]
        else:
            others = versions
        if others:
            return others[-1]
        kept = ", ".join(record.version for record in versions if record != current)
        wanted = f"version {version}" if version else "earlier version"
        raise NotFound(
            f"{self.name} has no {wanted}.",
            hint=f"Kept: {kept}." if kept else f"Install one: toolcrib update {self.name} --to VERSION",
        )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Exclusive access to this server's versions; the lock ends with its process."""
        make_private(self.folder)
        descriptor = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise InstallFailed(
                f"{self.name} is being installed by another process.", hint="Wait for it, then try again."
            ) from None
        try:
            yield
        finally:
            os.close(descriptor)

    def begin(self, identity: str) -> Path:
        """An empty folder for a new version; incomplete ones are removed."""
        self.sweep()
        folder = self.version_folder(identity)
        make_private(folder)
        return folder

    def sweep(self) -> int:
        """Remove incomplete versions; returns how many."""
        broken = [
            folder for folder in self._folders() if folder.name.startswith(".") or _read(folder) is None
        ]
        for folder in (*broken, *self.folder.parent.glob(".*.gone")):
            discard(folder)
        return len(broken)

    def finish(self, folder: Path, launch: LaunchCommand, record: Record) -> None:
        """Mark the version as complete, then activate it."""
        write_atomic(folder / LAUNCH_FILE, launch.model_dump_json(indent=2).encode())
        write_atomic(folder / RECORD_FILE, record.model_dump_json(indent=2).encode())
        self.activate(record.id)

    def activate(self, identity: str) -> None:
        """Start this version from now on."""
        link = self.folder / f".current-{secrets.token_hex(4)}"
        link.symlink_to(Path(VERSIONS, identity))
        link.replace(self.folder / CURRENT)

    def prune(self) -> None:
        """Remove old versions beyond `KEPT`."""
        current = self.current
        others = [record for record in self.versions() if record != current]
        for record in others[:-KEPT]:
            discard(self.version_folder(record.id))

    def remove(self) -> bool:
        """Remove all versions; False if there were none."""
        if not self.folder.is_dir():
            return False
        discard(self.folder)
        return True

    def _folders(self) -> list[Path]:
        try:
            return [folder for folder in (self.folder / VERSIONS).iterdir() if folder.is_dir()]
        except FileNotFoundError:
            return []


def new_identity() -> str:
    """A unique name for a version's folder, with its time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def read_current(folder: Path) -> Record | None:
    """The active version in a server's folder."""
    link = folder / CURRENT
    return _read(link) if link.is_symlink() else None


def discard(folder: Path) -> None:
    """Remove a folder; it is renamed first, so that it is gone at once even if removal is slow or fails."""
    doomed = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.gone")
    try:
        folder.rename(doomed)
    except FileNotFoundError:
        return
    shutil.rmtree(doomed, ignore_errors=True)


def _read(folder: Path) -> Record | None:
    try:
        return Record.model_validate_json((folder / RECORD_FILE).read_bytes())
    except (OSError, ValidationError):
        return None
