"""What a rule may know of a call besides the call itself; pure data, gathered by the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolcrib.approvals.places import Disk
from toolcrib.schema.tools import Tool

_SHELL_TOOLS = {("terminal", "run_command"): "command", (None, "terminal"): "command"}
_CODE_TOOLS = {("terminal", "send_input"): "input_text", (None, "python"): "code"}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The circumstances of one call."""

    ours: bool
    """The tool came with Toolcrib: what it declares of itself is true."""
    untrusted: tuple[str, ...] = ()
    """Tools of this session whose results came from outside."""
    private: tuple[str, ...] = ()
    """Tools of this session whose results may be private."""
    private_from: frozenset[str] = frozenset()
    """Where those results came from, as `reach.source_of` names it."""
    lifted: bool = False
    """The person lets untrusted content cause this call."""
    vouched: bool = False
    """A person's rule allows just this tool as it is now."""
    protected: tuple[Path, ...] = field(default=())
    """Folders of Toolcrib itself."""
    project: str = ""
    """The folder that the session works in; empty when it is not known."""
    disk: Disk | None = None
    """Where links in paths are looked up."""


@dataclass(frozen=True, kw_only=True)
class PastCall:
    """A call that a session made some time ago."""

    name: str
    tool: Tool | None
    """As it is now; None when it is gone."""
    arguments: Mapping[str, Any]


def shell_argument(tool: Tool, *, ours: bool) -> str | None:
    """The argument that is a shell command, where the tool is one of ours that runs one."""
    return _SHELL_TOOLS.get((tool.server, tool.definition.name)) if ours else None


def shell_argument_named(server: str, tool: str) -> str | None:
    """The same for a tool that is only named, as in a rule."""
    return _SHELL_TOOLS.get((server or None, tool))


def code_argument(tool: Tool, *, ours: bool) -> str | None:
    """The argument that is run as it is, where the tool is one of ours that does so."""
    return _CODE_TOOLS.get((tool.server, tool.definition.name)) if ours else None
