"""`server_facts`: what one server holds in memory, when it was last used, and how often today."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import datetime

from toolcrib.control.answers.overview import ServerFacts
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.control.shapes import moment
from toolcrib.host import Host
from toolcrib.servers.processes.termination import memory_of_group
from toolcrib.store.moments import from_stored, to_stored

FOR_PAGES = True

_TODAY = """SELECT COUNT(*), COALESCE(SUM(outcome NOT IN ('ok', 'cancelled', 'denied')), 0)
FROM calls WHERE time >= ? AND server = ?"""
_LAST = "SELECT time FROM calls WHERE server = ? ORDER BY time DESC LIMIT 1"


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """As it runs, if it does."""
    return Needs(servers=(params.name,), lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> ServerFacts:
    """`{name, memory, last_used, calls_today, failed_today}`."""
    check_server(host, params.name)
    midnight = to_stored(datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0))

    def look(connection: sqlite3.Connection) -> tuple[int, int, int | None]:
        calls, failed = connection.execute(_TODAY, (midnight, params.name)).fetchone()
        last = connection.execute(_LAST, (params.name,)).fetchone()
        return calls, failed, last[0] if last else None

    calls, failed, last = await host.audit.look(look)
    return {
        "name": params.name,
        "memory": await _memory(host, params.name),
        "last_used": None if last is None else moment(from_stored(last)),
        "calls_today": calls,
        "failed_today": failed,
    }


async def _memory(host: Host, name: str) -> int | None:
    """Of the whole group: a server may have started others."""
    pid = host.servers.status(name).pid if name in host.servers else None
    if pid is None:
        return None
    return await asyncio.to_thread(memory_of_group, pid) or None
