"""The Wayland backend: XWayland if it is there, accessibility, and portals. Also the clipboard
(wl-clipboard), displays, and errors for pictures of single windows."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import shutil
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from toolcrib.bundled.desktop.backend import (
    Clipboard,
    ClipboardContent,
    Display,
    Element,
    ElementRef,
    ElementTree,
    Screenshot,
)
from toolcrib.bundled.desktop.backends.wayland.input import RemoteDesktop, WaylandInput
from toolcrib.bundled.desktop.backends.wayland.portal import Portals
from toolcrib.bundled.desktop.backends.wayland.screen import WaylandScreen
from toolcrib.bundled.desktop.backends.wayland.target import WaylandTarget
from toolcrib.bundled.desktop.backends.wayland.windows import NativeWindows, WaylandWindows
from toolcrib.bundled.desktop.backends.x11.applications import X11Applications
from toolcrib.bundled.desktop.backends.x11.atspi.accessibility import AtspiAccessibility
from toolcrib.bundled.desktop.backends.x11.capture import X11Capture
from toolcrib.bundled.desktop.backends.x11.desktop import X11Desktop
from toolcrib.bundled.desktop.backends.x11.windows import X11Windows
from toolcrib.bundled.desktop.changes import Changes
from toolcrib.bundled.desktop.clipboard_content import LARGEST, PREFERRED, TEXT, check_size
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure


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
