"""What finding tools costs: processor time of an index, new and from the cache, and of a question; memory."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from toolcrib.retrieval import Finder, Index, Meaning, open_embedder
from toolcrib.retrieval.embedding import Chosen
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


async def costs() -> None:
    """Print the numbers for 4,000 tools with vectors made here, and for 50,000 with copies of those."""
    tools = synthetic(4_000)
    before = _memory()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        print(f"\nfirst index of 4,000 tools: {await _index(tools, folder):.1f} s of processor time")
        again, words = await _index(tools, folder), _words(tools)
        print(f"the same from the cache: {again:.2f} s, of which words {words:.2f} s")
        await _question(tools, folder, before)
        many = [_copy(tools[n % 4_000], n) for n in range(50_000)]
        await _question(many, folder, before)


async def _index(tools: Sequence[Tool], folder: Path) -> float:
    started = time.process_time()
    meaning = Meaning(open_embedder(Chosen()), folder)
    finder = Finder(meaning)
    await finder.follow(lambda: tools)
    await finder.settle()
    taken = time.process_time() - started
    await meaning.close()
    return taken


def _words(tools: Sequence[Tool]) -> float:
    started = time.process_time()
    Index(tools)
    return time.process_time() - started


async def _question(tools: Sequence[Tool], folder: Path, before: float) -> None:
    meaning = Meaning(open_embedder(Chosen()), folder)
    finder = Finder(meaning)
    await finder.follow(lambda: tools)
    await finder.settle()
    for question in QUESTIONS:
        await finder.select(question)
    started = time.process_time()
    for _ in range(10):
        for question in QUESTIONS:
            await finder.select(question)
    each = 1000 * (time.process_time() - started) / (10 * len(QUESTIONS))
    print(
        f"{len(tools):,} tools: {each:.1f} ms of processor time a question, {_memory() - before:.0f} MB more"
    )
    await meaning.close()


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
