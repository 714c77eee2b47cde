"""`rank`: where every tool stands for a question, why, and which of them a model would be offered."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import replace

from pydantic import Field

from toolcrib.control.answers.ranking import RankedTool, Ranking
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.control.shelf_shapes import counted, is_always_on, shelf_tool
from toolcrib.host import Host
from toolcrib.retrieval import Pick
from toolcrib.schema.tools import Tool

FOR_PAGES = True

PATIENCE = 1.0
"""Seconds to wait for vectors; without them the ranking is by words alone, and its note says so."""
SPAN = 12.0
"""How many times e a tool may be less likely than a sure one before its fit is nothing."""


class Params(OperationParams):
    """The question, and how many tools to show."""

    query: str = Field(default="", max_length=4000)
    limit: int = Field(default=60, ge=1, le=500)


def needs(params: Params, configured: Configured) -> Needs:
    """All servers; those with a known tool list need not run to be found."""
    return Needs(lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> Ranking:
    """`{query, tools, k, …}`."""
    tool_catalog = host.tool_catalog
    await tool_catalog.follow()
    try:
        async with asyncio.timeout(PATIENCE):
            await tool_catalog.finder.settle()
    except TimeoutError:
        pass
    await tool_catalog.warm(params.query)
    tools = tool_catalog.tools()
    began = time.perf_counter()
    found = await tool_catalog.finder.select(params.query, len(tools))
    ms = (time.perf_counter() - began) * 1000
    known = {tool.name: tool for tool in tools}
    picks = [replace(pick, tool=known[pick.tool.name]) for pick in found if pick.tool.name in known]
    return _ranking(host, params, tools, _Found(picks, found.note, ms))


class _Found:
    def __init__(self, picks: list[Pick], note: str, ms: float) -> None:
        self.picks, self.note, self.ms = picks, note, ms


def _ranking(host: Host, params: Params, tools: list[Tool], found: _Found) -> Ranking:
    callable_ = [tool for tool in tools if tool.enabled]
    all_offered = len(callable_) <= host.settings.agent.offer_all
    always = [tool for tool in callable_ if is_always_on(host, tool)]
    names = {tool.name for tool in always}
    matches = [pick for pick in found.picks if pick.tool.name not in names]
    k = host.settings.retrieval.k
    best = {pick.tool.name for pick in [one for one in matches if one.tool.enabled][:k]}
    offered = {tool.name for tool in callable_} if all_offered else best | names
    top = max((pick.score for pick in matches), default=0.0)
    rows = [_ranked(host, pick, top, found.note, offered) for pick in matches]
    last = max((place for place, row in enumerate(rows) if row["name"] in best), default=-1) + 1
    rows[last:last] = [_always(host, tool) for tool in always]
    ready, known, servers = counted(host, tools)
    return {
        "query": params.query,
        "tools": rows[: max(params.limit, last + len(always))],
        "k": k,
        "always_on": len(always),
        "all_offered": all_offered,
        "offer_all": host.settings.agent.offer_all,
        "offered": len(offered),
        "offered_tokens": sum(tool.tokens for tool in tools if tool.name in offered),
        "all_tokens": sum(tool.tokens for tool in callable_),
        "ready": ready,
        "known": known,
        "servers": servers,
        "ranked": len(matches),
        "ms": round(found.ms, 1),
        "note": found.note,
    }


def _ranked(host: Host, pick: Pick, top: float, note: str, offered: set[str]) -> RankedTool:
    fit = _fit(pick, top, by_words=bool(note))
    named = any(reason.field == "exact name" for reason in pick.reasons)
    meaning = sum(reason.score for reason in pick.reasons if reason.field == "meaning")
    spoken = sum(reason.score for reason in pick.reasons if reason.field not in ("meaning", "exact name"))
    parts = [100.0 if named else 0.0, meaning, spoken]
    if not sum(parts):
        parts = [0.0, 0.0, 1.0] if note else [0.0, 1.0, 0.0]
    name, meant, said = (round(fit * part / sum(parts), 3) for part in parts)
    words = dict.fromkeys(term for reason in pick.reasons for term in reason.terms)
    return {
        **shelf_tool(host, pick.tool),
        "fit": round(fit, 3),
        "by_words": said,
        "by_meaning": meant,
        "by_name": name,
        "words": list(words),
        "used": host.caller.counts.total(pick.tool.name),
        "offered": pick.tool.name in offered,
    }


def _fit(pick: Pick, top: float, *, by_words: bool) -> float:
    """From 0 to 1: by words as a share of the best; else by how likely it is meant, in powers of e."""
    if top <= 0 or pick.score <= 0:
        return 0.0
    if by_words:
        return min(1.0, pick.score / top)
    return min(1.0, max(0.0, 1 + math.log(pick.score / 100) / SPAN))


def _always(host: Host, tool: Tool) -> RankedTool:
    return {
        **shelf_tool(host, tool),
        "always_on": True,
        "fit": 0.0,
        "by_words": 0.0,
        "by_meaning": 0.0,
        "by_name": 0.0,
        "words": [],
        "used": host.caller.counts.total(tool.name),
        "offered": True,
    }
