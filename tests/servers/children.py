"""Links to real child processes, what was heard over them, and which processes are still there."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.servers.puppets import DEADLINE, PROGRAMS, Message
from toolcrib.errors import ToolcribError
from toolcrib.servers.processes.orphans import stat_of
from toolcrib.servers.transport import LinkContext
from toolcrib.servers.transports import stdio


class Ear:
    """An inbox that remembers what came in."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.losses: list[ToolcribError] = []
        self._news = asyncio.Event()

    def receive(self, message: Message) -> None:
        self.messages.append(message)
        self._news.set()

    def lost(self, error: ToolcribError) -> None:
        self.losses.append(error)
        self._news.set()

    async def until(self, condition: Callable[[], Any]) -> Any:
        """What the condition gives, as soon as it gives something."""
        async with asyncio.timeout(DEADLINE):
            while not condition():
                self._news.clear()
                await self._news.wait()
        return condition()

    async def message(self, number: int = 1) -> Message:
        """The so-many-th message."""
        found: list[Message] = await self.until(lambda: self.messages[number - 1 : number])
        return found[0]

    async def said(self, number: int = 1) -> dict[str, Any]:
        """What the so-many-th message of `misbehave.py` says."""
        params: dict[str, Any] = (await self.message(number))["params"]
        return params

    async def loss(self) -> ToolcribError:
        """Why the link was lost."""
        found: list[ToolcribError] = await self.until(lambda: self.losses)
        return found[0]


def misbehaving(how: str, *arguments: object, **keys: Any) -> stdio.StdioSpec:
    """How to start `misbehave.py`."""
    program = str(PROGRAMS / "misbehave.py")
    return stdio.StdioSpec(
        command=sys.executable, args=("-S", "-E", program, how, *map(str, arguments)), **keys
    )


@asynccontextmanager
async def linked(spec: stdio.StdioSpec, **context: Any) -> AsyncIterator[tuple[stdio.StdioLink, Ear]]:
    """A link to a child, and what is heard over it."""
    ear = Ear()
    async with stdio.open(spec, ear, LinkContext(server="child", **context)) as link:
        assert isinstance(link, stdio.StdioLink)
        yield link, ear


def alive(pid: int) -> bool:
    """True while the process runs; one that is dead but not yet buried does not."""
    fields = stat_of(pid)
    return fields is not None and fields[0] not in (b"Z", b"X")


async def eventually(condition: Callable[[], Any]) -> None:
    """Returns once the condition holds; for what nobody tells us of."""
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def open_descriptors() -> int:
    """How many files, pipes and sockets this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))
