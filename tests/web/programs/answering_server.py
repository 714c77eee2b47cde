"""A small MCP server of the older era; its one argument is JSON with its tools and what each answers."""

import json
import sys

GIVEN = json.loads(sys.argv[1])
ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "answering", "version": "1"},
    },
    "tools/list": {"tools": [{"inputSchema": {"type": "object"}, **tool} for tool in GIVEN["tools"]]},
    "ping": {},
}

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, params = asked.get("method"), asked.get("params") or {}
    if method == "tools/call":
        answer = {"result": GIVEN["answers"][params["name"]]}
    elif method in ANSWERS:
        answer = {"result": ANSWERS[method]}
    else:
        answer = {"error": {"code": -32601, "message": f"no {method}"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
