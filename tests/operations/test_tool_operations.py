"""Where each tool stands for a question, what is known of one, switches, and a try through the gate."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from toolcrib.errors import Denied, UnknownTool, UsageError
from toolcrib.host import Host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.schema.tools import Principal

DEADLINE = 60.0


async def nobody(event: Any) -> None: ...


async def run(host: Host, operation: str, /, **params: Any) -> Any:
    async with asyncio.timeout(DEADLINE):
        return await perform(host, operation, params, Invocation())


def rows(found: Any) -> dict[str, Any]:
    return {tool["name"]: tool for tool in found["tools"]}


async def test_the_best_tools_are_offered_and_the_rest_stands_below_the_line(host: Host) -> None:
    await run(host, "settings_set", key="agent.offerAll", value=0)
    await run(host, "settings_set", key="retrieval.k", value=1)
    await run(host, "settings_set", key="retrieval.alwaysOn", value=["small__echo"])

    ranking = await run(host, "rank", query="add two numbers")

    first, second, *below = ranking["tools"]
    assert (first["name"], first["offered"], first["words"]) == ("demo__add", True, ["add", "two", "numbers"])
    assert first["fit"] == pytest.approx(first["by_words"] + first["by_meaning"] + first["by_name"], abs=0.01)
    assert (second["name"], second["always_on"], second["offered"]) == ("small__echo", True, True)
    assert below
    assert not any(tool["offered"] for tool in below)
    assert ranking["offered_tokens"] == first["tokens"] + second["tokens"]
    assert (ranking["k"], ranking["always_on"], ranking["all_offered"]) == (1, 1, False)


async def test_few_tools_are_all_offered(host: Host) -> None:
    ranking = await run(host, "rank", query="add two numbers")

    assert ranking["all_offered"]
    assert ranking["offered"] == ranking["ready"] == len(host.tools())


async def test_a_tool_that_is_named_is_first_because_of_that(host: Host) -> None:
    ranking = await run(host, "rank", query="demo__divide")

    assert ranking["tools"][0]["name"] == "demo__divide"
    assert ranking["tools"][0]["by_name"] > 0


async def test_tools_of_a_server_that_is_off_stay_in_the_ranking_with_the_reason(host: Host) -> None:
    await run(host, "disable", name="small")

    tool = rows(await run(host, "rank", query="echo what it was given"))["small__echo"]

    assert (tool["standing"], tool["offered"]) == ("away", False)
    assert tool["why_not"] == "server is off, not offered"


async def test_tools_are_found_by_name_or_what_was_meant_is_said(host: Host) -> None:
    assert list(rows(await run(host, "find_tools", words="demo add"))) == ["demo__add"]
    tools = {"demo__add", "demo__multiply", "demo__divide", "demo__current_time"}
    assert set(rows(await run(host, "find_tools", server="demo"))) == tools

    nothing = await run(host, "find_tools", words="ecoh")

    assert nothing["tools"] == []
    assert nothing["near"] == {"word": "echo", "tools": 1, "servers": ["small"]}


async def test_all_that_is_known_of_a_tool_is_shown(host: Host) -> None:
    await host.call("demo__add", {"a": 1, "b": 2})

    tool = await run(host, "tool_show", name="demo__add")

    assert tool["inputSchema"]["required"] == ["a", "b"]
    assert (tool["gate"], tool["rule"], tool["calls"]) == ("allow", "own_reading", 1)
    assert json.loads(tool["definition"])["name"] == "add"
    with pytest.raises(UnknownTool, match="demo__ad"):
        await run(host, "tool_show", name="demo__ad")


async def test_a_tool_is_switched_off_and_on_while_its_server_runs_on(host: Host) -> None:
    pid = host.servers.status("small").pid

    off = await run(host, "tool_set", name="small__echo", enabled=False)
    standing = rows(await run(host, "find_tools"))["small__echo"]["standing"]
    with pytest.raises(UnknownTool):
        await host.call("small__echo", {})
    on = await run(host, "tool_set", name="small__echo", enabled=True)

    assert (off["enabled"], standing, on["enabled"]) == (False, "off", True)
    assert host.servers.status("small").pid == pid
    assert (await host.call("small__echo", {"text": "x"}))["content"]


async def test_a_tool_of_our_own_cannot_be_switched_off(host: Host) -> None:
    host.open_workspace_tools()
    with pytest.raises(UsageError, match="built in"):
        await run(host, "tool_set", name="grep", enabled=False)


async def test_a_tool_is_pinned_and_let_go(host: Host, home: Path) -> None:
    pinned = await run(host, "tool_set", name="demo__add", always_on=True)
    kept = json.loads((home / "mcp.json").read_text())["toolcrib"]["retrieval"]["alwaysOn"]
    loose = await run(host, "tool_set", name="demo__add", always_on=False)

    assert (pinned["always_on"], kept, loose["always_on"]) == (True, ["demo__add"], False)


async def test_a_try_that_needs_no_word_runs_at_once(host: Host) -> None:
    tried = await run(host, "try_tool", tool="demo__add", arguments={"a": 1, "b": 2})

    assert (tried["outcome"], tried["result"]["structuredContent"]) == ("ok", {"result": 3})


@pytest.mark.parametrize("allow", [True, False])
async def test_a_try_asks_where_it_was_made_and_does_what_the_person_says(host: Host, allow: bool) -> None:
    events: asyncio.Queue[Any] = asyncio.Queue()
    params = {"tool": "small__echo", "arguments": {"text": "hello"}}
    trying = asyncio.create_task(perform(host, "try_tool", params, Invocation(emit=events.put)))
    async with asyncio.timeout(DEADLINE):
        question = (await events.get())["asking"]
    [running] = await run(host, "calls_running")
    shown = await run(host, "question_show", id=question["id"])
    waiting = await run(host, "waiting")
    action = "accept" if allow else "decline"
    await run(host, "chat_reply", id=question["id"], action=action, content={"message": "not now"})

    assert question["scopes"] == ["once", "always"]
    assert (running["state"], running["question"]) == ("asking", question["id"])
    assert shown == question
    assert [item["id"] for item in waiting["items"]] == [question["id"]]
    async with asyncio.timeout(DEADLINE):
        if allow:
            assert (await trying)["outcome"] == "ok"
        else:
            with pytest.raises(Denied, match="not now"):
                await trying


async def test_a_try_that_is_given_up_withdraws_its_question(host: Host) -> None:
    events: asyncio.Queue[Any] = asyncio.Queue()
    trying = asyncio.create_task(
        perform(host, "try_tool", {"tool": "small__echo"}, Invocation(emit=events.put))
    )
    async with asyncio.timeout(DEADLINE):
        await events.get()
    trying.cancel()
    await asyncio.wait([trying])

    assert (await run(host, "waiting"))["count"] == 0
    assert await run(host, "calls_running") == []
    assert (await run(host, "calls"))["calls"][0]["outcome"] == "cancelled"


async def test_a_page_cannot_call_as_somebody_whom_nobody_asks(host: Host) -> None:
    params = {"tool": "small__echo", "principal": "cli"}
    with pytest.raises(Denied):
        await perform(host, "call", params, Invocation(from_page=True))

    assert host.approvals.policy.mode_of(Principal(name="cli")) == "off"


async def test_a_tool_is_given_more_time_while_its_server_runs_on(host: Host, home: Path) -> None:
    pid = host.servers.status("small").pid

    longer = await run(host, "tool_set", name="small__echo", timeout=600)
    kept = json.loads((home / "mcp.json").read_text())["mcpServers"]["small"]["toolTimeouts"]
    usual = await run(host, "tool_set", name="small__echo", timeout=0)

    assert (longer["timeout"], kept, usual["timeout"]) == (600, {"echo": 600}, None)
    assert "toolTimeouts" not in (home / "mcp.json").read_text()
    assert host.servers.status("small").pid == pid


async def test_tools_are_listed_in_pages(host: Host) -> None:
    tools = [{"name": f"tool_{number:04}"} for number in range(1203)]
    host.toolset.registry.put("many", "inline", tools)

    names: list[str] = []
    sizes = []
    after = ""
    while True:
        page = await run(host, "tools", server="many", after=after, limit=500)
        names += [tool["name"] for tool in page]
        sizes.append(len(page))
        if len(page) < 500:
            break
        after = page[-1]["name"]

    assert sizes == [500, 500, 203]
    assert names == [f"many__tool_{number:04}" for number in range(1203)]


async def test_found_tools_come_in_pages_with_their_number(host: Host) -> None:
    host.toolset.registry.put("many", "inline", [{"name": f"tool_{number:04}"} for number in range(1203)])

    first = await run(host, "find_tools", words="tool_", server="many")
    last = await run(host, "find_tools", words="tool_", server="many", after="many__tool_0999")

    assert (first["found"], first["more"], len(first["tools"])) == (1203, True, 500)
    assert (last["found"], last["more"], len(last["tools"])) == (1203, False, 203)
    assert last["tools"][0]["name"] == "many__tool_1000"


async def test_a_page_has_a_limit(host: Host) -> None:
    with pytest.raises(UsageError):
        await run(host, "tools", limit=5000)
