"""Searching tools for a question, and measuring the search: the fit that is shown for each tool (0 to 1), how
long vectors are waited for, and refused test questions."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field

from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.operations.lookup import servers_settled
from toolcrib.operations.operation import LAZY, NOTHING, Configured, Needs, Seconds, operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.results.tools import (
    Evaluation,
    RankedTool,
    Ranking,
    ToolMatch,
    ToolSearch,
    counted,
    is_always_on,
    shelf_tool,
)
from toolcrib.retrieval import Finder, Pick
from toolcrib.retrieval.evaluation import DEPTH, Labelled, RankingScore, read_questions, read_tools
from toolcrib.schema.tools import Tool


@operation(page=True, needs=LAZY)
async def search(
    host: Host,
    *,
    query: str = "",
    k: Annotated[int | None, Field(ge=1, le=1000)] = None,
    wait: Seconds = 20.0,
) -> ToolSearch:
    """Find the tools for a question, best first, with reasons.

    Ranked by words alone, with a note, while the vectors of many tools are still being computed.

    `k`: that of the settings if missing.
    `wait`: seconds to wait for starting servers, and for the vectors of a few tools.
    """
    finder = host.toolset.finder
    await servers_settled(host, wait)
    await finder.follow(host.answering_tools)
    await finder.settle_soon(wait)
    retrieval = host.settings.retrieval
    always_on = [tool.name for tool in host.answering_tools() if _fits(tool, retrieval.always_on)]
    selection = await finder.select(query, k or retrieval.k, always_on=always_on)
    return {
        "query": query,
        "tools": [_pick_json(pick) for pick in selection],
        "searched": len(finder),
        "note": _note(host, selection.note),
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
        "reasons": list(pick.reasons),
    }


VECTOR_TIMEOUT = 1.0
"""Seconds to wait for vectors; without them the ranking uses words alone, and says so in its note."""
AT_ONCE = 5000
"""Tools looked at before other tasks get their turn."""
SPAN = 12.0
"""The fit reaches 0 at a score of 100 / e ** SPAN."""


class RankParams(OperationParams):
    """The question, and how many tools to show."""

    query: str = Field(default="", max_length=4000)
    limit: int = Field(default=60, ge=1, le=500)


@operation(page=True, needs=LAZY)
async def rank(host: Host, params: RankParams) -> Ranking:
    """Rank every tool for a question, and show which the model would be offered."""
    tool_catalog = host.toolset.catalog
    await tool_catalog.follow()
    await tool_catalog.finder.settle_soon(VECTOR_TIMEOUT)
    await tool_catalog.warm(params.query)
    tools = tool_catalog.tools()
    began = time.perf_counter()
    always = await _always_on(host, tools)
    found = await _found(host, tool_catalog.finder, params, tools, len(always))
    found.ms = (time.perf_counter() - began) * 1000
    return _ranking(host, params, tools, always, found)


async def _always_on(host: Host, tools: list[Tool]) -> list[Tool]:
    found: list[Tool] = []
    for start in range(0, len(tools), AT_ONCE):
        portion = tools[start : start + AT_ONCE]
        found += [tool for tool in portion if tool.enabled and is_always_on(host, tool)]
        await asyncio.sleep(0)
    return found


async def _found(host: Host, finder: Finder, params: RankParams, tools: list[Tool], always_on: int) -> _Found:
    """As many matches as are shown, and enough for those that a model would be offered."""
    known = {tool.name: tool for tool in tools}
    k = host.settings.retrieval.k
    most = params.limit + k + always_on
    while True:
        found = await finder.select(params.query, most)
        picks = [replace(pick, tool=known[pick.tool.name]) for pick in found if pick.tool.name in known]
        callable_ = sum(pick.tool.enabled for pick in picks)
        if len(found.picks) < most or callable_ >= k + always_on:
            return _Found(picks, found.note)
        most *= 8  # most of the best are disabled


class _Found:
    ms = 0.0

    def __init__(self, picks: list[Pick], note: str) -> None:
        self.picks, self.note = picks, note


def _ranking(host: Host, params: RankParams, tools: list[Tool], always: list[Tool], found: _Found) -> Ranking:
    callable_ = [tool for tool in tools if tool.enabled]
    all_offered = len(callable_) <= host.settings.agent.offer_all
    names = {tool.name for tool in always}
    matches = [pick for pick in found.picks if pick.tool.name not in names]
    k = host.settings.retrieval.k
    best = {pick.tool.name for pick in [match for match in matches if match.tool.enabled][:k]}
    offered = {tool.name for tool in callable_} if all_offered else best | names
    top = max((pick.score for pick in matches), default=0.0)
    rows = [_ranked(host, pick, top, found.note, offered) for pick in matches]
    last = max((place for place, row in enumerate(rows) if row["name"] in best), default=-1) + 1
    rows[last:last] = [_always(host, tool) for tool in always]
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
        **counted(host, tools),
        "ranked": len(tools) - len(always),
        "ms": round(found.ms, 1),
        "note": _note(host, found.note),
    }


def _note(host: Host, note: str) -> str:
    return " ".join(filter(None, (note, host.toolset.registry.snapshot.unchecked)))


def _ranked(host: Host, pick: Pick, top: float, note: str, offered: set[str]) -> RankedTool:
    fit = _fit(pick, top, by_words=bool(note))
    named = any(reason.field == "exact name" for reason in pick.reasons)
    meaning = sum(reason.score for reason in pick.reasons if reason.field == "meaning")
    by_words = sum(reason.score for reason in pick.reasons if reason.field not in ("meaning", "exact name"))
    parts = [100.0 if named else 0.0, meaning, by_words]
    if not sum(parts):
        parts = [0.0, 0.0, 1.0] if note else [0.0, 1.0, 0.0]
    name_part, meaning_part, words_part = (round(fit * part / sum(parts), 3) for part in parts)
    words = dict.fromkeys(term for reason in pick.reasons for term in reason.terms)
    return {
        **shelf_tool(host, pick.tool),
        "fit": round(fit, 3),
        "by_words": words_part,
        "by_meaning": meaning_part,
        "by_name": name_part,
        "words": list(words),
        "used": host.toolset.caller.counts.total(pick.tool.name),
        "offered": pick.tool.name in offered,
    }


def _fit(pick: Pick, top: float, *, by_words: bool) -> float:
    """From 0 to 1: relative to the best score if ranked by words, else the logarithm of the score."""
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
        "used": host.toolset.caller.counts.total(tool.name),
        "offered": True,
    }


def _evaluate_needs(params: Any, configured: Configured) -> Needs:
    return NOTHING if params.tools else Needs(lazy=True)


class EvaluateParams(OperationParams):
    """The questions, and the tools if not the host's own; files of JSON lines, optionally gzipped."""

    queries: str
    tools: str | None = None
    wait: float = Field(default=20.0, ge=0, le=3600)
    """Seconds to wait for starting servers; vectors are awaited without a limit."""


@operation(needs=_evaluate_needs)
async def evaluate(host: Host, params: EvaluateParams) -> Evaluation:
    """Measure how well tools are found for your own labelled questions.

    Shares are from 0 to 1.
    """
    questions = await asyncio.to_thread(read_questions, Path(params.queries))
    finder = host.toolset.finder
    if params.tools:
        tools = await asyncio.to_thread(read_tools, Path(params.tools))
        finder = Finder(host.toolset.meaning)
        await finder.follow(lambda: tools)
    else:
        await servers_settled(host, params.wait)
        await finder.follow(host.answering_tools)
    _check(questions, finder, params)
    await finder.settle()
    return cast("Evaluation", (await _scored(finder, questions)).as_json())


async def _scored(finder: Finder, questions: list[Labelled]) -> RankingScore:
    score = RankingScore()
    # The first search loads the model, which must not be measured.
    await finder.select(questions[0].query, DEPTH)
    for question in questions:
        started = time.perf_counter()
        found = await finder.select(question.query, DEPTH)
        score.add(question, [pick.tool.name for pick in found], time.perf_counter() - started)
    return score


def _check(questions: list[Labelled], finder: Finder, params: EvaluateParams) -> None:
    """Refuse questions whose tools do not exist: they would silently count as misses."""
    known = finder.index.rows
    missing = {name for question in questions for name in question.relevant if name not in known}
    if len(missing) == len({name for question in questions for name in question.relevant}):
        example = min(missing)
        raise UsageError(
            f"None of the tools in {params.queries} exists, such as {example!r}.",
            hint="Name tools as `toolcrib tools` shows them, or give a file with --tools.",
        )
