"""The smallest MCP server that can be measured against: standard library only, one blocking loop on stdin.

Tools: `echo` gives its text back; `blob` gives `bytes` bytes of text, encoded once, so that the time of a
large answer is the client's. A fleet's broken members are asked for with `--broken KIND`.
"""

from __future__ import annotations

import json
import sys
import time
from functools import cache
from typing import Any

TOOLS = [
    {
        "name": "echo",
        "description": "Give the text back.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
    {
        "name": "blob",
        "description": "Give this many bytes of text.",
        "inputSchema": {
            "type": "object",
            "properties": {"bytes": {"type": "integer"}},
            "required": ["bytes"],
        },
    },
]


def result_of(message: dict[str, Any]) -> bytes | None:
    """The encoded result of a request; None for a method that is not known."""
    method, params = message["method"], message.get("params") or {}
    if method == "tools/call":
        return called(params["name"], params.get("arguments") or {})
    if method == "tools/list":
        return encode({"tools": TOOLS})
    if method == "initialize":
        return encode(
            {
                "protocolVersion": min(params["protocolVersion"], "2025-11-25"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "tiny", "version": "1"},
            }
        )
    return b"{}" if method == "ping" else None


def called(tool: str, arguments: dict[str, Any]) -> bytes:
    if tool == "blob":
        return blob(arguments["bytes"])
    return encode({"content": [{"type": "text", "text": arguments["text"]}], "isError": False})


@cache
def blob(size: int) -> bytes:
    text = "all work and no play " * (size // 21 + 1)
    return encode({"content": [{"type": "text", "text": text[:size]}], "isError": False})


def encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def reply_to(message: dict[str, Any]) -> bytes | None:
    """The whole encoded answer; None where none is due."""
    if "id" not in message or "method" not in message:
        return None
    number, result = encode(message["id"]), result_of(message)
    if result is not None:
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (number, result)
    return b'{"jsonrpc":"2.0","id":%b,"error":{"code":-32601,"message":"Method not found"}}' % number


def misbehave(kind: str) -> None:
    """Be one of the servers that a fleet has to live with."""
    if kind == "exits":
        sys.exit("cannot start: no licence")
    if kind == "hangs":
        time.sleep(3600)
    if kind == "rambles":
        while True:
            sys.stdout.write("starting up, please wait ...\n")
            sys.stdout.flush()
            time.sleep(0.01)


def main() -> None:
    """Answer until stdin ends."""
    broken = sys.argv[2] if sys.argv[1:2] == ["--broken"] else ""
    misbehave(broken)
    read, write, flush = sys.stdin.buffer.readline, sys.stdout.buffer.write, sys.stdout.buffer.flush
    while line := read():
        message = json.loads(line)
        if broken == "dies-listing" and message.get("method") == "tools/list":
            sys.exit(3)
        reply = reply_to(message)
        if reply is not None:
            write(reply + b"\n")
            flush()


if __name__ == "__main__":
    main()
