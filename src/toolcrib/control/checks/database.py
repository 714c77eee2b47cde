"""The database: calls, tool lists, histories."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from toolcrib.control.findings import Finding, Place, broken, odd, well

LARGEST_CHECKED = 256 * 1024 * 1024
"""A larger file takes too long to be read through."""


async def check(place: Place) -> list[Finding]:
    """Whether it is sound, and whether all calls could be written down."""
    file = place.paths.database
    problem = await asyncio.to_thread(_problem, file)
    if problem:
        return [broken("database", f"{file}: {problem}.", "Move it away; a new one is made.")]
    audit = place.host.audit if place.host is not None else None
    if audit is not None and (audit.errors or audit.lost):
        detail = f"{audit.errors} writes failed, {audit.lost} records of calls were lost: {audit.last_error}."
        return [odd("database", detail, "Make room on the disk, then restart the host.")]
    size = file.stat().st_size if file.exists() else 0
    return [well("database", f"{file} ({size / 1024:,.0f} KB)")]


def _problem(file: Path) -> str | None:
    if not file.exists() or file.stat().st_size > LARGEST_CHECKED:
        return None
    try:
        connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        return str(error)
    return None if verdict == "ok" else str(verdict)
