"""The home folder: permissions of its files, free disk space (limits for a warning and an error), and
leftovers of an interrupted restore."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import stat
from pathlib import Path

from toolcrib.config.review import review_file
from toolcrib.operations.health import CheckContext, CheckResult, broken, ok, warning

LOW_SPACE = 100 * 1024 * 1024
NO_SPACE = 1024 * 1024
"""With less than this, nothing can be written."""


async def check(context: CheckContext) -> list[CheckResult]:
    return await asyncio.to_thread(_check, context)


def _check(context: CheckContext) -> list[CheckResult]:
    paths = context.paths
    folder = paths.home or paths.config_file.parent
    findings = [*_folder(folder), *(_config_file(paths.config_file)), *_secrets_file(paths.secrets_file)]
    free = _free(folder)
    if free < LOW_SPACE:
        judge = warning if free >= NO_SPACE else broken
        findings.append(
            judge(
                "home", f"Only {free // 2**20} MB are free on the disk of {folder}.", "Free some disk space."
            )
        )
    findings += _interrupted_restores(paths.database.parent)
    return findings or [ok("home", f"{folder} exists and belongs to you alone.")]


def _interrupted_restores(data: Path) -> list[CheckResult]:
    return [
        warning(
            "home",
            f"{left} has unpacked files of a backup: a restore was interrupted, or is running.",
            f"If none is running: rm -r {shlex.quote(str(left))} (the next restore deletes it, too).",
        )
        for left in data.glob(".restore-*")
    ]


def _free(folder: Path) -> int:
    """Free bytes on the disk that holds the folder, or will hold it."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    return shutil.disk_usage(existing).free


def _folder(folder: Path) -> list[CheckResult]:
    if not folder.exists():
        return [
            warning("home", f"{folder} does not exist yet.", "The first command that needs it creates it.")
        ]
    if not os.access(folder, os.W_OK | os.X_OK):
        return [broken("home", f"{folder} cannot be written to.", f"Check the permissions of {folder}.")]
    if stat.S_IMODE(folder.stat().st_mode) & 0o022:
        return [warning("home", f"Others on this machine can write to {folder}.", f"chmod 700 {folder}")]
    return []


def _config_file(file: Path) -> list[CheckResult]:
    return [warning("home", remark, f"chmod 600 {file}") for remark in review_file(file)]


def _secrets_file(file: Path) -> list[CheckResult]:
    try:
        mode = file.stat().st_mode
    except OSError:
        return []
    if mode & 0o077:
        return [warning("home", f"Others on this machine can read {file}.", f"chmod 600 {file}")]
    return []
