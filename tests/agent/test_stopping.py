"""Stop means stop: in the middle of three parallel tools, nothing is left running, and the chat goes on.

How long that takes is measured by `tests/soak/test_stop_time.py`, which a loaded machine does not run.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from tests.conftest import Crib
from toolcrib.agent.events import Asking, CallBegan, CallEnded, CallQueued, TurnEnded
from toolcrib.agent.ports import AgentQuestion
from toolcrib.approvals.gate import AllowAll
from toolcrib.approvals.rule import Rule
from toolcrib.testing.model import ScriptedModel, calls

DEADLINE = 60.0
MARK = f"47{secrets.randbelow(10**6):06}"
"""Seconds that nobody else on this machine sleeps, not even another run of this test."""
ESCAPE = f"""
setsid bash -c '(sleep {MARK}.1 & wait) & disown; exit' &
sleep {MARK}.2
"""
"""A command that forks twice and leaves its session."""


async def until(condition: Callable[[], bool]) -> None:
    """Look again and again: the processes of others tell nobody when they come and go."""
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def sleepers() -> list[str]:
    """The command lines of the processes that were started, wherever they hide."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found.append((entry / "cmdline").read_text())
            except OSError:
                continue
    return [one for one in found if one.startswith(f"sleep\x00{MARK}")]


async def test_stop_in_the_middle_of_three_tools_leaves_nothing(crib: Crib, tmp_path: Path) -> None:
    crib.server("box")
    project = tmp_path / "project"
    project.mkdir()
    model = ScriptedModel(
        calls(
            ("terminal__run_command", {"command": ESCAPE}),
            ("box__sleep", {"seconds": 300}),
            ("box__sleep", {"seconds": 300}),
        ),
        "All right.",
    )
    async with crib.open(gate=AllowAll()) as host:
        host.open_workspace_tools()
        await host.ready()
        agent = host.agent(model, project=str(project))
        async with asyncio.timeout(DEADLINE):
            async with aclosing(agent.run("work")) as events:
                begun = 0
                async for event in events:
                    begun += isinstance(event, CallBegan)
                    if begun == 3:
                        break
                await until(lambda: len(sleepers()) == 2)
            assert sleepers() == []  # Whoever stops waits for the end, and nothing is left to wait for.
        ended = await agent.ask("never mind", chat=await host.chats.store.load("last"))

    assert ended.answer == "All right."


async def test_one_call_is_stopped_and_the_turn_goes_on_without_it(crib: Crib) -> None:
    crib.server("box")
    model = ScriptedModel(
        calls(("box__sleep", {"seconds": 300}), ("box__echo", {"text": "hi"})), "I went on."
    )
    async with crib.open(gate=AllowAll()) as host:
        await host.ready()
        agent = host.agent(model)
        ended: dict[str, CallEnded] = {}
        async with asyncio.timeout(DEADLINE), aclosing(agent.run("work")) as events:
            async for event in events:
                if isinstance(event, CallBegan) and event.tool == "box__sleep":
                    sleep, chat = event.id, await host.chats.store.load("last")
                    assert not await agent.stop_call(chat.id, "another")
                    assert await agent.stop_call(chat.id, sleep)
                elif isinstance(event, CallEnded):
                    ended[event.tool] = event
                elif isinstance(event, TurnEnded):
                    assert (event.ending, event.answer) == ("answered", "I went on.")
                    assert not await agent.stop_call(chat.id, sleep)

    assert ended["box__sleep"].outcome == "cancelled"
    assert ended["box__echo"].outcome == "ok"
    assert "The person stopped this call before it answered." in ended["box__sleep"].text


async def test_calls_beyond_the_room_wait_and_end_with_the_turn(crib: Crib) -> None:
    crib.server("box")
    crib.setting(agent={"maxParallelCalls": 1})
    many = [("box__sleep", {"seconds": 300}), ("box__echo", {"text": "a"}), ("box__echo", {"text": "b"})]
    async with crib.open(gate=AllowAll()) as host:
        await host.ready()
        agent = host.agent(ScriptedModel(calls(*many), "Done."))
        told: list[str] = []
        async with asyncio.timeout(DEADLINE), aclosing(agent.run("work")) as events:
            async for event in events:
                told.append(event.kind)
                if isinstance(event, CallQueued) and told.count("queued") == 2:
                    agent.halt((await host.chats.store.load("last")).id)

    assert told.count("call") == 1, "the others were never made"
    assert told.count("result") == 3


async def test_a_call_stopped_at_its_question_has_not_run_even_in_a_fork(crib: Crib) -> None:
    crib.server("box")
    model = ScriptedModel(calls(("box__echo", {"text": "hi"})))
    async with crib.open() as host:
        await host.ready()
        agent = host.agent(model, person=host.chats.questions, mode="always")
        async with asyncio.timeout(DEADLINE), aclosing(agent.run("say hi")) as events:
            async for event in events:
                if isinstance(event, Asking):
                    agent.halt(event.chat)
        stopped = await host.chats.store.load("last")
        fork = await host.chats.store.fork(stopped.id)
        again = await host.chats.store.load(fork.id)

    assert stopped.ran() == again.ran() == []
    assert "before the call was made" in str(again.messages()[-1])


async def test_a_call_that_waits_for_an_approval_holds_up_no_other(crib: Crib) -> None:
    crib.server("box")
    crib.setting(agent={"maxParallelCalls": 1})
    asked = asyncio.Event()

    class Patient:
        """Answers once the other call has run."""

        async def answer(self, question: AgentQuestion) -> dict[str, str]:
            await asked.wait()
            return {"action": "accept"}

    model = ScriptedModel(calls(("box__echo", {"text": "a"}), ("add", {"a": 1, "b": 2})), "Done.")
    ended: list[str] = []
    async with crib.open() as host:

        @host.tool(read_only=True)
        def add(a: int, b: int) -> int:
            """Add."""
            asked.set()
            return a + b

        host.approvals.gate.rules.add(Rule(effect="allow", tool="add"))
        await host.ready()
        agent = host.agent(model, person=Patient())
        async with asyncio.timeout(DEADLINE), aclosing(agent.run("work")) as events:
            async for event in events:
                if isinstance(event, CallEnded):
                    ended.append(event.tool)

    assert ended == ["add", "box__echo"]
