"""Commands of any length are judged beside the event loop, and their files are looked up within limits."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.approvals.people import AGENT, NO, YES, Person, Tools, allowed, gate_with
from tests.loop_meter import LIMIT, LoopMeter
from toolcrib.approvals.facts import PastCall
from toolcrib.approvals.rule import Pattern, Rule
from toolcrib.approvals.rules.shell import MOST_PATHS, MOST_PATTERNS

LONG = {
    "words": "echo " + " ".join(f"w{n}" for n in range(2500)),
    "files": "cat " + " ".join(f"f{n}" for n in range(2500)),
    "commands": "ls;" * 2000,
    "pipes": "ls" + "|cat" * 900,
    "options": "grep " + "-e a " * 2400 + "f",
    "shells": "bash -c '" + "ls;" * 2000 + "'",
    "too many to understand": "true " + "a " * 12_000,
}
PATTERNS = "f*.txt f?*.txt f*?.txt f*.tx? f*.t?t f*.?xt f?*.tx? f*?.tx? f?*.t?t f*.t??"


@pytest.mark.parametrize("shape", LONG)
async def test_a_long_command_does_not_hold_the_loop(shape: str) -> None:
    tools, gate = Tools(), gate_with(Person(YES))
    for effect in ("allow", "deny"):
        gate.rules.add(Rule(effect=effect, tool="run_command", arguments={"command": Pattern(like="make *")}))
    await allowed(gate, tools.run("true"))
    with LoopMeter() as meter:
        assert await allowed(gate, tools.run(LONG[shape]))
    assert meter.turn < LIMIT


async def test_the_commands_of_a_long_chat_do_not_hold_the_loop_when_it_is_continued() -> None:
    tools, gate = Tools(), gate_with(Person(YES))
    calls = [tools.run(f"cat {' '.join(f'f{n}' for n in range(100))} {chat}") for chat in range(50)]
    calls.append(tools.run("curl http://127.0.0.1/"))
    past = [PastCall(name=call.tool.name, tool=call.tool, arguments=call.arguments) for call in calls]
    with LoopMeter() as meter:
        await gate.recall(AGENT, past)
    assert meter.turn < LIMIT
    assert gate.sessions.of(AGENT).untrusted == ("terminal__run_command",)


async def test_a_command_that_changes_while_it_is_judged_does_not_run() -> None:
    tools, person = Tools(), Person(YES)
    gate, call = gate_with(person), tools.run("ls")
    checking = asyncio.create_task(gate.check(call))
    await asyncio.sleep(0)  # The check runs until it waits for the thread.
    assert isinstance(call.arguments, dict)
    call.arguments["command"] = "rm -r project"
    decision = await checking
    assert not decision.allowed
    assert person.questions == []


@pytest.mark.parametrize(
    "command",
    [
        "cat " + " ".join(f"f{n}" for n in range(MOST_PATHS + 1)),
        "cat " + " ".join(f"f{n}*.txt" for n in range(MOST_PATTERNS + 1)),
    ],
)
async def test_a_command_with_very_many_files_asks(command: str, tmp_path: Path) -> None:
    tools, person = Tools(), Person(NO)
    gate = gate_with(person)
    gate.begin(AGENT, asker=person, project=str(tmp_path))
    assert not await allowed(gate, tools.run(command))
    assert "too many files" in person.questions[0].reasons[0]


@pytest.mark.acceptance
async def test_patterns_that_match_very_many_files_together_ask(tmp_path: Path) -> None:
    for number in range(600):
        (tmp_path / f"f{number}.txt").touch()
    tools, person = Tools(), Person(NO)
    gate = gate_with(person)
    gate.begin(AGENT, asker=person, project=str(tmp_path))
    assert await allowed(gate, tools.run("cat f*.txt f?*.txt"))
    assert not await allowed(gate, tools.run(f"cat {PATTERNS}"))
