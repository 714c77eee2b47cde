"""Watches an application around an action, and says what changed."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from toolcrib.bundled.desktop.backend import Backend, Tree
from toolcrib.bundled.desktop.changes import ChangeListener
from toolcrib.bundled.desktop.elements.difference import compare_trees, compare_windows, summarise
from toolcrib.bundled.desktop.elements.search import read_tree
from toolcrib.bundled.desktop.patience import slowness

FIRST = 0.06
"""Seconds for a program to show or report something after an action, on a quiet machine."""
QUIET = 0.02
"""Seconds without a change after which an action counts as done, on a quiet machine."""
PATIENCE = 0.8
READ_TIMEOUT = 1.0
READINGS = 3


@dataclass
class Report:
    changes: list[str] = field(default_factory=list)
    after: Tree | None = None


@contextlib.asynccontextmanager
async def observe(backend: Backend, application: int, before: Tree | None = None) -> AsyncIterator[Report]:
    """The report is filled when the block has ended without an error.

    `before` is the tree without places if it was read just now.
    """
    report = Report()
    windows, old = await asyncio.gather(backend.windows.list(), _given(backend, application, before))
    with backend.events.listen() as changes:
        yield report
        after = await _read_settled(backend, application, changes)
    lines = compare_windows(windows, await backend.windows.list())
    if old.elements and after.elements:
        lines += compare_trees(old, after)
    report.after = after
    report.changes = summarise(lines)


async def read_before(backend: Backend, application: int) -> Tree:
    """What an action is compared with."""
    return await read_tree(backend, application, READ_TIMEOUT)


async def _given(backend: Backend, application: int, before: Tree | None) -> Tree:
    return before if before is not None else await read_before(backend, application)


async def _read_settled(backend: Backend, application: int, changes: ChangeListener) -> Tree:
    """The tree once nothing has changed for a moment; the reading itself is a part of that moment."""
    factor = slowness()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            # The rest of the wait is that for quiet, which follows also if nothing has changed.
            await _next_change(changes, (FIRST - QUIET) * factor)
    for _ in range(READINGS):
        changes.take()
        started = time.monotonic()
        tree = await read_tree(backend, application, READ_TIMEOUT)
        left = QUIET * factor - (time.monotonic() - started)
        if not await _next_change(changes, max(0.0, left)):
            break
        await changes.settled(QUIET * factor, PATIENCE)
    return tree


async def _next_change(changes: ChangeListener, quiet: float) -> bool:
    """Whether an element or window changes before it is quiet; pixels alone can announce more."""
    while (change := await changes.next(quiet)) is not None:
        if change.kind != "pixels":
            return True
    return False
