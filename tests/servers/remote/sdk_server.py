"""A server made with the official SDK, run as a process: `python sdk_server.py MODE PORT`.

Modes: http (answers as streams), json (answers as bodies), stateless, polling (a legacy server that hangs up
and expects to be asked again), sse (the transport of 2024-11-05). It prints a line once it listens.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.streamable_http import EventMessage, EventStore
from starlette.applications import Starlette

server = MCPServer("remote", version="1.2.3", log_level="ERROR")


@server.tool(structured_output=False)
async def echo(text: str) -> str:
    """Say it again."""
    return text


@server.tool(structured_output=False)
async def big(size: int) -> str:
    """A text of that many characters."""
    return "x" * size


@server.tool(structured_output=False)
async def hang(ctx: Context[Any, Any]) -> str:
    """Never answer."""
    await ctx.report_progress(0, 1, "hanging")
    await asyncio.Event().wait()
    return "never"


@server.tool(structured_output=False)
async def steps(count: int, ctx: Context[Any, Any]) -> str:
    """Report each step."""
    for step in range(count):
        await ctx.report_progress(step + 1, count, f"step {step + 1}")
    return "done"


@server.tool(structured_output=False)
async def announce(ctx: Context[Any, Any]) -> str:
    """Tell the client, outside of this call, that the tools changed."""
    await ctx.session.send_tool_list_changed()
    return "announced"


@server.tool(structured_output=False)
async def hang_up(ctx: Context[Any, Any]) -> str:
    """Close this call's stream before answering; the client has to come back for the answer."""
    await ctx.close_sse_stream()
    return "answered after all"


class Events(EventStore):
    """Keeps every event, so that streams can be resumed."""

    def __init__(self) -> None:
        self._events: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: str, send_callback: Any) -> str | None:
        index = int(last_event_id)
        stream_id = self._events[index - 1][0]
        for number, (stream, message) in enumerate(self._events[index:], start=index + 1):
            if stream == stream_id and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream_id


def make_app(mode: str) -> Starlette:
    """The web application of this mode."""
    if mode == "sse":
        return server.sse_app()
    if mode == "polling":
        return server.streamable_http_app(event_store=Events(), retry_interval=100)
    return server.streamable_http_app(json_response=mode == "json", stateless_http=mode == "stateless")


class Announcing(uvicorn.Server):
    """Prints its port once it listens."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        assert sockets is not None
        sys.stdout.write(f"{sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()


async def main(mode: str, port: int) -> None:
    """Serve until killed."""
    # With the protocol named, asyncio turns Nagle's algorithm off for the connections it accepts.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    config = uvicorn.Config(make_app(mode), log_level="error", timeout_graceful_shutdown=1)
    await Announcing(config).serve(sockets=[listener])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
