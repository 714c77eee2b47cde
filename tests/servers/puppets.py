"""A server that a test plays itself, at the far end of a real child process (`programs/puppet.py`)."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolcrib.servers.sessions.session import Session, connect
from toolcrib.servers.transport import LinkContext
from toolcrib.servers.transports import stdio

PROGRAMS = Path(__file__).parent / "programs"
DEADLINE = 180.0
SERVER_INFO = {"name": "puppet", "version": "1.2"}
TOOL = {"name": "echo", "inputSchema": {"type": "object"}}

Message = dict[str, Any]


@dataclass(frozen=True)
class Refusal:
    """Answer with an error."""

    code: int
    message: str = "no"
    data: Any = None


SILENCE = None
Reaction = dict[str, Any] | Refusal | Callable[["Puppet", Message], Awaitable[None] | None] | None
"""A result, an error, something to do, or nothing at all."""

LEGACY: dict[str, Reaction] = {
    "server/discover": Refusal(-32601, "Method not found"),
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": SERVER_INFO,
    },
    "tools/list": {"tools": [TOOL]},
    "ping": {},
}
MODERN: dict[str, Reaction] = {
    "server/discover": {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "_meta": {"io.modelcontextprotocol/serverInfo": SERVER_INFO},
    },
    "initialize": Refusal(-32022, "Unsupported protocol version", {"supported": ["2026-07-28"]}),
    "tools/list": {"resultType": "complete", "tools": [TOOL], "ttlMs": 0, "cacheScope": "private"},
}
SCRIPTS = {"legacy": LEGACY, "modern": MODERN}


def with_capabilities(script: Mapping[str, Any], capabilities: Any) -> dict[str, Any]:
    """The script of a server that declares these capabilities."""
    opening = "server/discover" if script["server/discover"] == MODERN["server/discover"] else "initialize"
    return {**script, opening: {**script[opening], "capabilities": capabilities}}


class Puppet:
    """The strings: hears what the child is told, and says what the script has for it."""

    def __init__(self, script: Mapping[str, Reaction], folder: Path) -> None:
        self.script = dict(script)
        self.heard: list[Message] = []
        self.notices: list[tuple[str, dict[str, Any]]] = []
        self.junk_lines = 0
        self._folder = folder
        self._news = asyncio.Condition()
        self._writer: asyncio.StreamWriter | None = None
        self._reactions: set[asyncio.Task[None]] = set()

    # What a test does.

    async def say(self, *messages: Message | bytes) -> None:
        """Let the child write messages, or raw bytes, to stdout in one piece."""
        assert self._writer is not None
        if self._writer.is_closing():
            raise ConnectionResetError
        self._writer.write(b"".join(m if isinstance(m, bytes) else line(m) for m in messages))
        await self._writer.drain()

    async def reply(self, request: Message, result: dict[str, Any]) -> None:
        await self.say({"jsonrpc": "2.0", "id": request["id"], "result": result})

    async def refuse(self, request: Message, refusal: Refusal) -> None:
        error = {"code": refusal.code, "message": refusal.message}
        if refusal.data is not None:
            error["data"] = refusal.data
        await self.say({"jsonrpc": "2.0", "id": request["id"], "error": error})

    async def notify(self, method: str, **params: Any) -> None:
        await self.say({"jsonrpc": "2.0", "method": method, "params": params})

    async def ask(self, request_id: Any, method: str, **params: Any) -> None:
        await self.say({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def hang_up(self) -> None:
        """Let the child exit."""
        assert self._writer is not None
        self._writer.close()

    @property
    def command(self) -> list[str]:
        """What starts the child."""
        return [sys.executable, "-S", "-E", str(PROGRAMS / "puppet.py"), str(self._folder / "strings")]

    async def until(self, condition: Callable[[], Any]) -> Any:
        """What the condition gives, as soon as it gives something."""
        async with asyncio.timeout(DEADLINE), self._news:
            await self._news.wait_for(lambda: bool(condition()))
            return condition()

    async def expect(self, method: str, count: int = 1) -> Message:
        """The so-many-th message with this method."""
        found: list[Message] = await self.until(lambda: self.all(method)[count - 1 : count])
        return found[0]

    async def answer_to(self, request_id: Any) -> Message:
        """What the client answered to a request of the server."""

        def answers() -> list[Message]:
            return [m for m in self.heard if "method" not in m and m.get("id") == request_id]

        found: list[Message] = await self.until(answers)
        return found[0]

    def all(self, method: str) -> list[Message]:
        """Every message with this method so far."""
        return [message for message in self.heard if message.get("method") == method]

    async def noticed(self, method: str, count: int = 1) -> list[dict[str, Any]]:
        """The parameters of the notifications that the session passed on, once there are so many."""

        def found() -> list[dict[str, Any]]:
            return [params for name, params in self.notices if name == method]

        await self.until(lambda: len(found()) >= count)
        return found()

    @asynccontextmanager
    async def connect(self, context: LinkContext | None = None, **options: Any) -> AsyncIterator[Session]:
        """A session with the child that this puppet plays."""
        context = replace(context or LinkContext(server="puppet"), on_junk=self._count_junk)
        command, *arguments = self.command
        spec = stdio.StdioSpec(command=command, args=tuple(arguments))
        async with connect(
            "puppet", lambda inbox: stdio.open(spec, inbox, context), on_notice=self._notice, **options
        ) as session:
            yield session

    # What the child does.

    async def run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        try:
            while text := await reader.readline():
                await self._hear(json.loads(text))
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def _hear(self, message: Message) -> None:
        async with self._news:
            self.heard.append(message)
            self._news.notify_all()
        if "method" not in message:
            return
        reaction = self.script.get(message["method"], SILENCE)
        if isinstance(reaction, dict):
            await self.reply(message, reaction)
        elif isinstance(reaction, Refusal):
            await self.refuse(message, reaction)
        elif reaction is not None:
            doing = reaction(self, message)
            if inspect.isawaitable(doing):
                task = asyncio.ensure_future(_finish(doing))
                self._reactions.add(task)
                task.add_done_callback(self._reactions.discard)

    def _notice(self, method: str, params: dict[str, Any]) -> None:
        self.notices.append((method, params))
        self._poke()

    def _count_junk(self, count: int) -> None:
        self.junk_lines = count
        self._poke()

    def _poke(self) -> None:
        async def tell() -> None:
            async with self._news:
                self._news.notify_all()

        task = asyncio.ensure_future(tell())
        self._reactions.add(task)
        task.add_done_callback(self._reactions.discard)

    async def close(self) -> None:
        """No reaction outlives the puppet; one that failed fails the test."""
        for task in self._reactions:
            task.cancel()
        for outcome in await asyncio.gather(*self._reactions, return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome


async def _finish(doing: Awaitable[None]) -> None:
    with contextlib.suppress(ConnectionError):  # the child is gone: nobody is there to be told
        await doing


def line(message: Message) -> bytes:
    """A message as a server would write it."""
    return json.dumps(message).encode() + b"\n"


@asynccontextmanager
async def open_puppet(script: Mapping[str, Reaction], folder: Path) -> AsyncIterator[Puppet]:
    """A puppet that plays this script whenever it is connected to."""
    puppet = Puppet(script, folder)
    server = await asyncio.start_unix_server(puppet.run, folder / "strings", limit=1 << 26)
    try:
        yield puppet
    finally:
        server.close()
        await puppet.close()
