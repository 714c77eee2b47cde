"""Ollama's own protocol, as it streams it."""

from __future__ import annotations

import json
from typing import Any

from tests.llm.wire import faithful
from tests.llm.wire.script import Call, Cut, Hold, Refuse, Result, Say, pieces, stop_of

name = "ollama"
path = "/api/chat"
variable = "OLLAMA_HOST"
key = "OLLAMA_API_KEY"
model = "ollama:tiny"


def address(base: str) -> str:
    return base.removeprefix("http://")


def check(body: dict[str, Any], headers: dict[str, str]) -> list[str]:
    wrong = []
    if body.get("stream") is not True or not body["options"].get("num_ctx"):
        wrong.append("stream and num_ctx")
    for message in body["messages"]:
        wrong += faithful.names(one["function"]["name"] for one in message.get("tool_calls", ()))
        for image in message.get("images", ()):
            if not any(not faithful.picture(mime, image) for mime in ("image/png", "image/jpeg")):
                wrong.append("a picture that cannot be read")
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            if not waiting or message["tool_name"] != waiting.pop(0):
                wrong.append(f"an answer nobody asked for: {message['tool_name']}")
            continue
        if waiting:
            wrong.append(f"no answers to {waiting}")
        waiting = [one["function"]["name"] for one in message.get("tool_calls", ())]
        if not isinstance(message["content"], str):
            wrong.append("content must be text")
    return wrong


def write(step: Say | Call | Cut | Hold, turn: int) -> list[bytes]:
    text = step.saying if isinstance(step, Call) else step.text
    rest = {"model": "tiny", "created_at": "2026-11-15T00:00:00Z", "done": False}
    lines = (
        [{**rest, "message": {"role": "assistant", "content": one}} for one in pieces(text)] if text else []
    )
    for tool, arguments in step.calls if isinstance(step, Call) else ():
        function = {"name": tool, "arguments": json.loads(arguments)}
        message = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
        lines.append({**rest, "message": message})
    reason = "length" if stop_of(step) == "length" else "stop"
    counted = {"prompt_eval_count": 14, "eval_count": 5, "total_duration": 1, "load_duration": 1}
    empty = {"role": "assistant", "content": ""}
    lines.append({**rest, "message": empty, "done": True, "done_reason": reason, **counted})
    return [json.dumps(line).encode() + b"\n" for line in lines]


def refuse(step: Refuse) -> dict[str, Any]:
    return {"error": step.message}


def results(body: dict[str, Any]) -> list[Result]:
    messages = body["messages"]
    return [
        Result(
            message["tool_name"],
            message["content"],
            message["content"].startswith("Error: "),
            sum(len(one.get("images", ())) for one in messages[position:] if one["role"] == "user"),
        )
        for position, message in enumerate(messages)
        if message["role"] == "tool"
    ]


def tools(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]
