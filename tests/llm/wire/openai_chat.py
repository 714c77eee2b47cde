"""OpenAI's chat completions, as its server streams them."""

from __future__ import annotations

from typing import Any

from tests.llm.wire import faithful
from tests.llm.wire.script import Call, Cut, Hold, Refuse, Result, Say, id_of, pieces, sse, stop_of

name = "openai"
path = "/v1/chat/completions"
variable = "OPENAI_BASE_URL"
key = "OPENAI_API_KEY"
model = "openai:gpt-test"


def address(base: str) -> str:
    return f"{base}/v1"


def check(body: dict[str, Any], headers: dict[str, str]) -> list[str]:
    wrong = []
    if headers.get("authorization") != "Bearer key-of-openai":
        wrong.append("headers")
    if body.get("stream") is not True or not body["stream_options"]["include_usage"]:
        wrong.append("stream and usage")
    calls = [one for message in body["messages"] for one in message.get("tool_calls", ())]
    wrong += faithful.names(one["function"]["name"] for one in calls)
    wrong += faithful.ids((one["id"] for one in calls), ".{1,40}")
    for message in body["messages"]:
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            wrong += faithful.data_url(part["image_url"]["url"]) if part["type"] == "image_url" else []
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            if not waiting or message["tool_call_id"] != waiting.pop(0):
                wrong.append(f"an answer nobody asked for: {message['tool_call_id']}")
            if not isinstance(message["content"], str):
                wrong.append("a tool's answer must be text")
            continue
        if waiting:
            wrong.append(f"no answers to {waiting}")
        waiting = [one["id"] for one in message.get("tool_calls", ())]
        for one in message.get("tool_calls", ()):
            if not isinstance(faithful.read(one["function"]["arguments"].encode()), dict):
                wrong.append("arguments must be an object")
        if message.get("content") is None and not waiting:
            wrong.append("a message without anything")
    return [*wrong, f"no answers to {waiting}"] if waiting else wrong


def write(step: Say | Call | Cut | Hold, turn: int) -> list[bytes]:
    text = step.saying if isinstance(step, Call) else step.text
    calls = step.calls if isinstance(step, Call) else ()
    chunk = {"id": f"chatcmpl-{turn}", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test"}

    def delta(content: dict[str, Any], reason: str | None = None) -> bytes:
        return sse(
            {**chunk, "choices": [{"index": 0, "delta": content, "finish_reason": reason}], "usage": None}
        )

    written = [delta({"role": "assistant", "content": "" if text else None})]
    words = "refusal" if stop_of(step) == "refused" else "content"
    written += [delta({words: piece}) for piece in pieces(text)] if text else []
    for number, (tool, arguments) in enumerate(calls):
        opened = {"name": tool, "arguments": ""}
        assert isinstance(step, Call)
        named = id_of(step, number, f"call_{turn}_{number}")
        head = {"index": number, "id": named, "type": "function", "function": opened}
        written.append(delta({"tool_calls": [head]}))
        written += [
            delta({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
            for piece in pieces(arguments)
        ]
    reason = {"length": "length", "filtered": "content_filter"}.get(stop_of(step), "")
    written.append(delta({}, reason or ("tool_calls" if calls else "stop")))
    counted = {"cached_tokens": 4}
    usage = {
        "prompt_tokens": 14,
        "completion_tokens": 5,
        "total_tokens": 19,
        "prompt_tokens_details": counted,
    }
    return [*written, sse({**chunk, "choices": [], "usage": usage}), sse("[DONE]")]


def refuse(step: Refuse) -> dict[str, Any]:
    return {"error": {"message": step.message, "type": "invalid_request_error", "param": None, "code": None}}


def results(body: dict[str, Any]) -> list[Result]:
    found: list[Result] = []
    for position, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            found.append(
                Result(
                    message["tool_call_id"],
                    message["content"],
                    "outcome=" in message["content"],
                    _images(body["messages"][position + 1 :], message["tool_call_id"]),
                )
            )
    return found


def _images(after: list[dict[str, Any]], call: str) -> int:
    """The pictures in the next message of the person's, under the call's id."""
    for message in after:
        if message["role"] == "user" and isinstance(message["content"], list):
            named = any(call in part.get("text", "") for part in message["content"])
            return sum(part["type"] == "image_url" for part in message["content"]) if named else 0
    return 0


def tools(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]
