"""What both Python drivers do once they are connected: the same calls, which differ in how one is made."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Heard:
    """What the client's callbacks were told."""

    questions: list[str] = field(default_factory=list)
    change: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True)
class Way:
    """How this client does it; `call` gives the text of the result."""

    heard: Heard
    list_tools: Callable[[], Awaitable[list[Any]]]
    call: Callable[..., Awaitable[str]]
    read: Callable[[str], Awaitable[str]]
    prompt: Callable[[str, dict[str, str]], Awaitable[str]]
    hears_changes: bool


def tell(about: str, what: str, value: object) -> None:
    """One line for the test."""
    print(json.dumps([about, what, value]), flush=True)


async def use(way: Way, back: str, key: str) -> None:
    """Do everything with one of the servers behind, and tell of it."""
    tell(back, "tools", await _names(way, back))
    tell(back, "result", await way.call(f"{back}__echo", {"text": "héllo"}))
    tell(back, "progress", await _count(way, back, key))
    tell(back, "fate", await _cancel(way, back, key))
    tell(back, "greeting", await way.call(f"{back}__greet", {}))
    tell(back, "question", way.heard.questions.pop())
    tell(back, "resource", await way.read(f"note://{back}"))
    tell(back, "prompt", await way.prompt(f"{back}__review", {"title": "Ulysses"}))
    if way.hears_changes:
        tell(back, "change", await _grow(way, back, key))


async def _names(way: Way, back: str) -> list[str]:
    """Its tools; a server that is still starting has none yet."""
    found: list[str] = []
    while not found:
        found = sorted(tool.name for tool in await way.list_tools() if tool.name.startswith(f"{back}__"))
    return found


async def _count(way: Way, back: str, key: str) -> list[float]:
    seen = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append(done)
        if done == total:
            await way.call(f"{back}__enough", {"key": key})

    await way.call(f"{back}__count", {"to": 3, "key": key}, progress)
    return seen


async def _cancel(way: Way, back: str, key: str) -> str:
    waiting = asyncio.create_task(way.call(f"{back}__wait", {"key": key}))
    while await way.call(f"{back}__fate", {"key": key}) != "started":
        pass
    waiting.cancel()
    await asyncio.wait([waiting])
    while (fate := await way.call(f"{back}__fate", {"key": key})) == "started":
        pass
    return fate


async def _grow(way: Way, back: str, key: str) -> bool:
    way.heard.change.clear()
    await way.call(f"{back}__grow", {"name": key})
    await way.heard.change.wait()
    while f"{back}__{key}" not in await _names(way, back):
        pass
    return True
