"""What rules may know about a call besides the call itself; collected by the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolcrib.approvals.known_addresses import KnownAddresses
from toolcrib.approvals.paths import Disk
from toolcrib.schema.tools import Tool, ToolDefinition

_SHELL_TOOLS = {("terminal", "run_command"): "command", (None, "terminal"): "command"}
_CODE_TOOLS = {
    ("terminal", "send_input"): "input_text",
    (None, "python"): "code",
    ("workflows", "Code"): "code",
}


@dataclass(frozen=True, kw_only=True)
class Facts:
    ours: bool
    """The tool ships with Toolcrib, so its annotations can be trusted."""
    untrusted: tuple[str, ...] = ()
    """Tools called in this session whose results are untrusted."""
    private: tuple[str, ...] = ()
    """Tools called in this session whose results may be private."""
    private_from: frozenset[str] = frozenset()
    """The sources of those results, see `reach.source_of`."""
    read: tuple[str, ...] = ()
    """What was read of it last, such as `notes.md (read_file)`."""
    addresses: KnownAddresses | None = None
    """The addresses that the session knows."""
    lifted: bool = False
    """The user allows untrusted content to cause this call."""
    vouched: bool = False
    """A user's rule allows this tool with its current definition."""
    protected: tuple[Path, ...] = field(default=())
    """Toolcrib's own folders."""
    project: str = ""
    """The session's working folder; empty if unknown."""
    disk: Disk | None = None
    """Resolves links in paths."""
    asks_before_sending: bool = False
    """The caller is a client behind the gateway, and what reaches other people needs approval."""


@dataclass(frozen=True, kw_only=True)
class PastCall:
    """An earlier call of a session."""

    name: str
    tool: Tool | None
    """The tool as it is now; None if it is gone."""
    arguments: Mapping[str, Any]
    answer: str | None = None
    """The text of its result; None if it failed or is not known."""


WORKFLOW_CODE = Tool(
    name="workflows__Code",
    server="workflows",
    origin="native",
    definition=ToolDefinition(
        name="Code", raw={"name": "Code", "annotations": {"openWorldHint": False, "readOnlyHint": False}}
    ),
    hash="workflow-code-1",
    tokens=0,
)
"""The code of a workflow as a tool: it is no tool that can be called, but is asked about like one."""


def shell_argument(tool: Tool, *, ours: bool) -> str | None:
    """The argument with the shell command, if this is one of our tools that run one."""
    return _SHELL_TOOLS.get((tool.server, tool.definition.name)) if ours else None


def shell_argument_named(server: str, tool: str) -> str | None:
    """The same for a tool that is only named, as in a rule."""
    return _SHELL_TOOLS.get((server or None, tool))


def code_argument(tool: Tool, *, ours: bool) -> str | None:
    """The argument with code or keystrokes, if this is one of our tools that take them."""
    return _CODE_TOOLS.get((tool.server, tool.definition.name)) if ours else None
