"""Tools of the shelf as the page lists them."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from toolcrib.control.answers.ranking import ShelfTool, Standing
from toolcrib.control.lookup import UP
from toolcrib.host import Host
from toolcrib.schema.approvals import Judgement
from toolcrib.schema.servers import ServerState
from toolcrib.schema.tools import Principal, Tool

MODEL = Principal(name="agent")
"""On whose behalf a model would call."""
PAGE = Principal(name="page")
"""On whose behalf the page calls."""

_AWAY = {
    ServerState.NEEDS_AUTH: "server needs sign-in",
    ServerState.NEEDS_TRUST: "server needs trust",
    ServerState.NEEDS_CONFIG: "server needs a value",
    ServerState.DISABLED: "server is off",
    ServerState.FAILED: "server failed",
    ServerState.BACKOFF: "server is down and tried again",
    ServerState.STARTING: "server is starting",
}


def shelf_tool(host: Host, tool: Tool) -> ShelfTool:
    """A tool in a list."""
    standing, why_not = standing_of(host, tool)
    title = tool.definition.raw.get("title")
    return {
        "name": tool.name,
        "server": tool.server,
        "tool": tool.definition.name,
        "title": title if isinstance(title, str) else "",
        "description": tool.definition.description,
        "tokens": tool.tokens,
        "standing": standing,
        "why_not": why_not,
        "always_on": is_always_on(host, tool),
        "reads": tool.definition.read_only,
        "gate": would_say(host, tool, MODEL).decision,
    }


def standing_of(host: Host, tool: Tool) -> tuple[Standing, str]:
    """Whether a tool can be called now, and why not."""
    if tool.held:
        return "held", "its definition changed, not offered"
    if tool.server is not None and tool.server in host.servers:
        state = host.servers.status(tool.server).state
        if state not in UP:
            told = _AWAY.get(state, "server is not up")
            return "away", told if tool.enabled else f"{told}, not offered"
    if not tool.enabled:
        return "off", "turned off, not offered"
    return "ready", ""


def is_always_on(host: Host, tool: Tool) -> bool:
    """Whether a model is offered it for every question."""
    patterns = host.settings.retrieval.always_on
    return any(fnmatchcase(tool.name, pattern) for pattern in patterns) or host.workspace_tools.owns(tool)


def would_say(host: Host, tool: Tool, principal: Principal) -> Judgement:
    """What the gate would say of a call without arguments."""
    return host.approvals.explain(tool, {}, principal)


def counted(host: Host, tools: Iterable[Tool]) -> tuple[int, int, int]:
    """How many tools can be called, how many are known, and of how many servers."""
    known = list(tools)
    ready = sum(standing_of(host, tool)[0] == "ready" for tool in known)
    return ready, len(known), len({tool.server for tool in known if tool.server is not None})
