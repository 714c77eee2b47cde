"""Turns that run by themselves: followed by several, left and found again, stopped as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agent.test_stopping import ESCAPE, MARK, sleepers
from tests.agent.test_stopping import until as until_so
from tests.conftest import Crib
from toolcrib import Host
from toolcrib.agent import live
from toolcrib.agent.events import AgentEvent, Asking, CallBegan, CallEnded, RoundEnded, Speaking, TurnEnded
from toolcrib.agent.live import LiveTurn
from toolcrib.approvals.gate import AllowAll
from toolcrib.errors import ModelBusy, NotFound, UsageError
from toolcrib.testing.model import ScriptedModel, calls

DEADLINE = 60.0


async def told(turn: LiveTurn, after: int = 0) -> list[tuple[int, AgentEvent]]:
    async with asyncio.timeout(DEADLINE):
        return [one async for one in turn.follow(after)]


async def when_it_ended(turn: LiveTurn) -> list[str]:
    """What was still running when a listener heard of the end."""
    async for _, event in turn.follow():
        if isinstance(event, TurnEnded):
            return sleepers()
    raise AssertionError("a turn tells its end")


def words(events: list[tuple[int, AgentEvent]]) -> str:
    return "".join(event.text for _, event in events if isinstance(event, Speaking))


@pytest.fixture
async def host(crib: Crib) -> AsyncIterator[Host]:
    async with crib.open(gate=AllowAll()) as opened:

        @opened.tool()
        def add(a: int, b: int) -> int:
            """Add."""
            return a + b

        yield opened


async def test_all_who_follow_hear_the_same_whenever_they_come(host: Host) -> None:
    model = ScriptedModel("one two three four")
    model.hold = asyncio.Event()
    turn = await host.chats.turns.start(host.agent(model), "count")
    early = asyncio.create_task(told(turn))
    await asyncio.wait_for(model.speaking.wait(), DEADLINE)
    late = asyncio.create_task(told(turn))
    model.hold.set()

    first, second = await early, await late

    assert first == second == await told(turn)
    assert [number for number, _ in first] == list(range(1, len(first) + 1))
    assert words(first) == "one two three four"
    assert isinstance(first[-1][1], TurnEnded)
    assert (await turn.result()).answer == "one two three four"


async def test_who_comes_back_goes_on_where_it_left_off(host: Host) -> None:
    turn = await host.chats.turns.start(host.agent(ScriptedModel("one two three")), "count")
    whole = await told(turn)

    assert await told(turn, after=whole[2][0]) == whole[3:]
    assert await told(turn, after=turn.number) == []


async def test_a_listener_that_leaves_stops_nothing(host: Host) -> None:
    model = ScriptedModel("one two three")
    model.hold = asyncio.Event()
    turn = await host.chats.turns.start(host.agent(model), "count")
    leaving = asyncio.create_task(told(turn))
    await asyncio.wait_for(model.speaking.wait(), DEADLINE)
    leaving.cancel()
    await asyncio.wait([leaving])
    model.hold.set()

    assert (await asyncio.wait_for(turn.result(), DEADLINE)).answer == "one two three"


async def test_a_chat_answers_one_question_at_a_time(host: Host) -> None:
    model = ScriptedModel("one two")
    model.hold = asyncio.Event()
    agent = host.agent(model)
    turn = await host.chats.turns.start(agent, "first")
    chat = await host.chats.store.load(turn.chat)

    with pytest.raises(UsageError, match="busy"):
        await host.chats.turns.start(agent, "second", chat=chat)
    with pytest.raises(UsageError, match="busy"):
        await agent.ask("second", chat=chat)
    other = await host.chats.turns.start(agent, "elsewhere")

    assert host.chats.turns.running() == [turn, other]
    assert host.chats.turns.of(turn.chat) is turn is host.chats.turns.get(turn.id)
    with pytest.raises(NotFound):
        host.chats.turns.get("nowhere")
    model.hold.set()
    await asyncio.gather(turn.result(), other.result())
    assert host.chats.turns.running() == []


async def test_a_failure_is_told_and_not_raised(host: Host) -> None:
    turn = await host.chats.turns.start(host.agent(ScriptedModel(ModelBusy("too many"))), "hello")

    ended = await asyncio.wait_for(turn.result(), DEADLINE)

    assert ended.ending == "failed"
    assert isinstance(ended.failure, ModelBusy)


async def test_closing_the_host_stops_what_runs(crib: Crib) -> None:
    model = ScriptedModel("one two")
    model.hold = asyncio.Event()
    async with crib.open(gate=AllowAll()) as host:
        turn = await host.chats.turns.start(host.agent(model), "first")
        await asyncio.wait_for(model.speaking.wait(), DEADLINE)

    assert not turn.running
    assert (await turn.result()).ending == "stopped"


async def test_when_stop_has_returned_nothing_is_left_running(crib: Crib, tmp_path: Path) -> None:
    crib.server("box")
    model = ScriptedModel(
        calls(
            ("terminal__run_command", {"command": ESCAPE}),
            ("terminal__run_command", {"command": f"sleep {MARK}.3", "background": True}),
            ("box__sleep", {"seconds": 300}),
        ),
        "All right.",
    )
    async with crib.open(gate=AllowAll()) as host:
        host.open_workspace_tools()
        await host.ready()
        agent = host.agent(model, project=str(tmp_path))
        turn = await host.chats.turns.start(agent, "work")
        await until_so(lambda: len(sleepers()) == 3)

        following = asyncio.create_task(when_it_ended(turn))
        ended = await asyncio.wait_for(turn.stop(), DEADLINE)

        assert sleepers() == []
        assert await following == []
        assert ended.ending == "stopped"
        outcomes = {
            event.tool: event.outcome for _, event in await told(turn) if isinstance(event, CallEnded)
        }
        assert outcomes["box__sleep"] == "cancelled"
        chat = await host.chats.store.load(turn.chat)
        assert chat.took().ending == "stopped"
        again = await host.chats.turns.start(agent, "never mind", chat=chat)
        assert (await asyncio.wait_for(again.result(), DEADLINE)).answer == "All right."


async def test_a_very_long_turn_is_kept_by_its_rounds(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_KEPT", 20)
    long = "word " * 30
    model = ScriptedModel(calls(("add", {"a": 1, "b": 2}), saying=long), "the end")
    turn = await host.chats.turns.start(host.agent(model), "much")
    await asyncio.wait_for(turn.result(), DEADLINE)

    events = await told(turn)

    assert words(events) == "the end"
    rounds = [event.text for _, event in events if isinstance(event, RoundEnded)]
    assert rounds == [long, "the end"]


async def test_a_tool_is_run_again_by_hand_under_the_gate(crib: Crib) -> None:
    async with crib.open() as host:

        @host.tool()
        def add(a: int, b: int) -> int:
            """Add."""
            return a + b

        model = ScriptedModel("hello")
        agent = host.agent(model, person=host.chats.questions)
        chat = (await host.chats.turns.start(agent, "hi")).chat
        await host.chats.turns.of(chat).result()  # type: ignore[union-attr]
        turn = await host.chats.turns.call(agent, await host.chats.store.load(chat), "add", {"a": 1, "b": 2})
        async with asyncio.timeout(DEADLINE):
            async for _, event in turn.follow():
                if isinstance(event, Asking):
                    assert event.chat == chat == event.detail["session"]
                    host.chats.questions.decide(event.id, {"action": "accept"})

        events = [event for _, event in await told(turn)]
        kept = await host.chats.store.load(chat)

        assert [type(event) for event in events if isinstance(event, CallBegan | CallEnded)] == [
            CallBegan,
            CallEnded,
        ]
        assert (await turn.result()).answer == "3"
        assert [call.name for call, _ in kept.ran()] == ["add"]
        await host.chats.turns.start(agent, "again", chat=kept)
        await host.chats.turns.of(chat).result()  # type: ignore[union-attr]
        assert not any(message.__class__.__name__ == "FromTools" for message in model.requests[-1].messages)
