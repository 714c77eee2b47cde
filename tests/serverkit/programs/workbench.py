"""A server with a tool for each thing that can happen; run as a process by the tests."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path

from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.stdio import run

server = ToolServer("workbench", "1.0", "For tests.")


@server.tool(read_only=True, quick=True)
def echo(text: str) -> str:
    """Say it again."""
    return text


@server.tool()
async def wait_for_ever(context: ToolContext, mark: str = "") -> str:
    """Say that it began, then wait to be cancelled, and leave a mark."""
    context.progress(1)
    try:
        await asyncio.get_running_loop().create_future()
    except asyncio.CancelledError:
        if mark:
            await asyncio.to_thread(Path(mark).write_text, "cancelled")
        raise
    return "never"


@server.tool()
def hang(context: ToolContext) -> str:
    """Block a thread for ever."""
    context.progress(1)
    threading.Event().wait()
    return "never"


@server.tool()
async def stubborn(context: ToolContext) -> str:
    """Ignore every cancellation."""
    context.progress(1)
    while True:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            continue


@server.tool()
def chatter() -> str:
    """Print to stdout, as careless code does."""
    print("this is not a message")
    sys.stdout.flush()
    return "done"


@server.tool()
def steps(context: ToolContext, count: int) -> str:
    """Report progress from a thread."""
    for step in range(1, count + 1):
        context.progress(step, count, f"step {step}")
    context.progress(1, count, "backwards")
    return "done"


@server.tool()
def logs(context: ToolContext) -> str:
    """Log at three levels."""
    context.log("debug", "quiet")
    context.log("info", {"what": "normal"})
    context.log("error", "loud")
    return "done"


@server.tool()
def fail() -> str:
    """Fail in the way a tool should."""
    raise ToolFailure("It is broken.", "Mend it.")


@server.tool()
def crash() -> str:
    """Fail in the way a tool should not."""
    raise ValueError("unexpected")


@server.tool()
def leave() -> str:
    """Try to end the process."""
    sys.exit(3)


@server.tool()
def ask_for_input() -> str:
    """Read stdin, which belongs to the protocol."""
    return repr(sys.stdin.read())


if __name__ == "__main__":
    if "--asyncio" in sys.argv:
        sys.modules["uvloop"] = None  # type: ignore[assignment]
    run(server)
