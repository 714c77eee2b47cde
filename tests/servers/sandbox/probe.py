"""A server with one tool, which evaluates Python: what it can do, any server in its place could do."""

import json
import sys
from typing import Any

TOOL = {"name": "run", "inputSchema": {"type": "object", "properties": {"code": {"type": "string"}}}}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        version = params["protocolVersion"]
        info = {"name": "probe", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": evaluate(params["arguments"]["code"])}]}
    return {}


def evaluate(code: str) -> str:
    try:
        return repr(eval(code, {"import_": __import__}))
    except Exception as error:  # noqa: BLE001 - the error is the answer
        return f"{type(error).__name__}: {error}"


for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "server/discover":
        error = {"code": -32601, "message": "Method not found"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
    elif "id" in message:
        result = answer(message["method"], message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
