"""The result of one call, and the progress that its tool reports."""

from __future__ import annotations

from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from toolcrib.schema.tools import ToolResult

_OPEN: Any = {"extra": "allow"}


class CallProgress(TypedDict):
    """Progress reported by a tool."""

    progress: float
    total: float | None
    message: str | None


class CallResult(TypedDict):
    """The server's MCP result, unchanged, with unknown keys."""

    __pydantic_config__ = _OPEN  # type: ignore[misc]

    content: list[dict[str, Any]]
    isError: bool
    structuredContent: NotRequired[Any]


def result_json(result: ToolResult) -> CallResult:
    """The server's MCP result, with defaults for missing optional keys."""
    return cast("CallResult", {"content": [], "isError": False, **result})
