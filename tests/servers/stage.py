"""A peer on a stage: its link is in the hands of the test, and so are the answers to the other side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from toolcrib.errors import Denied, PeerError
from toolcrib.servers.sessions.codec import encode
from toolcrib.servers.sessions.peer import Peer
from toolcrib.servers.transport import Message

SOON = 60.0


class Wire:
    """A link into a list. It is clogged while the far end does not read."""

    pid = None

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self._room = asyncio.Event()
        self._room.set()
        self._news = asyncio.Event()

    async def send(self, message: Message) -> None:
        await self._room.wait()
        self._put(message)

    def clog(self) -> None:
        self._room.clear()

    def unclog(self) -> None:
        self._room.set()

    def _put(self, message: Message) -> None:
        encode(message)
        self.sent.append(message)
        self._news.set()

    async def until(self, condition: Callable[[list[Message]], Any]) -> list[Message]:
        async with asyncio.timeout(SOON):
            while not condition(self.sent):
                self._news.clear()
                await self._news.wait()
        return self.sent

    async def request(self, number: int = 1) -> Message:
        """The so-many-th request that was sent."""

        def requests(sent: list[Message]) -> list[Message]:
            return [message for message in sent if "id" in message and "method" in message]

        return requests(await self.until(lambda sent: len(requests(sent)) >= number))[number - 1]


class PromptWire(Wire):
    """One that takes a message without waiting, while there is room."""

    def post(self, message: Message) -> bool:
        if not self._room.is_set():
            return False
        self._put(message)
        return True


class Answers:
    """Answers what the test lays out; `ask` waits until it is told to go on."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.asked: list[str] = []
        self.notices: list[tuple[str, dict[str, Any]]] = []

    async def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(method)
        if method == "wait":
            await self.go_on.wait()
        if method == "refuse":
            raise PeerError("not you", code=-1, data={"why": "because"})
        if method == "deny":
            raise Denied("The person said no.")
        if method == "stumble":
            raise KeyError("a bug")
        if method == "unwritable":
            return {"value": object()}
        return {"echo": params}

    def noticed(self, method: str, params: dict[str, Any]) -> None:
        if method == "trip":
            raise RuntimeError("a bug in whoever listens")
        self.notices.append((method, params))


class Stage:
    """A peer with its link and its answers."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.answers = Answers()
        self.peer = Peer(self.answers.answer, self.answers.noticed, server="srv")
        self.peer.attach(self.wire)

    def call(self, **options: Any) -> asyncio.Task[dict[str, Any]]:
        options = {"timeout": SOON, **options}
        return asyncio.ensure_future(self.peer.request("call", {"a": 1}, **options))

    def reply(self, request_id: Any, result: Any = None, **rest: Any) -> None:
        self.peer.receive({"jsonrpc": "2.0", "id": request_id, "result": result or {}, **rest})

    def ask(self, request_id: Any, method: str = "wait", **params: Any) -> None:
        self.peer.receive({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def progress(self, token: Any, **params: Any) -> None:
        note = {"progressToken": token, **params}
        self.peer.receive({"jsonrpc": "2.0", "method": "notifications/progress", "params": note})

    async def answer_to(self, request_id: Any) -> Message:
        def found(sent: list[Message]) -> list[Message]:
            return [m for m in sent if "method" not in m and m["id"] == request_id]

        return found(await self.wire.until(found))[0]
