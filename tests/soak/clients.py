"""Clients of the gateway, of both eras: they call, check each answer to the letter, and keep a tally."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.soak.http_client import Answer, Connection, Message, chunks, events, read_head

PATIENCE = 60.0
"""Seconds after which an unanswered call counts as lost."""
RECOVERY = 30.0
"""Seconds within which trying again must have helped."""
TOOLS = ("echo", "echo", "note", "slow")
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_texts = map("{:x}".format, itertools.count(1))


@dataclass
class Findings:
    """What all clients saw together."""

    servers: tuple[str, ...]
    answered: int = 0
    hung_up: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """Clear, retryable errors, by kind."""
    noted: list[str] = field(default_factory=list)
    """What was answered to calls that must not be repeated."""
    wrong: list[str] = field(default_factory=list)
    notices: int = 0
    slowest: float = 0.0
    """Seconds until a refused call, tried again, was answered."""


class Client:
    """Calls tools of all servers until it is told to stop. A subclass speaks one era."""

    def __init__(self, url: str, findings: Findings, seed: int) -> None:
        self.url = url
        self.findings = findings
        self.random = random.Random(seed)
        self.connection = Connection(url)
        self._ids = itertools.count(1)

    async def live(self, over: asyncio.Event) -> None:
        """One client's life."""
        await self.arrive()
        while not over.is_set():
            await self.act()
            await asyncio.sleep(self.random.random() * 0.1)
        await self.depart()
        await self.connection.close()

    async def act(self) -> None:
        """A call; now and then a list, or a call that is given up."""
        fate = self.random.random()
        if fate < 0.01:
            await self.look()
        elif fate < 0.02:
            await self.give_up()
        else:
            await self.insist(self.random.choice(self.findings.servers), self.random.choice(TOOLS))

    async def insist(self, server: str, tool: str) -> None:
        """Call until it is answered; a refusal must be retryable, and trying again must help."""
        began = asyncio.get_running_loop().time()
        attempts = 0
        while not await self.attempt(server, tool):
            attempts += 1
            passed = asyncio.get_running_loop().time() - began
            if passed > RECOVERY:
                self.wrong(f"{server}/{tool} was refused for {passed:.0f} s, {attempts} times")
                return
            await asyncio.sleep(0.05)
        if attempts:
            self.findings.slowest = max(self.findings.slowest, asyncio.get_running_loop().time() - began)

    async def attempt(self, server: str, tool: str) -> bool:
        """One call; true when it needs no other."""
        text = f"{next(_texts)}-{self.random.randbytes(self.random.choice((4, 40, 400))).hex()}"
        params: Message = {"name": f"{server}__{tool}", "arguments": {"text": text}}
        if tool == "slow" and self.random.random() < 0.5:
            params["_meta"] = {"progressToken": f"p-{text[:40]}"}
        try:
            async with asyncio.timeout(PATIENCE):
                request, answer = await self.request("tools/call", params)
        except (TimeoutError, OSError, EOFError) as error:
            self.wrong(f"{server}/{tool} was lost: {error!r}")
            await self.connection.close()
            return True
        return self.judge(server, tool, text, request, answer)

    def judge(self, server: str, tool: str, text: str, request: Message, answer: Answer) -> bool:
        """Is this the answer to that call, or a clear error?"""
        *before, last = answer.messages or [{}]
        strangers = [m for m in before if not _is_progress_of(m, request)]
        result = last.get("result")
        if strangers or last.get("id") != request["id"] or not isinstance(result, dict):
            self.wrong(
                f"{server}/{tool} {request['id']}: {answer.status} {json.dumps(answer.messages)[:500]}"
            )
            return True
        content = result.get("content")
        if content == [{"type": "text", "text": f"{server}/{tool}/{text}"}] and not result.get("isError"):
            self.findings.answered += 1
            if tool == "note":
                self.findings.noted.append(text)
            return True
        note = (result.get("_meta") or {}).get("toolcrib/error") or {}
        if result.get("isError") and note.get("retryable"):
            self.findings.refused[note["kind"]] += 1
            return False
        self.wrong(f"{server}/{tool} {text[:40]}: {json.dumps(result)[:500]}")
        return True

    async def look(self) -> None:
        """List the tools: all of them, whatever happens to their servers."""
        _, answer = await self.request("tools/list", {})
        listed = {tool["name"] for tool in answer.messages[-1]["result"]["tools"]}
        expected = {f"{server}__{tool}" for server in self.findings.servers for tool in TOOLS}
        if listed != expected:
            self.wrong(f"listed {sorted(listed ^ expected)} too many or too few")

    async def give_up(self) -> None:
        """Start a call and hang up on it."""
        name = f"{self.random.choice(self.findings.servers)}__slow"
        message = self.message("tools/call", {"name": name, "arguments": {"text": "never mind"}})
        elsewhere = Connection(self.url)
        await elsewhere.send("POST", json.dumps(message).encode(), self.headers(message))
        await asyncio.sleep(self.random.random() * 0.1)
        await elsewhere.close()
        self.findings.hung_up += 1

    async def request(self, method: str, params: Message) -> tuple[Message, Answer]:
        """Send a request; returns it as it was sent, and its answer."""
        message = self.message(method, params)
        return message, await self.connection.post(message, self.headers(message))

    def message(self, method: str, params: Message) -> Message:
        """A request with a fresh id."""
        return {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}

    def wrong(self, what: str) -> None:
        """Write down what must not happen."""
        self.findings.wrong.append(f"{type(self).__name__}: {what}")

    async def arrive(self) -> None:
        """Open."""

    async def depart(self) -> None:
        """Say good-bye."""

    def headers(self, message: Message) -> dict[str, str]:
        """What goes with a request."""
        raise NotImplementedError


class ModernClient(Client):
    """Every request stands alone."""

    def message(self, method: str, params: Message) -> Message:
        """With the envelope of the era."""
        return super().message(method, {**params, "_meta": {**META, **params.get("_meta", {})}})

    def headers(self, message: Message) -> dict[str, str]:
        """As the era wants them."""
        named = {"Mcp-Name": message["params"]["name"]} if "name" in message["params"] else {}
        return {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": message["method"], **named}


class LegacyClient(Client):
    """Has a session, or several in turn, and a stream on which it is told of changes."""

    SESSIONS = 3
    LASTS = 100
    """Calls after which a session is left for a new one."""

    async def arrive(self) -> None:
        """Open the sessions and the stream."""
        self._sessions = [await self._initialize() for _ in range(self.random.randint(1, self.SESSIONS))]
        self._calls = 0
        self._ear = Connection(self.url)
        reader = await self._ear.send("GET", b"", {"Mcp-Session-Id": self._sessions[0]})
        self._hearing = asyncio.create_task(self._hear(reader))

    async def depart(self) -> None:
        """Leave every session."""
        self._hearing.cancel()
        await asyncio.gather(self._hearing, return_exceptions=True)
        await self._ear.close()
        for session in self._sessions:
            await self._leave(session)

    async def act(self) -> None:
        """As everyone, and now and then in a new session; the first one keeps its stream."""
        await super().act()
        self._calls += 1
        if self._calls % self.LASTS == 0 and len(self._sessions) > 1:
            await self._leave(self._sessions.pop())
            self._sessions.append(await self._initialize())

    def headers(self, message: Message) -> dict[str, str]:
        """With one of the sessions."""
        if message["method"] == "initialize":
            return {}
        session = self._sessions[message["id"] % len(self._sessions)]
        return {"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}

    async def _initialize(self) -> str:
        info = {"clientInfo": {"name": "soak", "version": "1"}, "capabilities": {}}
        _, answer = await self.request("initialize", {"protocolVersion": "2025-11-25", **info})
        session = answer.headers["mcp-session-id"]
        initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self.connection.post(initialized, {"Mcp-Session-Id": session})
        return session

    async def _leave(self, session: str) -> None:
        answer = await self.connection.leave({"Mcp-Session-Id": session})
        if answer.status != 200:
            self.wrong(f"leaving a session was answered {answer.status}")

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        status, _ = await read_head(reader)
        if status != 200:
            self.wrong(f"the stream was refused: {status}")
        async for part in chunks(reader):
            for event in events(part):
                self.findings.notices += 1
                if not str(event.get("method")).endswith("list_changed"):
                    self.wrong(f"heard {json.dumps(event)[:300]}")


def _is_progress_of(message: Message, request: Message) -> bool:
    token = request["params"].get("_meta", {}).get("progressToken")
    given = message.get("params", {}).get("progressToken")
    return message.get("method") == "notifications/progress" and token is not None and given == token
