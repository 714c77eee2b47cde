"""The server behind every gateway: standard library only, so that it starts at once and costs little.

    backing_server.py NAME [--tools N] [--hang]

`echo` gives its text back, `pid` says which process answers; `--tools` adds so many that are only listed.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

NAME, OPTIONS = sys.argv[1], sys.argv[2:]
TEXT = {"type": "string"}


def tool(name: str, description: str, **properties: Any) -> dict[str, Any]:
    """A definition with these parameters, all of them required."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "inputSchema": schema}


def tools() -> list[dict[str, Any]]:
    """Those that can be called, then those that are only many."""
    count = int(OPTIONS[OPTIONS.index("--tools") + 1]) if "--tools" in OPTIONS else 0
    many = (
        tool(
            f"search_{number:04}",
            f"Search collection {number} for a phrase and give the entries that match, the best ones first.",
            phrase={**TEXT, "description": "What to look for."},
            limit={"type": "integer", "minimum": 1, "maximum": 100, "description": "How many at most."},
            recursive={"type": "boolean", "description": "Look into collections below it as well."},
        )
        for number in range(count)
    )
    return [tool("echo", "Give the text back.", text=TEXT), tool("pid", "Say which process this is."), *many]


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """The result of a request, or the error, under its key."""
    method, params = message["method"], message.get("params") or {}
    if method == "tools/call":
        text = params["arguments"]["text"] if params["name"] == "echo" else str(os.getpid())
        return {"result": {"content": [{"type": "text", "text": f"{NAME}:{text}"}], "isError": False}}
    if method == "tools/list":
        return {"result": {"tools": tools()}}
    if method == "initialize":
        version = min(params["protocolVersion"], "2025-11-25")
        info = {"name": NAME, "version": "1"}
        opening = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        return {"result": opening}
    if method == "ping":
        return {"result": {}}
    return {"error": {"code": -32601, "message": "Method not found"}}


def main() -> None:
    """Answer until stdin ends."""
    if "--hang" in OPTIONS:
        time.sleep(3600)
    while line := sys.stdin.buffer.readline():
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        reply = {"jsonrpc": "2.0", "id": message["id"], **answer(message)}
        sys.stdout.buffer.write(json.dumps(reply, separators=(",", ":")).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
