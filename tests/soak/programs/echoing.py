"""A small MCP server that says whose answer an answer is: quick to start, and made to be killed.

`echo` (read-only) and `note` (not repeatable) answer at once, `slow` after a moment and with progress on the
way. Every answer names the server, the tool and the text. What `note` did is written down before it answers.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

NAME, ERA, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])
JOURNAL = os.open(FOLDER / f"{NAME}.journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
INFO = {"name": NAME, "version": "1"}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS: list[dict[str, Any]] = [
    {"name": "echo", "inputSchema": TEXT, "annotations": {"readOnlyHint": True}},
    {"name": "note", "inputSchema": TEXT},
    {"name": "slow", "inputSchema": TEXT, "annotations": {"readOnlyHint": True}},
]
MOMENT = 0.05
_writing = threading.Lock()


def send(message: dict[str, Any]) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"
    with _writing:
        os.write(1, data)


def reply(request: dict[str, Any], result: dict[str, Any]) -> None:
    send({"id": request["id"], "result": {"resultType": "complete", **result} if ERA == "modern" else result})


def answer(request: dict[str, Any], tool: str, text: str) -> None:
    reply(request, {"content": [{"type": "text", "text": f"{NAME}/{tool}/{text}"}], "isError": False})


def call(request: dict[str, Any]) -> None:
    params = request["params"]
    tool, text = params["name"], params["arguments"]["text"]
    if tool == "note":
        os.write(JOURNAL, f"{text}\n".encode())
    if tool != "slow":
        answer(request, tool, text)
        return
    threading.Thread(target=call_slowly, args=(request, text), daemon=True).start()


def call_slowly(request: dict[str, Any], text: str) -> None:
    token = (request["params"].get("_meta") or {}).get("progressToken")
    time.sleep(MOMENT)
    if token is not None:
        send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})
    time.sleep(MOMENT)
    answer(request, "slow", text)


def handle(request: dict[str, Any]) -> None:
    method = request.get("method")
    if "id" not in request:
        return
    if method == "tools/call":
        call(request)
    elif method == "tools/list":
        reply(request, {"tools": TOOLS})
    elif method == "ping" and ERA == "legacy":
        reply(request, {})
    elif method == "initialize" and ERA == "legacy":
        version = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
        reply(request, {**version, "serverInfo": INFO})
    elif method == "server/discover" and ERA == "modern":
        hints = {"ttlMs": 0, "cacheScope": "private"}
        meta = {"io.modelcontextprotocol/serverInfo": INFO}
        offer = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        reply(request, {**offer, **hints, "_meta": meta})
    else:
        send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})


def main() -> None:
    """Say which process we are, then answer until stdin ends."""
    (FOLDER / f"{NAME}.pid").write_text(str(os.getpid()))
    for line in sys.stdin.buffer:
        handle(json.loads(line))


if __name__ == "__main__":
    main()
