"""What rules may know about a call besides the call itself: which tools run shell commands or code, whether a
result may be untrusted or private, and who would receive what a call sends, with the texts for it.

Collected by the gate, or read from the call. What is unknown counts as the worst case: results are untrusted
and private, calls can send data anywhere. A tool's annotations count if its author is known (our own tools,
Python functions of the host's program) or if the user allows the tool by a rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from toolcrib.approvals.known_addresses import KnownAddresses, host_of, is_web_address, values_in
from toolcrib.approvals.paths import Disk
from toolcrib.schema.tools import Tool, ToolCall, ToolDefinition, ToolResult
from toolcrib.serverkit.data_flow import data_flow

_SHELL_TOOLS = {("terminal", "run_command"): "command", (None, "terminal"): "command"}
_CODE_TOOLS = {
    ("terminal", "send_input"): "input_text",
    (None, "python"): "code",
    ("workflows", "Code"): "code",
}

Reach = Literal["here", "server", "service", "anybody"]
"""Whom a read-only call could send data to: no one, its own server, a service that the user has chosen (a
search engine), or anyone."""
_FILE_READERS = frozenset({(None, "read_file"), ("filesystem", "read_file")})
_MOST_NUMBER = 100_000
_NAMING = ("path", "file", "command", "url", "query")
_LONGEST_TARGET = 60
_LONGEST_HOST = 100


@dataclass(frozen=True, kw_only=True)
class Facts:
    ours: bool
    """The tool ships with Toolcrib, so its annotations can be trusted."""
    untrusted: tuple[str, ...] = ()
    """Tools called in this session whose results are untrusted."""
    private: tuple[str, ...] = ()
    """Tools called in this session whose results may be private."""
    private_from: frozenset[str] = frozenset()
    """The sources of those results, see `source_of`."""
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
        return flow.reach if flow.reach in ("service", "anybody") else "here"
    if ours:
        return "anybody" if open_world else "here"
    if open_world is False and call.tool.origin != "mcp":
        return "here"
    if open_world or names_address(call):
        return "anybody"
    return "here" if open_world is False else "server"


def what_is_read(call: ToolCall) -> str:
    """What a call reads, for a question: `notes.md (read_file)`."""
    for name in _NAMING:
        target = call.arguments.get(name)
        if isinstance(target, str) and target:
            return f"{' '.join(target.split())[:_LONGEST_TARGET]} ({call.tool.name})"
    return call.tool.name


def receiver(call: ToolCall, *, ours: bool) -> str:
    """Who would receive what a call sends, for a question."""
    if reach_of(call, ours=ours) == "service":
        return "the search engine would receive this query"
    addresses = sent_addresses(call) or []
    host = next((host_of(address) for address in addresses if ours or is_web_address(address)), "")
    return f"{host[:_LONGEST_HOST]} would receive this address" if host else "anybody could receive it"


def sent_addresses(call: ToolCall) -> list[str] | None:
    """The texts that a call sends, if they can be addresses only; None if it could carry anything else.

    Numbers, and values that the tool's schema lists, say little.
    """
    properties = call.tool.definition.input_schema.get("properties")
    declared = properties if isinstance(properties, Mapping) else {}
    found: list[str] = []
    for name, value in call.arguments.items():
        schema = declared.get(name)
        if not isinstance(schema, Mapping):
            return None
        if not _says_little(value, schema):
            found += value if isinstance(value, list) else [value]
    if not found or not all(isinstance(value, str) for value in found):
        return None
    return found


def _says_little(value: object, schema: Mapping[str, Any]) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return abs(value) < _MOST_NUMBER
    listed = schema.get("enum")
    return isinstance(listed, list) and value in listed


def found_texts(call: ToolCall, result: ToolResult, *, ours: bool) -> list[str]:
    """The texts of a result whose addresses were written by others, and not by this session's calls.

    They are in pages, in the hits of a search, and in files. The output of a command or of another server's
    tool may repeat or join what it was given, and so may an error. Links in mail and messages are not counted
    either: they often confirm something or identify the user.
    """
    tool = call.tool
    if result.get("isError") or not tool.definition.read_only or shell_argument(tool, ours=ours):
        return []
    structured = result.get("structuredContent")
    reach = reach_of(call, ours=ours)
    if reach == "service":
        hits = structured.get("results") if isinstance(structured, Mapping) else None
        return [str(hit.get("url")) for hit in hits or () if isinstance(hit, Mapping)]
    if not reads_file(call, ours=ours) and not (reach == "anybody" and _is_page(call, ours=ours)):
        return []
    return [*_texts(result.get("content")), *values_in(structured)]


def _is_page(call: ToolCall, *, ours: bool) -> bool:
    """Whether the call was given nothing but addresses, and so cannot have been told what to return."""
    addresses = sent_addresses(call)
    return addresses is not None and (ours or all(map(is_web_address, addresses)))


def reads_file(call: ToolCall, *, ours: bool) -> bool:
    return ours and (call.tool.server, call.tool.definition.name) in _FILE_READERS


def _texts(content: object) -> Iterator[str]:
    parts = content if isinstance(content, list) else []
    return (str(part["text"]) for part in parts if isinstance(part, Mapping) and "text" in part)


def _command(call: ToolCall, *, ours: bool) -> str | None:
    """The command of a call; None if it runs none, or if it is not known any more."""
    argument = shell_argument(call.tool, ours=ours)
    return None if argument is None or argument not in call.arguments else str(call.arguments[argument])


def names_address(call: ToolCall) -> bool:
    from toolcrib.approvals.addresses import names_address  # most sessions do not need it

    return names_address(call.tool, call.arguments)


def _stays_local(command: str) -> bool:
    from toolcrib.serverkit.shell import stays_local  # few sessions run commands

    return stays_local(command)


def _open_world(tool: Tool) -> bool | None:
    declared = tool.definition.annotations.get("openWorldHint")
    return declared if isinstance(declared, bool) else None
