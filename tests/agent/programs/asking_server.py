"""A small MCP server of the older era that asks back: `interview` asks the person, `ponder` the model.

`pester` asks the person again and again, until it is told off.
"""

import json
import sys

INPUT = {"type": "object", "properties": {}}
TOOLS = [
    {"name": "interview", "description": "Ask the person for a name.", "inputSchema": INPUT},
    {"name": "ponder", "description": "Ask the model.", "inputSchema": INPUT},
    {"name": "pester", "description": "Ask the person without end.", "inputSchema": INPUT},
]
QUESTIONS = {
    "interview": (
        "elicitation/create",
        {
            "message": "Your name?",
            "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
        },
    ),
    "ponder": (
        "sampling/createMessage",
        {
            "messages": [{"role": "user", "content": {"type": "text", "text": "What is a crib?"}}],
            "maxTokens": 50,
        },
    ),
}
waiting = {}


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        info = {"name": "asking", "version": "1"}
        send(
            {
                "id": number,
                "result": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": info,
                },
            }
        )
    elif method == "tools/list":
        send({"id": number, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        name, given = message["params"]["name"], message["params"].get("arguments") or {}
        asked, params = QUESTIONS["interview" if name == "pester" else name]
        if "field" in given:
            params["requestedSchema"]["properties"] = {given["field"]: {"type": "string"}}
        waiting[f"q{number}"] = (number, name)
        send({"id": f"q{number}", "method": asked, "params": params})
    elif method is None and number in waiting and waiting[number][1] == "pester" and "result" in message:
        waiting[f"{number}+"] = waiting.pop(number)
        send({"id": f"{number}+", "method": asked, "params": params})
    elif method is None and number in waiting:
        reply = json.dumps(message.get("result", message.get("error")))
        send({"id": waiting.pop(number)[0], "result": {"content": [{"type": "text", "text": reply}]}})
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "unknown"}})
