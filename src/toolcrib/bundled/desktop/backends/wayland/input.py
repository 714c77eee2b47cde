"""Keyboard and pointer of a Wayland session: through XWayland for its windows, else the RemoteDesktop portal.
Decides how long to wait for the user's permission, and the errors without it.

The user allows the portal in a dialog when the first input is sent. The permission is not kept: if the user
ends the session in the desktop's own controls, the next input asks again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from dbus_fast import Variant

from toolcrib.bundled.desktop.backend import Button, ClickRefused, Window
from toolcrib.bundled.desktop.backends.wayland.portal import INSTEAD, Portal, PortalRefused, Portals
from toolcrib.bundled.desktop.backends.wayland.screen import WaylandScreen, bounds
from toolcrib.bundled.desktop.backends.wayland.windows import WaylandWindows
from toolcrib.bundled.desktop.backends.x11.input import X11Input
from toolcrib.bundled.desktop.backends.x11.keysyms import keysym_of_character, keysyms_of_chord
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.separate_presses import SeparatePresses
from toolcrib.serverkit.context import ToolFailure

REMOTE_DESKTOP = "org.freedesktop.portal.RemoteDesktop"
SCREEN_CAST = "org.freedesktop.portal.ScreenCast"
KEYBOARD, POINTER = 1, 2
MONITOR = 1
PATIENCE = 10.0
CONSENT_PATIENCE = 60.0
VERTICAL, HORIZONTAL = 0, 1
NO_OPTIONS: dict[str, Variant] = {}


@dataclass(frozen=True)
class Stream:
    """A display that the user shares; positions are given inside one."""

    node: int
    rect: Rect
    """In the compositor's logical coordinates."""


@dataclass(frozen=True)
class _Session:
    portal: Portal
    handle: str
    devices: int
    streams: tuple[Stream, ...]


class RemoteDesktop:
    def __init__(self, portals: Portals) -> None:
        self._portals = portals
        self._session: _Session | None = None
        self._starting = asyncio.Lock()

    async def available(self) -> bool:
        try:
            return bool(await (await self._portals.get()).version(REMOTE_DESKTOP))
        except ToolFailure:
            return False

    async def move(self, to: Point, screen: Rect) -> None:
        """`screen` is all displays together in the units of `to`."""
        session = await self._start(POINTER)
        if not session.streams:
            raise ToolFailure(
                "The user shared no display, so the pointer cannot be placed.",
                "Ask the user to share the whole screen in the desktop's dialog.",
            )
        stream, x, y = locate(to, screen, session.streams)
        await self._notify(session, "NotifyPointerMotionAbsolute", "udd", stream.node, x, y)

    async def button(self, code: int, *, pressed: bool) -> None:
        await self._notify(await self._start(POINTER), "NotifyPointerButton", "iu", code, int(pressed))

    async def scroll(self, axis: int, steps: int) -> None:
        await self._notify(await self._start(POINTER), "NotifyPointerAxisDiscrete", "ui", axis, steps)

    async def key(self, keysym: int, *, pressed: bool) -> None:
        session = await self._start(KEYBOARD)
        await self._notify(session, "NotifyKeyboardKeysym", "iu", keysym, int(pressed))

    async def _notify(self, session: _Session, member: str, signature: str, *arguments: Any) -> None:
        await session.portal.call(
            REMOTE_DESKTOP, member, f"oa{{sv}}{signature}", session.handle, NO_OPTIONS, *arguments
        )

    async def _start(self, device: int) -> _Session:
        """The session; asks the user if there is none."""
        async with self._starting:
            if self._session is None or not self._session.portal.connected:
                self._session = await self._open()
            session = self._session
        if not session.devices & device:
            name = "keyboard" if device == KEYBOARD else "pointer"
            raise PortalRefused(f"The user did not allow control of the {name}.", INSTEAD)
        return session

    async def _open(self) -> _Session:
        portal = await self._portals.get()
        if not await portal.version(REMOTE_DESKTOP):
            raise ToolFailure(
                "This desktop does not let programs send input to Wayland programs.",
                "Use the elements' own actions, X11 programs, or --headless 1280x800.",
            )
        token = {"session_handle_token": Variant("s", "toolcrib")}
        made = await portal.request(REMOTE_DESKTOP, "CreateSession", "", options=token, patience=PATIENCE)
        handle = str(made["session_handle"])
        try:
            return await self._ask(portal, handle)
        except BaseException:
            await portal.close_session(handle)
            raise

    async def _ask(self, portal: Portal, handle: str) -> _Session:
        """Choose devices and displays, and have the desktop ask the user."""
        devices = {"types": Variant("u", KEYBOARD | POINTER)}
        await portal.request(REMOTE_DESKTOP, "SelectDevices", "o", handle, options=devices, patience=PATIENCE)
        sources = {"types": Variant("u", MONITOR), "multiple": Variant("b", True)}
        await portal.request(SCREEN_CAST, "SelectSources", "o", handle, options=sources, patience=PATIENCE)
        results = await portal.request(
            REMOTE_DESKTOP, "Start", "os", handle, "", options=NO_OPTIONS, patience=CONSENT_PATIENCE
        )
        portal.on_closed(handle, self._forget)
        return _Session(portal, handle, int(results.get("devices", 0)), _streams(results))

    def _forget(self) -> None:
        self._session = None


def _streams(results: Mapping[str, Any]) -> tuple[Stream, ...]:
    """Streams without a size cannot be pointed at."""
    found = []
    for node, properties in results.get("streams", ()):
        size = properties["size"].value if "size" in properties else None
        if size is not None:
            x, y = properties["position"].value if "position" in properties else (0, 0)
            found.append(Stream(int(node), Rect(x, y, *size)))
    return tuple(found)


def locate(point: Point, screen: Rect, streams: Sequence[Stream]) -> tuple[Stream, float, float]:
    """The stream at a screen position, and the position inside it.

    The compositor's coordinates may be scaled against ours; both cover the same displays.
    """
    whole = bounds([stream.rect for stream in streams])
    x = whole.x + (point.x + 0.5 - screen.x) * whole.width / screen.width
    y = whole.y + (point.y + 0.5 - screen.y) * whole.height / screen.height
    for stream in streams:
        if stream.rect.contains(Point(int(x // 1), int(y // 1))):
            return stream, x - stream.rect.x, y - stream.rect.y
    raise ToolFailure(
        f"{point.x},{point.y} is on no display that the user shares.",
        "Take a screenshot, or ask the user to share all displays.",
    )


LONGEST = 60.0
"""Seconds after which what nobody releases is released."""


@dataclass(frozen=True)
class HeldChange:
    """A key or a button goes down or comes up."""

    name: str
    pressed: bool
    is_button: bool = False


Send = Callable[[Sequence[HeldChange]], Awaitable[None]]


class HeldDown:
    """Sends each change once: a key that is down is not pressed again."""

    def __init__(self, send: Send, move: Callable[[Point], Awaitable[None]]) -> None:
        self._send = send
        self._move = move
        self._since: dict[tuple[bool, str], float] = {}

    async def hold(self, keys: Sequence[str], button: Button | None, at: Point | None) -> None:
        """Move, press the keys and then the button."""
        if at is not None:
            await self._move(at)
        wanted = [(False, key) for key in keys] + ([(True, button)] if button is not None else [])
        new = [held for held in wanted if held not in self._since]
        self._since.update(dict.fromkeys(new, time.monotonic()))
        await self._send([HeldChange(name, True, is_button) for is_button, name in new])
        asyncio.get_running_loop().call_later(LONGEST, self._release_old)

    async def release(self, keys: Sequence[str], button: Button | None, at: Point | None) -> None:
        """Move, release the button and then the keys; all if none is named."""
        if at is not None:
            await self._move(at)
        named = [(False, key) for key in keys] + ([(True, button)] if button is not None else [])
        await self._send(self.let_go(named or list(self._since)))

    def let_go(self, named: Sequence[tuple[bool, str]] | None = None) -> list[HeldChange]:
        """Forget these, or all, and return what releases them, the last one first."""
        chosen = [held for held in reversed(self._since) if named is None or held in named]
        for held in chosen:
            del self._since[held]
        return [HeldChange(name, False, is_button) for is_button, name in chosen]

    @property
    def keys(self) -> list[str]:
        return [name for is_button, name in self._since if not is_button]

    @property
    def button(self) -> str | None:
        """The button that was pressed last."""
        return next((name for is_button, name in reversed(self._since) if is_button), None)

    def _release_old(self) -> None:
        oldest = time.monotonic() - LONGEST + 1
        changes = self.let_go([held for held, since in self._since.items() if since < oldest])
        if changes:
            task = asyncio.ensure_future(self._send(changes))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())


BUTTONS: dict[Button, int] = {"left": 0x110, "right": 0x111, "middle": 0x112}
"""Linux's codes BTN_LEFT, BTN_RIGHT and BTN_MIDDLE."""
MAX_CLICKS = 3
MAX_SCROLL = 100
DRAG_STEPS = 12
DRAG_PAUSE = 0.008
BATCH = 50
"""Characters between two looks at whether the window is still active."""
TYPING_DEADLINE = 120.0


class WaylandInput:
    def __init__(
        self, x11: X11Input | None, remote: RemoteDesktop, screen: WaylandScreen, windows: WaylandWindows
    ) -> None:
        self._x11 = x11
        self._remote = remote
        self._screen = screen
        self._windows = windows
        self._held = HeldDown(self._send_held, self.move)  # the portal releases all when its session ends
        self._presses = SeparatePresses()

    async def click(
        self,
        at: Point,
        *,
        button: Button = "left",
        count: int = 1,
        owner: int | None = None,
        unmoved: Window | None = None,
    ) -> None:
        """What is under a point is known only for X11 windows, so a click with an owner goes to these."""
        if owner is not None or unmoved is not None:
            x11 = await self._x11_with(owner)
            await x11.click(at, button=button, count=count, owner=owner, unmoved=unmoved)
            return
        if self._x11 is not None and not await self._remote.available():
            await self._x11.click(at, button=button, count=count)
            return
        async with self._presses.press(button, at):
            await self.move(at)
            for _ in range(max(1, min(count, MAX_CLICKS))):
                await self._remote.button(BUTTONS[button], pressed=True)
                await self._remote.button(BUTTONS[button], pressed=False)

    async def drag(
        self,
        start: Point,
        end: Point,
        *,
        button: Button = "left",
        owner: int | None = None,
        unmoved: Window | None = None,
    ) -> None:
        if owner is not None or unmoved is not None:
            await (await self._x11_with(owner)).drag(start, end, button=button, owner=owner, unmoved=unmoved)
            return
        if self._x11 is not None and not await self._remote.available():
            await self._x11.drag(start, end, button=button)
            return
        async with self._presses.press(button, start):
            await self.move(start)
            await self._remote.button(BUTTONS[button], pressed=True)
        try:
            for step in range(1, DRAG_STEPS + 1):
                await asyncio.sleep(DRAG_PAUSE)
                await self.move(start.towards(end, step / DRAG_STEPS))
        finally:
            await self._remote.button(BUTTONS[button], pressed=False)

    async def _x11_with(self, owner: int | None) -> X11Input:
        """The input that can check what it reaches; raises `ClickRefused` for a Wayland window."""
        if self._x11 is None or owner not in await self._windows.programs_of_x11():
            raise ClickRefused(
                "It is unknown which Wayland window is at that point, so nothing was clicked.",
                "Use the element's own action, or click a position of a screenshot.",
            )
        return self._x11

    async def move(self, to: Point) -> None:
        if self._x11 is not None and not await self._remote.available():
            await self._x11.move(to)
            return
        screen = await self._screen.rect()
        if not screen.contains(to):
            raise ToolFailure(
                f"{to.x},{to.y} is outside the screen.",
                "The position of a Wayland window is unknown: use a position of a screenshot.",
            )
        await self._remote.move(to, screen)

    async def scroll(self, at: Point, *, down: int = 0, right: int = 0) -> None:
        if self._x11 is not None and not await self._remote.available():
            await self._x11.scroll(at, down=down, right=right)
            return
        await self.move(at)
        for axis, steps in ((VERTICAL, down), (HORIZONTAL, right)):
            if steps:
                await self._remote.scroll(axis, max(-MAX_SCROLL, min(steps, MAX_SCROLL)))

    async def type_text(self, text: str, window: int) -> None:
        if self._x11 is not None and self._windows.is_x11(window):
            await self._x11.type_text(text, window)
            return
        keysyms = [keysym_of_character(character) for character in text.replace("\r\n", "\n")]
        deadline = time.monotonic() + TYPING_DEADLINE
        for done in range(0, len(keysyms), BATCH):
            await self._check_active(window, done, len(keysyms), deadline)
            for keysym in keysyms[done : done + BATCH]:
                await self._tap([keysym])

    async def press(self, chord: str, window: int | None, *, times: int = 1) -> None:
        to_x11 = window is not None and self._windows.is_x11(window)
        if self._x11 is not None and (to_x11 or not await self._remote.available()):
            await self._x11.press(chord, window if to_x11 else None, times=times)
            return
        if window is not None:
            await self._windows.focus(window)
        keysyms = keysyms_of_chord(chord)
        for _ in range(times):
            await self._tap(keysyms)

    async def hold(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        if self._x11 is not None and not await self._remote.available():
            await self._x11.hold(keys=keys, button=button, at=at)
            return
        async with self._presses.press(button, at):
            await self._held.hold(keys, button, at)

    async def release(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        if self._x11 is not None and not await self._remote.available():
            await self._x11.release(keys=keys, button=button, at=at)
            return
        await self._held.release(keys, button, at)

    async def _send_held(self, changes: Sequence[HeldChange]) -> None:
        for change in changes:
            if change.is_button:
                await self._remote.button(BUTTONS[cast("Button", change.name)], pressed=change.pressed)
            else:
                await self._remote.key(keysyms_of_chord(change.name)[-1], pressed=change.pressed)

    async def _tap(self, keysyms: list[int]) -> None:
        """Press these in order and release them; nothing stays pressed if that fails."""
        pressed: list[int] = []
        try:
            for keysym in keysyms:
                await self._remote.key(keysym, pressed=True)
                pressed.append(keysym)
        finally:
            for keysym in reversed(pressed):
                await self._remote.key(keysym, pressed=False)

    async def _check_active(self, window: int, done: int, total: int, deadline: float) -> None:
        if time.monotonic() > deadline:
            raise ToolFailure(f"Only {done} of {total} characters were typed: it took too long.")
        try:
            await self._windows.focus(window)
        except ToolFailure as error:
            raise ToolFailure(
                f"{done} of {total} characters were typed: {error.message}", error.hint or ""
            ) from None
