"""What the result of a call may hold, and whom a call could tell something, for the rule on outside content.

What is not known is taken for the worst: a result was written by a stranger and holds what is private, and a
call could reach anybody. What a tool declares of itself counts where its author is known (our own tools, and
Python functions of the program that runs the host) or where a person vouches for it.
"""

from __future__ import annotations

from typing import Literal

from toolcrib.approvals.facts import code_argument, shell_argument
from toolcrib.schema.tools import Tool, ToolCall

Reach = Literal["here", "server", "anybody"]
"""Whom a call that only reads could tell something: nobody else, only its own server, or anybody."""


def brings_outside(call: ToolCall, *, ours: bool) -> bool:
    """Whether what the call returns may have been written by a stranger.

    What a server of others returns always may, whatever it declares of itself.
    """
    command = _command(call, ours=ours)
    if command is not None:
        return not _stays_local(command)
    if ours:
        return _open_world(call.tool) is True
    return call.tool.origin == "mcp" or _open_world(call.tool) is not False


def brings_private(call: ToolCall, *, ours: bool) -> bool:
    """Whether what the call returns may be something that is not for everybody."""
    tool = call.tool
    if not ours and tool.origin == "mcp":
        return True
    if shell_argument(tool, ours=ours) or code_argument(tool, ours=ours):
        return True
    if ours and not tool.definition.read_only:
        return False
    return _open_world(tool) is not True


def source_of(tool: Tool, *, ours: bool) -> str:
    """Who has already seen what the tool returns: a server, the program that runs the host, this machine."""
    if ours:
        return ":machine"
    return tool.server or ":program"


def reach_of(call: ToolCall, *, ours: bool) -> Reach:
    """Whom a call could tell something, if it does what it declares."""
    command = _command(call, ours=ours)
    if command is not None:
        return "here" if _stays_local(command) else "anybody"
    open_world = _open_world(call.tool)
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
    from toolcrib.approvals.addresses import names_address  # most sessions never get here

    return names_address(call.tool, call.arguments)


def _stays_local(command: str) -> bool:
    from toolcrib.serverkit.shell import stays_local  # only few sessions run commands

    return stays_local(command)


def _open_world(tool: Tool) -> bool | None:
    declared = tool.definition.annotations.get("openWorldHint")
    return declared if isinstance(declared, bool) else None
