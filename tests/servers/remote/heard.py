"""What a link told its inbox, and the messages that tests send through links."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from tests.servers.remote.scripted import DEADLINE
from toolcrib.errors import ToolcribError
from toolcrib.servers.transport import Link, LinkContext, Message
from toolcrib.servers.transports import http, sse

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Heard:
    """An inbox that keeps everything."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.losses: list[ToolcribError] = []
        self.log: list[str] = []
        self._something = asyncio.Event()

    def receive(self, message: Message) -> None:
        """One message arrived."""
        self.messages.append(message)
        self._something.set()

    def lost(self, error: ToolcribError) -> None:
        """The link is gone."""
        self.losses.append(error)
        self._something.set()

    async def until(self, condition: Callable[[Heard], bool]) -> None:
        """Wait until what was heard satisfies the condition."""
        async with asyncio.timeout(DEADLINE):
            while not condition(self):
                self._something.clear()
                await self._something.wait()

    def over_http(self, url: str, **options: Any) -> AbstractAsyncContextManager[Link]:
        """A streamable HTTP link with this inbox."""
        spec, context = self._set_up(url, options)
        return http.open(http.HttpSpec.read(spec), self, context)

    def over_sse(self, url: str, **options: Any) -> AbstractAsyncContextManager[Link]:
        """A link of the 2024-11-05 transport with this inbox."""
        spec, context = self._set_up(url, options)
        return sse.open(sse.Spec.read(spec), self, context)

    def _set_up(self, url: str, options: dict[str, Any]) -> tuple[dict[str, Any], LinkContext]:
        names = ("auth", "max_message_bytes", "resolve")
        about_context = {key: options.pop(key) for key in names if key in options}
        context = LinkContext(server="remote", on_log=self.log.append, **about_context)
        return {"url": url, **options}, context


def modern(request_id: int, method: str = "tools/call", **params: Any) -> Message:
    """A request of the modern era."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": META}}


def legacy(request_id: int, method: str = "tools/call", **params: Any) -> Message:
    """A request of the legacy era."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def note(method: str, **params: Any) -> Message:
    """A notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def result(request_id: Any, value: Any) -> Message:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": request_id, "result": value}
