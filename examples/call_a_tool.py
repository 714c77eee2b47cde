"""Open the crib, see what is there, call a tool."""

import asyncio

import toolcrib


async def main() -> None:
    async with toolcrib.open_host() as host:
        await host.ready()
        for status in host.servers.statuses():
            print(f"{status.name}: {status.state}, {status.tools} tools")
        result = await host.call("demo__add", {"a": 2, "b": 40})
        print(result["content"][0]["text"])


asyncio.run(main())
