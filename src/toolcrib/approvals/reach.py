"""What the result of a call may contain, and whom a call could send data to, for the rule on untrusted
content.

What is unknown counts as the worst case: results are untrusted and private, calls can send data anywhere. A
tool's annotations count if its author is known (our own tools, Python functions of the host's program) or if
the user allows the tool by a rule.
"""

from __future__ import annotations

from typing import Literal

from toolcrib.approvals.facts import code_argument, shell_argument
from toolcrib.schema.tools import Tool, ToolCall
from toolcrib.serverkit.data_flow import data_flow

Reach = Literal["here", "server", "anybody"]
"""Whom a read-only call could send data to: no one, its own server, or anyone."""


def brings_outside(call: ToolCall, *, ours: bool) -> bool:
    """Whether the result may be untrusted; results of other servers always are."""
    command = _command(call, ours=ours)
    if command is not None:
        return not _stays_local(command)
    if ours:
        flow = data_flow(call.tool.definition.raw)
        return flow.outside if flow is not None else _open_world(call.tool) is True
    return call.tool.origin == "mcp" or _open_world(call.tool) is not False


def brings_private(call: ToolCall, *, ours: bool) -> bool:
    """Whether the result may be private."""
    tool = call.tool
    if not ours and tool.origin == "mcp":
        return True
    if shell_argument(tool, ours=ours) or code_argument(tool, ours=ours):
        return True
    flow = data_flow(tool.definition.raw) if ours else None
    if flow is not None:
        return flow.private
    if ours and not tool.definition.read_only:
        return False
    return _open_world(tool) is not True


def source_of(tool: Tool, *, ours: bool) -> str:
    """Who already knows the result: a server, the host's program, or this machine."""
    if ours:
        return ":machine"
    return tool.server or ":program"


def reach_of(call: ToolCall, *, ours: bool) -> Reach:
    """Whom a call could send data to, if its annotations are true."""
    command = _command(call, ours=ours)
    if command is not None:
        return "here" if _stays_local(command) else "anybody"
    open_world = _open_world(call.tool)
    flow = data_flow(call.tool.definition.raw) if ours else None
    if flow is not None and flow.reach is not None:
        return "anybody" if flow.reach == "anybody" else "here"
    if ours:
        return "anybody" if open_world else "here"
    if open_world is False and call.tool.origin != "mcp":
        return "here"
    if open_world or _names_address(call):
        return "anybody"
    return "here" if open_world is False else "server"


def _command(call: ToolCall, *, ours: bool) -> str | None:
    argument = shell_argument(call.tool, ours=ours)
    return None if argument is None else str(call.arguments.get(argument, ""))


def _names_address(call: ToolCall) -> bool:
    from toolcrib.approvals.addresses import names_address  # most sessions do not need it

    return names_address(call.tool, call.arguments)


def _stays_local(command: str) -> bool:
    from toolcrib.serverkit.shell import stays_local  # few sessions run commands

    return stays_local(command)


def _open_world(tool: Tool) -> bool | None:
    declared = tool.definition.annotations.get("openWorldHint")
    return declared if isinstance(declared, bool) else None
