"""Tools, and their ranking for a question: their fields, and the reasons why a tool cannot be called ("server
is not up", "held for review", "turned off")."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, Literal

from typing_extensions import TypedDict

from toolcrib.chats.call_question import CallQuestion
from toolcrib.chats.events import ServerAskingEvent
from toolcrib.host import Host
from toolcrib.operations.lookup import UP
from toolcrib.operations.results.call_result import CallProgress, CallResult
from toolcrib.schema.approvals import Effect, Judgement
from toolcrib.schema.json_values import moment
from toolcrib.schema.servers import ServerState
from toolcrib.schema.tools import Principal, Reason, Tool

Origin = Literal["native", "inline", "mcp"]


class ToolInfo(TypedDict):
    """A tool and its origin."""

    name: str
    server: str | None
    """None for native tools."""
    original_name: str
    origin: Origin
    description: str
    inputSchema: dict[str, Any]
    enabled: bool
    tokens: int
    """Estimated tokens of its definition in a prompt."""
    hash: str
    held: str
    """Why it is held, if it is; it cannot be called until the user approves it."""
    stale: bool
    silent: bool
    """Its server misses its health checks; it is not offered to models."""
    annotations: dict[str, Any]
    first_seen: str | None
    last_changed: str | None
    changes: list[str]
    """The parts that last changed."""


class ToolMatch(TypedDict):
    """A tool that matches a question."""

    name: str
    server: str | None
    description: str
    score: float
    kind: Literal["always on", "match", "just used"]
    reasons: list[Reason]


class ToolSearch(TypedDict):
    """The tools for a question, best first."""

    query: str
    tools: list[ToolMatch]
    searched: int
    note: str


class Evaluation(TypedDict):
    """Search quality on labelled questions; shares are from 0 to 1."""

    n: int
    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    ndcg_at_10: float
    ms_per_query: float


Standing = Literal["ready", "off", "held", "away"]
"""`away`: its server is not up or not answering."""


class ShelfTool(TypedDict):
    """A tool in a list, with its status."""

    name: str
    server: str | None
    tool: str
    """Its own name, without the server's prefix."""
    title: str
    description: str
    tokens: int
    standing: Standing
    why_not: str
    """Why it cannot be called; empty if it can."""
    always_on: bool
    reads: bool
    """Whether it declares itself read-only."""
    gate: Effect
    """The decision for a model's call without arguments; arguments may change it."""


class RankedTool(ShelfTool):
    """A tool with its rank for a question."""

    fit: float
    """The score, from 0 to 1: the sum of the next three."""
    by_words: float
    by_meaning: float
    by_name: float
    """Because the question names it."""
    words: list[str]
    """Words of the question that it contains."""
    used: int
    """Calls since the host started."""
    offered: bool


class ToolCounts(TypedDict):
    ready: int
    """Those that can be called now."""
    known: int
    servers: int
    """Servers that have any of them."""
    own: int
    """Toolcrib's own, of no server in the config file."""


class Ranking(ToolCounts):
    """The tools that a model would be offered for a question, and the next ones."""

    query: str
    tools: list[RankedTool]
    """Best first; the always-on tools come after the offered matches."""
    k: int
    always_on: int
    all_offered: bool
    """Whether there are few enough tools to offer all of them."""
    offer_all: int
    offered: int
    offered_tokens: int
    all_tokens: int
    ranked: int
    """The number of tools compared with the question."""
    ms: float
    note: str


class NearWord(TypedDict):
    """A similar word, and the tools and servers that contain it."""

    word: str
    tools: int
    servers: list[str]


class ToolsFound(ToolCounts):
    """Tools found by name."""

    tools: list[ShelfTool]
    """One page, by name."""
    found: int
    """The number of tools in all pages."""
    more: bool
    """Whether there is a next page."""
    near: NearWord | None
    """A similar word, if nothing was found."""


class ToolPart(TypedDict):
    """A part of a definition before and after a change, as JSON."""

    part: str
    before: str
    after: str


class ToolDetails(ShelfTool):
    """All details of a tool."""

    origin: Origin
    inputSchema: dict[str, Any]
    outputSchema: dict[str, Any] | None
    annotations: dict[str, Any]
    definition: str
    """The server's definition as JSON, unchanged."""
    hash: str
    first_seen: str | None
    last_changed: str | None
    changes: list[str]
    """The parts that last changed."""
    differences: list[ToolPart]
    """For a held tool: differences from the approved definition."""
    calls: int
    """The number of recorded calls."""
    reasons: list[str]
    """The reasons for `gate`."""
    rule: str | None
    can_switch: bool
    """Whether it can be turned on and off, as tools of servers in the config file can."""


class ToolSet(TypedDict):
    name: str
    enabled: bool
    always_on: bool
    timeout: float | None
    """Timeout of a call in seconds, if it differs from the server's."""


class TryAsking(TypedDict):
    """The call needs approval; answer with `chat_reply`."""

    asking: CallQuestion


class TryServerAsking(TypedDict):
    """The tool's server asks the user, or wants to ask the model; answer with `chat_reply`."""

    server_asking: ServerAskingEvent


class TryAnswered(TypedDict):
    """A question was answered."""

    answered: str
    allowed: bool


TryEvent = CallProgress | TryAsking | TryServerAsking | TryAnswered


class Tried(TypedDict):
    """The result of trying a tool."""

    tool: str
    outcome: Literal["ok", "tool_error"]
    ms: float
    result: CallResult


MODEL = Principal(name="agent")
"""The caller of a model's calls."""
PAGE = Principal(name="page")
"""The caller of the page's calls."""
_AWAY = {
    ServerState.NEEDS_AUTH: "server needs sign-in",
    ServerState.NEEDS_TRUST: "server needs trust",
    ServerState.NEEDS_CONFIG: "server needs a value",
    ServerState.DISABLED: "server is off",
    ServerState.FAILED: "server failed",
    ServerState.BACKOFF: "server is down, retrying",
    ServerState.STARTING: "server is starting",
}


def shelf_tool(host: Host, tool: Tool) -> ShelfTool:
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
        "gate": decision_for(host, tool, MODEL).decision,
    }


def standing_of(host: Host, tool: Tool) -> tuple[Standing, str]:
    """Whether a tool can be called now, and why not."""
    if tool.held:
        reason = tool.held_reason or "its definition changed"
        return "held", reason if tool.checking else f"held for review: {reason}"
    if tool.server is not None and tool.server in host.servers:
        state = host.servers.status(tool.server).state
        if state not in UP:
            reason = _AWAY.get(state, "server is not up")
            return "away", reason if tool.enabled else f"{reason}, not offered"
    if not tool.enabled:
        return "off", "turned off, not offered"
    if tool.silent:
        return "away", "server is not answering; models get this tool again when it does"
    return "ready", ""


def is_always_on(host: Host, tool: Tool) -> bool:
    """Whether models are offered the tool for every question."""
    patterns = host.settings.retrieval.always_on
    return any(fnmatchcase(tool.name, pattern) for pattern in patterns) or host.toolset.workspace.owns(tool)


def decision_for(host: Host, tool: Tool, principal: Principal) -> Judgement:
    """The decision for a call without arguments."""
    return host.approvals.policy.explain_tool(tool, principal)


def count_ready(host: Host) -> int:
    """The number of tools that can be called now, as every page shows it."""
    away = {status.name for status in host.servers.statuses() if status.state not in UP}
    return sum(not tool.held and tool.server not in away for tool in host.answering_tools())


def counted(host: Host, tools: Iterable[Tool]) -> ToolCounts:
    """How many tools are known, how many of them are ready, and whose they are."""
    origins = [(tool.origin, tool.server) for tool in tools]
    return {
        "ready": count_ready(host),
        "known": len(origins),
        "servers": len({server for origin, server in origins if origin == "mcp"}),
        "own": sum(origin != "mcp" for origin, _ in origins),
    }


def tool_json(tool: Tool) -> ToolInfo:
    definition = tool.definition
    return {
        "name": tool.name,
        "server": tool.server,
        "original_name": definition.name,
        "origin": tool.origin,
        "description": definition.description,
        "inputSchema": dict(definition.input_schema),
        "enabled": tool.enabled,
        "tokens": tool.tokens,
        "hash": tool.hash,
        "held": tool.held_reason if tool.held else "",
        "stale": tool.stale,
        "silent": tool.silent,
        "annotations": dict(definition.annotations),
        "first_seen": None if tool.history is None else moment(tool.history.first_seen),
        "last_changed": None if tool.history is None else moment(tool.history.last_changed),
        "changes": [] if tool.history is None else list(tool.history.changes),
    }
