"""A host with one stubborn server that has a daemon: `host.py FOLDER`.

Prints one line of JSON with the pids, then lives until its stdin ends.
"""

import asyncio
import json
import sys
from pathlib import Path

from tests.servers.children import Ear, misbehaving
from toolcrib.servers.processes import termination as processes
from toolcrib.servers.processes.guard import guard_processes
from toolcrib.servers.transport import LinkContext
from toolcrib.servers.transports import stdio

processes.GRACE_AFTER_EOF = processes.GRACE_AFTER_TERM = 0.2


async def main(folder: Path) -> None:
    ear = Ear()
    async with guard_processes(folder) as guard:
        context = LinkContext(
            server="server", marker=guard.new_marker(), on_spawn=guard.spawned, on_exit=guard.exited
        )
        async with stdio.open(misbehaving("stubborn_family"), ear, context):
            server, daemon = (await ear.said())["pids"]
            watchdog = guard._watchdog
            assert watchdog is not None
            pids = {"server": server, "daemon": daemon, "watchdog": watchdog.pid, "token": guard.token}
            sys.stdout.write(json.dumps(pids) + "\n")
            sys.stdout.flush()
            await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
