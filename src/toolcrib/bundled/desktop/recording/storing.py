"""Records the user's input on a desktop until it is ended, and stores the macro."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from toolcrib.bundled.desktop.identifiers import ResourceExists, new_id
from toolcrib.bundled.desktop.macros.model import Macro
from toolcrib.bundled.desktop.macros.store import COLLECTION, MacroStore
from toolcrib.bundled.desktop.recording.recorder import record_macro
from toolcrib.bundled.desktop.session import DesktopSession, Settings
from toolcrib.serverkit.context import ToolContext, ToolFailure

LONGEST = 1800.0
"""Seconds of one recording."""


@dataclass(frozen=True)
class RecordOptions:
    macro_id: str
    display_name: str = ""
    all_text: bool = False
    """Also store text typed into programs without accessibility."""
    seconds: float = LONGEST


async def record_to_store(
    options: RecordOptions,
    home: Path | None,
    ready: Callable[[], None],
    ended: Callable[[], Awaitable[object]],
    context: ToolContext | None = None,
) -> Macro:
    """Record until `ended()` returns, the stop keys or the time limit, then store. Raises `ToolFailure`.

    `ready` is called when the recording has begun.
    """
    store = MacroStore.of_home(home)
    await asyncio.to_thread(_check_unused, store, options.macro_id)
    session = DesktopSession(Settings(home=home))
    try:
        backend = await session.backend(context)
        async with record_macro(backend, all_text=options.all_text) as recorder:
            ready()
            await _first_of(recorder.ended.wait(), ended(), min(options.seconds, LONGEST))
        made = recorder.macro(options.display_name or options.macro_id)
    finally:
        await asyncio.to_thread(session.close)
    if not made.actions:
        raise ToolFailure("Nothing was recorded.", "Type or click while the recording runs.")
    return await asyncio.to_thread(store.create, made, options.macro_id)


def _check_unused(store: MacroStore, macro_id: str) -> None:
    """Before the user takes the trouble."""
    if any(each.name == f"{COLLECTION}/{new_id(macro_id)}" for each in store.all()):
        raise ResourceExists(f"There is already a macro {macro_id!r}.", "Choose another name.")


async def _first_of(stopped: Awaitable[object], ended: Awaitable[object], seconds: float) -> None:
    tasks = [asyncio.ensure_future(stopped), asyncio.ensure_future(ended)]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
