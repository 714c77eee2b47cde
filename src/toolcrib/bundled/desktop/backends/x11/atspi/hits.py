"""Asks a program which of its elements is at a point, before the pointer acts on an element there.

GTK 3 and Qt return the first child whose rectangle contains the point, in the order in which children are
drawn, so an element that lies over its sibling is not what they return. Chromium and GTK 4 return what is on
top. All elements around the wanted one are asked at once: some of them, such as the notebooks of GTK 3, do
not know what they contain. Their later siblings are asked for what lies over it.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence

from toolcrib.bundled.desktop.backend import AtPoint, Element, ElementRef
from toolcrib.bundled.desktop.backends.x11.atspi.bus import ATSPI, AccessibilityBus
from toolcrib.bundled.desktop.backends.x11.atspi.places import Question
from toolcrib.bundled.desktop.backends.x11.atspi.tree import DEEPEST, read_element
from toolcrib.bundled.desktop.patience import slowness

COMPONENT = f"{ATSPI}Component"
ESTIMATE_PAUSE = 0.02
"""Seconds for Chromium to find out what really is at a point."""
WINDOWS = {"frame", "dialog", "alert", "file chooser", "color chooser", "font chooser"}
SURFACES = WINDOWS | {"window", "popup menu", "menu", "tool tip"}
"""Windows of their own: what they are in knows nothing about points in them."""
OPENERS = {
    "push button",
    "toggle button",
    "push button menu",
    "check box",
    "text",
    "entry",
    "label",
    "icon",
    "image",
    "drawing area",
    "canvas",
    "table",
    "tree table",
    "tree",
    "list",
    "list box",
}
"""What a popover of GTK 3 belongs to; otherwise they contain no panels."""
ENTRIES = {"menu item", "list item", "table cell", "tree item"}
"""Those of an open combo box are in a window of their own. They never lie over each other."""
WITHOUT_LAYERS = (
    ENTRIES | SURFACES | {"table column header", "table row header", "column header", "row header"}
)
USABLE = {"showing", "focusable"}
MOST_SIBLINGS = 100


async def element_at(bus: AccessibilityBus, chain: Sequence[Element], question: Question) -> AtPoint:
    """What is at a point, in relation to the first element of a chain that goes from it to the root."""
    asked = _in_surface(chain)
    if question.estimated:
        await _ask(bus, asked[0].ref, question)
        await asyncio.sleep(ESTIMATE_PAUSE * slowness())
    found = await asyncio.gather(*(_ask(bus, each.ref, question) for each in asked))
    answers = dict(zip((each.ref for each in asked), found, strict=True))
    judged = await _judge(bus, asked, answers, question)
    if judged.state == "other" or not question.first_is_lowest:
        return judged
    above = await _above(bus, asked, question)
    return AtPoint("other", above) if above is not None else judged


async def _judge(
    bus: AccessibilityBus,
    asked: Sequence[Element],
    answers: Mapping[ElementRef, ElementRef | None],
    question: Question,
) -> AtPoint:
    """Goes inwards as far as the answers lead; who does not answer is skipped."""
    depths = {each.ref: depth for depth, each in enumerate(asked)}
    depth = len(asked) - 1
    while depth >= 0:
        found = answers[asked[depth].ref]
        around = await _around(bus, found, depths) if found is not None else []
        meeting = depths.get(around[-1], depth) if around else depth
        if meeting == 0 and around:
            return AtPoint("there")
        if meeting < depth or len(around) < 2:
            depth = min(meeting, depth - 1)
            continue
        ours, theirs = asked[meeting - 1], around[-2]
        popover = await _popover(bus, asked[: meeting + 1], question) if question.first_is_lowest else None
        if popover is not None:
            depth = popover
        elif question.first_is_lowest and await _lies_over(bus, ours, theirs, question):
            depth = meeting - 1
        else:
            other = await _innermost(bus, around[0], question)
            return AtPoint("other", other) if not await _is_same(bus, asked[0], other) else AtPoint("there")
    return AtPoint("unknown")


async def _above(bus: AccessibilityBus, chain: Sequence[Element], question: Question) -> Element | None:
    """What can be used at the point and is in a later sibling of one of these, which lies over it."""
    popover = await _popover(bus, chain, question)
    within = chain if popover is None else chain[: popover + 1]
    pairs = [pair for pair in itertools.pairwise(within) if pair[0].role not in WITHOUT_LAYERS]
    calls = (bus.call(*outer.ref, f"{ATSPI}Accessible", "GetChildren") for _, outer in pairs)
    answers = await asyncio.gather(*calls)
    later: list[ElementRef] = []
    for (inner, _), answer in zip(pairs, answers, strict=True):
        children = [(each[0], each[1]) for each in (answer[0] if answer else ())]
        later += children[children.index(inner.ref) + 1 :] if inner.ref in children else []
    there = await asyncio.gather(*(_contains(bus, each, question) for each in later[:MOST_SIBLINGS]))
    for ref in itertools.compress(later, there):
        outer, other = await read_element(bus, ref), await _innermost(bus, ref, question)
        if outer and other and "showing" in outer.states and other.states >= USABLE:
            return other
    return None


def is_in_popup(chain: Sequence[Element]) -> bool:
    """Whether the first of these is in a menu, a list of a combo box or the like."""
    return not chain or _in_surface(chain)[-1].role not in WINDOWS


def _in_surface(chain: Sequence[Element]) -> Sequence[Element]:
    """From the element to the window around it, which may be a menu or the list of a combo box."""
    for depth, each in enumerate(chain):
        if depth and each.role == "combo box" and chain[0].role in ENTRIES:
            return chain[:depth]
        if each.role in SURFACES and (depth or each.role != "menu"):
            return chain[: depth + 1]
    return chain


async def _popover(bus: AccessibilityBus, chain: Sequence[Element], question: Question) -> int | None:
    """The index of the popover of GTK 3 that the first one is in, if that is at the point.

    It lies over everything in the window, and is a child of what opened it.
    """
    for depth in range(len(chain) - 1):
        if chain[depth].role == "panel" and chain[depth + 1].role in OPENERS:
            return depth if await _contains(bus, chain[depth].ref, question) else None
    return None


async def _around(
    bus: AccessibilityBus, ref: ElementRef, depths: Mapping[ElementRef, int]
) -> list[ElementRef]:
    """The element and those around it, up to one that is known; nothing if none is."""
    found = [ref]
    while found[-1] not in depths:
        parent = await bus.get(*found[-1], "Accessible", "Parent")
        if not _is_element(parent or ()) or len(found) > DEEPEST:
            return []
        found.append((parent[0], parent[1]))
    return found


async def _lies_over(bus: AccessibilityBus, ours: Element, theirs: ElementRef, question: Question) -> bool:
    other = await read_element(bus, theirs)
    if other is None or {ours.role, other.role} & ENTRIES:
        return False
    return await _contains(bus, ours.ref, question)


async def _is_same(bus: AccessibilityBus, ours: Element, other: Element | None) -> bool:
    """Qt can name one cell by several references."""
    if other is None or (other.role, other.name) != (ours.role, ours.name):
        return False
    asked = [bus.call(*ref, COMPONENT, "GetExtents", "u", 0) for ref in (ours.ref, other.ref)]
    one, two = await asyncio.gather(*asked)
    return one is not None and one == two


async def _contains(bus: AccessibilityBus, ref: ElementRef, question: Question) -> bool:
    answer = await bus.call(*ref, COMPONENT, "Contains", "iiu", *question.arguments)
    return bool(answer and answer[0])


async def _innermost(bus: AccessibilityBus, ref: ElementRef, question: Question) -> Element | None:
    seen = {ref}
    while (deeper := await _ask(bus, ref, question)) is not None and deeper not in seen:
        ref = deeper
        seen.add(ref)
    return await read_element(bus, ref)


async def _ask(bus: AccessibilityBus, ref: ElementRef, question: Question) -> ElementRef | None:
    answer = await bus.call(*ref, COMPONENT, "GetAccessibleAtPoint", "iiu", *question.arguments)
    found: Sequence[str] = answer[0] if answer else ()
    return (found[0], found[1]) if _is_element(found) else None


def _is_element(found: Sequence[str]) -> bool:
    return len(found) == 2 and bool(found[0]) and not found[1].endswith("/null")
