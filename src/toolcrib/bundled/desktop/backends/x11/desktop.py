"""The X11 backend: connections that act, listen and take pictures, and the accessibility bus."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import xcffib
import xcffib.damage
import xcffib.xfixes
from xcffib.xproto import CW, EventMask, PropertyNotifyEvent

from toolcrib.bundled.desktop.backends.x11.applications import X11Applications
from toolcrib.bundled.desktop.backends.x11.atspi.accessibility import AtspiAccessibility
from toolcrib.bundled.desktop.backends.x11.capture import X11Capture
from toolcrib.bundled.desktop.backends.x11.clipboard import SELECTION, X11Clipboard
from toolcrib.bundled.desktop.backends.x11.connection import Event, XConnection, XThread
from toolcrib.bundled.desktop.backends.x11.displays import X11Displays
from toolcrib.bundled.desktop.backends.x11.input import X11Input
from toolcrib.bundled.desktop.backends.x11.pointer import has_popup, owners_of
from toolcrib.bundled.desktop.backends.x11.recording import X11InputWatch
from toolcrib.bundled.desktop.backends.x11.target import DisplayTarget
from toolcrib.bundled.desktop.backends.x11.windows import X11Windows, wait_for_manager
from toolcrib.bundled.desktop.changes import Changes, DesktopChange
from toolcrib.bundled.desktop.user_input import InputWatch, UserInput
from toolcrib.serverkit.context import ToolFailure

_WATCHED = {"_NET_CLIENT_LIST_STACKING": "list", "_NET_ACTIVE_WINDOW": "active"}
NON_EMPTY = 3
NEW_OWNER = 1


class DisplayListener:
    """Used from the listening thread."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._damage = 0

    def start(self, connection: XConnection) -> None:
        """Report changes of the whole screen."""
        connection.learn_atoms(*_WATCHED)
        mask = [EventMask.PropertyChange]
        connection.core.ChangeWindowAttributes(connection.root, CW.EventMask, mask)
        connection.extension(xcffib.xfixes).QueryVersion(5, 0).reply()
        selection = connection.atom(SELECTION)
        connection.extension(xcffib.xfixes).SelectSelectionInput(connection.root, selection, NEW_OWNER)
        connection.extension(xcffib.damage).QueryVersion(1, 1).reply()
        self._damage = connection.raw.generate_id()
        connection.extension(xcffib.damage).Create(self._damage, connection.root, NON_EMPTY)
        connection.raw.flush()

    def renew(self, connection: XConnection) -> None:
        """Ask for the next report of changed pixels: the server sends one, and no other before this."""
        connection.extension(xcffib.damage).Subtract(self._damage, 0, 0)
        connection.raw.flush()

    def handle(self, connection: XConnection, event: Event) -> None:
        if isinstance(event, xcffib.damage.NotifyEvent):
            self._changes.publish(DesktopChange("pixels"))
            if self._changes.wanted:  # otherwise a film would wake us for every picture
                self.renew(connection)
        elif isinstance(event, xcffib.xfixes.SelectionNotifyEvent):
            owner = next(iter(owners_of(connection, event.owner)), None) if event.owner else None
            self._changes.publish(DesktopChange("clipboard", application=owner))
        elif isinstance(event, PropertyNotifyEvent) and event.window == connection.root:
            name = connection.atom_name(event.atom)
            if name in _WATCHED:
                self._changes.publish(DesktopChange("window", _WATCHED[name]))


_THREADS = ("act", "listen", "see")


class X11Desktop:
    name = "x11"

    def __init__(self, target: DisplayTarget, acting: XThread, listening: XThread, seeing: XThread) -> None:
        self._threads = (acting, listening, seeing)
        self.target = target
        self.acting = acting
        self.events = Changes(asyncio.get_running_loop())
        self.windows = X11Windows(acting)
        self.displays = X11Displays(acting)
        self.capture = X11Capture(seeing)  # the screen can be watched while a long text is typed
        self.input = X11Input(acting)
        self.clipboard = X11Clipboard(listening)
        self._listener = DisplayListener(self.events)
        self.accessibility = AtspiAccessibility(
            target.bus_address, self.events, self.windows, lambda at: acting.run(has_popup, at)
        )
        self.applications = X11Applications(
            target, self.windows, self.events, lambda: self.accessibility.known
        )

    @classmethod
    async def open(cls, target: DisplayTarget) -> X11Desktop:
        acting, listening, seeing = await asyncio.gather(
            *(asyncio.to_thread(XThread, target.display, target.cookie, name) for name in _THREADS)
        )
        desktop = cls(target, acting, listening, seeing)
        try:
            await desktop._prepare(acting, listening)
        except BaseException:
            desktop.close()
            raise
        return desktop

    async def _prepare(self, acting: XThread, listening: XThread) -> None:
        await acting.run(wait_for_manager)
        await self.capture.prepare()
        await self.clipboard.prepare()
        await listening.run(self._listener.start)
        listening.connection.on_event = self._handle
        self.events.on_listen = lambda: listening.post(self._listener.renew)
        await self._enable_accessibility()

    def _handle(self, event: Event) -> None:
        self._listener.handle(self._threads[1].connection, event)
        self.clipboard.handle(event)

    @property
    def alive(self) -> bool:
        return all(thread.alive for thread in self._threads)

    async def _enable_accessibility(self) -> None:
        """Before programs start: Qt looks only once. Without it, the rest still works."""
        with contextlib.suppress(ToolFailure):
            await self.accessibility.connect()

    async def watch_input(self, on_input: Callable[[UserInput], None]) -> InputWatch:
        return await X11InputWatch.start(self.target, self._threads[1], on_input)

    def close(self) -> None:
        self.accessibility.close()
        for thread in self._threads:
            thread.close()
