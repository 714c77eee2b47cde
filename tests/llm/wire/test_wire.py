"""Five protocols, each against a faithful server on loopback, through the real loop and the real door."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from types import ModuleType

import pytest

from tests.llm.wire.bench import (
    DEADLINE,
    OBJECT_ARGUMENTS,
    PICTURE,
    TEXT_ARGUMENTS,
    NoDeleting,
    Open,
    Person,
    every,
)
from tests.llm.wire.script import Cut, Hold, Refuse, Say, call
from toolcrib.agent import TurnEnded
from toolcrib.agent.chat import CONTINUE, Continued, Partial
from toolcrib.agent.events import AskedAgain, Asking, CallBegan, CallEnded, Speaking
from toolcrib.approvals.gate import ApprovalGate
from toolcrib.errors import AnswerCut, ModelBusy, ModelKeyRefused


@every()
async def test_several_rounds_lead_to_an_answer(bench: Open, protocol: ModuleType) -> None:
    steps = [call(("add", {"a": number, "b": 1}), saying="One moment.") for number in range(3)]
    made = await bench(protocol, *steps, Say("It is 3 – or so, ünï."))

    ended = await made.ask()

    assert ended.answer == "It is 3 – or so, ünï."
    assert ended.rounds == 4
    assert [(one.tool, one.outcome) for one in ended.calls] == [("add", "ok")] * 3
    assert [one.text.split("\n")[1] for one in made.results()] == ["1", "2", "3"]
    assert "add" in protocol.tools(made.script.requests[0])
    assert ended.usage.requests == 4
    assert (ended.usage.input, ended.usage.output) == (56, 20)


@every()
async def test_parallel_calls_are_all_answered_in_order(bench: Open, protocol: ModuleType) -> None:
    calls = call(*(("add", {"a": number, "b": 10}) for number in range(4)))
    made = await bench(protocol, calls, Say("done"))

    ended = await made.ask()

    assert [one.text.split("\n")[1] for one in made.results()] == ["10", "11", "12", "13"]
    assert len(ended.calls) == 4


@every()
async def test_a_picture_reaches_the_model_as_a_picture(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, call(("picture", {})), Say("I see."))

    await made.ask()

    assert [one.images for one in made.results()] == [1]
    assert PICTURE in str(made.script.requests[-1])


@every()
async def test_an_approved_call_runs(bench: Open, protocol: ModuleType) -> None:
    made = await bench(
        protocol, call(("delete_file", {"path": "x"})), Say("gone"), gate=ApprovalGate(mode="always")
    )
    person = Person("accept", scope="once")

    ended = await made.ask(person=person)

    assert [question.detail["tool"] for question in person.asked] == ["delete_file"]
    assert made.ran == ["delete_file"]
    assert ended.calls[0].outcome == "ok"


@every()
async def test_a_refused_call_reaches_no_tool_and_the_model_is_told(
    bench: Open, protocol: ModuleType
) -> None:
    calls = call(("delete_file", {"path": "x"}), ("add", {"a": 1, "b": 2}))
    made = await bench(protocol, calls, Say("I may not."), gate=NoDeleting())

    ended = await made.ask()

    assert made.ran == ["add"]
    assert [one.outcome for one in sorted(ended.calls, key=lambda one: one.tool)] == ["ok", "denied"]
    assert made.results()[0].failed
    assert "deleting is forbidden" in made.results()[0].text


@every()
async def test_a_person_who_says_no_is_heard(bench: Open, protocol: ModuleType) -> None:
    made = await bench(
        protocol, call(("delete_file", {"path": "x"})), Say("as you wish"), gate=ApprovalGate(mode="always")
    )

    ended = await made.ask(person=Person("decline", message="keep that file"))

    assert made.ran == []
    assert ended.calls[0].outcome == "denied"
    assert "keep that file" in made.results()[0].text


@every()
async def test_wrong_arguments_are_told_and_can_be_mended(bench: Open, protocol: ModuleType) -> None:
    made = await bench(
        protocol, call(("add", {"a": "one", "b": 2})), call(("add", {"a": 1, "b": 2})), Say("mended")
    )

    ended = await made.ask()

    assert [one.outcome for one in ended.calls] == ["invalid", "ok"]
    assert made.results()[0].failed
    assert "a" in made.results()[0].text


@every(TEXT_ARGUMENTS)
async def test_arguments_that_are_no_json_are_told(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, call(("add", '{"a": 1, "b":')), Say("sorry"))

    ended = await made.ask()

    assert made.ran == []
    assert ended.calls[0].outcome == "invalid"
    assert "not a JSON" in made.results()[0].text


@every(OBJECT_ARGUMENTS)
async def test_arguments_that_are_no_object_are_told(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, call(("add", "[1, 2]")), Say("sorry"))

    ended = await made.ask()

    assert made.ran == []
    assert ended.calls[0].outcome == "invalid"
    assert "not a JSON object" in made.results()[0].text


@every()
async def test_an_unknown_tool_is_told(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, call(("no_such_tool", {})), Say("there is none"))

    ended = await made.ask()

    assert ended.calls[0].outcome == "invalid"
    assert "no_such_tool" in made.results()[0].text


@every()
async def test_a_failing_tool_is_an_answer_and_not_an_end(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, call(("fail", {"message": "boom"})), Say("it failed"))

    ended = await made.ask()

    assert ended.answer == "it failed"
    assert ended.calls[0].outcome == "tool_error"
    assert "boom" in made.results()[0].text


@every()
async def test_a_stream_that_comes_byte_by_byte_is_understood(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, call(("add", {"a": 20, "b": 22})), Say("zweiundvierzig – ja"), slowly=True)

    ended = await made.ask()

    assert ended.answer == "zweiundvierzig – ja"
    assert made.ran == ["add"]


@every()
@pytest.mark.parametrize("clean", [False, True], ids=["broken", "ended too soon"])
async def test_an_answer_that_breaks_off_is_asked_for_again(
    bench: Open, protocol: ModuleType, clean: bool
) -> None:
    made = await bench(protocol, Cut("This will never be com", clean=clean), Say("whole"))

    async with asyncio.timeout(DEADLINE):
        events = [event async for event in made.agent().run("go")]

    assert any(isinstance(event, AskedAgain) for event in events)
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].answer == "whole"


@every()
async def test_an_answer_that_always_breaks_off_is_an_error_and_the_chat_goes_on(
    bench: Open, protocol: ModuleType
) -> None:
    made = await bench(protocol, Cut("This will"), Cut("This will"), Say("now it works"))

    with pytest.raises(AnswerCut):
        await made.ask()
    ended = await made.agent().ask("again", chat=await made.host.chats.store.load("last"))

    assert ended.answer == "now it works"
    assert made.script.complaints == []


@every()
async def test_a_broken_off_answer_is_kept_and_continued(bench: Open, protocol: ModuleType) -> None:
    said = "This will be told in more than a few words."
    made = await bench(protocol, Cut(said), Cut(said), Say("The rest."))
    with pytest.raises(AnswerCut):
        await made.ask()

    chat = await made.host.chats.store.load("last")
    [partial] = [entry for entry in chat.entries if isinstance(entry, Partial)]
    events = [event async for event in made.agent().answer(chat, Continued())]

    assert isinstance(events[-1], TurnEnded)
    assert events[-1].answer == "The rest."
    assert said.startswith(partial.text)
    assert partial.text
    assert partial.text in json.dumps(made.script.requests[-1])
    assert CONTINUE in json.dumps(made.script.requests[-1])
    assert made.script.complaints == []


@every()
async def test_a_busy_vendor_is_asked_again(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Refuse(429, "slow down", {"retry-after": "0"}), Say("here"))

    ended = await made.ask()

    assert ended.answer == "here"
    assert len(made.script.requests) == 2


@every()
async def test_a_vendor_that_stays_busy_is_told(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Refuse(429, "slow down", {"retry-after": "0"}))

    with pytest.raises(ModelBusy, match="slow down"):
        await made.ask()

    assert len(made.script.requests) == 3


@every()
async def test_a_refused_key_is_told_with_where_it_goes(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, Refuse(401, "invalid key"))

    with pytest.raises(ModelKeyRefused, match="invalid key") as caught:
        await made.ask()

    assert len(made.script.requests) == 1
    assert protocol.key in caught.value.hint
    assert f"key-of-{protocol.name}" not in str(caught.value)


@every()
async def test_stopping_in_the_stream_hangs_up_and_the_chat_goes_on(
    bench: Open, protocol: ModuleType
) -> None:
    made = await bench(protocol, Hold("Once upon a time there was"), Say("The end."))
    heard: list[str] = []

    async with asyncio.timeout(DEADLINE):
        async with aclosing(made.agent().run("tell me a story")) as events:
            async for event in events:
                if isinstance(event, Speaking):
                    heard.append(event.text)
                    break
        await made.script.hung_up.wait()
    ended = await made.agent().ask("and then?", chat=await made.host.chats.store.load("last"))

    assert heard
    assert ended.answer == "The end."
    assert heard[0] in str(made.script.requests[-1])
    assert made.script.complaints == []


@every()
async def test_stopping_in_tools_cancels_them_and_the_chat_goes_on(bench: Open, protocol: ModuleType) -> None:
    calls = call(("work", {}), ("add", {"a": 1, "b": 1}), ("work", {}), ("work", {}))
    made = await bench(protocol, calls, Say("All right."))

    async def turn() -> None:
        async for _ in made.agent().run("work"):
            pass

    async with asyncio.timeout(DEADLINE):
        task = asyncio.create_task(turn())
        await made.working.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(made.cancelled) == 3
    ended = await made.agent().ask("never mind", chat=await made.host.chats.store.load("last"))

    assert ended.answer == "All right."
    assert made.script.complaints == []
    assert [one.failed for one in made.results()] == [True, False, True, True]


@every()
async def test_the_last_request_of_the_budget_goes_without_tools(bench: Open, protocol: ModuleType) -> None:
    made = await bench(
        protocol, call(("add", {"a": 1, "b": 1})), call(("add", {"a": 1, "b": 1})), Say("That is all I have.")
    )

    ended = await made.ask(max_rounds=3)

    assert (ended.ending, ended.rounds) == ("budget", 3)
    assert ended.answer == "That is all I have."
    assert [bool(protocol.tools(body)) for body in made.script.requests] == [True, True, False]
    assert "2" in str(made.script.requests[-1])


@every()
async def test_events_tell_of_calls_as_they_happen(bench: Open, protocol: ModuleType) -> None:
    made = await bench(protocol, call(("add", {"a": 1, "b": 1}), saying="Let me see."), Say("2"))

    async with asyncio.timeout(DEADLINE):
        events = [event async for event in made.agent().run("go")]

    kinds = [type(event) for event in events if isinstance(event, CallBegan | CallEnded | Speaking | Asking)]
    order = list(dict.fromkeys(kinds))
    assert order == [Speaking, CallBegan, CallEnded]
    said = "".join(event.text for event in events if isinstance(event, Speaking))
    assert said == "Let me see.2"
