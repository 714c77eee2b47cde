"""A host with a few tools, a vendor on loopback, and an agent between them."""

from __future__ import annotations

import asyncio
import base64
import itertools
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import toolcrib
from tests.llm.wire import anthropic, gemini, ollama, openai_chat, openai_responses
from tests.llm.wire.script import Script, Step, serving
from toolcrib.agent import Agent, TurnEnded
from toolcrib.agent.ports import AgentQuestion
from toolcrib.approvals.gate import AllowAll
from toolcrib.schema.tools import ToolCall
from toolcrib.tools.ports import Decision

PROTOCOLS = [anthropic, openai_chat, openai_responses, gemini, ollama]
TEXT_ARGUMENTS = [anthropic, openai_chat, openai_responses]
OBJECT_ARGUMENTS = [gemini, ollama]
"""These send arguments as objects, which cannot be broken JSON; what is no object stands for that."""
PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n not much of a picture").decode()
DEADLINE = 60.0


def every(protocols: list[ModuleType] = PROTOCOLS) -> Any:
    return pytest.mark.parametrize("protocol", protocols, ids=[one.name for one in protocols])


class Person:
    """Somebody who says the same to every question."""

    def __init__(self, action: str, **content: Any) -> None:
        self.reply = {"action": action, "content": content}
        self.asked: list[AgentQuestion] = []

    async def answer(self, question: AgentQuestion) -> Mapping[str, Any]:
        self.asked.append(question)
        return self.reply


class NoDeleting:
    """A gate that refuses to delete."""

    async def check(self, call: ToolCall) -> Decision:
        return Decision(
            allowed=call.tool.name != "delete_file", reason="deleting is forbidden", rule="no-delete"
        )


@dataclass
class Bench:
    """A host with a few tools, a vendor, and an agent between them."""

    host: toolcrib.Host
    script: Script
    protocol: ModuleType
    ran: list[str] = field(default_factory=list)
    working: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: list[str] = field(default_factory=list)

    def agent(self, **options: Any) -> Agent:
        return self.host.agent(self.protocol.model, **options)

    async def ask(self, text: str = "go", **options: Any) -> TurnEnded:
        async with asyncio.timeout(DEADLINE):
            ended = await self.agent(**options).ask(text)
        assert self.script.complaints == []
        return ended

    def results(self) -> list[Any]:
        """The answers of tools in the last request."""
        found: list[Any] = self.protocol.results(self.script.requests[-1])
        return found


Open = Callable[..., Any]


@pytest.fixture
async def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Open]:
    """Opens a bench for a protocol and the steps of its vendor."""
    async with AsyncExitStack() as stack:

        async def open_bench(
            protocol: ModuleType, *steps: Step, slowly: bool = False, gate: Any = None
        ) -> Bench:
            script = Script(*steps, slowly=slowly)
            base = await stack.enter_async_context(serving(protocol, script))
            monkeypatch.setenv(protocol.variable, protocol.address(base))
            monkeypatch.setenv(protocol.key, f"key-of-{protocol.name}")
            home = tmp_path / "home"
            home.mkdir()
            (home / "mcp.json").write_text('{"mcpServers": {}}')
            host = await stack.enter_async_context(toolcrib.open_host(home, gate=gate or AllowAll()))
            made = Bench(host, script, protocol)
            _give_tools(made)
            return made

        yield open_bench


def _give_tools(bench: Bench) -> None:
    numbers = itertools.count()

    @bench.host.tool()
    def add(a: int, b: int) -> str:
        """Add two numbers."""
        bench.ran.append("add")
        return str(a + b)

    @bench.host.tool()
    def picture() -> dict[str, Any]:
        """Take a picture."""
        return {"content": [{"type": "image", "data": PICTURE, "mimeType": "image/png"}]}

    @bench.host.tool()
    def fail(message: str) -> str:
        """Fail."""
        raise RuntimeError(message)

    @bench.host.tool(destructive=True)
    def delete_file(path: str) -> str:
        """Delete a file."""
        bench.ran.append("delete_file")
        return f"deleted {path}"

    @bench.host.tool()
    async def work() -> str:
        """Work for ever."""
        number = next(numbers)
        bench.ran.append("work")
        if bench.ran.count("work") == 3:
            bench.working.set()
        try:
            await asyncio.sleep(DEADLINE)
        except asyncio.CancelledError:
            bench.cancelled.append(f"work {number}")
            raise
        return "done"
