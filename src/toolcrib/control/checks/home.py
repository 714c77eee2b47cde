"""The folders and files of the home, and who else can see them."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from pathlib import Path

from toolcrib.config.review import review_file
from toolcrib.control.findings import Finding, Place, broken, odd, well

LEAST_ROOM = 100 * 1024 * 1024
NO_ROOM = 1024 * 1024
"""With less than this, nothing can be written."""


async def check(place: Place) -> list[Finding]:
    """Permissions, and room on the disk."""
    return await asyncio.to_thread(_look, place)


def _look(place: Place) -> list[Finding]:
    paths = place.paths
    folder = paths.home or paths.config_file.parent
    findings = [*_folder(folder), *(_config_file(paths.config_file)), *_secrets_file(paths.secrets_file)]
    room = _free(folder)
    if room < LEAST_ROOM:
        judge = odd if room >= NO_ROOM else broken
        findings.append(
            judge("home", f"Only {room // 2**20} MB are free on the disk of {folder}.", "Make room.")
        )
    return findings or [well("home", f"{folder} is there, and is yours alone.")]


def _free(folder: Path) -> int:
    """Bytes left where the folder is, or will be."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    return shutil.disk_usage(there).free


def _folder(folder: Path) -> list[Finding]:
    if not folder.exists():
        return [odd("home", f"{folder} is not there yet.", "It is made by the first command that needs it.")]
    if not os.access(folder, os.W_OK | os.X_OK):
        return [broken("home", f"{folder} cannot be written to.", f"Check the permissions of {folder}.")]
    if stat.S_IMODE(folder.stat().st_mode) & 0o022:
        return [odd("home", f"Others on this machine can write to {folder}.", f"chmod 700 {folder}")]
    return []


def _config_file(file: Path) -> list[Finding]:
    return [odd("home", remark, f"chmod 600 {file}") for remark in review_file(file)]


def _secrets_file(file: Path) -> list[Finding]:
    try:
        mode = file.stat().st_mode
    except OSError:
        return []
    if mode & 0o077:
        return [odd("home", f"Others on this machine can read {file}.", f"chmod 600 {file}")]
    return []
