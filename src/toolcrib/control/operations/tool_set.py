"""`tool_set`: switch a tool on or off, have it always offered, or give it more time; in the file, at once."""

from __future__ import annotations

import asyncio
import glob

from pydantic import Field

from toolcrib.config.entries import LONGEST_TIMEOUT
from toolcrib.config.settings_file import change_settings
from toolcrib.config.tool_switches import set_tool_timeout, switch_tool
from toolcrib.control.answers.ranking import ToolSet
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.control.operations.tool_show import known_tool
from toolcrib.control.shelf_shapes import is_always_on
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.schema.tools import Tool

FOR_PAGES = True


class Params(OperationParams):
    """The tool, and what is to change; what is left out stays as it is."""

    name: str
    enabled: bool | None = None
    always_on: bool | None = None
    timeout: float | None = Field(default=None, ge=0, le=LONGEST_TIMEOUT)
    """Seconds that a call of it may take; 0 for those of its server."""


def needs(params: Params, configured: Configured) -> Needs:
    """The servers, to know the tool; those with a known tool list need not run."""
    return Needs(lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> ToolSet:
    """The tool as it is offered now; raises `UnknownTool`, and `UsageError` for what cannot be changed."""
    tool = known_tool(host, params.name)
    if params.enabled is not None:
        await _switch(host, tool, params.enabled)
    if params.always_on is not None:
        await asyncio.to_thread(change_settings, host.config_store, _always_on(host, tool, params.always_on))
    if params.timeout is not None:
        _check_own(host, tool)
        store, own = host.config_store, tool.definition.name
        await asyncio.to_thread(set_tool_timeout, store, str(tool.server), own, params.timeout or None)
    await host.reload()
    tool = known_tool(host, params.name)
    entry = host.config.servers.get(tool.server or "")
    return {
        "name": tool.name,
        "enabled": tool.enabled,
        "always_on": is_always_on(host, tool),
        "timeout": None if entry is None else entry.tool_timeouts.get(tool.definition.name),
    }


async def _switch(host: Host, tool: Tool, on: bool) -> None:
    _check_own(host, tool)
    if tool.held and on:
        raise UsageError(
            f"The definition of {tool.name} changed and waits for your word.",
            hint=f"See what changed with: toolcrib trust {tool.server}",
        )
    await asyncio.to_thread(switch_tool, host.config_store, str(tool.server), tool.definition.name, on)


def _check_own(host: Host, tool: Tool) -> None:
    if tool.server is None or tool.server not in host.config.servers:
        raise UsageError(f"{tool.name} belongs to Toolcrib and is always there.")


def _always_on(host: Host, tool: Tool, on: bool) -> dict[str, object]:
    exact = glob.escape(tool.name)
    others = [one for one in host.settings.retrieval.always_on if one not in (exact, tool.name)]
    return {"retrieval.alwaysOn": [*others, exact] if on else others}
