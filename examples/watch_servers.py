"""Watch a server crash and come back."""

import asyncio
import contextlib
import sys
import tempfile
from pathlib import Path

import toolcrib
from toolcrib.schema.events import ServerChanged


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        # This program writes the config file itself, so its entries need no approval.
        async with toolcrib.open_host(Path(folder), trust_config=True) as host:
            command = {"command": sys.executable, "args": ["-m", "toolcrib.testing.server"]}
            host.core.config_store.add_server("fragile", {**command, "restart": {"firstDelay": 0.1}})
            await host.reload()
            await host.ready()
            with host.events.subscribe() as events:
                with contextlib.suppress(toolcrib.ToolcribError):
                    await host.call("fragile__crash", {"code": 3})
                async for event in events:
                    if not isinstance(event, ServerChanged):
                        continue
                    print(event.status.state, event.status.reason)
                    if event.status.state is toolcrib.ServerState.READY:
                        break


asyncio.run(main())
