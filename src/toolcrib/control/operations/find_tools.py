"""`find_tools`: every tool that is known, or those whose name has these words; else what may be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from pydantic import Field

from toolcrib.control.answers.ranking import NearWord, ToolsFound
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.control.shelf_shapes import counted, shelf_tool
from toolcrib.host import Host
from toolcrib.schema.tools import Tool

FOR_PAGES = True

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


class Params(OperationParams):
    """Words, each of which stands somewhere in the name or the server's; all tools without any."""

    words: str = Field(default="", max_length=400)
    server: str | None = None


def needs(params: Params, configured: Configured) -> Needs:
    """All servers; those with a known tool list need not run to be found."""
    return Needs(lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> ToolsFound:
    """`{tools, near, ready, known, servers}`, in order of name."""
    tools = sorted(host.tool_catalog.tools(), key=lambda tool: tool.name)
    words = params.words.lower().split()
    found = [tool for tool in tools if _fits(tool, words) and params.server in (None, tool.server)]
    ready, known, servers = counted(host, tools)
    return {
        "tools": [shelf_tool(host, tool) for tool in found],
        "near": None if found else _near(words, tools),
        "ready": ready,
        "known": known,
        "servers": servers,
    }


def _fits(tool: Tool, words: Sequence[str]) -> bool:
    text = f"{tool.name} {tool.server or ''} {tool.definition.name}".lower()
    return all(word in text for word in words)


def _near(words: Sequence[str], tools: Sequence[Tool]) -> NearWord | None:
    """The nearest word of all names to the first of these that no name has."""
    lost = next((word for word in words if not any(_fits(tool, [word]) for tool in tools)), None)
    if lost is None:
        return None
    vocabulary = {part for tool in tools for part in _parts(tool)}
    near = get_close_matches(lost, vocabulary, n=1, cutoff=0.6)
    if not near:
        return None
    having = [tool for tool in tools if near[0] in _parts(tool)]
    servers = sorted({tool.server for tool in having if tool.server is not None})
    return {"word": near[0], "tools": len(having), "servers": servers}


def _parts(tool: Tool) -> Iterable[str]:
    return [part.lower() for part in _PARTS.findall(f"{tool.definition.name} {tool.server or ''}")]
