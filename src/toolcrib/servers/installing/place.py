"""The private, versioned places of installed servers; a half-done version is never active.

`<installs>/<server>/versions/<id>/` holds one version each, built where it will stay, because environments
cannot be moved. Its `install.json` is written last. `current` is a link that is swapped as one step, so that
whoever starts the server finds the old version or the new one, whole.
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

from toolcrib.config.atomic import write_atomic
from toolcrib.config.paths import make_private
from toolcrib.errors import InstallFailed, NotFound
from toolcrib.servers.installed import CURRENT, LAUNCH_FILE, server_folder
from toolcrib.servers.installing.plan import Launch, Record

RECORD_FILE = "install.json"
VERSIONS = "versions"
KEPT = 3
"""Versions besides the active one that are kept to go back to."""


class Place:
    """Where one server's versions lie."""

    def __init__(self, installs: Path, name: str) -> None:
        self.name = name
        self.folder = server_folder(installs, name)

    def version_folder(self, identity: str) -> Path:
        """Where the version of this identity lies, or would."""
        return self.folder / VERSIONS / identity

    @property
    def current(self) -> Record | None:
        """The active version; None when there is none that is whole."""
        return read_current(self.folder)

    def versions(self) -> list[Record]:
        """All versions that are whole, oldest first."""
        found = [_read(folder) for folder in self._folders() if not folder.name.startswith(".")]
        return sorted((record for record in found if record), key=lambda record: record.installed_at)

    def previous(self, version: str | None = None) -> Record:
        """The version installed before the active one, or the newest of this number; raises `NotFound`."""
        versions, current = self.versions(), self.current
        if version is not None:
            others = [one for one in versions if one.version == version and one != current]
        elif current is not None:
            others = [one for one in versions if one.installed_at < current.installed_at]
        else:
            others = versions
        if others:
            return others[-1]
        kept = ", ".join(one.version for one in versions if one != current)
        wanted = f"version {version}" if version else "earlier version"
        raise NotFound(
            f"{self.name} has no {wanted} in place.",
            hint=f"Kept: {kept}." if kept else f"Install one: toolcrib update {self.name} --to VERSION",
        )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else changes this server's versions meanwhile; the lock ends with its process."""
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
        """An empty folder for a new version; what an interrupted installation left is gone."""
        self.sweep()
        folder = self.version_folder(identity)
        make_private(folder)
        return folder

    def sweep(self) -> int:
        """Remove what is not whole; returns how much that was."""
        broken = [one for one in self._folders() if one.name.startswith(".") or _read(one) is None]
        for folder in (*broken, *self.folder.parent.glob(".*.gone")):
            discard(folder)
        return len(broken)

    def finish(self, folder: Path, launch: Launch, record: Record) -> None:
        """Mark the version as whole, then make it the active one."""
        write_atomic(folder / LAUNCH_FILE, launch.model_dump_json(indent=2).encode())
        write_atomic(folder / RECORD_FILE, record.model_dump_json(indent=2).encode())
        self.activate(record.id)

    def activate(self, identity: str) -> None:
        """Make this version the one that is started from now on."""
        link = self.folder / f".current-{secrets.token_hex(4)}"
        link.symlink_to(Path(VERSIONS, identity))
        link.replace(self.folder / CURRENT)

    def prune(self) -> None:
        """Keep the active version and the newest few besides."""
        current = self.current
        others = [record for record in self.versions() if record != current]
        for record in others[:-KEPT]:
            discard(self.version_folder(record.id))

    def remove(self) -> bool:
        """Remove everything; False when there was nothing."""
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
    """A name for the folder of a version: when it was planned, and something of its own."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"


def read_current(folder: Path) -> Record | None:
    """The active version of the server that lives in a folder."""
    link = folder / CURRENT
    return _read(link) if link.is_symlink() else None


def discard(folder: Path) -> None:
    """Remove a folder so that it is gone at once, even if removing all of it takes longer, or fails."""
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
