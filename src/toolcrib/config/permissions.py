"""Keeps other users away from Toolcrib's files: permissions are repaired, or the place is refused.

A user who can change the config file, or replace a folder above it, can run commands as its owner.
"""

from __future__ import annotations

import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

from toolcrib.errors import ConfigError

logger = logging.getLogger(__name__)

HOME_VARIABLE = "TOOLCRIB_HOME"
_ROOT = 0
_UNMAPPED = 65534
"""Owner of the outer folders in a container that knows only some users."""


def make_private(folder: Path) -> None:
    """Make a folder and its missing parents with mode 0700; one that is there already is left as it is."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        for parent in reversed(missing):
            parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"The folder {folder} cannot be created: {error.strerror}.",
            hint=f"Set {HOME_VARIABLE} to a folder that you may write to.",
        ) from error
    if not folder.is_dir():
        raise ConfigError(
            f"{folder} is not a folder, but a folder is needed there.", hint="Move it elsewhere."
        )


def close_to_others(path: Path, *, closed: bool = False) -> None:
    """Take all permissions from other users: of a file that they can read, of a folder that they can change.

    A `closed` folder is also closed to readers. Raises `ConfigError` if others can still change it. A file
    of the system, such as a config file that it manages, may be readable.
    """
    try:
        found = path.stat()
    except OSError:
        return
    if path.is_symlink():
        check_above(path)
    mode = stat.S_IMODE(found.st_mode)
    wide = 0o022 if stat.S_ISDIR(found.st_mode) and not closed else 0o077
    mine = found.st_uid == os.getuid()
    if mine and mode & wide and not mode & stat.S_ISVTX:
        with suppress(OSError):
            path.chmod(mode & 0o700)
            logger.warning("other users had access; permissions repaired", extra=_noted(path, mode))
            return
    if mode & 0o022 or (not mine and found.st_uid != _ROOT):
        raise ConfigError(
            f"Other users can change {path}, and so run commands as you.",
            hint=f"Make it yours and private: chown $USER {path} && chmod go= {path}",
        )


def check_above(path: Path) -> None:
    """Refuse a place that another user could replace, because a folder above it is theirs or open to all."""
    for folder in path.resolve().parents:
        try:
            found = folder.stat()
        except OSError:
            continue
        mode = stat.S_IMODE(found.st_mode)
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise _replaceable(path, f"Everyone can change the folder {folder}", f"chmod o-w {folder}")
        if found.st_uid not in (os.getuid(), _ROOT, _UNMAPPED):
            raise _replaceable(path, f"The folder {folder} belongs to another user", "")


def _replaceable(path: Path, reason: str, remedy: str) -> ConfigError:
    return ConfigError(
        f"{reason}, who could replace {path} and so run commands as you.",
        hint=remedy or f"Set {HOME_VARIABLE} to a folder below one of your own.",
    )


def _noted(path: Path, mode: int) -> dict[str, str]:
    return {"path": str(path), "mode": f"{mode:o}"}


def check_private(folder: Path) -> None:
    """Refuse a folder in which another user could put or read a socket."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise ConfigError(
            f"{folder} belongs to another user.", hint=f"Set {HOME_VARIABLE} to another folder."
        )
    if not found.st_mode & 0o077:
        return
    folder.chmod(0o700)
    if folder.lstat().st_mode & 0o077:
        raise ConfigError(
            f"Other users can enter {folder}, and its permissions cannot be changed.",
            hint=f"Set {HOME_VARIABLE} to a folder on a file system that keeps permissions.",
        )
