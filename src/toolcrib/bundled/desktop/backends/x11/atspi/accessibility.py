"""Elements of programs on an X11 display: their tree, places, contents and actions. Decides what is at a
point, how values are set, the longest text, and the error "The application does not answer".

Where elements are on the screen. GTK 4 does not know the position of its windows and gives places inside
them. They are moved by the position of the application's only window, or of the one with the title of the
window that an element is in; if several have that title they are unknown, because a guess could click on
another element.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from dbus_fast import Variant

from toolcrib.bundled.desktop.backend import (
    PARAGRAPH_ROLES,
    SHOWN,
    TEXT_ROLES,
    AtPoint,
    Element,
    ElementRef,
    ElementTree,
)
from toolcrib.bundled.desktop.backends.x11.atspi.bus import ATSPI, AccessibilityBus
from toolcrib.bundled.desktop.backends.x11.atspi.calls import NoAnswer
from toolcrib.bundled.desktop.backends.x11.atspi.last_reading import LastReadings
from toolcrib.bundled.desktop.backends.x11.atspi.tree import (
    DEEPEST,
    TreeReader,
    is_inside_hidden,
    read_around,
    read_element,
)
from toolcrib.bundled.desktop.backends.x11.atspi.vocabulary import clean_name
from toolcrib.bundled.desktop.backends.x11.windows import X11Windows
from toolcrib.bundled.desktop.changes import Changes, DesktopChange
from toolcrib.bundled.desktop.deadline import slowness
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure
from toolcrib.tasks import cancel_and_wait

SCREEN_COORDINATES, WINDOW_COORDINATES = 0, 1
FIRST_IS_LOWEST = {"gtk", "gail", "qt"}
FARTHEST = 1 << 20
ROOT = "/org/a11y/atspi/accessible/root"

MENU_DEPTH = 3
"""A GTK combo box has its entries in a menu, others in a list."""
MAX_ENTRIES = 2000


@dataclass(frozen=True)
class Question:
    """A point as a program understands it."""

    x: int
    y: int
    coordinates: int
    first_is_lowest: bool = False
    """It answers with the first of several children there, not with the topmost."""
    estimated: bool = False
    """Its first answer about a point is an estimate: it asks another process meanwhile."""

    @property
    def arguments(self) -> tuple[int, int, int]:
        return self.x, self.y, self.coordinates


class Places:
    def __init__(self, windows: X11Windows, around: Callable[[ElementRef], Sequence[Element]]) -> None:
        """`around` says which elements one is in, from itself to the root, as they were read last."""
        self._windows = windows
        self._around = around
        self._toolkits: dict[str, tuple[str, int]] = {}
        """Names and major versions, by program."""

    async def find(self, bus: AccessibilityBus, refs: Sequence[ElementRef]) -> Mapping[ElementRef, Rect]:
        """The rectangles of those that have one, asked for all at once."""
        found = await asyncio.gather(*(_extents(bus, ref) for ref in refs))
        return await self._corrected(
            bus, {ref: rect for ref, rect in zip(refs, found, strict=True) if rect is not None}
        )

    async def on_screen(self, bus: AccessibilityBus, ref: ElementRef, extents: Sequence[int]) -> Rect | None:
        """A place that a program gave, such as that of a part of a text."""
        rect = _rect(extents)
        return (await self._corrected(bus, {ref: rect})).get(ref) if rect is not None else None

    async def _corrected(
        self, bus: AccessibilityBus, places: Mapping[ElementRef, Rect]
    ) -> Mapping[ElementRef, Rect]:
        for destination in {ref[0] for ref in places}:
            if await self._is_relative(bus, destination):
                places = await self._moved(bus, destination, places)
        return places

    async def question(self, bus: AccessibilityBus, element: ElementRef, at: Point) -> Question | None:
        """How to ask the element's program about a point of the screen; None if it cannot be asked.

        Raises `NoAnswer`.
        """
        destination = element[0]
        name, _ = await self._toolkit(bus, destination)
        if not await self._is_relative(bus, destination):
            return Question(at.x, at.y, SCREEN_COORDINATES, name in FIRST_IS_LOWEST, name == "chromium")
        origin = await self._origin(bus, destination, self._title(element))
        return Question(at.x - origin.x, at.y - origin.y, WINDOW_COORDINATES) if origin is not None else None

    async def _is_relative(self, bus: AccessibilityBus, destination: str) -> bool:
        try:
            name, version = await self._toolkit(bus, destination)
        except NoAnswer:
            return False
        return name == "gtk" and version not in (2, 3)

    async def _toolkit(self, bus: AccessibilityBus, destination: str) -> tuple[str, int]:
        if destination not in self._toolkits:
            name = await bus.get(destination, ROOT, "Application", "ToolkitName")
            version = str(await bus.get(destination, ROOT, "Application", "Version"))
            major = int(version.partition(".")[0]) if version[:1].isdecimal() else 0
            self._toolkits[destination] = str(name).casefold(), major
        return self._toolkits[destination]

    async def _moved(
        self, bus: AccessibilityBus, destination: str, places: Mapping[ElementRef, Rect]
    ) -> dict[ElementRef, Rect]:
        moved = {ref: rect for ref, rect in places.items() if ref[0] != destination}
        titles = {ref: self._title(ref) for ref in places if ref[0] == destination}
        for title in set(titles.values()):
            origin = await self._origin(bus, destination, title)
            if origin is not None:
                own = (ref for ref in titles if titles[ref] == title)
                moved |= {ref: places[ref].moved(origin.x, origin.y) for ref in own}
        return moved

    async def _origin(self, bus: AccessibilityBus, destination: str, title: str) -> Point | None:
        process = bus.process_of(destination)
        return await self._windows.content_origin(process, title) if process else None

    def _title(self, ref: ElementRef) -> str:
        """The name of the window that an element is in; empty if that was not read."""
        return next(
            (element.name for element in reversed(self._around(ref)) if element.role != "application"), ""
        )


async def _extents(bus: AccessibilityBus, ref: ElementRef) -> Rect | None:
    try:
        answer = await bus.call(*ref, f"{ATSPI}Component", "GetExtents", "u", SCREEN_COORDINATES)
    except NoAnswer:
        return None
    return _rect(answer[0]) if answer else None


def _rect(extents: Sequence[int]) -> Rect | None:
    x, y, width, height = extents
    is_placed = width > 0 and height > 0 and abs(x) < FARTHEST and abs(y) < FARTHEST
    return Rect(x, y, width, height) if is_placed else None


async def choose(bus: AccessibilityBus, container: ElementRef, name: str) -> bool:
    """Select the entry; False if there is none of that name."""
    level = [container]
    for _ in range(MENU_DEPTH):
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
    """What is at a point, in relation to the first element of a chain that goes from it to the root.

    GTK 3 and Qt return the first child whose rectangle contains the point, in the order in which children are
    drawn, so an element that lies over its sibling is not what they return. Chromium and GTK 4 return what is
    on top. All elements around the wanted one are asked at once: some of them, such as the notebooks of
    GTK 3, do not know what they contain. Their later siblings are asked for what lies over it.
    """
    asked = _in_surface(chain)
    if question.estimated:
        await _ask(bus, asked[0].ref, question)
        await asyncio.sleep(ESTIMATE_PAUSE * slowness())
    found = await asyncio.gather(*(_ask(bus, element.ref, question) for element in asked))
    answers = dict(zip((element.ref for element in asked), found, strict=True))
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
    depths = {element.ref: depth for depth, element in enumerate(asked)}
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
        children = [(child[0], child[1]) for child in (answer[0] if answer else ())]
        later += children[children.index(inner.ref) + 1 :] if inner.ref in children else []
    there = await asyncio.gather(*(_contains(bus, child, question) for child in later[:MOST_SIBLINGS]))
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
    for depth, element in enumerate(chain):
        if depth and element.role == "combo box" and chain[0].role in ENTRIES:
            return chain[:depth]
        if element.role in SURFACES and (depth or element.role != "menu"):
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


MAX_TEXT = 20_000
ACTION_PATIENCE = 1.5
"""Seconds for an action; one that opens a dialog may not answer before that is closed."""
TEXT, EDITABLE, VALUE = f"{ATSPI}Text", f"{ATSPI}EditableText", "Value"
POPUP = Element(("", ""), None, "open menu or list", "")
VALUE_ATTEMPTS, VALUE_PAUSE = 10, 0.05
VALUE_ROLES = {"slider", "spin button", "progress bar", "scroll bar", "dial", "level bar"}
EMBEDDED = "\ufffc"
"""Stands for an element inside a text."""


class AtspiAccessibility:
    def __init__(
        self,
        session_address: str,
        changes: Changes,
        windows: X11Windows,
        has_popup: Callable[[Point], Awaitable[bool]] | None = None,
    ) -> None:
        """`has_popup` says whether an open menu or list is at a point."""
        self._address = session_address
        self._has_popup = has_popup
        self._changes = changes
        self._bus: AccessibilityBus | None = None
        self._connecting = asyncio.Lock()
        self.known: frozenset[int] = frozenset()
        """The programs that offered their elements when it was last asked."""
        self._roots: Mapping[int, ElementRef] = {}
        self._last = LastReadings()
        self._places = Places(windows, self._last.around)

    async def connect(self) -> AccessibilityBus:
        """The bus, connected again if it was lost; raises `ToolFailure`."""
        async with self._connecting:
            if self._bus is None or not self._bus.connected:
                if not self._address:
                    raise ToolFailure(
                        "There is no session bus, so elements cannot be found.",
                        "Use coordinates of a screenshot. The user can install the package dbus.",
                    )
                self._bus = await AccessibilityBus.connect(self._address, self._publish)
            return self._bus

    async def tree(self, application: int, timeout: float) -> ElementTree:
        bus = await self.connect()
        early = self._read_early(bus, application, timeout)
        try:
            programs = await bus.programs()
            self.known, self._roots = frozenset(programs), programs
            if application not in programs:
                return ElementTree(application, (), complete=True)
            if early is not None and early[0] == programs[application]:
                return await early[1]
            return await self._read(bus, application, programs[application], timeout)
        except NoAnswer:
            raise ToolFailure("The accessibility service does not answer.", "Try again later.") from None
        finally:
            if early is not None:
                await cancel_and_wait(early[1])

    def _read_early(
        self, bus: AccessibilityBus, application: int, timeout: float
    ) -> tuple[ElementRef, asyncio.Task[ElementTree]] | None:
        """Read at the root where it was last, while the registry is asked whether it still is there."""
        root = self._roots.get(application)
        if root is None:
            return None
        return root, asyncio.create_task(self._read(bus, application, root, timeout))

    async def _read(
        self, bus: AccessibilityBus, application: int, root: ElementRef, timeout: float
    ) -> ElementTree:
        reader = TreeReader(bus, root, self._last.of(root))
        elements = await reader.read(timeout)
        return ElementTree(application, elements, reader.complete)

    async def rects(self, elements: Collection[ElementRef]) -> Mapping[ElementRef, Rect]:
        bus = await self.connect()
        refs = list(elements)
        return await self._places.find(bus, refs)

    async def read(self, element: ElementRef) -> Element | None:
        bus = await self.connect()
        try:
            found = await read_element(bus, element)
            if found is None:
                return None
            around = (self._last.around(element) or await read_around(bus, element))[1:]
            places, text, hidden = await asyncio.gather(
                self._places.find(bus, [element]), read_text(bus, found), is_inside_hidden(bus, around)
            )
        except NoAnswer:
            raise _hangs() from None
        return dataclasses.replace(
            found,
            parent=around[0].ref if around else None,
            states=found.states - SHOWN if hidden else found.states,
            rect=places.get(element),
            text=text,
        )

    async def at_point(self, element: ElementRef, at: Point) -> AtPoint:
        bus = await self.connect()
        try:
            question = await self._places.question(bus, element, at)
            if question is None:
                return AtPoint("unknown")
            chain = self._last.around(element)
            found = await element_at(bus, chain, question) if chain else AtPoint("other")
            if found.state == "other":
                # What was around it at the last reading may be around it no longer.
                chain = await read_around(bus, element)
                found = await element_at(bus, chain, question) if chain else AtPoint("unknown")
            if found.state == "other" or self._has_popup is None or is_in_popup(chain):
                return found
            return AtPoint("other", POPUP) if await self._has_popup(at) else found
        except NoAnswer:
            return AtPoint("unknown")

    async def texts(self, elements: Collection[Element]) -> Mapping[ElementRef, str]:
        """The contents of text fields and the values of sliders."""
        bus = await self.connect()
        chosen = list(elements)
        found = await asyncio.gather(*(_text_or_none(bus, element) for element in chosen))
        return {element.ref: text for element, text in zip(chosen, found, strict=True) if text is not None}

    async def text_rect(self, element: Element, start: int, end: int) -> Rect | None:
        bus = await self.connect()
        try:
            first = (await _shown_part(bus, element) or (0, 0))[0]
            asked = (first + start, first + end, SCREEN_COORDINATES)
            answer = await bus.call(*element.ref, TEXT, "GetRangeExtents", "iiu", *asked)
            if not answer:
                return None
            x, y, width, height = answer
            middle = (x + width // 2, y + height // 2, SCREEN_COORDINATES)
            there = await bus.call(*element.ref, TEXT, "GetOffsetAtPoint", "iiu", *middle)
            # Qt places every line of a plain text at its top.
            is_there = there is not None and asked[0] - 1 <= there[0] <= asked[1]
            return await self._places.on_screen(bus, element.ref, answer) if is_there else None
        except NoAnswer:
            return None

    async def actions(self, element: ElementRef) -> Sequence[str]:
        bus = await self.connect()
        try:
            answer = await bus.call(*element, f"{ATSPI}Action", "GetActions")
        except NoAnswer:
            raise _hangs() from None
        names = [str(name) for name, *_ in (answer[0] if answer else ())]
        return names if all(names) else await _action_names(bus, element, len(names))

    async def act(self, element: ElementRef, action: str) -> bool:
        offered = await self.actions(element)
        if action not in offered:
            return False
        bus = await self.connect()
        try:
            answer = await bus.call(
                *element, f"{ATSPI}Action", "DoAction", "i", offered.index(action), patience=ACTION_PATIENCE
            )
        except NoAnswer:
            return True  # it may have opened a dialog, and answers only when that is closed
        return bool(answer and answer[0])

    async def focus(self, element: ElementRef) -> bool:
        bus = await self.connect()
        try:
            answer = await bus.call(*element, f"{ATSPI}Component", "GrabFocus")
        except NoAnswer:
            raise _hangs() from None
        return bool(answer and answer[0])

    async def write(self, element: ElementRef, value: str) -> bool:
        bus = await self.connect()
        try:
            found = await read_element(bus, element)
            if found is None:
                return False
            return await _write(bus, found, value)
        except NoAnswer:
            raise _hangs() from None

    def close(self) -> None:
        if self._bus is not None:
            self._bus.close()

    def _publish(self, sender: str, detail: str) -> None:
        process = self._bus.process_of(sender) if self._bus is not None else None
        self._changes.publish(DesktopChange("element", detail, application=process))


async def _action_names(bus: AccessibilityBus, element: ElementRef, count: int) -> list[str]:
    """One by one: Chromium lists its actions without names."""
    found = await asyncio.gather(
        *(bus.call(*element, f"{ATSPI}Action", "GetName", "i", number) for number in range(count))
    )
    return [str(answer[0]) if answer else "" for answer in found]


async def read_text(bus: AccessibilityBus, element: Element) -> str | None:
    """What a text field contains or which value is set; None for other elements."""
    if element.role == "password text":
        return None
    if element.role in TEXT_ROLES | PARAGRAPH_ROLES or "editable" in element.states:
        part = await _shown_part(bus, element)
        answer = await bus.call(*element.ref, TEXT, "GetText", "ii", *part) if part is not None else None
        if answer is not None and (not answer[0] or answer[0].strip(f"{EMBEDDED} \n")):
            return str(answer[0])
    if element.role in VALUE_ROLES:
        value = await bus.get(*element.ref, VALUE, "CurrentValue")
        return None if value is None else f"{value:g}"
    return None


async def _shown_part(bus: AccessibilityBus, element: Element) -> tuple[int, int] | None:
    """Which characters are read: all, or the start of what is edited and the end of what is not."""
    count = await bus.get(*element.ref, "Text", "CharacterCount")
    if not isinstance(count, int):
        return None
    if count <= MAX_TEXT:
        return 0, count
    return (0, MAX_TEXT) if "editable" in element.states else (count - MAX_TEXT, count)


async def _write(bus: AccessibilityBus, element: Element, value: str) -> bool:
    if element.role in ("combo box", "list box"):
        return await choose(bus, element.ref, value)
    if element.role in VALUE_ROLES and (is_set := await _set_value(bus, element.ref, value)) is not None:
        return is_set
    if element.role in TEXT_ROLES - VALUE_ROLES and "editable" not in element.states:
        return False  # Qt and Java would change also what is read only
    answer = await bus.call(*element.ref, EDITABLE, "SetTextContents", "s", value)
    if not (answer and answer[0]):
        return False
    if element.role == "password text":
        return True
    return await read_text(bus, element) == value


async def _set_value(bus: AccessibilityBus, ref: ElementRef, value: str) -> bool | None:
    """Whether it has the value now; None if it was not set."""
    try:
        number = float(value)
    except ValueError:
        return None
    before = await bus.get(*ref, VALUE, "CurrentValue")
    if not await bus.set(*ref, VALUE, "CurrentValue", Variant("d", number)):
        return None
    for _ in range(VALUE_ATTEMPTS):
        now = await bus.get(*ref, VALUE, "CurrentValue")
        if now is not None and abs(now - number) < 1e-6 * max(1.0, abs(number)):
            return True
        await asyncio.sleep(VALUE_PAUSE)  # Chromium sets it in another process
    return None if now == before else False


async def _text_or_none(bus: AccessibilityBus, element: Element) -> str | None:
    try:
        return await read_text(bus, element)
    except NoAnswer:
        return None


def _hangs() -> ToolFailure:
    return ToolFailure("The application does not answer.", "It may be busy or hang: try again later.")
