"""A server that sends without end what nobody asked for: `python flooding_server.py KIND`.

Kinds: small, large, huge (notifications), junk, half (JSON), changes (of its tool list), sampling, answers
(to requests that were never made).
"""

import itertools
import json
import sys
import threading
from collections.abc import Iterator
from typing import Any

LOCK = threading.Lock()
TOOLS = [{"name": "echo", "inputSchema": {"type": "object"}}]


def notice(method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params})


def flood(kind: str) -> Iterator[str]:
    """Each item is one line."""
    message = {"level": "info", "data": "x" * 200}
    if kind == "small":
        return itertools.repeat(notice("notifications/message", **message))
    if kind == "large":
        return itertools.repeat(notice("notifications/message", level="info", data="x" * 100_000))
    if kind == "huge":
        return itertools.repeat(notice("notifications/message", level="info", data=list(range(300_000))))
    if kind == "junk":
        return itertools.repeat("Listening on port 1234, this is not a message at all")
    if kind == "half":
        return itertools.repeat('{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": ')
    if kind == "changes":
        return itertools.repeat(notice("notifications/tools/list_changed"))
    if kind == "answers":
        return (
            json.dumps({"jsonrpc": "2.0", "id": number, "result": {}}) for number in itertools.count(10**6)
        )
    return map(_sampling, itertools.count(1))


def _sampling(number: int) -> str:
    content = {"role": "user", "content": {"type": "text", "text": "hi"}}
    params = {"messages": [content], "maxTokens": 10}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "sampling/createMessage", "params": params})


def send(text: str) -> None:
    with LOCK:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def answer(message: dict[str, Any]) -> dict[str, Any]:
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        capabilities = {"tools": {"listChanged": True}, "logging": {}}
        info = {"name": "flooding", "version": "1"}
        return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
    if message["method"] == "tools/list":
        return {"tools": TOOLS}
    return {"content": [{"type": "text", "text": "echo"}]}


def pour(kind: str) -> None:
    lines = flood(kind)
    while True:
        send("\n".join(itertools.islice(lines, 1 if kind == "huge" else 50)))


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message or "id" not in message:
            if message.get("method") == "notifications/initialized":
                threading.Thread(target=pour, args=(sys.argv[1],), daemon=True).start()
            continue
        if message["method"] == "server/discover":
            error = {"code": -32601, "message": "Method not found"}
            send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}))
        else:
            send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}))


if __name__ == "__main__":
    main()
