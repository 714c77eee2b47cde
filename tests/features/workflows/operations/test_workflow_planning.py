"""Workflows from requests, chats and single calls, as the page and the commands make them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.conftest import Crib
from toolcrib.errors import NotFound, PlanRefused, UnknownTool, UsageError
from toolcrib.host import Host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.testing.model import ScriptedModel, calls


@pytest.fixture
async def host(crib: Crib) -> AsyncIterator[Host]:
    crib.entry("demo", {"type": "inprocess", "module": "toolcrib.bundled.demo"})
    async with crib.open() as host:
        await host.ready()
        yield host


async def run(host: Host, operation: str, **params: Any) -> Any:
    """An operation, whose answer must be JSON."""
    return json.loads(json.dumps(await perform(host, operation, params, Invocation())))


async def is_valid(host: Host, workflow: dict[str, Any]) -> bool:
    checked = await run(host, "workflow_validate", workflow=workflow)
    return bool(checked["ok"])


async def test_a_planned_workflow_is_valid_but_neither_saved_nor_run(host: Host) -> None:
    found = await run(host, "workflow_plan", request="Add 17 plus 25, then 1 divided by 4", model="demo")

    nodes = found["workflow"]["nodes"]
    assert [node["settings"]["tool"] for node in nodes.values()] == ["demo__add", "demo__divide"]
    assert found["changes"]["added"] == list(nodes)
    assert found["doubts"] == []
    assert found["model"] == "demo"
    assert "demo__add" in found["offered"]
    assert await is_valid(host, found["workflow"])
    assert await run(host, "workflow_list") == []
    await host.audit.flush()
    assert await run(host, "audit") == []


async def test_a_request_that_cannot_be_planned_is_refused_with_the_reason(host: Host) -> None:
    with pytest.raises(PlanRefused, match="demo model"):
        await run(host, "workflow_plan", request="Send a fax", model="demo")


async def test_a_change_lists_what_it_adds_and_keeps_the_rest(host: Host) -> None:
    before = (await run(host, "workflow_plan", request="17 plus 25", model="demo"))["workflow"]
    added = {
        "add_nodes": [
            {
                "id": "half",
                "type": "McpToolCall",
                "settings": {"tool": "demo__divide", "arguments": {"a": 1, "b": 2}},
            }
        ],
        "add_edges": [{"from": "add_1", "to": "half"}],
    }
    model = ScriptedModel(json.dumps({"patch": added}))

    from toolcrib.features.workflows.service import parse

    plan = await host.workflows.plan("And divide 1 by 2", model=model, current=parse(before))

    assert plan.changes.added == ("half",)
    assert plan.workflow.nodes["add_1"] == parse(before).nodes["add_1"]


async def test_a_chat_becomes_a_workflow_that_runs(host: Host) -> None:
    model = ScriptedModel(
        calls(("demo__add", {"a": 17, "b": 25}), ("demo__divide", {"a": 1, "b": 0})),
        calls(("demo__divide", {"a": 1234, "b": 5})),
        "Done.",
    )
    await host.agent(model).ask("Add 17 and 25, and divide it.")

    found = await run(host, "workflow_from_chat", chat="last", others=[])

    assert list(found["workflow"]["nodes"]) == ["add", "divide"]
    assert {name: one["default"] for name, one in found["workflow"]["inputs"].items()} == {"a": 17, "b": 25}
    assert found["workflow"]["nodes"]["divide"]["settings"]["arguments"] == {"a": 1234, "b": 5}
    assert any("did not succeed" in doubt["message"] for doubt in found["doubts"])
    assert await is_valid(host, found["workflow"])


async def test_chats_that_did_the_same_differ_in_inputs(host: Host) -> None:
    ids = []
    for number in (1111, 2222):
        model = ScriptedModel(calls(("demo__add", {"a": number, "b": 3333})), "Done.")
        await host.agent(model).ask("As usual")
        ids.append((await run(host, "chats", limit=1))["chats"][0]["id"])

    found = await run(host, "workflow_from_chat", chat=ids[1], others=ids[:1], name="usual")

    assert found["workflow"]["name"] == "usual"
    assert {name: one["default"] for name, one in found["workflow"]["inputs"].items()} == {"a": 2222}


async def test_a_chat_without_calls_and_an_unknown_chat_are_refused(host: Host) -> None:
    await host.agent(ScriptedModel("Hello.")).ask("Hello")

    with pytest.raises(UsageError, match="nothing to repeat"):
        await run(host, "workflow_from_chat", chat="last", others=[])
    with pytest.raises(NotFound):
        await run(host, "workflow_from_chat", chat="nope", others=[])


async def test_calls_are_added_at_the_end_or_after_a_node(host: Host) -> None:
    first = await run(host, "workflow_add_call", tool="demo__add", arguments={"a": 1, "b": 2})
    second = await run(
        host, "workflow_add_call", tool="demo__add", arguments={"a": 3, "b": 4}, workflow=first["workflow"]
    )
    third = await run(
        host,
        "workflow_add_call",
        tool="demo__divide",
        arguments={"a": 1, "b": 4},
        workflow=second["workflow"],
        after="add",
    )

    edges = [(edge["from"], edge["to"]) for edge in third["workflow"]["edges"]]
    assert sorted(edges) == [("add", "divide"), ("divide", "add_2")]
    assert third["changes"]["added"] == ["divide"]
    assert await is_valid(host, third["workflow"])


async def test_a_call_of_an_unknown_tool_or_after_an_unknown_node_is_refused(host: Host) -> None:
    with pytest.raises(UnknownTool):
        await run(host, "workflow_add_call", tool="demo__fax", arguments={})
    first = (await run(host, "workflow_add_call", tool="demo__add", arguments={"a": 1, "b": 2}))["workflow"]
    with pytest.raises(UsageError, match="no step 'sum'"):
        await run(host, "workflow_add_call", tool="demo__add", arguments={}, workflow=first, after="sum")
