"""Opens the desktop when a tool first needs it, and again after its display has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from toolcrib.bundled.desktop.automation_sessions import AutomationSessions
from toolcrib.bundled.desktop.backends import backend_module
from toolcrib.bundled.desktop.elements.snapshots import Snapshots
from toolcrib.bundled.desktop.headless import HOME, HeadlessDisplay
from toolcrib.bundled.desktop.own_page import OwnPageGuard
from toolcrib.bundled.desktop.pictures import Pictures
from toolcrib.config.paths import find_paths
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.extras import ensure

if TYPE_CHECKING:
    from toolcrib.bundled.desktop.backend import Backend

T = TypeVar("T")
EXTRA = "desktop"
approved_window: ContextVar[int | None] = ContextVar("approved_window", default=None)
"""The window that the user was asked about for the call being made; None if nobody was asked."""


@dataclass(frozen=True)
class SessionSettings:
    headless: tuple[int, int] | None = None
    """The size of a display of our own; None for the user's."""
    home: Path | None = None
    """The host's home, where macros and the programs' home are; None in a process of its own."""
    scripts: Path | None = None
    """The folder in which scripts run; None if they are not allowed."""


class DesktopSession:
    """The one desktop of a server."""

    def __init__(self, settings: SessionSettings) -> None:
        self.settings = settings
        self.pictures = Pictures()
        self.snapshots = Snapshots()
        self.automation = AutomationSessions()
        self._display: HeadlessDisplay | None = None
        self._backend: Backend | None = None
        self._opening: asyncio.Lock | None = None
        self._closed = False
        self.programs_home: Path | None = None
        """Where programs on a display of our own save files; None on the user's, and before it is open."""
        self._at_open: list[Callable[[Backend], None]] = []
        self._at_close: list[Callable[[], None]] = []
        self._parts: dict[Callable[[DesktopSession], Any], Any] = {}

    def at_open(self, callback: Callable[[Backend], None]) -> None:
        """Called in the event loop with each backend that is opened."""
        self._at_open.append(callback)

    def at_close(self, callback: Callable[[], None]) -> None:
        self._at_close.append(callback)

    def part(self, make: Callable[[DesktopSession], T]) -> T:
        """The one object that `make` makes for this session."""
        if make not in self._parts:
            self._parts[make] = make(self)
        found: T = self._parts[make]
        return found

    def close_parts(self) -> None:
        """Close those that have a `close`; the desktop itself stays open."""
        parts, self._parts = self._parts, {}
        for part in parts.values():
            if hasattr(part, "close"):
                part.close()

    async def backend(self, context: ToolContext | None = None) -> Backend:
        """The backend, opened if necessary; raises `ToolFailure` with what is missing."""
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if self._backend is None or not self._backend.alive:
                self._close_backend()
                await asyncio.to_thread(self._close_display)
                await ensure(EXTRA, context)
                self._backend = OwnPageGuard(await self._open())
                for callback in self._at_open:
                    callback(self._backend)
            return self._backend

    @property
    def opened(self) -> Backend | None:
        """The backend if it is open; does not open it."""
        return self._backend if self._backend is not None and self._backend.alive else None

    def close(self) -> None:
        self._closed = True
        self.close_parts()
        for callback in self._at_close:
            callback()
        self._close_backend()
        self._close_display()

    async def _open(self) -> Backend:
        module = backend_module()
        target = module.user_target()
        if self.settings.headless is not None:
            homes = find_paths(self.settings.home).desktop
            wanted = self.programs_home.name if self.programs_home is not None else HOME
            self._display = await asyncio.to_thread(
                HeadlessDisplay.start, self.settings.headless, homes, wanted
            )
            self.programs_home = self._display.home
            target = self._display.target
        problems = [problem for problem in module.probe(target) if problem.fatal]
        if self._closed:
            await asyncio.to_thread(self._close_display)
            raise ToolFailure("The desktop server is closing.")
        if problems:
            raise ToolFailure(problems[0].message, problems[0].hint)
        return await module.open_backend(target)

    def _close_backend(self) -> None:
        backend, self._backend = self._backend, None
        if backend is not None:
            backend.close()

    def _close_display(self) -> None:
        display, self._display = self._display, None
        if display is not None:
            display.close()
