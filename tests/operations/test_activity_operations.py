"""Every call with who asked and what the gate said; rules and what they did; what would happen."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from toolcrib.agent.chat import Took
from toolcrib.approvals.question import ApprovalAnswer, ApprovalRequest
from toolcrib.errors import Denied, NotFound, UsageError
from toolcrib.host import Host
from toolcrib.operations.activity import parse_filter
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.schema.messages import Usage
from toolcrib.schema.tools import Principal

DEADLINE = 60.0
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
GATEWAY = Principal(name="gateway:editor")


async def nobody(event: Any) -> None: ...


class NeverAnswers:
    """A person who is asked and says nothing."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def ask(self, question: ApprovalRequest) -> ApprovalAnswer:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")


async def run(host: Host, operation: str, /, **params: Any) -> Any:
    async with asyncio.timeout(DEADLINE):
        return await perform(host, operation, params, Invocation())


def test_words_become_a_filter() -> None:
    wanted = parse_filter('server:git Outcome:failed who:chat since:2h "git push" tool:log', NOON)

    assert wanted.servers == ("git",)
    assert "tool_error" in wanted.outcomes
    assert wanted.principals == ("agent",)
    assert wanted.tools == ("log", "*__log")
    assert wanted.texts == ("git push",)
    assert wanted.since == NOON - timedelta(hours=2)


@pytest.mark.parametrize("words", ["outcome:faild", "since:soon"])
def test_a_word_that_cannot_be_meant_is_refused_with_a_hint(words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_filter(words)

    assert caught.value.hint


@pytest.mark.parametrize("words", ["", "http://x", 'an "open quote', "server:", "key:value"])
def test_other_words_are_looked_for(words: str) -> None:
    parse_filter(words)


async def test_a_call_is_there_with_who_asked_and_which_rule_decided(host: Host) -> None:
    rule = await run(host, "policy_add", rule={"effect": "deny", "server": "demo", "tool": "add"})
    with pytest.raises(Denied):
        await host.call("demo__add", {"a": 1, "b": 2}, principal=GATEWAY)
    await host.call("demo__divide", {"a": 1, "b": 2})

    [divided, added] = (await run(host, "calls"))["calls"]

    assert divided["who"] == {"kind": "python", "name": "", "session": None}
    assert divided["name"] == "divide"
    assert added["who"]["name"] == "editor"
    assert (added["gate"]["rule"], added["gate"]["number"], added["gate"]["mode"]) == (
        rule["id"],
        1,
        "on_rule",
    )
    assert (await run(host, "calls", words="who:gateway"))["matching"] == 1


async def test_a_call_that_runs_tells_which_rule_let_it(host: Host) -> None:
    rule = await run(host, "policy_add", rule={"effect": "allow", "server": "small", "tool": "never"})
    decided = asyncio.Event()
    call = host.toolset.caller.call(
        "small__never", {}, principal=GATEWAY, on_decided=lambda decision: decided.set()
    )
    calling = asyncio.create_task(call)
    try:
        async with asyncio.timeout(DEADLINE):
            await decided.wait()
        found = await run(host, "calls_running")
    finally:
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)

    assert [(one["name"], one["state"], one["gate"]["rule"], one["gate"]["number"]) for one in found] == [
        ("never", "running", rule["id"], 1)
    ]
    [recorded] = (await run(host, "calls"))["calls"]
    assert recorded["gate"]["judged_ms"] >= 0


async def test_a_call_whose_turn_has_not_come_is_not_said_to_run(host: Host) -> None:
    asker = NeverAnswers()
    async with host.session("agent", mode="always", asker=asker) as principal:
        calls = [asyncio.create_task(host.call("small__never", {}, principal=principal)) for _ in range(2)]
        try:
            async with asyncio.timeout(DEADLINE):
                await asker.asked.wait()
            found = await run(host, "calls_running")
        finally:
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    states = [(one["state"], one["began"], one["question"] is None, one["gate"]) for one in found]
    assert states == [("waiting", None, True, None), ("asking", None, False, None)]
    recorded = (await run(host, "calls"))["calls"]
    assert [(call["outcome"], call["ms"]) for call in recorded] == [("cancelled", 0), ("cancelled", 0)]


async def test_the_path_of_a_call_has_the_rules_that_speak_of_its_tool(host: Host) -> None:
    await run(host, "policy_add", rule={"effect": "allow", "server": "demo", "tool": "a*"})
    await run(host, "policy_add", rule={"effect": "allow", "server": "other"})
    await host.call("demo__add", {"a": 1, "b": 2}, principal=GATEWAY)
    [call] = (await run(host, "calls"))["calls"]

    path = await run(host, "call_path", call_id=call["call_id"])

    assert path["call"] == call
    assert [(rule["number"], rule["used"]) for rule in path["rules"]] == [(1, 1)]
    assert path["server_state"] == "ready"
    with pytest.raises(NotFound):
        await run(host, "call_path", call_id="unknown")


async def test_the_record_is_read_page_by_page(host: Host) -> None:
    for number in range(5):
        await host.call("demo__add", {"a": number, "b": 0})

    first = await run(host, "calls", limit=3)
    rest = await run(host, "calls", limit=3, before=first["calls"][-1]["place"], count=False)

    assert (len(first["calls"]), first["more"], first["matching"]) == (3, True, 5)
    assert (len(rest["calls"]), rest["more"], rest["matching"]) == (2, False, None)
    with pytest.raises(UsageError):
        await run(host, "calls", before="nowhere")
    counts = await run(host, "call_counts")
    assert (counts["total"], counts["asked"], counts["failed"]) == (5, 0, 0)


async def test_a_rule_that_is_off_decides_nothing(host: Host) -> None:
    rule = await run(host, "policy_add", rule={"effect": "deny", "server": "demo"})
    await run(host, "policy_switch", id=rule["id"], enabled=False)

    await host.call("demo__add", {"a": 1, "b": 2})

    [shown] = (await run(host, "policy_list"))["rules"]
    assert (shown["enabled"], shown["used"], shown["words"]) == (False, 0, "deny demo.*")
    with pytest.raises(NotFound):
        await run(host, "policy_switch", id="unknown", enabled=True)


async def test_a_rule_that_was_removed_comes_back_as_it_was_shown(host: Host) -> None:
    await run(host, "policy_add", rule={"effect": "deny", "server": "demo", "why": "never"})
    [shown] = (await run(host, "policy_list"))["rules"]
    gone = await run(host, "policy_remove", id=shown["id"])
    assert (await run(host, "policy_list"))["rules"] == []

    await run(host, "policy_add", rule=shown)

    assert gone["rule"]["why"] == "never"
    [again] = (await run(host, "policy_list"))["rules"]
    assert {**again, "decided_at": shown["decided_at"]} == shown


async def test_a_rule_is_edited_in_its_place_once_it_makes_sense(host: Host) -> None:
    first = await run(host, "policy_add", rule={"effect": "deny", "server": "demo"})
    await run(host, "policy_add", rule={"effect": "deny", "server": "other"})
    with pytest.raises(UsageError):
        await run(host, "policy_edit", id=first["id"], rule={"effect": "perhaps"})

    await run(host, "policy_edit", id=first["id"], rule={"effect": "ask", "server": "demo"})

    words = [rule["words"] for rule in (await run(host, "policy_list"))["rules"]]
    assert words == ["ask demo.*", "deny other.*"]
    with pytest.raises(NotFound):
        await run(host, "policy_edit", id="unknown", rule={"effect": "deny"})


async def test_a_rule_for_a_definition_that_changed_sleeps(host: Host) -> None:
    rule = {"effect": "allow", "server": "demo", "tool": "add", "definition": "0" * 64}
    await run(host, "policy_add", rule=rule)

    [shown] = (await run(host, "policy_list"))["rules"]

    assert shown["asleep"]


async def test_turns_of_chats_stand_with_their_tokens_and_their_cost(host: Host) -> None:
    chat = await host.chats.store.create("demo", title="Sums")
    host.chats.store.append(
        chat.id, 0, Took(model="demo", rounds=2, usage=Usage(input=100, output=20), cost=0.5)
    )
    await host.chats.store.flush()

    found = await run(host, "model_requests")

    [turn] = found["turns"]
    assert (turn["title"], turn["rounds"], turn["input"], turn["cost"]) == ("Sums", 2, 100, 0.5)
    assert (found["input"], found["output"], found["cost"]) == (100, 20, 0.5)


async def test_settings_are_shown_and_saved_with_the_same_as_a_command(host: Host) -> None:
    saved = await run(host, "settings_set", key="approvals.mode", value="always")

    assert (saved["before"], saved["value"]) == ("on_miss", "always")
    assert saved["command"] == "toolcrib settings set approvals.mode always"
    assert host.approvals.policy.mode == "always"
    shown = await run(host, "settings_show")
    assert shown["settings"]["approvals"]["mode"] == "always"
    assert shown["given"] == ["approvals.mode"]
