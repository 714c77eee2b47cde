"""`evaluate`: how well the right tools are found for somebody's own labelled questions."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import cast

from pydantic import Field

from toolcrib.control.answers.tools import Evaluation
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.retrieval import Finder
from toolcrib.retrieval.evaluation import DEPTH, Labelled, Tally, read_questions, read_tools

FOR_PAGES = False  # it reads files that the caller names


class Params(OperationParams):
    """The questions, and the tools if they are not the crib's own; files of JSON lines, gzipped or not."""

    queries: str
    tools: str | None = None
    wait: float = Field(default=20.0, ge=0, le=3600)
    """Seconds for servers that start; vectors are waited for, however long they take."""


def needs(params: Params, configured: Configured) -> Needs:
    """The crib's tools, unless there is a file of them."""
    return NOTHING if params.tools else Needs(lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> Evaluation:
    """`{n, recall_at_1, recall_at_5, recall_at_10, ndcg_at_10, ms_per_query}`; shares are from 0 to 1."""
    questions = await asyncio.to_thread(read_questions, Path(params.queries))
    finder = host.finder
    if params.tools:
        tools = await asyncio.to_thread(read_tools, Path(params.tools))
        finder = Finder(host.meaning)
        await finder.follow(lambda: tools)
    else:
        await _settled(host, params.wait)
        await finder.follow(host.tools)
    _check(questions, finder, params)
    await finder.settle()
    return cast("Evaluation", (await _scored(finder, questions)).as_json())


async def _scored(finder: Finder, questions: list[Labelled]) -> Tally:
    tally = Tally()
    # The first one reads the model; that is no part of answering a question.
    await finder.select(questions[0].query, DEPTH)
    for question in questions:
        started = time.perf_counter()
        found = await finder.select(question.query, DEPTH)
        tally.add(question, [pick.tool.name for pick in found], time.perf_counter() - started)
    return tally


async def _settled(host: Host, patience: float) -> None:
    try:
        async with asyncio.timeout(patience):
            await host.servers.settle()
    except TimeoutError:
        pass


def _check(questions: list[Labelled], finder: Finder, params: Params) -> None:
    """Questions about tools that are not there would be scored as misses, and nobody would know why."""
    known = finder.index.rows
    missing = {name for question in questions for name in question.relevant if name not in known}
    if len(missing) == len({name for question in questions for name in question.relevant}):
        example = min(missing)
        raise UsageError(
            f"None of the tools that {params.queries} names is there, such as {example!r}.",
            hint="Name tools as `toolcrib tools` shows them, or give a file with --tools.",
        )
