"""Offer Python functions beside the tools of servers: native ones by bare name, inline ones under a name."""

import asyncio
import platform

import toolcrib
from toolcrib.tools.sources.inline import InlineServer

machine = InlineServer("machine")


@machine.tool(read_only=True)
def system() -> str:
    """Say which system this is."""
    return platform.system()


async def main() -> None:
    async with toolcrib.open_host() as host:

        @host.tool(read_only=True)
        def shout(text: str, marks: int = 1) -> str:
            """Say it louder."""
            return text.upper() + "!" * marks

        host.add_inline(machine)
        print(await host.call("shout", {"text": "hello", "marks": 3}))
        print(await host.call("machine__system"))


asyncio.run(main())
