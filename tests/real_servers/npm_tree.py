"""Installs a pinned tree of npm packages, once; `package.json` and its lock in a folder say which."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.real_servers.node import find_node

QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
INSTALL_DEADLINE = 540.0


class InstallFailed(RuntimeError):
    """Something could not be installed; the message holds what the installer said."""


@cache
def install_tree(pins: Path, folder: Path, at_least: int = 20) -> Path:
    """Put the tree of `pins` into `folder`, for a Node of this major version or newer, unless it is there."""
    node = find_node(at_least)
    files = [pins / "package.json", pins / "package-lock.json"]
    mark = Mark(folder, str(node.program), files)
    with alone(folder):
        if mark.is_current():
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file in files:
            shutil.copy(file, folder)
        run_installer([*node.npm, "ci", "--prefix", str(folder), *QUIET])
        mark.set()
    return folder


def lock_tree(pins: Path, at_least: int = 20) -> None:
    """Write `package-lock.json` anew; no entry says where it was fetched."""
    form = ("--package-lock-only", "--omit-lockfile-registry-resolved")
    run_installer([*find_node(at_least).npm, "install", "--prefix", str(pins), *form, *QUIET])


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else installs there meanwhile: tests run in several processes."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Mark:
    """Remembers what was installed, with which program, and where, because environments cannot be moved."""

    def __init__(self, folder: Path, program: str, pins: list[Path]) -> None:
        told = [str(folder), program, *(pin.read_text() for pin in pins)]
        self._file = folder / ".installed"
        self._text = hashlib.sha256("\n".join(told).encode()).hexdigest()

    def is_current(self) -> bool:
        """True when the folder holds just this."""
        return self._file.exists() and self._file.read_text() == self._text

    def set(self) -> None:
        """Call it when the installation is whole."""
        self._file.write_text(self._text)


def run_installer(command: list[str]) -> None:
    """Run it quietly; what it said becomes the error when it fails."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=INSTALL_DEADLINE,
        )
    except subprocess.TimeoutExpired as late:
        raise InstallFailed(f"{' '.join(command)} took longer than {INSTALL_DEADLINE:.0f} s.") from late
    if done.returncode:
        raise InstallFailed(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
