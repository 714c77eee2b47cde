"""A structured answer is requested in each vendor's own way, or not at all."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from tests.llm.wire import anthropic, gemini, ollama, openai_chat, openai_responses
from tests.llm.wire.bench import Open, every
from tests.llm.wire.script import Say
from toolcrib.llm.model import CompletionRequest, Finished
from toolcrib.schema.messages import FromUser, Text

SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
FORMAT = {"name": "answer", "schema": SCHEMA, "strict": False}
SENT: dict[ModuleType, dict[str, Any]] = {
    anthropic: {},
    gemini: {"generationConfig": {"responseMimeType": "application/json"}},
    ollama: {"format": SCHEMA},
    openai_chat: {"response_format": {"type": "json_schema", "json_schema": FORMAT}},
    openai_responses: {"text": {"format": {"type": "json_schema", **FORMAT}}},
}


@every()
async def test_a_schema_is_sent_where_the_vendor_accepts_one(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Say('{"word": "yes"}'))
    model = made.host.chats.models.get(protocol.model)
    request = CompletionRequest(messages=[FromUser(parts=(Text("go"),))], answer_schema=SCHEMA)

    answers = [event async for event in model.stream(request) if isinstance(event, Finished)]

    assert [answer.message.text for answer in answers] == ['{"word": "yes"}']
    assert made.script.complaints == []
    body = made.script.requests[0]
    assert {key: body[key] for key in SENT[protocol]} == SENT[protocol]
    assert (await model.traits()).structured is (protocol is not anthropic)
    assert "word" not in str({key: value for key, value in body.items() if key not in SENT[protocol]})
