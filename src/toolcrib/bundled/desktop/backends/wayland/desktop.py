"""The Wayland backend: XWayland if it is there, accessibility, and portals."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import shutil
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from toolcrib.bundled.desktop.backend import (
    Button,
    ClickRefused,
    Clipboard,
    ClipboardContent,
    Display,
    Element,
    ElementRef,
    ElementTree,
    Screenshot,
    Window,
)
from toolcrib.bundled.desktop.backends.wayland.portal import Portals
from toolcrib.bundled.desktop.backends.wayland.remote_desktop import HORIZONTAL, VERTICAL, RemoteDesktop
from toolcrib.bundled.desktop.backends.wayland.screen import WaylandScreen
from toolcrib.bundled.desktop.backends.wayland.target import WaylandTarget
from toolcrib.bundled.desktop.backends.wayland.windows import NativeWindows, WaylandWindows
from toolcrib.bundled.desktop.backends.x11.applications import X11Applications
from toolcrib.bundled.desktop.backends.x11.atspi.accessibility import AtspiAccessibility
from toolcrib.bundled.desktop.backends.x11.capture import X11Capture
from toolcrib.bundled.desktop.backends.x11.desktop import X11Desktop
from toolcrib.bundled.desktop.backends.x11.input import X11Input
from toolcrib.bundled.desktop.backends.x11.keysyms import keysym_of_character, keysyms_of_chord
from toolcrib.bundled.desktop.backends.x11.windows import X11Windows
from toolcrib.bundled.desktop.changes import Changes
from toolcrib.bundled.desktop.clipboard_content import LARGEST, PREFERRED, TEXT, check_size
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.separate_presses import SeparatePresses
from toolcrib.serverkit.context import ToolFailure

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


class WaylandAccessibility:
    """Elements without a place if their program is a Wayland program.

    Such programs do not know where their windows are, and give places inside them; clicking there would hit
    something else. Their elements can be read, activated and written to.
    """

    def __init__(self, atspi: AtspiAccessibility, windows: WaylandWindows) -> None:
        self._atspi = atspi
        self._windows = windows
        self.at_point, self.texts, self.write = atspi.at_point, atspi.texts, atspi.write
        self.actions, self.act, self.focus = atspi.actions, atspi.act, atspi.focus

    async def tree(self, application: int, timeout: float) -> ElementTree:
        found = await self._atspi.tree(application, timeout)
        if application in await self._windows.programs_of_x11():
            return found
        elements = tuple(dataclasses.replace(element, rect=None) for element in found.elements)
        return dataclasses.replace(found, elements=elements)

    async def rects(self, elements: Collection[ElementRef]) -> Mapping[ElementRef, Rect]:
        placed = await self._placed(elements)
        return await self._atspi.rects(placed) if placed else {}

    async def read(self, element: ElementRef) -> Element | None:
        found = await self._atspi.read(element)
        if found is None or await self._placed([element]):
            return found
        return dataclasses.replace(found, rect=None)

    async def text_rect(self, element: Element, start: int, end: int) -> Rect | None:
        placed = await self._placed([element.ref])
        return await self._atspi.text_rect(element, start, end) if placed else None

    async def _placed(self, elements: Collection[ElementRef]) -> list[ElementRef]:
        """Those of X11 programs."""
        bus = await self._atspi.connect()
        of_x11 = await self._windows.programs_of_x11()
        return [ref for ref in elements if bus.process_of(ref[0]) in of_x11]


class WaylandCapture:
    def __init__(self, x11: X11Capture | None, screen: WaylandScreen, windows: WaylandWindows) -> None:
        self._x11 = x11
        self._screen = screen
        self._windows = windows

    async def screen(self, rect: Rect | None = None) -> Screenshot:
        pixels, whole = await self._screen.picture()
        part = whole if rect is None else rect.intersection(whole)
        if part.is_empty:
            raise ToolFailure(
                "The region is outside the screen.", f"The screen is {whole.width}x{whole.height}."
            )
        top, left = part.y - whole.y, part.x - whole.x
        cut = pixels[top : top + part.height, left : left + part.width]
        return Screenshot(cut.copy(), Point(part.x, part.y))

    async def window(self, window: int) -> Screenshot:
        if self._x11 is None or not self._windows.is_x11(window):
            raise ToolFailure(
                "A picture of a single Wayland window cannot be taken.",
                "Take a screenshot of the screen, or use --headless 1280x800.",
            )
        return await self._x11.window(window)


PATIENCE = 5.0


class WlClipboard:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    async def read(self, media_type: str | None = None) -> ClipboardContent | None:
        code, listed = await self._run(["wl-paste", "--list-types"])
        offered = [name for name in listed.decode("utf-8", "replace").split("\n") if "/" in name]
        chosen = _choose(offered, media_type)
        if code != 0 or chosen is None:
            return None
        code, data = await self._run(["wl-paste", "--no-newline", "--type", chosen])
        if code != 0:
            return None
        shown = TEXT if chosen.startswith("text/plain") else chosen
        available = dict.fromkeys(TEXT if name.startswith("text/plain") else name for name in offered)
        return ClipboardContent(shown, data, tuple(available))

    async def write(self, contents: Mapping[str, bytes]) -> None:
        """One format, because wl-copy offers one: the text if there is one."""
        check_size(contents)
        if not contents:
            await self._checked(["wl-copy", "--clear"], b"")
            return
        chosen = TEXT if TEXT in contents else next(iter(contents))
        await self._checked(["wl-copy", "--type", chosen], contents[chosen])

    async def _checked(self, command: Sequence[str], data: bytes) -> None:
        code, _ = await self._run(command, data)
        if code != 0:
            raise ToolFailure("The clipboard cannot be written.", "The compositor may not allow it.")

    async def _run(self, command: Sequence[str], data: bytes = b"") -> tuple[int, bytes]:
        program = shutil.which(command[0], path=self._environment.get("PATH"))
        if program is None:
            raise ToolFailure(
                "The clipboard of this Wayland session cannot be used.", "Install the package wl-clipboard."
            )
        process = await asyncio.create_subprocess_exec(
            program,
            *command[1:],
            env=dict(self._environment),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE if command[0] == "wl-paste" else asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(PATIENCE):
                output = await _exchange(process, data)
                return await process.wait(), output
        except TimeoutError:
            raise ToolFailure(f"{command[0]} did not end within {PATIENCE:g} s.", "Try again.") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


async def _exchange(process: asyncio.subprocess.Process, data: bytes) -> bytes:
    """Send the input and read a limited output; the copy that wl-copy leaves behind keeps none open."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()
    if process.stdout is None:
        return b""
    parts: list[bytes] = []
    while part := await process.stdout.read(1 << 16):
        parts.append(part)
        if sum(map(len, parts)) > LARGEST:
            raise ToolFailure(f"The clipboard holds more than {LARGEST >> 20} MiB.")
    return b"".join(parts)


def _choose(offered: Sequence[str], media_type: str | None) -> str | None:
    text = next((name for name in offered if name.startswith("text/plain")), None)
    if media_type is None:
        return text or next((name for name in (*PREFERRED, *offered) if name in offered), None)
    if media_type.startswith("text/plain"):
        return text
    return media_type if media_type in offered else None


class WaylandDisplays:
    def __init__(self, screen: WaylandScreen) -> None:
        self._screen = screen

    async def list(self) -> Sequence[Display]:
        return await self._screen.displays()


class WaylandDesktop:
    name = "wayland"

    def __init__(self, target: WaylandTarget, x11: X11Desktop | None) -> None:
        self.target = target
        self._x11 = x11
        self._portals = Portals(target.bus_address)
        self.events = x11.events if x11 else Changes(asyncio.get_running_loop())
        self._atspi = x11.accessibility if x11 else self._own_atspi()
        self.windows = WaylandWindows(x11.windows if x11 else None, NativeWindows(self._atspi))
        self.accessibility = WaylandAccessibility(self._atspi, self.windows)
        screen = WaylandScreen(self._portals, x11.displays.list if x11 else None)
        self.displays = WaylandDisplays(screen)
        self.capture = WaylandCapture(x11.capture if x11 else None, screen, self.windows)
        self.input = WaylandInput(
            x11.input if x11 else None, RemoteDesktop(self._portals), screen, self.windows
        )
        self.clipboard: Clipboard = x11.clipboard if x11 else WlClipboard(target.environment)
        self.applications = X11Applications(
            # Of X11's windows it uses the list.
            target.xwayland,
            cast(X11Windows, self.windows),
            self.events,
            lambda: self._atspi.known,
        )

    @classmethod
    async def open(cls, target: WaylandTarget) -> WaylandDesktop:
        desktop = cls(target, await _open_xwayland(target))
        if desktop._x11 is None:
            with contextlib.suppress(ToolFailure):  # the rest works without elements
                await desktop._atspi.connect()
        return desktop

    @property
    def alive(self) -> bool:
        return self._x11 is None or self._x11.alive

    def close(self) -> None:
        self._portals.close()
        if self._x11 is not None:
            self._x11.close()
        else:
            self._atspi.close()

    def _own_atspi(self) -> AtspiAccessibility:
        return AtspiAccessibility(self.target.bus_address, self.events, cast(X11Windows, _NoPlaces()))


async def _open_xwayland(target: WaylandTarget) -> X11Desktop | None:
    """None also if it cannot be reached: what needs no XWayland still works."""
    with contextlib.suppress(ToolFailure):
        return await X11Desktop.open(target.xwayland) if target.display else None
    return None


class _NoPlaces:
    """Stands for X11's windows where only their positions are asked for."""

    async def content_origin(self, application: int, title: str) -> Point | None:
        return None
