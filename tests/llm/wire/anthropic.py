"""Anthropic's messages, as its server streams them."""

from __future__ import annotations

import itertools
from typing import Any

from tests.llm.wire import faithful
from tests.llm.wire.script import Call, Cut, Hold, Refuse, Result, Say, id_of, pieces, sse, stop_of

name = "anthropic"
path = "/v1/messages"
variable = "ANTHROPIC_BASE_URL"
key = "ANTHROPIC_API_KEY"
model = "anthropic:claude-test"


def address(base: str) -> str:
    return base


def check(body: dict[str, Any], headers: dict[str, str]) -> list[str]:
    wrong = []
    if headers.get("x-api-key") != "key-of-anthropic" or headers.get("anthropic-version") != "2023-06-01":
        wrong.append("headers")
    if not body.get("max_tokens") or body.get("stream") is not True:
        wrong.append("max_tokens and stream")
    roles = [message["role"] for message in body["messages"]]
    if roles[0] != "user" or any(one == other for one, other in itertools.pairwise(roles)):
        wrong.append(f"roles do not take turns: {roles}")
    blocks = [block for message in body["messages"] for block in message["content"]]
    uses = [block for block in blocks if block["type"] == "tool_use"]
    wrong += faithful.names(use["name"] for use in uses)
    wrong += faithful.ids((use["id"] for use in uses), "[a-zA-Z0-9_-]+")
    parts = [part for block in blocks for part in (block, *block.get("content", ()))]
    for part in parts:
        if part["type"] == "image":
            wrong += faithful.picture(part["source"]["media_type"], part["source"]["data"])
        if part["type"] == "thinking" and not part.get("signature"):
            wrong.append("a thought without a signature")
    for message in body["messages"]:
        if message["role"] == "assistant" and message["content"][-1]["type"] == "thinking":
            wrong.append("a message ends with a thought")
    asked: list[str] = []
    for message in body["messages"]:
        blocks = message["content"]
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            wrong.append("an empty text")
        given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if given != asked:
            wrong.append(f"results {given} for calls {asked}")
        if given and blocks[0]["type"] != "tool_result":
            wrong.append("results must come first")
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if asked and not body.get("tools"):
            wrong.append("calls in the talk, but no tools")
    return wrong


def write(step: Say | Call | Cut | Hold, turn: int) -> list[bytes]:
    text = step.saying if isinstance(step, Call) else step.text
    calls = step.calls if isinstance(step, Call) else ()
    start = {
        "id": f"msg_{turn}",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [],
        "stop_reason": None,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if text:
        said = [{"type": "text_delta", "text": piece} for piece in pieces(text)]
        blocks.append(({"type": "text", "text": ""}, said))
    for number, (tool, arguments) in enumerate(calls):
        assert isinstance(step, Call)
        opened = {
            "type": "tool_use",
            "id": id_of(step, number, f"toolu_{turn}_{number}"),
            "name": tool,
            "input": {},
        }
        written = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(arguments)]
        blocks.append((opened, written))
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    reason = {"length": "max_tokens", "refused": "refusal", "filtered": "refusal"}.get(stop_of(step), "")
    reason = reason or ("tool_use" if calls else "end_turn")
    ending = {"stop_reason": reason, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 5}})
    events.append({"type": "message_stop"})
    return [sse(event, event["type"]) for event in events]


def refuse(step: Refuse) -> dict[str, Any]:
    kind = {401: "authentication_error", 429: "rate_limit_error"}.get(step.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": step.message}}


def results(body: dict[str, Any]) -> list[Result]:
    found = []
    for message in body["messages"]:
        for block in message["content"]:
            if block["type"] == "tool_result":
                text = "".join(part.get("text", "") for part in block["content"])
                images = sum(part["type"] == "image" for part in block["content"])
                found.append(Result(block["tool_use_id"], text, bool(block.get("is_error")), images))
    return found


def tools(body: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in body.get("tools", ())]
