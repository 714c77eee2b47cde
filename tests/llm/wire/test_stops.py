"""Why an answer stopped is told as it was, and a call that was not wholly received never runs."""

from __future__ import annotations

import asyncio
import itertools
import json
from types import ModuleType
from typing import Any

import pytest

from tests.llm.wire import anthropic, gemini, ollama, openai_chat, openai_responses
from tests.llm.wire.bench import DEADLINE, PROTOCOLS, TEXT_ARGUMENTS, Open, every
from tests.llm.wire.script import Raw, Refuse, Say, call, sse
from toolcrib.agent.events import AskedAgain, Notice, TurnEnded
from toolcrib.agent.turn import MOST_PAUSES
from toolcrib.errors import AnswerCut

LINE_SEPARATORS = "\u2028 \u2029 \x85 \x0b \x0c \x1c \x1d \x1e \r \n"
FILTERING = [anthropic, openai_chat, openai_responses, gemini]
REFUSING = [anthropic, openai_chat, openai_responses]


@every()
async def test_separators_that_are_no_line_ends_stay_in_the_answer(bench: Open, protocol: ModuleType) -> None:
    text = f"before {LINE_SEPARATORS} after"
    made = await bench(protocol, Say("unused"))
    written = protocol.write(Say(text), 1)
    # Real vendors leave these characters as they are.
    plain = b"".join(written).decode()
    for character in "\u2028\u2029\x85":
        plain = plain.replace(json.dumps(character)[1:-1], character)
    made.script.steps = [Raw(plain.encode())]

    ended = await made.ask()

    assert (ended.answer, ended.ending) == (text, "answered")


@every(TEXT_ARGUMENTS)
@pytest.mark.parametrize("arguments", ["", "{", '{"a": 1, "b": 2', '{"a": 1, "b": 1e'])
async def test_a_call_that_the_limit_cut_never_runs_and_the_model_is_told(
    bench: Open, protocol: ModuleType, arguments: str
) -> None:
    made = await bench(
        protocol, call(("add", arguments), stop="length"), call(("add", {"a": 1, "b": 2})), Say("3")
    )

    ended = await made.ask()

    assert made.ran == ["add"]
    assert [one.outcome for one in ended.calls] == ["invalid", "ok"]
    assert "cut off by the output limit" in made.results()[0].text
    assert "shorter" in made.results()[0].text
    assert (ended.answer, ended.ending) == ("3", "answered")


@every([gemini, ollama])
@pytest.mark.parametrize("arguments", [{}, {"a": 1, "b": 2}])
async def test_a_call_in_an_object_may_be_cut_too_and_never_runs(
    bench: Open, protocol: ModuleType, arguments: dict[str, Any]
) -> None:
    made = await bench(protocol, call(("add", arguments), stop="length"), Say("sorry"))

    ended = await made.ask()

    assert made.ran == []
    assert ended.calls[0].outcome == "invalid"
    assert "output limit" in made.results()[0].text


@every()
async def test_calls_before_the_one_that_was_cut_run(bench: Open, protocol: ModuleType) -> None:
    cut = {} if protocol in (gemini, ollama) else '{"a": 5'
    made = await bench(protocol, call(("add", {"a": 1, "b": 2}), ("add", cut), stop="length"), Say("3"))

    ended = await made.ask()

    assert made.ran == ["add"]
    assert sorted(one.outcome for one in ended.calls) == ["invalid", "ok"]


@every(TEXT_ARGUMENTS)
async def test_a_whole_call_runs_even_if_the_limit_was_reached_after_it(
    bench: Open, protocol: ModuleType
) -> None:
    made = await bench(protocol, call(("add", {"a": 1, "b": 2}), stop="length"), Say("3"))

    ended = await made.ask()

    assert made.ran == ["add"]
    assert ended.ending == "answered"


@every()
async def test_calls_that_are_cut_again_and_again_end_the_turn_as_cut(
    bench: Open, protocol: ModuleType
) -> None:
    cut = {} if protocol in (gemini, ollama) else '{"a": 5'
    made = await bench(protocol, call(("add", cut), stop="length"))

    ended = await made.ask()

    assert made.ran == []
    assert ended.ending == "cut"
    assert len(made.script.requests) == 3
    assert "cut off by the output limit" in ended.answer


@every()
async def test_an_answer_that_the_limit_cut_ends_as_cut(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Say("Once upon a", stop="length"), Say("time."))

    ended = await made.ask()
    after = await made.agent().ask("go on", chat=await made.host.chats.store.load("last"))

    assert (ended.answer, ended.ending) == ("Once upon a", "cut")
    assert (after.answer, after.ending) == ("time.", "answered")
    assert made.script.complaints == []


@every()
async def test_the_limit_before_the_first_word_ends_as_cut(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Say("", stop="length"))

    ended = await made.ask()

    assert ended.ending == "cut"
    assert "output limit" in ended.answer


@every(REFUSING)
async def test_a_refusal_ends_as_refused_with_its_words(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Say("I will not do that.", stop="refused"), Say("fine"))

    ended = await made.ask()
    chat = await made.host.chats.store.load("last")
    await made.agent().ask("and now?", chat=chat)

    assert (ended.answer, ended.ending) == ("I will not do that.", "refused")
    assert "I will not do that." in str(made.script.requests[-1])
    assert made.script.complaints == []


@every(FILTERING)
async def test_a_filtered_answer_does_not_end_as_answered(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Say("The first step is", stop="filtered"))

    ended = await made.ask()

    assert ended.ending == ("refused" if protocol is anthropic else "filtered")
    assert ended.answer == "The first step is"


@every(FILTERING)
async def test_a_call_in_a_filtered_answer_never_runs(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, call(("add", {"a": 1, "b": 2}), stop="filtered"), Say("never asked"))

    ended = await made.ask()

    assert made.ran == []
    assert ended.ending in ("refused", "filtered")
    assert len(made.script.requests) == 1


async def test_a_question_that_gemini_blocks_ends_as_filtered(bench: Open) -> None:
    blocked = {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 4},
    }
    made = await bench(gemini, Raw(sse(blocked)))

    ended = await made.ask()

    assert ended.ending == "filtered"
    assert "PROHIBITED_CONTENT" in ended.answer


async def test_what_anthropic_explains_of_a_refusal_is_shown(bench: Open) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "This may cause harm."}
    stop = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}
    stream = b"".join(
        sse(one) for one in ({"type": "message_start", "message": {}}, stop, {"type": "message_stop"})
    )
    made = await bench(anthropic, Raw(stream))

    ended = await made.ask()

    assert ended.ending == "refused"
    assert "This may cause harm." in ended.answer


def _cut_streams() -> list[Any]:
    """Every way to end a stream with a call before its end, for every vendor."""
    cases = []
    for protocol in PROTOCOLS:
        whole = b"".join(protocol.write(call(("add", {"a": 1, "b": 2}), saying="Let me see."), 1))
        call_at = whole.rindex(b"add")
        end = len(whole)
        marks = sorted({call_at + 4, (call_at + end) // 2, end - 40, end - 3})
        cases += [pytest.param(protocol, whole[:at], id=f"{protocol.name} at {at} of {end}") for at in marks]
    return cases


@pytest.mark.parametrize(("protocol", "stream"), _cut_streams())
async def test_a_call_in_a_stream_that_ends_too_soon_never_runs(
    bench: Open, protocol: ModuleType, stream: bytes
) -> None:
    if protocol is openai_chat and b'"finish_reason": "tool_calls"' in stream:
        stream = stream[: stream.index(b'"finish_reason": "tool_calls"')]
    made = await bench(protocol, Raw(stream), Say("whole"))

    async with asyncio.timeout(DEADLINE):
        events = [event async for event in made.agent().run("go")]

    assert made.ran == []
    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.answer == "whole"
    assert any(isinstance(event, AskedAgain) for event in events)


async def test_a_call_without_the_end_of_its_block_never_runs(bench: Open) -> None:
    events = [json.loads(one.split(b"data: ")[1]) for one in anthropic.write(call(("add", {})), 1)]
    kept = [one for one in events if one["type"] not in ("content_block_stop", "content_block_delta")]
    made = await bench(anthropic, Raw(b"".join(sse(one) for one in kept)), Say("whole"))

    ended = await made.ask()

    assert made.ran == []
    assert ended.answer == "whole"


async def test_a_call_of_a_stream_without_a_finish_reason_never_runs_without_arguments(bench: Open) -> None:
    head = {"index": 0, "id": "x", "function": {"name": "add", "arguments": ""}}
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [head]}}]}
    made = await bench(openai_chat, Raw(sse(chunk) + sse("[DONE]")), Say("whole"))

    ended = await made.ask()

    assert made.ran == []
    assert ended.answer == "whole"


@every()
async def test_an_error_inside_a_stream_is_asked_again_if_nothing_was_shown(
    bench: Open, protocol: ModuleType
) -> None:
    errors: dict[str, dict[str, Any]] = {
        "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        "openai": {"error": {"message": "rate limit", "type": "rate_limit_error", "code": 429}},
        "openai_responses": {"type": "response.failed", "response": {"error": {"code": "server_error"}}},
        "gemini": {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}},
        "ollama": {"error": "server temporarily unavailable"},
    }
    told = errors[protocol.name]
    line = json.dumps(told).encode() + b"\n" if protocol is ollama else sse(told)
    made = await bench(protocol, Raw(line), Say("here"))

    ended = await made.ask()

    assert ended.answer == "here"
    assert len(made.script.requests) == 2


@every()
async def test_a_stream_that_ends_in_the_middle_of_its_first_event_is_asked_again(
    bench: Open, protocol: ModuleType
) -> None:
    made = await bench(protocol, Raw(protocol.write(Say("hello"), 1)[0][:-20]), Say("here"))

    async with asyncio.timeout(DEADLINE):
        events = [event async for event in made.agent().run("go")]

    assert isinstance(events[-1], TurnEnded)
    assert events[-1].answer == "here"
    assert not any(isinstance(event, AskedAgain) for event in events)


@every()
async def test_an_error_after_the_first_words_is_an_answer_that_broke_off(
    bench: Open, protocol: ModuleType
) -> None:
    if protocol is ollama:
        told = json.dumps({"error": "overloaded"}).encode() + b"\n"
    else:
        told = sse(
            {"type": "error", "error": {"type": "overloaded_error", "code": 529, "message": "Overloaded"}}
        )
    begun = b"".join(protocol.write(Say("Once upon a time"), 1)[: -4 if protocol is not gemini else -2])
    if protocol is ollama:
        begun = b"".join(protocol.write(Say("Once upon a time"), 1)[:-1])
    made = await bench(protocol, Raw(begun + told), Raw(begun + told))

    with pytest.raises(AnswerCut, match=r"[Oo]verloaded"):
        await made.ask()


async def test_an_exhausted_quota_is_not_asked_again(bench: Open) -> None:
    made = await bench(openai_chat, Refuse(429, "You exceeded your current quota (insufficient_quota)."))

    with pytest.raises(Exception, match="no quota left"):
        await made.ask()

    assert len(made.script.requests) == 1


UNKNOWN = {
    "anthropic": (b'"end_turn"', b'"strange"'),
    "openai": (b'"finish_reason": "stop"', b'"finish_reason": "strange"'),
    "openai_responses": (b'"status": "completed", "output"', b'"status": "strange", "output"'),
    "gemini": (b'"STOP"', b'"strange"'),
    "ollama": (b'"done_reason": "stop"', b'"done_reason": "strange"'),
}


@every()
async def test_an_unknown_reason_is_shown_and_is_no_good_end(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Say("unused"))
    written = b"".join(protocol.write(Say("part one."), 1))
    made.script.steps = [Raw(written.replace(*UNKNOWN[protocol.name]))]

    events = [event async for event in made.agent().run("go")]

    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.answer, ended.ending) == ("part one.", "unknown")
    assert "The model stopped: strange." in [event.text for event in events if isinstance(event, Notice)]
    chat = await made.host.chats.store.load(ended.chat)
    assert chat.unfinished


@every()
async def test_calls_of_an_answer_with_an_unknown_reason_never_run(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Say("unused"))
    old, new = UNKNOWN[protocol.name]
    old = {"anthropic": b'"tool_use", "stop_sequence"', "openai": b'"tool_calls"}], "usage"'}.get(
        protocol.name, old
    )
    new = {"anthropic": b'"strange", "stop_sequence"', "openai": b'"strange"}], "usage"'}.get(
        protocol.name, new
    )
    written = b"".join(protocol.write(call(("add", {"a": 1, "b": 2})), 1))
    assert old in written
    made.script.steps = [Raw(written.replace(old, new))]

    ended = await made.ask()

    assert ended.ending == "unknown"
    assert made.ran == []


async def test_a_paused_turn_of_claude_goes_on(bench: Open) -> None:
    made = await bench(anthropic, Say("unused"))
    paused = b"".join(anthropic.write(Say("Part one. "), 1)).replace(b'"end_turn"', b'"pause_turn"')
    made.script.steps = [Raw(paused), Say("Part two.")]

    ended = await made.ask()

    assert (ended.answer, ended.ending) == ("Part one. Part two.", "answered")
    last = made.script.requests[-1]["messages"][-1]
    assert last == {"role": "assistant", "content": [{"type": "text", "text": "Part one."}]}


async def test_a_turn_that_pauses_for_ever_ends(bench: Open) -> None:
    made = await bench(anthropic, Say("unused"))
    paused = b"".join(anthropic.write(Say("more "), 1)).replace(b'"end_turn"', b'"pause_turn"')
    made.script.steps = [Raw(paused)]

    ended = await made.ask()

    assert (ended.ending, len(made.script.requests)) == ("unknown", MOST_PAUSES + 1)


async def test_rounds_of_many_blocks_are_found_in_the_cache(bench: Open) -> None:
    many = call(*[("add", {"a": number, "b": 1}) for number in range(25)])
    made = await bench(anthropic, many, many, Say("done"))

    await made.ask()

    for before, after in itertools.pairwise(made.script.requests):
        blocks = [block for one in after["messages"] for block in one["content"]]
        marks = [at for at, block in enumerate(blocks) if "cache_control" in block]
        cached = sum(len(one["content"]) for one in before["messages"]) - 1
        assert any(mark - 20 <= cached <= mark for mark in marks)
        assert len(marks) <= 3
