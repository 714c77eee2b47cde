"""A server whose tools are what a JSON file says each time they are listed; it notes every call in a log.

The tool `announce` says that the list changed; `crash` ends the server without an answer.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

DEFINITIONS, LOG = map(Path, sys.argv[1:3])


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer(message)


def answer(message: dict[str, Any]) -> None:
    method = message["method"]
    if method == "initialize":
        result: dict[str, Any] = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "turning", "version": "1"},
        }
    elif method == "tools/list":
        result = {"tools": json.loads(DEFINITIONS.read_text())}
    elif method == "tools/call":
        result = call(message["params"]["name"])
    elif method == "ping":
        result = {}
    else:
        send({"id": message["id"], "error": {"code": -32601, "message": "not here"}})
        return
    send({"id": message["id"], "result": result})


def call(name: str) -> dict[str, Any]:
    with LOG.open("a") as log:
        log.write(json.dumps(name) + "\n")
    if name == "announce":
        send({"method": "notifications/tools/list_changed"})
    if name == "crash":
        os._exit(3)
    return {"content": [{"type": "text", "text": f"{name!a} ran"}]}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
