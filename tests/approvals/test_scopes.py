"""One approval for everything that acts on the same target, as one of our own tools says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.approvals.people import AGENT, ALWAYS, NO, YES, Person, Tools, allowed, gate_with
from toolcrib.approvals.question import ApprovalAnswer
from toolcrib.approvals.rule import Rule
from toolcrib.schema.approvals import CallScope
from toolcrib.schema.tools import ToolCall

CHAT = ApprovalAnswer(allow=True, scope="chat")


async def by_target(call: ToolCall) -> CallScope:
    target = str(call.arguments.get("target", ""))
    each = "It needs approval each time." if target == "vault" else ""
    return CallScope(key="" if each else target, label=f"Control {target}", reason=each)


@pytest.fixture
def tools() -> Tools:
    return Tools()


def asking(*answers: ApprovalAnswer, **options: Any) -> tuple[Any, Person]:
    person = Person(*answers)
    return gate_with(person, scope_of=by_target, **options), person


async def test_an_answer_for_the_chat_holds_for_the_same_target_only(tools: Tools) -> None:
    gate, person = asking(CHAT)
    for _ in range(3):
        assert await allowed(gate, tools.call("files__write", target="one"))
    assert await allowed(gate, tools.call("files__write", target="two"))
    assert [question.grant.label for question in person.questions if question.grant] == [
        "Control one",
        "Control two",
    ]
    assert person.questions[0].scopes == ("once", "chat")
    assert person.questions[0].as_json()["grant"] == "Control one"
    assert not gate.rules.active


async def test_an_answer_for_one_call_or_of_another_session_covers_nothing_else(tools: Tools) -> None:
    gate, person = asking(YES, CHAT)
    await allowed(gate, tools.call("files__write", target="one"))
    await allowed(gate, tools.call("files__write", target="one"))
    assert len(person.questions) == 2
    other = type(AGENT)(name="agent", session="chat-2")
    await allowed(gate, tools.call("files__write", other, target="one"))
    assert len(person.questions) == 3
    gate.end(AGENT)
    await allowed(gate, tools.call("files__write", target="one"))
    assert len(person.questions) == 4


async def test_a_target_that_asks_each_time_cannot_be_allowed_for_longer(tools: Tools) -> None:
    gate, person = asking(ALWAYS)
    for _ in range(2):
        assert await allowed(gate, tools.call("files__write", target="vault"))
    assert len(person.questions) == 2
    assert person.questions[0].scopes == ("once",)
    assert person.questions[0].reasons[-1] == "It needs approval each time."
    assert not gate.rules.active


async def test_a_grant_from_before_untrusted_content_was_read_is_asked_about_again(tools: Tools) -> None:
    gate, person = asking(CHAT)
    await allowed(gate, tools.call("files__write", target="one"))
    await allowed(gate, tools.call("web__fetch"))
    await allowed(gate, tools.call("files__write", target="one"))
    flows = [question.flow for question in person.questions if question.tool == "files__write"]
    assert flows == [False, True]
    await allowed(gate, tools.call("files__write", target="one"))
    assert len([one for one in person.questions if one.tool == "files__write"]) == 2


async def test_rules_of_the_user_and_the_strictest_mode_still_ask(tools: Tools) -> None:
    gate, person = asking(CHAT, mode="always")
    for _ in range(2):
        await allowed(gate, tools.call("files__write", target="one"))
    assert len(person.questions) == 2
    gate, person = asking(CHAT)
    gate.rules.add(Rule(effect="ask", server="files", tool="write"))
    for _ in range(2):
        await allowed(gate, tools.call("files__write", target="one"))
    assert len(person.questions) == 2


async def test_scopes_of_other_servers_are_not_believed(tools: Tools) -> None:
    gate, person = asking(CHAT)
    await allowed(gate, tools.call("web__post", target="one"))
    assert person.questions[0].grant is None


async def test_a_call_that_would_fail_anyway_is_refused_without_a_question(tools: Tools) -> None:
    async def stopped(call: ToolCall) -> CallScope:
        return CallScope(key="", label="Control one", refusal="The user stopped all input.")

    person = Person(NO)
    gate = gate_with(person, scope_of=stopped)
    decision = await gate.check(tools.call("files__write", target="one"))
    assert not decision.allowed
    assert decision.reason == "The user stopped all input."
    assert not person.questions
