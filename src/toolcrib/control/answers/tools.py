"""Tools: what they are, and which of them fit a question."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

Origin = Literal["native", "inline", "mcp"]


class ToolInfo(TypedDict):
    """A tool and where it comes from."""

    name: str
    server: str | None
    """None for native tools."""
    original_name: str
    origin: Origin
    description: str
    inputSchema: dict[str, Any]
    enabled: bool
    tokens: int
    """About what its definition costs in a prompt."""
    hash: str
    stale: bool
    annotations: dict[str, Any]
    first_seen: str | None
    last_changed: str | None
    changes: list[str]
    """The parts that last changed."""


class MatchReason(TypedDict):
    """What of a tool fits a question."""

    field: str
    terms: list[str]
    score: float


class ToolMatch(TypedDict):
    """A tool that fits a question."""

    name: str
    server: str | None
    description: str
    score: float
    kind: Literal["always on", "match", "just used"]
    reasons: list[MatchReason]


class ToolSearch(TypedDict):
    """The tools for a question, the best first."""

    query: str
    tools: list[ToolMatch]
    searched: int
    note: str


class Evaluation(TypedDict):
    """How well tools are found for labelled questions; shares are from 0 to 1."""

    n: int
    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    ndcg_at_10: float
    ms_per_query: float
