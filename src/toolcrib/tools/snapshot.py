"""The registry's content at one moment: immutable and sorted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from toolcrib.errors import ServerNotReady, ToolChanged, ToolcribError, UnknownTool
from toolcrib.schema.tools import Tool
from toolcrib.suggestions import did_you_mean
from toolcrib.tools.names import BORDER, PREFIX, other_spelling

_MAX_COMPARED = 2000
"""Names that a misspelt one is compared with, at some ten microseconds each."""


@dataclass(frozen=True)
class Snapshot:
    """All tools by public name: native ones first, then by server and name."""

    version: int = 0
    tools: Mapping[str, Tool] = field(default_factory=lambda: MappingProxyType({}))
    by_server: Mapping[str | None, tuple[Tool, ...]] = field(default_factory=lambda: MappingProxyType({}))
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Names without prefix, if the prefixed name had to be cut differently."""

    @cached_property
    def enabled(self) -> tuple[Tool, ...]:
        return tuple(tool for tool in self.tools.values() if tool.enabled)

    @cached_property
    def unchecked(self) -> str:
        """Which servers have tools that cannot be found yet, because they are still being checked."""
        sentences = []
        for server, tools in self.by_server.items():
            if checking := sum(tool.checking for tool in tools):
                sentences.append(f"{checking:,} of {len(tools):,} tools of {server} are still being checked.")
        return " ".join(sentences)

    def get(self, name: str) -> Tool | None:
        """The tool of this public name, with or without the `mcp__` prefix, even if disabled."""
        tool = self.tools.get(name)
        if tool is not None:
            return tool
        return self.tools.get(other_spelling(name)) or self.tools.get(self.aliases.get(name, ""))

    def find(self, server: str | None, original_name: str) -> Tool | None:
        """The tool with this original name on a server."""
        for tool in self.by_server.get(server, ()):
            if tool.definition.name == original_name:
                return tool
        return None


def explain_unknown(name: str, snapshot: Snapshot, absent: Mapping[str, Collection[str]]) -> ToolcribError:
    """Why a name leads to no callable tool; `absent` has the servers without tools and their last tool
    names."""
    tool = snapshot.get(name)
    if tool is not None and tool.held:
        return explain_held(tool)
    if tool is not None:
        return UnknownTool(f"The tool {tool.name} is disabled.", hint=_how_to_enable(tool))
    server = _absent_owner(name, absent)
    if server is not None:
        return ServerNotReady(
            f"The tool {name} belongs to the server {server}, which has no tools at the moment.",
            hint=f"Check its state with: toolcrib servers; its log with: toolcrib logs {server}",
        )
    shown = name if len(name) <= 200 else f"{name[:200]}…"
    return UnknownTool(f"There is no tool called {shown}.", hint=_nearest(name, snapshot))


def changed_meanwhile(tool: Tool) -> ToolChanged:
    review = f"Review it with: toolcrib trust {tool.server}" if tool.pinned else "Review it."
    return ToolChanged(
        f"The definition of {tool.name} changed while the call waited, so the call was not made.",
        hint=f"{review} Then call it again.",
    )


def explain_held(tool: Tool) -> ToolChanged:
    if tool.checking:
        return ToolChanged(f"The tool {tool.name} is held: {tool.held_reason}.", hint="Try again shortly.")
    reason = tool.held_reason or "its definition changed since it was approved"
    return ToolChanged(
        f"The tool {tool.name} is held for review: {reason}.",
        hint=f"Show and release it with: toolcrib trust {tool.server}",
    )


def _how_to_enable(tool: Tool) -> str:
    if tool.server is None:
        return "Enable it in the settings."
    return f"Change `tools` (include, exclude) in the entry of {tool.server} to enable it."


def _absent_owner(name: str, absent: Mapping[str, Collection[str]]) -> str | None:
    for server, names in absent.items():
        if name in names or other_spelling(name) in names:
            return server
        if not names and name.removeprefix(PREFIX).startswith(server + BORDER):
            return server
    return None


def _nearest(name: str, snapshot: Snapshot) -> str:
    same = [tool.name for tool in snapshot.enabled if tool.definition.name == name]
    if same:
        return f"Did you mean {' or '.join(same[:3])}?"
    if not snapshot.enabled:
        return "No tools are available at the moment; see: toolcrib servers"
    names = [tool.name for tool in snapshot.enabled[:_MAX_COMPARED]]
    return did_you_mean(name.removeprefix(PREFIX)[:100], names, otherwise="See all with: toolcrib tools")
