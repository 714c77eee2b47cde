"""A server that tells what it was sent: `meta` gives back its request's `_meta`."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

MODERN = sys.argv[1] == "modern"
ANYTHING = {"type": "object"}
TOOLS = [{"name": name, "inputSchema": ANYTHING} for name in ("meta", "fail", "refuse", "die", "hang")]
INFO = {"name": "telling", "version": "1"}


def call(request: dict[str, Any]) -> dict[str, Any] | None:
    name, params = request["params"]["name"], request["params"]
    if name == "die":
        os._exit(1)
    if name == "hang":
        return None
    if name == "refuse":
        return {"error": {"code": -32050, "message": "refused: private-detail"}}
    text = "private-detail" if name == "fail" else json.dumps(params.get("_meta") or {})
    return {"result": {"content": [{"type": "text", "text": text}], "isError": name == "fail"}}


def answer(request: dict[str, Any]) -> dict[str, Any] | None:
    method = request["method"]
    if method == "tools/call":
        return call(request)
    if method == "tools/list":
        return {"result": {"tools": TOOLS}}
    if method == "initialize" and not MODERN:
        offer = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": INFO}
        return {"result": offer}
    if method == "server/discover" and MODERN:
        meta = {"_meta": {"io.modelcontextprotocol/serverInfo": INFO}, "ttlMs": 0, "cacheScope": "private"}
        return {"result": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **meta}}
    return {"error": {"code": -32601, "message": "Method not found"}}


def main() -> None:
    """Answer until stdin ends."""
    for line in sys.stdin:
        request = json.loads(line)
        reply = answer(request) if "id" in request and "method" in request else None
        if reply is None:
            continue
        if MODERN and "result" in reply:
            reply["result"]["resultType"] = "complete"
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
