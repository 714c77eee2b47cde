"""Records the user's input into a macro, and stores it. Decides the keys that end a recording, its longest
time, which elements can be clicked, how an element is named, and which typed text is not stored (passwords).

A click is stored as the element that was there before it, if one selector matches that alone, and otherwise
as a place in the window. Typed text is stored only if it certainly did not go into a password field;
otherwise the macro gets a parameter for it. Programs without accessibility do not say what their fields are,
so text for them is stored only if `all_text` is set.

Keeps a recent look at the active application, and names an element as it was before a click. An element is
named by a selector that matches it alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Element, Window
from toolcrib.bundled.desktop.changes import DesktopChange
from toolcrib.bundled.desktop.elements.pointing import MENU_ROLES
from toolcrib.bundled.desktop.elements.search import read_tree, with_places
from toolcrib.bundled.desktop.elements.selector import attribute, parse_selector
from toolcrib.bundled.desktop.failures import NotSupported
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.macros.model import Macro
from toolcrib.bundled.desktop.macros.store import COLLECTION, MacroStore
from toolcrib.bundled.desktop.recording.steps import StepList, selector_text
from toolcrib.bundled.desktop.resources import ResourceExists, new_id
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.bundled.desktop.user_input import InputWatch, UserInput, WatchesInput
from toolcrib.bundled.desktop.window_lookup import window_at
from toolcrib.serverkit.context import ToolContext, ToolFailure

POLL = 0.2
SETTLE = 0.03
REGULAR = 2.0
"""Seconds between two looks without a change: not every program reports every change."""
FRESH_PATIENCE = 5.0
REPORT_DELAY = 0.15
"""Seconds until a change of the focus has certainly been reported."""
PASSWORD = "password text"  # noqa: S105 - a role
CLICKABLE = MENU_ROLES | {
    "push button",
    "toggle button",
    "check box",
    "radio button",
    "combo box",
    "text",
    "entry",
    "password text",
    "spin button",
    "slider",
    "link",
    "page tab",
    "list item",
    "tree item",
    "table cell",
    "icon",
}
MAX_NAME = 200
_TELLING = ("multi_line", "single_line", "checkable", "editable")
"""Attributes that tell elements of one role apart and do not change."""

STOP_KEYS = "ctrl+alt+End"
MAX_WAITING = 5_000
"""Inputs that are not processed yet."""
DRAG_DISTANCE = 10
DRAIN_PATIENCE = 20.0
LONGEST = 1800.0
"""Seconds of one recording."""
MOVES_FOCUS = {"tab", "return", "escape", "iso_left_tab", "kp_enter"}
_SCROLL = {4: (-1, 0), 5: (1, 0), 6: (0, -1), 7: (0, 1)}


@dataclass(frozen=True)
class Look:
    """The desktop at one moment."""

    began: float
    windows: tuple[Window, ...] = ()
    application: int | None = None
    """That of the active window."""
    elements: tuple[Element, ...] = ()
    complete: bool = False
    ended: float = 0.0

    @property
    def active(self) -> Window | None:
        return next((window for window in self.windows if window.active), None)

    @property
    def focused(self) -> Element | None:
        return next((element for element in reversed(self.elements) if "focused" in element.states), None)

    @property
    def has_password_field(self) -> bool:
        return any(element.role == PASSWORD and element.visible for element in self.elements)


class ScreenView:
    """Looks again after each change."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.current = Look(0.0)
        self.changed = 0.0
        """When something last changed."""
        self._outdated_at = float("inf")
        """When something first changed after the current look."""
        self._previous = self.current, self._outdated_at
        self._actions: deque[float] = deque(maxlen=500)
        self._reports: deque[float] = deque(maxlen=500)
        self._wanted = 0.0
        self._due = 0.0
        """When the effect of the last action can be seen; not every program reports it, or does so late."""
        self._looked = asyncio.Event()

    def note_action(self, moment: float) -> None:
        """The user did something that can move the focus or open a menu."""
        self._actions.append(moment)
        self._due = moment + REPORT_DELAY

    def before(self, moment: float) -> tuple[Look, bool]:
        """The last look before a moment, and whether something had changed by then, or should have.

        The effect of a click may become known before the click does.
        """
        known = self.current, self._outdated_at
        look, outdated_at = known if self.current.ended <= moment else self._previous
        return look, outdated_at <= moment or look.began < self._due <= moment

    async def settled(self) -> None:
        """Wait for a look that shows the effect of everything so far."""
        while not self.current.began or self.current.began < max(self.changed, self._due):
            await self.fresh(max(self.changed, self._due))

    def focus_changed(self, after: float, until: float) -> bool:
        """Whether the focus may have moved meanwhile; a report may come a little later than the change.

        A report that follows a later action of the user belongs to that.
        """
        if any(after < moment <= until for moment in self._actions):
            return True
        later = min((moment for moment in self._actions if moment > until), default=float("inf"))
        return any(after < moment <= min(until + REPORT_DELAY, later) for moment in self._reports)

    async def watch(self) -> None:
        """Look until cancelled."""
        with self._backend.events.listen("element", "window") as changes:
            while True:
                await self._look()
                deadline = time.monotonic() + REGULAR
                while not self._is_wanted() and time.monotonic() < deadline:
                    change = await changes.next(self._pause())
                    if change is not None:
                        self._note(change)
                        break
                while (change := await changes.next(SETTLE)) is not None:
                    self._note(change)

    async def fresh(self, since: float) -> Look:
        """A look that began after a moment; the last one if there is none in time."""
        self._wanted = max(self._wanted, since)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FRESH_PATIENCE):
                while self.current.began <= since:
                    self._looked.clear()
                    await self._looked.wait()
        return self.current

    def _is_wanted(self) -> bool:
        began, now = self.current.began, time.monotonic()
        return began <= self._wanted <= now or began < self._due <= now

    def _pause(self) -> float:
        """Seconds until it is time to look, without a change."""
        left = self._due - time.monotonic()
        return min(POLL, left) if left > 0 else POLL

    def _note(self, change: DesktopChange) -> None:
        self.changed = time.monotonic()
        self._outdated_at = min(self._outdated_at, self.changed)
        # The order of windows also changes when the user clicks, and says nothing of the focus.
        if change.detail == "active" or "focused" in change.detail:
            self._reports.append(self.changed)

    async def _look(self) -> None:
        began = time.monotonic()
        try:
            look = await self._read(began)
        except ToolFailure:
            look = Look(began)
        self._previous = self.current, self._outdated_at
        self.current, self._outdated_at = replace(look, ended=time.monotonic()), float("inf")
        self._looked.set()

    async def _read(self, began: float) -> Look:
        windows = tuple(await self._backend.windows.list())
        active = next((window.application for window in windows if window.active), None)
        if active is None:
            return Look(began, windows)
        try:
            tree = await read_tree(self._backend, active)
            elements = await with_places(self._backend, tree.elements)
        except ToolFailure:
            return Look(began, windows, active)
        return Look(began, windows, active, tuple(elements), tree.complete)


def element_at(look: Look, point: Point) -> Element | None:
    """What a click there means: the innermost element that can be clicked, or the smallest one."""
    there = [
        element
        for element in look.elements
        if element.visible and element.rect and element.rect.contains(point)
    ]
    if not there:
        return None
    window = window_at(look.windows, point)
    in_front = window is None or window.application == look.application
    clickable = [element for element in there if element.role in CLICKABLE]
    if not in_front:  # a menu may reach over the windows of others
        clickable = there = [element for element in there if element.role in MENU_ROLES]
    return min(clickable or there, key=_area, default=None)


def selector_for(look: Look, element: Element) -> dict[str, Any] | None:
    """The shortest selector that matches this visible element alone; None if there is none."""
    for candidate in _candidates(element):
        selector = parse_selector(candidate)
        matches = [match for match in look.elements if match.visible and selector.matches(match)]
        if [match.ref for match in matches] == [element.ref]:
            return candidate
    return None


def _candidates(element: Element) -> Iterator[dict[str, Any]]:
    """By name first. What a field contains is not used: it may be private, and another one next time."""
    role = {"role": element.role}
    if element.name.strip() and len(element.name) <= MAX_NAME:
        yield {**role, "text": element.name}
    if element.description.strip() and len(element.description) <= MAX_NAME:
        yield {**role, "text": element.description}
    yield role
    yield {"attributes": role}  # exactly this role: as a selector, `text` also means password fields
    for name in _TELLING:
        value = {"attributes": {name: attribute(element, name)}}
        yield {**role, **value}
        if element.name.strip():
            yield {**role, "text": element.name[:MAX_NAME], **value}


def _area(element: Element) -> int:
    return element.rect.width * element.rect.height if element.rect is not None else 0


@dataclass(frozen=True)
class RecordOptions:
    macro_id: str
    display_name: str = ""
    all_text: bool = False
    """Also store text typed into programs without accessibility."""
    seconds: float = LONGEST


@dataclass(frozen=True)
class _Arrived:
    """One input with what was on the screen when it came."""

    input: UserInput
    moment: float
    look: Look
    is_stale: bool
    """Something had changed since the look."""


class MacroRecorder:
    """Made by `record_macro`."""

    def __init__(self, backend: Backend, *, all_text: bool = False) -> None:
        self._backend = backend
        self._all_text = all_text
        self._loop = asyncio.get_running_loop()
        self.view = ScreenView(backend)
        self._steps = StepList()
        self._queue: asyncio.Queue[_Arrived] = asyncio.Queue(MAX_WAITING)
        self._windows: set[int] = set()
        self._names: dict[int, str] = {}
        self._pressed: _Arrived | None = None
        self._last_time = 0
        self.received = 0
        """Keys and buttons so far."""
        self.ended = asyncio.Event()
        """Set when the user pressed the keys that end the recording, or it is full."""

    def receive(self, given: UserInput) -> None:
        """Called from the thread that watches the input."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._arrive, given, time.monotonic())

    def macro(self, display_name: str, description: str = "") -> Macro:
        return self._steps.macro(display_name, description)

    async def settled(self, patience: float = DRAIN_PATIENCE) -> bool:
        """Wait until all that came is processed and the screen was looked at since; False if not in time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._queue.join()
                await self.view.settled()
                return True
        return False

    async def work(self) -> None:
        """Process input in its order until cancelled."""
        first = await self.view.fresh(0.0)
        self._windows = {window.id for window in first.windows}
        while True:
            arrived = await self._queue.get()
            try:
                await self._process(arrived)
            except ToolFailure:
                pass  # the program closed or hangs: its input cannot be assigned to anything
            finally:
                self._queue.task_done()

    def _arrive(self, given: UserInput, moment: float) -> None:
        self.received += 1
        if self.ended.is_set():
            return
        chord = "+".join([*given.modifiers, given.key])
        if self._steps.is_full or self._queue.full() or chord.casefold() == STOP_KEYS.casefold():
            self.ended.set()
            return
        look, is_stale = self.view.before(moment)
        self._queue.put_nowait(_Arrived(given, moment, look, is_stale))
        moves = given.kind == "key_press" and (given.key in MOVES_FOCUS or given.modifiers)
        if given.kind != "key_press" or moves:
            self.view.note_action(moment)

    async def _process(self, arrived: _Arrived) -> None:
        given = arrived.input
        if given.kind == "key_press":
            await self._key(arrived)
            self._last_time = given.time
        elif given.button in _SCROLL:
            if given.kind == "button_press":
                await self._scroll(arrived)
        elif given.kind == "button_press":
            self._pressed = arrived
        elif self._pressed is not None and self._pressed.input.button == given.button:
            await self._release(self._pressed, arrived)
            self._last_time = given.time

    async def _release(self, pressed: _Arrived, released: _Arrived) -> None:
        self._pressed = None
        start, end = pressed.input.at, released.input.at
        if max(abs(start.x - end.x), abs(start.y - end.y)) < DRAG_DISTANCE:
            await self._click(pressed)
            return
        window = window_at(pressed.look.windows, start)
        if window is not None and window.application is not None:
            name = await self._name(window.application)
            self._steps.drag(name, _inside(window, start), _inside(window, end))

    async def _click(self, pressed: _Arrived) -> None:
        given = pressed.input
        for look in await self._looks(pressed):
            element = element_at(look, given.at)
            selector = selector_for(look, element) if element is not None else None
            if selector is not None and given.button in (1, 3) and look.application is not None:
                target = {"selector": selector_text(selector)}
                self._know_window(look, given.at)
                name = await self._name(look.application)
                self._steps.click(name, target, given.button, given.at, given.time)
                return
        await self._click_in_window(pressed)

    async def _looks(self, pressed: _Arrived) -> list[Look]:
        """In which the element may be found, the most reliable first."""
        window = window_at(pressed.look.windows, pressed.input.at)
        is_known = window is None or window.application == pressed.look.application
        if not pressed.is_stale and is_known and pressed.look.elements:
            return [pressed.look]
        return [await self.view.fresh(pressed.moment), pressed.look]

    async def _click_in_window(self, pressed: _Arrived) -> None:
        given = pressed.input
        window = window_at(pressed.look.windows, given.at)
        if window is None or window.application is None:
            return
        inside = _inside(window, given.at)
        target = {"x": str(inside.x), "y": str(inside.y)}
        if given.button == 2:
            target["button"] = "middle"
        self._know_window(pressed.look, given.at)
        name = await self._name(window.application)
        self._steps.click(name, target, given.button, given.at, given.time)

    async def _scroll(self, arrived: _Arrived) -> None:
        window = window_at(arrived.look.windows, arrived.input.at)
        if window is not None and window.application is not None:
            name = await self._name(window.application)
            self._steps.scroll(name, _inside(window, arrived.input.at), *_SCROLL[arrived.input.button])

    async def _key(self, arrived: _Arrived) -> None:
        given = arrived.input
        await asyncio.sleep(max(0.0, arrived.moment + REPORT_DELAY - time.monotonic()))
        look, is_certain = arrived.look, self._is_certain(arrived)
        if not is_certain:
            look = await self.view.fresh(arrived.moment)
        if look.active is None or look.application is None:
            return
        if self._steps.is_separate(given.text if not given.modifiers else ""):
            self._steps.pause(given.time - self._last_time)
        self._open_window(look.active)
        name = await self._name(look.application)
        if not given.text or given.modifiers:
            key = given.text.lower() if given.text.strip() else given.key
            self._steps.key(name, key, given.modifiers)
        elif self._may_store(arrived.look, look, is_certain=is_certain):
            self._steps.text(name, given.text)
        else:
            self._steps.secret(name)

    def _is_certain(self, arrived: _Arrived) -> bool:
        """Whether it is known which field got the key."""
        look = arrived.look
        if not look.complete or look.focused is None:
            return False
        return not self.view.focus_changed(look.began, arrived.moment)

    def _may_store(self, before: Look, after: Look, *, is_certain: bool) -> bool:
        """Text is stored unless it may be a password."""
        focused = after.focused
        if not after.elements or (focused is not None and focused.role == "terminal"):
            return self._all_text
        if is_certain:
            return focused is not None and focused.role != PASSWORD
        return not before.has_password_field and not after.has_password_field

    def _open_window(self, window: Window) -> None:
        if window.id not in self._windows:
            self._windows.add(window.id)
            self._steps.window(window.title)

    def _know_window(self, look: Look, at: Point) -> None:
        window = window_at(look.windows, at)
        if window is not None:
            self._windows.add(window.id)

    async def _name(self, application: int) -> str:
        if application not in self._names:
            listed = await self._backend.applications.list()
            found = next((candidate for candidate in listed if candidate.id == application), None)
            program = found.executable.rpartition("/")[2] if found is not None else ""
            self._names[application] = program or (found.name if found is not None else str(application))
        return self._names[application]


@contextlib.asynccontextmanager
async def record_macro(backend: Backend, *, all_text: bool = False) -> AsyncIterator[MacroRecorder]:
    """Record while the block runs; what was done is processed before it ends. Raises `ToolFailure`."""
    if not isinstance(backend, WatchesInput):
        raise NotSupported("Input cannot be recorded on this desktop.", "Use an X11 session.")
    recorder = MacroRecorder(backend, all_text=all_text)
    tasks = [asyncio.create_task(recorder.view.watch()), asyncio.create_task(recorder.work())]
    watch: InputWatch | None = None
    try:
        await recorder.settled()
        watch = await backend.watch_input(recorder.receive)
        yield recorder
        await recorder.settled()
    finally:
        if watch is not None:
            watch.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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
    session = DesktopSession(SessionSettings(home=home))
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
    if any(macro.name == f"{COLLECTION}/{new_id(macro_id)}" for macro in store.all()):
        raise ResourceExists(f"There is already a macro {macro_id!r}.", "Choose another name.")


async def _first_of(stopped: Awaitable[object], ended: Awaitable[object], seconds: float) -> None:
    tasks = [asyncio.ensure_future(stopped), asyncio.ensure_future(ended)]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def _inside(window: Window, at: Point) -> Point:
    return Point(at.x - window.rect.x, at.y - window.rect.y)
