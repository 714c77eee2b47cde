#!/usr/bin/env python3
"""A server of the standard library alone: one tool that tells its arguments, variables and folder."""

import json
import os
import sys
from pathlib import Path

VERSION = "1.0.0"


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "tiny", "version": VERSION},
        }
    if method == "tools/list":
        return {"tools": [{"name": "tell", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        told = {"version": VERSION, "args": sys.argv[1:], "env": dict(os.environ), "python": sys.prefix}
        told["cwd"] = str(Path.cwd())
        return {"content": [{"type": "text", "text": json.dumps(told)}]}
    return None


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message["method"], message.get("params"))
        rest = {"result": result} if result is not None else {"error": {"code": -32601, "message": "unknown"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **rest}), flush=True)


if __name__ == "__main__":
    main()
