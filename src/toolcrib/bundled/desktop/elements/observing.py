"""Watches an application around an action, and says what changed: how long to wait for it, and the texts when
nothing was found ("No visible change."). The lines about changes are in `difference.py`."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from toolcrib.bundled.desktop.backend import Backend, ElementTree, Screenshot, Window
from toolcrib.bundled.desktop.changes import ChangeListener
from toolcrib.bundled.desktop.deadline import slowness
from toolcrib.bundled.desktop.elements.difference import (
    changed_area,
    compare_trees,
    compare_windows,
    summarise,
)
from toolcrib.bundled.desktop.elements.search import read_tree, with_texts
from toolcrib.bundled.desktop.geometry import Rect

FIRST = 0.06
"""Seconds for a program to show or report something after an action, on a quiet machine."""
QUIET = 0.02
"""Seconds without a change after which an action counts as done, on a quiet machine."""
PATIENCE = 0.8
READ_TIMEOUT = 1.0
READINGS = 3
DRAWING_PATIENCE = 0.3
"""Seconds for a program without elements to draw something."""
PICTURED = {"x11"}
"""Desktops that are pictured in a few milliseconds and without asking the user."""
NO_CHANGE = "No visible change."
"""Only if elements, texts and pixels were compared."""


@dataclass
class Report:
    changes: list[str] = field(default_factory=list)
    after: ElementTree | None = None
    active: Window | None = None
    """The window that has the focus now."""
    nothing: str = NO_CHANGE
    """What is known if there are no changes."""
    pixels: Rect | None = None
    """What looks different, if there are no changes."""


@contextlib.asynccontextmanager
async def observe(
    backend: Backend, application: int, before: ElementTree | None = None
) -> AsyncIterator[Report]:
    """The report is filled when the block has ended without an error.

    `before` is the tree with texts if it was read just now.
    """
    report = Report()
    windows, old, picture = await asyncio.gather(
        backend.windows.list(), _given(backend, application, before), _picture(backend)
    )
    with backend.events.listen() as changes:
        yield report
        after = await _read_settled(backend, application, changes)
        listed = await backend.windows.list()
        lines = compare_windows(windows, listed) + compare_trees(old, after)
        report.after = after
        report.active = next((window for window in listed if window.active), None)
        report.changes = summarise(lines)
        if not lines:
            report.pixels = await _changed_pixels(backend, picture, changes, bool(after.elements))
            report.nothing = _nothing(old, after, report.pixels, pictured=picture is not None)


async def read_before(backend: Backend, application: int) -> ElementTree:
    """What an action is compared with."""
    return await _with_texts(backend, await read_tree(backend, application, READ_TIMEOUT))


async def _with_texts(backend: Backend, tree: ElementTree) -> ElementTree:
    return dataclasses.replace(tree, elements=tuple(await with_texts(backend, tree.elements)))


async def _picture(backend: Backend) -> Screenshot | None:
    return await backend.capture.screen() if backend.name in PICTURED else None


async def _changed_pixels(
    backend: Backend, before: Screenshot | None, changes: ChangeListener, has_elements: bool
) -> Rect | None:
    """Looks several times at a program without elements, which reports nothing that could be waited for."""
    if before is None:
        return None
    deadline = time.monotonic() + (0.0 if has_elements else DRAWING_PATIENCE * slowness())
    while True:
        area = changed_area(before, await backend.capture.screen())
        left = deadline - time.monotonic()
        if area is not None or left <= 0:
            return area
        await changes.next(min(QUIET, left))


def _nothing(before: ElementTree, after: ElementTree, pixels: Rect | None, *, pictured: bool) -> str:
    """What is known if no change was found."""
    if not after.elements or not before.elements:
        known = "Whether something changed cannot be told: the program offers no elements."
    elif not (before.complete and after.complete):
        known = "Whether something changed cannot be told: the program did not answer in time."
    elif pictured and pixels is None:
        return NO_CHANGE
    else:
        known = "No element or text changed."
    if pixels is not None:
        size = f"{pixels.width}x{pixels.height} pixels at {pixels.x},{pixels.y}"
        return f"{known} But {size} look different: see take_screenshot."
    looks = "The screen looks the same." if pictured else "Pixels were not compared: see take_screenshot."
    return f"{known} {looks}"


async def _given(backend: Backend, application: int, before: ElementTree | None) -> ElementTree:
    return before if before is not None else await read_before(backend, application)


async def _read_settled(backend: Backend, application: int, changes: ChangeListener) -> ElementTree:
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
    return await _with_texts(backend, tree)


async def _next_change(changes: ChangeListener, quiet: float) -> bool:
    """Whether an element or window changes before it is quiet; pixels alone can announce more."""
    while (change := await changes.next(quiet)) is not None:
        if change.kind != "pixels":
            return True
    return False
