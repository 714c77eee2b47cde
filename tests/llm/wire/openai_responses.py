"""OpenAI's responses, as its server streams them."""

from __future__ import annotations

import itertools
from typing import Any

from tests.llm.wire import faithful
from tests.llm.wire.script import Call, Cut, Hold, Refuse, Result, Say, id_of, pieces, sse, stop_of

name = "openai_responses"
path = "/v1/responses"
variable = "OPENAI_BASE_URL"
key = "OPENAI_API_KEY"
model = "openai-responses:gpt-test"


def address(base: str) -> str:
    return f"{base}/v1"


def check(body: dict[str, Any], headers: dict[str, str]) -> list[str]:
    wrong = []
    if headers.get("authorization") != "Bearer key-of-openai_responses":
        wrong.append("headers")
    if body.get("stream") is not True or body.get("store") is not False:
        wrong.append("stream and store")
    asked = [item["call_id"] for item in body["input"] if item.get("type") == "function_call"]
    given = [item["call_id"] for item in body["input"] if item.get("type") == "function_call_output"]
    if sorted(asked) != sorted(given):
        wrong.append(f"results {given} for calls {asked}")
    calls = [item for item in body["input"] if item.get("type") == "function_call"]
    wrong += faithful.names(one["name"] for one in calls)
    wrong += faithful.ids(asked, ".{1,64}")
    for one in calls:
        if not isinstance(faithful.read(one["arguments"].encode()), dict):
            wrong.append("arguments must be an object")
    for item, after in itertools.pairwise([*body["input"], {"role": "user"}]):
        spoke = after.get("role") == "assistant" or after.get("type") in ("function_call", "reasoning")
        if item.get("type") == "reasoning" and not spoke:
            wrong.append("reasoning without its required following item")
    for item in body["input"]:
        parts = item.get("content") or item.get("output") or ()
        for part in parts if isinstance(parts, list) else ():
            wrong += faithful.data_url(part["image_url"]) if part["type"] == "input_image" else []
            if part["type"] == "output_text" and not {"annotations", "text"} <= part.keys():
                wrong.append("output_text without its fields")
    return wrong


def write(step: Say | Call | Cut | Hold, turn: int) -> list[bytes]:
    text = step.saying if isinstance(step, Call) else step.text
    calls = step.calls if isinstance(step, Call) else ()
    usage = {"input_tokens": 14, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4}}
    response = {
        "id": f"resp_{turn}",
        "object": "response",
        "status": "in_progress",
        "output": [],
        "usage": None,
    }
    events: list[dict[str, Any]] = [{"type": "response.created", "response": response}]
    output: list[dict[str, Any]] = []
    if text:
        refused = stop_of(step) == "refused"
        part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
        if refused:
            part = {"type": "refusal", "refusal": text}
        kind = "refusal" if refused else "output_text"
        item = {"type": "message", "id": f"msg_{turn}", "role": "assistant", "content": [part]}
        place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        events.append(
            {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}}
        )
        events.append({"type": "response.content_part.added", **place, "part": part})
        events += [{"type": f"response.{kind}.delta", **place, "delta": one} for one in pieces(text)]
        events.append({"type": f"response.{kind}.done", **place, "text": text})
        events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
        output.append(item)
    for number, (tool, arguments) in enumerate(calls):
        assert isinstance(step, Call)
        ids = {"id": f"fc_{turn}_{number}", "call_id": id_of(step, number, f"call_{turn}_{number}")}
        cut = stop_of(step) == "length" and number == len(calls) - 1
        status = "incomplete" if cut else "completed"
        item = {"type": "function_call", **ids, "name": tool, "arguments": arguments, "status": status}
        index = len(output)
        place = {"item_id": item["id"], "output_index": index}
        began = {**item, "arguments": "", "status": "in_progress"}
        events.append({"type": "response.output_item.added", "output_index": index, "item": began})
        events += [
            {"type": "response.function_call_arguments.delta", **place, "delta": one}
            for one in pieces(arguments)
        ]
        events.append({"type": "response.function_call_arguments.done", **place, "arguments": arguments})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        output.append(item)
    why = {"length": "max_output_tokens", "filtered": "content_filter"}.get(stop_of(step))
    ended = "incomplete" if why else "completed"
    details = {"reason": why} if why else None
    done = {**response, "status": ended, "output": output, "usage": usage, "incomplete_details": details}
    events.append({"type": f"response.{ended}", "response": done})
    return [sse({**event, "sequence_number": number}, event["type"]) for number, event in enumerate(events)]


def refuse(step: Refuse) -> dict[str, Any]:
    return {"error": {"message": step.message, "type": "invalid_request_error", "param": None, "code": None}}


def results(body: dict[str, Any]) -> list[Result]:
    found = []
    for item in body["input"]:
        if item.get("type") == "function_call_output":
            output = item["output"]
            parts = output if isinstance(output, list) else [{"type": "input_text", "text": output}]
            text = "".join(part.get("text", "") for part in parts)
            images = sum(part["type"] == "input_image" for part in parts)
            found.append(Result(item["call_id"], text, "outcome=" in text, images))
    return found


def tools(body: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in body.get("tools", ())]
