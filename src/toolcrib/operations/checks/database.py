"""The database: call records, tool lists, chats."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from pathlib import Path

from toolcrib.operations.health import CheckContext, Finding, broken, ok, warning
from toolcrib.store.audit import AuditLog
from toolcrib.store.database import is_lock

LARGEST_CHECKED = 256 * 1024 * 1024
"""Bytes; checking a larger file takes too long."""
LOCK_SECONDS = 1.0
UNLOCK = "Wait for that process to finish, or end it: it may be a backup or another program using the file."


async def check(context: CheckContext) -> list[Finding]:
    """Check that the file is intact and writable, and that no call records were lost."""
    file = context.paths.database
    problem = await asyncio.to_thread(_problem, file)
    if problem:
        return [broken("database", f"{file}: {problem}.", "Move the file elsewhere; a new one is created.")]
    audit = context.host.audit if context.host is not None else None
    findings = [] if audit is None else _of_running_host(audit)
    if await asyncio.to_thread(_is_locked, file):
        findings.insert(0, warning("database", f"{file} is locked by another process.", UNLOCK))
    size = file.stat().st_size if file.exists() else 0
    return findings or [ok("database", f"{file} ({size / 1024:,.0f} KB)")]


def _of_running_host(audit: AuditLog) -> list[Finding]:
    findings = []
    if audit.trouble:
        findings.append(
            warning("database", audit.trouble, "Find the program that did it, then restart the host.")
        )
    if audit.waiting:
        detail = f"{audit.waiting} records of calls could not be written yet: {audit.last_error}."
        findings.append(warning("database", detail, "They are written as soon as the error is gone."))
    if audit.lost:
        detail = f"{audit.errors} writes failed, {audit.lost} records of calls were lost: {audit.last_error}."
        findings.append(warning("database", detail, _remedy(audit.last_error)))
    return findings


def _remedy(error: str | None) -> str:
    return UNLOCK if "locked" in (error or "") else "Free some disk space, then restart the host."


def _problem(file: Path) -> str | None:
    if not file.exists() or file.stat().st_size > LARGEST_CHECKED:
        return None
    try:
        with contextlib.closing(_opened(file, "ro")) as connection:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return None if is_lock(error) else str(error)
    return None if verdict == "ok" else str(verdict)


def _is_locked(file: Path) -> bool:
    """Whether another process holds the write lock for longer than a write takes."""
    if not file.exists():
        return False
    try:
        with contextlib.closing(_opened(file, "rw")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        return is_lock(error)
    return False


def _opened(file: Path, mode: str) -> sqlite3.Connection:
    uri = f"{file.as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=LOCK_SECONDS, isolation_level=None)
