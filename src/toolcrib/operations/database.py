"""The database of chats, approvals and call records."""

from __future__ import annotations

from toolcrib.host import Host
from toolcrib.operations.operation import operation
from toolcrib.operations.results.database import DatabaseShown
from toolcrib.store.copying import count_rows

LOCAL = "Secrets, server processes, logs and installed servers stay on this machine."


@operation(page=True)
async def database_show(host: Host) -> DatabaseShown:
    """Show where the data is, and how many rows each table has."""
    await host.audit.flush()
    database = host.core.database
    return {
        "database": database.name,
        "shared": database.shared,
        "tables": await database.run(count_rows),
        "local": LOCAL,
    }
