"""Selects an entry of a combo box or list by its name."""

from __future__ import annotations

import asyncio

from toolcrib.bundled.desktop.backend import ElementRef
from toolcrib.bundled.desktop.backends.x11.atspi.bus import ATSPI, AccessibilityBus
from toolcrib.bundled.desktop.backends.x11.atspi.vocabulary import clean_name

DEEPEST = 3
"""A GTK combo box has its entries in a menu, others in a list."""
MAX_ENTRIES = 2000


async def choose(bus: AccessibilityBus, container: ElementRef, name: str) -> bool:
    """Select the entry; False if there is none of that name."""
    level = [container]
    for _ in range(DEEPEST):
        for parent in level:
            names = await _names(bus, await _children(bus, parent))
            if name in names:
                return await _select(bus, container, parent, names.index(name))
        level = [child for parent in level for child in await _children(bus, parent)]
    return False


async def _select(bus: AccessibilityBus, container: ElementRef, parent: ElementRef, index: int) -> bool:
    for holder in dict.fromkeys((container, parent)):
        answer = await bus.call(*holder, f"{ATSPI}Selection", "SelectChild", "i", index)
        if answer and answer[0]:
            return True
    return False


async def _children(bus: AccessibilityBus, parent: ElementRef) -> list[ElementRef]:
    answer = await bus.call(*parent, f"{ATSPI}Accessible", "GetChildren")
    return [(name, path) for name, path in (answer[0] if answer else ())][:MAX_ENTRIES]


async def _names(bus: AccessibilityBus, refs: list[ElementRef]) -> list[str]:
    found = await asyncio.gather(*(bus.get(*ref, "Accessible", "Name") for ref in refs))
    return [clean_name(name) for name in found]
