"""Every bundled tool that changes something is in the table of docs/gateway.md: behind the gateway it asks or
runs. A new tool has to be added there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from toolcrib import plugins
from toolcrib.approvals.facts import Facts, code_argument, shell_argument
from toolcrib.approvals.rules import outgoing
from toolcrib.schema.tools import Principal, Tool, ToolCall, ToolDefinition
from toolcrib.serverkit.data_flow import data_flow

BUNDLED = "toolcrib.bundled"
NAMES = plugins.names(BUNDLED)
ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "filesystem": (".",),
    "canvas": ("--allow-changes",),
    "desktop": ("--profile", "full"),
}
"""With all their tools."""
DOCUMENT = Path(__file__).parents[2] / "docs" / "gateway.md"


def tools_of(name: str) -> list[Tool]:
    found = plugins.find(BUNDLED, name).create(ARGUMENTS.get(name, ())).tools.values()
    return [
        Tool(
            name=f"{name}__{each.definition['name']}",
            server=name,
            origin="mcp",
            definition=ToolDefinition(name=each.definition["name"], raw=each.definition),
            hash="",
            tokens=0,
        )
        for each in found
    ]


def documented(server: str) -> tuple[set[str], set[str]]:
    """The tools that ask and those that run, as the table says."""
    row = re.search(rf"^\| `{server}` \| (.*?) \| (.*?) \|$", DOCUMENT.read_text(), re.MULTILINE)
    assert row is not None, f"docs/gateway.md has no row for {server}"
    asks, runs = (set(re.findall(r"`(\w+)`", cell)) for cell in row.groups())
    return asks, runs


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("demo", "project")])
def test_the_documented_table_is_true_and_complete(name: str) -> None:
    asks, runs = documented(name)
    changing = [tool for tool in tools_of(name) if not tool.definition.read_only or outgoing.why_asked(tool)]
    own_rules = {
        tool.definition.name
        for tool in changing
        if shell_argument(tool, ours=True) or code_argument(tool, ours=True)
    }

    assert {tool.definition.name for tool in changing} == asks | runs
    assert {tool.definition.name for tool in changing if outgoing.why_asked(tool)} == asks - own_rules


@pytest.mark.parametrize("name", NAMES)
def test_whatever_reaches_anybody_or_deletes_asks(name: str) -> None:
    facts = Facts(ours=True, asks_before_sending=True)
    for tool in tools_of(name):
        flow, hints = data_flow(tool.definition.raw), tool.definition.annotations
        reaches = flow is not None and flow.reach == "anybody"
        destroys = hints.get("destructiveHint") is True and hints.get("openWorldHint") is True
        if tool.definition.read_only or not (reaches or destroys) or shell_argument(tool, ours=True):
            continue
        arguments = {"attendees": ["ada@example.org"]}
        call = ToolCall("1", tool, arguments, Principal(name="gateway"))
        result = outgoing.check(call, facts)
        assert code_argument(tool, ours=True) or (result is not None and result.effect == "ask"), tool.name


def test_an_event_without_guests_runs() -> None:
    [tool] = [tool for tool in tools_of("calendar") if tool.definition.name == "create_event"]
    call = ToolCall("1", tool, {"title": "Dentist"}, Principal(name="gateway"))
    assert outgoing.check(call, Facts(ours=True, asks_before_sending=True)) is None


def test_a_tool_that_declares_nothing_asks() -> None:
    definition = ToolDefinition(name="new", raw={"name": "new"})
    tool = Tool(name="mail__new", server="mail", origin="mcp", definition=definition, hash="", tokens=0)
    assert outgoing.why_asked(tool)
