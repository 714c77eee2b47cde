"""Nothing that a model, a tool or an earlier version left in a chat makes a vendor refuse it."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from tests.llm.wire import anthropic, gemini, ollama, openai_chat, openai_responses
from tests.llm.wire.bench import PICTURE, PROTOCOLS, TEXT_ARGUMENTS, Open, every
from tests.llm.wire.script import Raw, Refuse, Say, Script, call, serving, sse
from toolcrib.agent.chat import Said
from toolcrib.agent.events import Notice
from toolcrib.llm.history import NINE_CHARACTERS, Limits, acceptable, accepted_name
from toolcrib.llm.model import ModelTraits
from toolcrib.llm.providers.gemini import _contents
from toolcrib.schema.messages import (
    FromModel,
    FromTools,
    FromUser,
    Image,
    Message,
    Opaque,
    Text,
    ToolAnswer,
    ToolUse,
)

NAMES = ["functions.echo", "", "x" * 200, "日本語", "a b", "7up", "echo\n", "-dash", "mcp:tool/one"]
IDS = ["", "x" * 100, "call.1:2", "日本", "a b", "call_1\n"]
BAD_ARGUMENTS = [
    '{"a": NaN}',
    '{"a": Infinity, "b": -Infinity}',
    '{"a": 1e999}',
    '{"a": "\\ud800"}',
    '{"a": ' + "[" * 200 + "]" * 200 + "}",
    '{"a": 1' + "0" * 400 + "}",
    '{"a": 1' + "0" * 5000 + "}",
]
BAD_PICTURES: dict[str, dict[str, Any]] = {
    "no base64": {"data": "not base64 at all!", "mimeType": "image/png"},
    "half of a group": {"data": "iVBOR", "mimeType": "image/png"},
    "not a picture": {"data": base64.b64encode(b"<svg></svg>").decode(), "mimeType": "image/png"},
    "a type that models do not take": {"data": base64.b64encode(b"BM....").decode(), "mimeType": "image/bmp"},
    "empty": {"data": "", "mimeType": "image/png"},
    "too wide": {
        "data": base64.b64encode(
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
            + (20_000).to_bytes(4)
            + (10).to_bytes(4)
            + b"\0\0\0\0IEND\xae\x42\x60\x82"
        ).decode(),
        "mimeType": "image/png",
    },
    "cut off": {
        "data": base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (10).to_bytes(4) * 2 + b"..").decode(),
        "mimeType": "image/png",
    },
}


@every()
@pytest.mark.parametrize("name", NAMES, ids=ascii)
async def test_an_invented_name_is_told_and_the_chat_goes_on(
    bench: Open, protocol: ModuleType, name: str
) -> None:
    made = await bench(protocol, call((name, {}), (f"{name}2", {})), Say("sorry"))

    ended = await made.ask()

    assert [one.outcome for one in ended.calls] == ["invalid", "invalid"]
    assert len(made.script.requests) == 2


@every(TEXT_ARGUMENTS)
@pytest.mark.parametrize("id_", IDS, ids=ascii)
async def test_an_id_that_the_vendor_would_refuse_is_replaced(
    bench: Open, protocol: ModuleType, id_: str
) -> None:
    calls = call(("add", {"a": 1, "b": 2}), ids=(id_,))
    made = await bench(protocol, calls, Say("3"))

    ended = await made.ask()

    assert made.ran == ["add"]
    assert ended.answer == "3"


@every([anthropic, openai_chat, openai_responses, gemini])
async def test_an_id_that_comes_again_in_another_round_stands_for_another_call(
    bench: Open, protocol: ModuleType
) -> None:
    steps = [call(("add", {"a": number, "b": 0}), ids=("call_0",)) for number in range(3)]
    made = await bench(protocol, *steps, Say("done"))

    ended = await made.ask()

    assert [one.text.split("\n")[1] for one in made.results()] == ["0", "1", "2"]
    assert len({one.id for one in ended.calls}) == 3


async def test_gemini_gets_its_ids_back_with_the_answers(bench: Open) -> None:
    made = await bench(
        gemini, call(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4}), ids=("g1", "g2")), Say("ok")
    )

    await made.ask()

    parts = [part for content in made.script.requests[-1]["contents"] for part in content["parts"]]
    assert [part["functionCall"]["id"] for part in parts if "functionCall" in part] == ["g1", "g2"]
    assert [part["functionResponse"]["id"] for part in parts if "functionResponse" in part] == ["g1", "g2"]


@every(TEXT_ARGUMENTS)
@pytest.mark.parametrize("arguments", BAD_ARGUMENTS, ids=lambda text: text[:24])
async def test_arguments_that_no_json_holds_are_told_and_the_chat_goes_on(
    bench: Open, protocol: ModuleType, arguments: str
) -> None:
    made = await bench(protocol, call(("add", arguments)), Say("sorry"))

    ended = await made.ask()
    await made.agent().ask("again", chat=await made.host.chats.store.load(ended.chat))

    assert made.ran == []
    assert ended.calls[0].outcome == "invalid"
    assert "not a JSON object" in made.results()[0].text
    assert made.script.complaints == []


@every([gemini, ollama])
@pytest.mark.parametrize("arguments", BAD_ARGUMENTS[:5], ids=lambda text: text[:24])
async def test_objects_that_no_json_holds_are_told_too(
    bench: Open, protocol: ModuleType, arguments: str
) -> None:
    made = await bench(protocol, Say("unused"), Say("sorry"))
    raw = b"".join(protocol.write(call(("add", {"a": "HERE"})), 1))
    made.script.steps[0] = Raw(raw.replace(b'{"a": "HERE"}', arguments.encode()))

    ended = await made.ask()

    assert made.ran == []
    assert ended.calls[0].outcome == "invalid"


@every()
@pytest.mark.parametrize("picture", BAD_PICTURES.values(), ids=BAD_PICTURES.keys())
async def test_a_picture_that_vendors_refuse_becomes_a_note(
    bench: Open, protocol: ModuleType, picture: dict[str, Any]
) -> None:
    made = await bench(protocol, call(("look", {})), Say("I see."))

    @made.host.tool()  # type: ignore[untyped-decorator]
    def look() -> dict[str, Any]:
        """Take a picture."""
        return {"content": [{"type": "image", **picture}]}

    ended = await made.ask()

    assert ended.answer == "I see."
    assert made.results()[0].images == 0
    assert "A picture was here" in made.results()[0].text


@every()
@pytest.mark.parametrize(
    "data", [PICTURE, f"data:image/png;base64,{PICTURE}", PICTURE[:20] + "\n" + PICTURE[20:]]
)
async def test_a_picture_under_a_wrong_type_is_sent_as_what_it_is(
    bench: Open, protocol: ModuleType, data: str
) -> None:
    made = await bench(protocol, call(("look", {})), Say("I see."))

    @made.host.tool()  # type: ignore[untyped-decorator]
    def look() -> dict[str, Any]:
        """Take a picture."""
        return {"content": [{"type": "image", "data": data, "mimeType": "image/jpeg"}]}

    await made.ask()

    assert made.results()[0].images == 1


def poisoned() -> list[Message]:
    """A chat as earlier versions kept it, with all that vendors refuse."""
    broken = ToolUse(
        id="call.1", name="functions.echo", arguments={"a": float("nan"), "b": float("inf"), "c": 10**400}
    )
    deep: Any = "end"
    for _ in range(90):
        deep = [deep]
    other = ToolUse(id="x" * 90, name="", arguments={"deep": deep, "half": "\ud800"})
    again = ToolUse(id="call.1", name="add", arguments={"a": 1, "b": 2})
    return [
        FromUser(parts=(Text("look \udc00"), Image("no base64!", "image/png"), Image(PICTURE, "image/webp"))),
        FromModel(
            parts=(
                Opaque(
                    vendor="openai-responses",
                    data={"type": "reasoning", "id": "rs_1", "encrypted_content": "x"},
                ),
                Opaque(vendor="anthropic", data={"type": "thinking", "thinking": "hm"}),
                Text("Let me see."),
                broken,
                other,
            )
        ),
        FromTools(
            answers=(
                ToolAnswer(id="call.1", name="functions.echo", parts=(Image("AAAA", "image/png"),)),
                ToolAnswer(id="x" * 90, name="", parts=(Text("\ud83d"),), outcome="invalid"),
            )
        ),
        FromModel(parts=(again,)),
        FromTools(answers=(ToolAnswer(id="call.1", name="add", parts=(Text("3"),)),)),
        FromModel(
            parts=(
                Text(""),
                Opaque(vendor="anthropic", data={"type": "thinking", "thinking": "hm", "signature": "s"}),
                Opaque(
                    vendor="openai-responses",
                    data={"type": "reasoning", "id": "rs_2", "encrypted_content": "x"},
                ),
            )
        ),
    ]


def unsigned(script: Script) -> list[str]:
    """The complaints, but for those of signatures: calls of other vendors never had one."""
    return [one for one in script.complaints if "signature back" not in one]


@every()
async def test_a_chat_that_was_poisoned_before_is_healed(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Say("healed"))
    chat = await made.host.chats.store.create("before")
    chat.entries += [Said(message) for message in poisoned()]

    ended = await made.agent().ask("go on", chat=chat)

    assert ended.answer == "healed"
    assert unsigned(made.script) == []


def test_gemini_3_gets_a_stand_in_for_signatures_of_other_models() -> None:
    written = _contents(acceptable(poisoned(), Limits()), signs=True)

    calls = [part for content in written for part in content["parts"] if "functionCall" in part]
    assert calls[0]["thoughtSignature"] == "skip_thought_signature_validator"
    assert "thoughtSignature" not in calls[1]


async def test_a_chat_goes_on_with_every_other_vendor(bench: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await bench(anthropic, call(("functions.add", '{"a": NaN}'), ("picture", {})), Say("one"))
    chat = await made.host.chats.store.create("anthropic:claude-test")
    await made.agent().ask("first", chat=chat)
    for protocol in PROTOCOLS[1:]:
        script = Script(call(("no such", {}), ("add", {"a": 1, "b": 2}), ids=("same", "same")), Say("more"))
        async with serving(protocol, script) as base:
            monkeypatch.setenv(protocol.variable, protocol.address(base))
            monkeypatch.setenv(protocol.key, f"key-of-{protocol.name}")
            ended = await made.host.agent(protocol.model).ask("go on", chat=chat)
            await made.host.chats.models.close()

        assert ended.answer == "more"
        assert unsigned(script) == []


def test_names_stay_apart_and_stay_the_same() -> None:
    limits = Limits()
    mapped = [accepted_name(name, limits) for name in [*NAMES, "functions_echo", "functions-echo"]]

    assert len(set(mapped)) == len(mapped)
    assert mapped == [accepted_name(name, limits) for name in [*NAMES, "functions_echo", "functions-echo"]]
    assert all(limits.name.fullmatch(name) for name in mapped)
    assert mapped[-2:] == ["functions_echo", "functions-echo"]


def test_what_is_acceptable_is_not_changed() -> None:
    use = ToolUse(id="toolu_01Ab", name="add", arguments={"a": 1})
    messages: list[Message] = [
        FromUser(parts=(Text("hi"), Image(PICTURE))),
        FromModel(parts=(Text("Let me see."), use)),
        FromTools(answers=(ToolAnswer(id=use.id, name="add", parts=(Text("1"),)),)),
    ]

    assert acceptable(messages, Limits()) == messages


def test_mistral_gets_ids_of_nine_characters() -> None:
    use = ToolUse(id="toolu_01Ab", name="add")
    answer = ToolAnswer(id=use.id, name="add", parts=(Text("1"),))
    spoken, answered = acceptable([FromModel(parts=(use,)), FromTools(answers=(answer,))], NINE_CHARACTERS)

    assert isinstance(spoken, FromModel)
    assert isinstance(answered, FromTools)
    assert len(spoken.calls[0].id) == 9
    assert spoken.calls[0].id.isalnum()
    assert answered.answers[0].id == spoken.calls[0].id


def test_of_very_many_pictures_the_latest_are_sent() -> None:
    messages = [FromUser(parts=(Text(str(number)), Image(PICTURE))) for number in range(30)]

    sent = acceptable(messages, Limits())

    seen = [any(isinstance(part, Image) for part in one.parts) for one in sent if isinstance(one, FromUser)]
    assert seen == [False] * 10 + [True] * 20


async def test_a_vendor_that_takes_no_pictures_is_asked_without_them_and_the_user_is_told(
    bench: Open,
) -> None:
    refusal = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
    made = await bench(openai_chat, Refuse(500, refusal), Say("I cannot see it."), Say("still"))

    events = [event async for event in made.agent().run("what is this?", images=[Image(PICTURE)])]
    ended = await made.agent().ask("and now?", chat=await made.host.chats.store.load("last"))

    notices = [event.text for event in events if isinstance(event, Notice)]
    assert notices[0].startswith("The context length of openai:gpt-test is not known; 128,000 tokens are")
    assert notices[1].endswith("without pictures.")
    assert "cannot see pictures" in json.dumps(made.script.requests[-1])
    assert ended.answer == "still"
    assert len(made.script.requests) == 3
    assert made.script.complaints == []


async def test_a_picture_that_a_vendor_cannot_process_does_not_end_the_chat(bench: Open) -> None:
    made = await bench(anthropic, Refuse(400, "Could not process image"), Say("I saw nothing."), Say("still"))

    events = [event async for event in made.agent().run("what is this?", images=[Image(PICTURE)])]
    ended = await made.agent().ask("and now?", chat=await made.host.chats.store.load("last"))

    assert any(isinstance(event, Notice) for event in events)
    assert ended.answer == "still"
    assert len(made.script.requests) == 3


async def test_a_model_of_ollama_without_eyes_is_told_of_a_picture_and_so_is_the_user(
    bench: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await bench(ollama, call(("picture", {})), Say("I cannot see."))
    agent = made.agent()
    blind_at(agent.model)

    events = [event async for event in agent.run("what is this?", images=[Image(PICTURE)])]

    notices = [event.text for event in events if isinstance(event, Notice)]
    assert "cannot see pictures" in notices[0]
    assert "picture" in notices[1]
    assert "You cannot see pictures" in json.dumps(made.script.requests[0])
    assert PICTURE not in json.dumps(made.script.requests)
    chat = await made.host.chats.store.load("last")
    assert any("cannot see pictures" in str(entry) for entry in chat.entries)


def blind_at(model: Any) -> None:
    """As if Ollama had said that the model has no vision; the vendor on loopback describes no models."""
    model._protocol._traits = replace(ModelTraits(), images=False)


async def test_two_halves_of_a_character_become_one(bench: Open) -> None:
    chunks: list[Any] = [
        {"choices": [{"index": 0, "delta": {"content": half}}]} for half in ("a \ud83d", "\ude00 b \ud800")
    ]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    made = await bench(openai_chat, Raw(b"".join(sse(one) for one in chunks) + sse("[DONE]")))

    ended = await made.ask()

    assert ended.answer == "a 😀 b \ufffd"
