"""What a contender offers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from toolcrib.schema.tools import Tool

DEPTH = 10
Search = Callable[[str], Awaitable[Sequence[str]]]
"""The names of the best tools for a question, the best first, at most `DEPTH`."""


class Contender(Protocol):
    """A module of `contenders/`."""

    NAME: str

    async def prepare(self, tools: Sequence[Tool]) -> Search:
        """Read the tools; raises `ImportError` where the package is not installed."""


def prefixed(tool: Tool) -> str:
    """The name that most hosts show: the server's, then the tool's own."""
    return f"{tool.server}_{tool.definition.name}" if tool.server else tool.definition.name


def words_of(tool: Tool) -> str:
    """Name, description and parameters as one text."""
    properties = tool.definition.input_schema.get("properties")
    parts = [prefixed(tool), tool.definition.description]
    for name, told in (properties if isinstance(properties, dict) else {}).items():
        parts.append(name)
        if isinstance(told, dict) and isinstance(told.get("description"), str):
            parts.append(told["description"])
    return " ".join(parts)
