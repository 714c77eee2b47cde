"""Google's Gemini, as its server streams it."""

from __future__ import annotations

import itertools
import json
from typing import Any

from tests.llm.wire import faithful
from tests.llm.wire.script import Call, Cut, Hold, Refuse, Result, Say, id_of, pieces, sse, stop_of

name = "gemini"
path = "/v1beta/models/gemini-test:streamGenerateContent"
variable = "GOOGLE_GEMINI_BASE_URL"
key = "GEMINI_API_KEY"
model = "gemini:gemini-test"


def address(base: str) -> str:
    return base


def check(body: dict[str, Any], headers: dict[str, str]) -> list[str]:
    wrong = []
    if headers.get("x-goog-api-key") != "key-of-gemini":
        wrong.append("headers")
    roles = [content["role"] for content in body["contents"]]
    if roles[0] != "user" or any(one == other for one, other in itertools.pairwise(roles)):
        wrong.append(f"roles do not take turns: {roles}")
    asked: list[str] = []
    calling: list[str] = []
    for content in body["contents"]:
        parts = content["parts"]
        answering = [part["functionResponse"].get("id", "") for part in parts if "functionResponse" in part]
        if answering != calling:
            wrong.append(f"responses with the ids {answering} to {calling}")
        calling = [part["functionCall"].get("id", "") for part in parts if "functionCall" in part]
        wrong += faithful.names(part["functionCall"]["name"] for part in parts if "functionCall" in part)
        for part in parts:
            if "inlineData" in part:
                wrong += faithful.picture(part["inlineData"]["mimeType"], part["inlineData"]["data"])
        given = [part["functionResponse"]["name"] for part in content["parts"] if "functionResponse" in part]
        if given != asked:
            wrong.append(f"responses {given} for calls {asked}")
        asked = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
        signed = [part.get("thoughtSignature") for part in content["parts"] if "functionCall" in part]
        if signed and signed[0] != "signed":
            wrong.append("the first call of a message must bring its signature back")
    return wrong


def write(step: Say | Call | Cut | Hold, turn: int) -> list[bytes]:
    text = step.saying if isinstance(step, Call) else step.text
    parts: list[dict[str, Any]] = [{"text": piece} for piece in pieces(text)] if text else []
    for number, (tool, arguments) in enumerate(step.calls if isinstance(step, Call) else ()):
        assert isinstance(step, Call)
        named = id_of(step, number, "")
        function = {"name": tool, "args": json.loads(arguments)}
        part: dict[str, Any] = {"functionCall": {"id": named, **function} if named else function}
        parts.append({**part, "thoughtSignature": "signed"} if number == 0 else part)
    rest = {"modelVersion": "gemini-test", "responseId": f"r{turn}"}
    chunks = [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}], **rest}
        for part in parts
    ]
    usage = {"promptTokenCount": 14, "candidatesTokenCount": 5, "cachedContentTokenCount": 4}
    reason = {"length": "MAX_TOKENS", "refused": "SAFETY", "filtered": "SAFETY"}.get(stop_of(step), "STOP")
    last = {"index": 0, "content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": reason}
    return [sse(chunk) for chunk in [*chunks, {"candidates": [last], "usageMetadata": usage, **rest}]]


def refuse(step: Refuse) -> dict[str, Any]:
    return {"error": {"code": step.status, "message": step.message, "status": "UNAUTHENTICATED"}}


def results(body: dict[str, Any]) -> list[Result]:
    found = []
    for content in body["contents"]:
        images = sum("inlineData" in part for part in content["parts"])
        for part in content["parts"]:
            if "functionResponse" in part:
                response = part["functionResponse"]["response"]
                text = response.get("error") or response.get("output")
                found.append(Result(part["functionResponse"]["name"], text, "error" in response, images))
    return found


def tools(body: dict[str, Any]) -> list[str]:
    return [one["name"] for group in body.get("tools", ()) for one in group["functionDeclarations"]]
