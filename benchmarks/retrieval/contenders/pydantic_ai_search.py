"""Pydantic AI's tool search by keywords, the package itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.retrieval.contract import DEPTH, Search, prefixed
from toolcrib.schema.tools import Tool

NAME = "pydantic-ai tool search"


async def prepare(tools: Sequence[Tool]) -> Search:
    """Tools as its definitions."""
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets._tool_search import keywords_search_fn

    ours = {f"{prefixed(tool)}_{number}": tool.name for number, tool in enumerate(tools)}
    theirs = [
        ToolDefinition(name=name, description=tool.definition.description)
        for name, tool in zip(ours, tools, strict=True)
    ]
    nobody: Any = None

    async def search(question: str) -> list[str]:
        return [ours[name] for name in keywords_search_fn(nobody, [question], theirs)[:DEPTH]]

    return search
