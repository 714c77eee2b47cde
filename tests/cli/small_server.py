"""A small MCP server over stdio, written with the standard library alone; its arguments make it misbehave."""

import json
import os
import sys
import time
from pathlib import Path

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
TOOLS = [
    {
        "name": "echo",
        "description": "Gives back what it was given.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "count": {"type": "integer"},
                "ratio": {"type": "number"},
                "loud": {"type": "boolean"},
                "numbers": {"type": "array", "items": {"type": "integer"}},
                "options": {"type": "object"},
                "level": {"enum": [1, 2, "high"]},
                "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            },
        },
    },
    {"name": "fail", "description": "Ends in an error.", "inputSchema": {"type": "object"}},
    {"name": "picture", "description": "An image.", "inputSchema": {"type": "object"}},
    {"name": "colours", "description": "Escape sequences.", "inputSchema": {"type": "object"}},
    {"name": "never", "description": "Never answers.", "inputSchema": {"type": "object"}},
    {"name": "count", "description": "Counts to three.", "inputSchema": {"type": "object"}},
    {
        "name": "variable",
        "description": "The value of a variable.",
        "inputSchema": {
            "type": "object",
            "properties": {"name": {"type": "string", "description": "Of the environment."}},
        },
    },
]
for _schema in TOOLS[0]["inputSchema"]["properties"].values():
    _schema["description"] = "Given back."
UNTIDY = {"name": "untidy", "inputSchema": {"type": "object", "properties": {"x": {}}}}


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(text):
    if "--notes" in sys.argv:
        with Path(sys.argv[sys.argv.index("--notes") + 1]).open("a") as file:
            file.write(text + "\n")


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def call(number, params):
    name, arguments = params["name"], params.get("arguments", {})
    note(f"called {name}")
    if name == "never":
        return
    if name == "count":
        token = params["_meta"]["progressToken"]
        for step in (1, 2, 3):
            progress = {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}
            send({"method": "notifications/progress", "params": progress})
    results = {
        "echo": lambda: text(json.dumps(arguments)),
        "fail": lambda: {**text("it went wrong"), "isError": True},
        "picture": lambda: {"content": [{"type": "image", "mimeType": "image/png", "data": PICTURE}]},
        "colours": lambda: text("a\x1b[31mred\x1b[0m \x1b]0;title\x07b"),
        "count": lambda: text("three"),
        "variable": lambda: text(os.environ.get(arguments["name"], "(unset)")),
        "untidy": lambda: text("ok"),
    }
    send({"id": number, "result": results[name]()})


def answer(message):
    number, method = message.get("id"), message.get("method")
    if method == "notifications/cancelled":
        note("cancelled")
    if number is None:
        return
    if method == "initialize":
        info = {"name": "small", "version": "1.2.3"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        send({"id": number, "result": result})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": TOOLS + ([UNTIDY] if "--untidy" in sys.argv else [])}})
    elif method == "tools/call":
        call(number, message["params"])
    elif method == "ping":
        send({"id": number, "result": {}})
    else:
        send({"id": number, "error": {"code": -32601, "message": "unknown method"}})


if __name__ == "__main__":
    if "--crash" in sys.argv:
        sys.exit("cannot go on")
    if "--hang" in sys.argv:
        time.sleep(600)
    if "--say" in sys.argv:
        print(sys.argv[sys.argv.index("--say") + 1], file=sys.stderr, flush=True)
    for line in sys.stdin:
        answer(json.loads(line))
