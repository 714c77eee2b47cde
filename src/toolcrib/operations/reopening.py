"""Closes the running host and opens it again, for a restore that replaces its files in between."""

from __future__ import annotations

import asyncio

from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.operations.operation import RUNNING, operation

PAUSE = 0.1
"""Seconds in which the answer is sent."""


@operation(needs=RUNNING)
async def host_reopen(host: Host) -> bool:
    """Close the host; it opens again when no restore holds its lock."""
    if host.reopen is None:
        raise UsageError("The running host cannot be opened again by itself.", hint="Stop it first.")
    asyncio.get_running_loop().call_later(PAUSE, host.reopen)
    return True
