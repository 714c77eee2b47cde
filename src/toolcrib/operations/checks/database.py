"""The database: whether it is damaged, locked, or cannot be written; lost and waiting records; decisions
without a signature; the clock of a shared database. Largest file that is checked for damage."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from functools import partial
from pathlib import Path

from toolcrib.config.database_url import tls_warning
from toolcrib.errors import DatabaseError, DatabaseKeyMissing, DatabaseUnreachable
from toolcrib.host import Host
from toolcrib.operations.database import LOCAL
from toolcrib.operations.health import CheckContext, CheckResult, broken, ok, warning
from toolcrib.schema.system_failures import DAMAGED, database_failure
from toolcrib.store.audit import AuditLog
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.database import AsyncDatabase, is_foreign, is_lock
from toolcrib.store.decisions import look_for_refused, signed_tables
from toolcrib.store.incidents import unconfirmed

LARGEST_CHECKED = 256 * 1024 * 1024
"""Bytes; checking a larger file takes too long."""
LOCK_SECONDS = 1.0
MAX_CLOCK_DIFFERENCE = 5.0
"""Seconds between our clock and the shared database's: records of several hosts are sorted by time."""
UNLOCK = "Wait for that process to finish, or end it: it may be a backup or another program using the file."


async def check(context: CheckContext) -> list[CheckResult]:
    """Check that the database can be read and written, and that no call records were lost."""
    if isinstance(context.error, DatabaseUnreachable | DatabaseKeyMissing):
        return [broken("database", context.error.message, context.error.hint)]
    host = context.host
    if host is not None and host.core.database.shared:
        findings = [*_of_running_host(host.audit), *_background(host.core.database)]
        return [*findings, *await _refused(host.core.database), *await _shared(host)]
    return await _file(context)


async def _file(context: CheckContext) -> list[CheckResult]:
    file = context.paths.database
    problem = await asyncio.to_thread(_problem, file)
    if problem is not None:
        return [broken("database", *problem)]
    audit = context.host.audit if context.host is not None else None
    findings = [] if audit is None else _of_running_host(audit)
    if context.host is not None:
        findings += _background(context.host.core.database)
    findings += await asyncio.to_thread(_incidents, file)
    obstacle = await asyncio.to_thread(_write_error, file)
    if obstacle is not None:
        findings.insert(0, _unwritable(file, obstacle))
    size = file.stat().st_size if file.exists() else 0
    return findings or [ok("database", f"{file} ({size / 1024:,.0f} KB)")]


async def _shared(host: Host) -> list[CheckResult]:
    """The shared database: whether it answers, how fast, and whether its clock agrees with ours."""
    database = host.core.database
    began = time.perf_counter()
    try:
        theirs = await database.run(_their_time)
    except DatabaseError as error:
        return [broken("database", error.message, error.hint)]
    ms = (time.perf_counter() - began) * 1000
    difference = abs(theirs - time.time())
    if difference > MAX_CLOCK_DIFFERENCE:
        detail = f"The clocks of {database.name} and this machine differ by {difference:.0f} s."
        return [warning("database", detail, "Set both by NTP: records of several hosts are sorted by time.")]
    if host.settings.database != database.name:
        detail = f"The setting database changed, but this host still uses {database.name}."
        return [warning("database", detail, "Restart the host.")]
    if weak := tls_warning(database.name):
        return [warning("database", weak, "Use sslmode=verify-full in the setting database.")]
    return [ok("database", f"{database.name} (answers in {ms:.0f} ms). {LOCAL}")]


async def _refused(database: AsyncDatabase) -> list[CheckResult]:
    """Decisions that no host of the database signed."""
    try:
        refused = await database.run(partial(look_for_refused, database.decisions))
    except DatabaseError:
        return []  # reported below
    if not refused:
        return []
    counts = [f"{signed_tables()[table].title}: {len(rows)}" for table, rows in refused.items()]
    detail = f"Decisions without a valid signature are ignored ({', '.join(counts)})."
    hint = "Someone else wrote them, or an earlier version. Look at them with: toolcrib database sign"
    return [warning("database", detail, hint)]


def _their_time(connection: DatabaseConnection) -> float:
    return float(connection.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()[0])


def _of_running_host(audit: AuditLog) -> list[CheckResult]:
    findings = []
    if audit.trouble:
        findings.append(
            warning("database", audit.trouble, "Find the program that did it, then restart the host.")
        )
    if audit.waiting:
        detail = f"{audit.waiting} records of calls could not be written yet: {audit.blocked_by}."
        findings.append(warning("database", detail, "They are written as soon as the error is gone."))
    if audit.lost:
        detail = f"{audit.errors} writes failed, {audit.lost} records of calls were lost: {audit.last_error}."
        findings.append(warning("database", detail, _remedy(audit.last_error)))
    return findings


def _background(database: AsyncDatabase) -> list[CheckResult]:
    """Chat entries, rules, approvals of tools and other writes that nobody waits for."""
    findings = []
    if database.trouble:
        detail = f"{database.waiting} background writes are waiting: {database.trouble}."
        findings.append(warning("database", detail, "They are written as soon as the error is gone."))
    if database.lost:
        detail = f"{database.lost} background writes (such as chat messages or rules) were lost."
        findings.append(warning("database", detail, "See the log of the host for the reason."))
    return findings


def _remedy(error: str | None) -> str:
    return UNLOCK if "locked" in (error or "") else "Free some disk space, then restart the host."


def _problem(file: Path) -> tuple[str, str] | None:
    """Why it cannot be read, and what to do."""
    if not file.exists() or file.stat().st_size > LARGEST_CHECKED:
        return None
    try:
        with contextlib.closing(_opened(file, "ro")) as connection:
            if is_foreign(connection):
                return f"{file} is a database of another program.", "Set TOOLCRIB_HOME to another folder."
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return None if is_lock(error) else _explained(file, error)
    return None if verdict == "ok" else (f"{file} is damaged: {verdict}.", DAMAGED)


def _explained(file: Path, error: sqlite3.Error) -> tuple[str, str]:
    message, hint, _ = database_failure(error, file) or (f"{file} cannot be used: {error}.", "", False)
    return message, hint


def _incidents(file: Path) -> list[CheckResult]:
    """What happened to the file earlier, as hosts wrote it down."""
    found = unconfirmed(file)
    return [] if found is None else [warning("database", *found)]


def _write_error(file: Path) -> sqlite3.Error | None:
    """Why nothing can be written, such as a lock that is held for longer than a write takes."""
    if not file.exists():
        return None
    try:
        with contextlib.closing(_opened(file, "rw")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        return error
    return None


def _unwritable(file: Path, error: sqlite3.Error) -> CheckResult:
    if is_lock(error):
        return warning("database", f"{file} is locked by another process.", UNLOCK)
    return broken("database", *_explained(file, error))


def _opened(file: Path, mode: str) -> sqlite3.Connection:
    uri = f"{file.as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=LOCK_SECONDS, isolation_level=None)
