"""A small MCP server of the older era: numbered lines, as long as it is told, or any result it is given."""

import json
import sys

INPUT = {"type": "object", "properties": {"size": {"type": "integer", "description": "Characters."}}}
RESULT = {"type": "object", "properties": {"result": {"type": "string", "description": "As JSON."}}}
ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "long", "version": "1"},
    },
    "tools/list": {
        "tools": [
            {"name": "lines", "description": "Many lines.", "inputSchema": INPUT},
            {"name": "answer", "description": "This result.", "inputSchema": RESULT},
        ]
    },
    "ping": {},
}


def lines(size):
    text = "".join(f"line {number}\n" for number in range(size // 8))
    return {"content": [{"type": "text", "text": text[:size].ljust(size, "x")}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    known = ANSWERS.get(message["method"])
    if message["method"] == "tools/call":
        given = message["params"]["arguments"]
        known = json.loads(given["result"]) if "result" in given else lines(given.get("size", 30_000))
    answer = {"result": known} if known else {"error": {"code": -32601, "message": "not known"}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\n")
    sys.stdout.flush()
