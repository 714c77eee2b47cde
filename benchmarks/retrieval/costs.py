"""What finding tools costs: processor time of an index, new and from the cache, and of a question; memory."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from toolcrib.retrieval import EmbeddingService, Finder, Index, open_embedder
from toolcrib.retrieval.embedder import EmbedderChoice
from toolcrib.schema.tools import Tool, ToolDefinition

QUESTIONS = (
    "open an issue about the broken login page",
    "which invoices are still unpaid?",
    "move the meeting with Ada to Friday and tell everybody",
    "what did I change but not commit yet",
)
_VERBS = [
    "create",
    "list",
    "get",
    "delete",
    "update",
    "search",
    "send",
    "export",
    "archive",
    "assign",
    "merge",
    "rename",
    "sync",
    "approve",
]
_THINGS = [
    "issue",
    "invoice",
    "event",
    "message",
    "branch",
    "ticket",
    "page",
    "record",
    "user",
    "file",
    "channel",
    "report",
    "order",
    "contact",
]
_PLACES = [
    "repository",
    "calendar",
    "workspace",
    "project",
    "database",
    "mailbox",
    "board",
    "account",
    "folder",
    "campaign",
]


async def costs(tools: Sequence[Tool] = ()) -> None:
    """Print the numbers for these tools, or 4,000 made-up ones, and for 50,000 copies of them."""
    tools = tools or synthetic(4_000)
    before = _memory()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        meaning, finder, taken = await _opened(tools, folder)
        print(f"\nfirst index of {len(tools):,} tools: {taken:.1f} s of processor time", flush=True)
        await _ask(finder, before)
        await meaning.close()
        again = sorted([await _from_cache(tools, folder) for _ in range(5)])
        print(f"an index from the cache: {again[0]:.2f} to {again[-1]:.2f} s in five runs")
        print(f"words alone, without a cache: {_words(tools):.2f} s", flush=True)
        many = [_copy(tools[n % len(tools)], n) for n in range(50_000)]
        meaning, finder, _ = await _opened(many, folder)
        await _ask(finder, before)
        await meaning.close()


async def _opened(tools: Sequence[Tool], folder: Path) -> tuple[EmbeddingService, Finder, float]:
    """Ready to be asked, and the processor time that took."""
    started = time.process_time()
    meaning = EmbeddingService(open_embedder(EmbedderChoice()), folder)
    finder = Finder(meaning)
    await finder.follow(lambda: tools)
    await finder.settle()
    return meaning, finder, time.process_time() - started


async def _from_cache(tools: Sequence[Tool], folder: Path) -> float:
    meaning, _, taken = await _opened(tools, folder)
    await meaning.close()
    return taken


def _words(tools: Sequence[Tool]) -> float:
    started = time.process_time()
    Index(tools)
    return time.process_time() - started


async def _ask(finder: Finder, before: float) -> None:
    for question in QUESTIONS:
        await finder.select(question)
    started = time.process_time()
    for _ in range(10):
        for question in QUESTIONS:
            await finder.select(question)
    each = 1000 * (time.process_time() - started) / (10 * len(QUESTIONS))
    more = _memory() - before
    print(
        f"{len(finder):,} tools: {each:.1f} ms of processor time a question, {more:.0f} MB more", flush=True
    )


def synthetic(count: int) -> list[Tool]:
    """Tools that read like real ones; equal on every machine."""
    chance = random.Random(7)  # noqa: S311
    made = []
    for number in range(count):
        verb, thing, place = chance.choice(_VERBS), chance.choice(_THINGS), chance.choice(_PLACES)
        server = f"{place}{number % 97}"
        told = (
            f"{verb.capitalize()}s one {thing} or more in the {place} number {number}. Needs its identifier."
        )
        raw = {
            "name": f"{verb}_{thing}_{number}",
            "description": told,
            "inputSchema": {
                "type": "object",
                "properties": {f"{thing}_id": {"description": f"Which {thing}."}},
            },
        }
        definition = ToolDefinition(name=raw["name"], raw=raw)  # type: ignore[arg-type]
        made.append(
            Tool(
                name=f"{server}__{raw['name']}",
                server=server,
                origin="mcp",
                definition=definition,
                hash=str(number),
                tokens=0,
            )
        )
    return made


def _copy(tool: Tool, number: int) -> Tool:
    return Tool(
        name=f"{tool.name}_{number}",
        server=tool.server,
        origin="mcp",
        definition=tool.definition,
        hash=str(number),
        tokens=0,
    )


def _memory() -> float:
    """MB that the process holds now; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * 4096 / 1e6
