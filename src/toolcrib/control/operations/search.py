"""`search`: the tools that a question needs, and why."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from fnmatch import fnmatchcase

from pydantic import Field

from toolcrib.control.answers.tools import ToolMatch, ToolSearch
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.host import Host
from toolcrib.retrieval import Pick
from toolcrib.schema.tools import Tool

FOR_PAGES = True


class Params(OperationParams):
    """What to look for, how many to return, and how long to wait for servers that start."""

    query: str = ""
    k: int | None = Field(default=None, ge=1, le=1000)
    """As the settings say when it is left out."""
    wait: float = Field(default=20.0, ge=0, le=3600)


def needs(params: Params, configured: Configured) -> Needs:
    """All servers; those with a known tool list need not run to be found."""
    return Needs(lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> ToolSearch:
    """An object with the tools, the best first, each with its reasons."""
    finder = host.finder
    try:
        async with asyncio.timeout(params.wait):
            await host.servers.settle()
            await finder.follow(host.tools)
            await finder.settle()
    except TimeoutError:
        await finder.follow(host.tools)
    retrieval = host.settings.retrieval
    always_on = [tool.name for tool in host.tools() if _fits(tool, retrieval.always_on)]
    selection = await finder.select(params.query, params.k or retrieval.k, always_on=always_on)
    return {
        "query": params.query,
        "tools": [_pick_json(pick) for pick in selection],
        "searched": len(finder),
        "note": selection.note,
    }


def _fits(tool: Tool, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(tool.name, pattern) for pattern in patterns)


def _pick_json(pick: Pick) -> ToolMatch:
    return {
        "name": pick.tool.name,
        "server": pick.tool.server,
        "description": pick.tool.definition.description,
        "score": pick.score,
        "kind": pick.kind,
        "reasons": [
            {"field": reason.field, "terms": list(reason.terms), "score": reason.score}
            for reason in pick.reasons
        ],
    }
