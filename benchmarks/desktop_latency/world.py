"""A display of its own with three programs, on which everyone is measured."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from toolcrib.bundled.desktop.backend import Backend, Element, Window
from toolcrib.bundled.desktop.backends.x11 import open_backend
from toolcrib.bundled.desktop.elements.search import wait_for
from toolcrib.bundled.desktop.elements.selector import parse_selector
from toolcrib.bundled.desktop.headless import HeadlessDisplay
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.bundled.desktop.tools import offer_profile
from toolcrib.serverkit.server import ToolServer

SIZE = (1280, 800)
PROGRAMS = ("mousepad", "gedit", "featherpad")
"""GTK 3 with 320 elements, GTK 3 with long lists, and Qt."""
START = 60.0
FRAME = parse_selector("role:frame")
AREA = parse_selector({"attributes": {"multi_line": "true", "editable": "true", "visible": "true"}})


@dataclass(frozen=True)
class World:
    backend: Backend
    environment: Mapping[str, str]
    windows: Mapping[str, Window]
    """The window of each program."""
    area: Element
    """Where mousepad is written in."""

    server: ToolServer
    """All tools on this desktop."""

    def process(self, program: str) -> int:
        found = self.windows[program].application
        assert found is not None
        return found

    async def text(self) -> str:
        """What mousepad contains."""
        now = await self.backend.accessibility.read(self.area.ref)
        return (now.text or "") if now is not None else ""


@contextlib.asynccontextmanager
async def open_world() -> AsyncIterator[World]:
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        raise SystemExit(f"Programs are missing. Debian: apt-get install {' '.join(missing)}")
    display = await asyncio.to_thread(HeadlessDisplay.start, SIZE)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        backend = await open_backend(display.target)
        try:
            windows = {name: await _start(backend, display, name, Path(folder)) for name in PROGRAMS}
            found = await wait_for(backend, windows["mousepad"].application or 0, AREA, START)
            environment, server = display.target.environment, _server(backend)
            yield World(backend, environment, windows, found.matches[0], server)
        finally:
            backend.close()
            await asyncio.to_thread(display.close)


def _server(backend: Backend) -> ToolServer:
    session = DesktopSession(SessionSettings())

    async def opened(context: object = None) -> Backend:
        return backend

    session.backend = opened  # type: ignore[method-assign]
    server = ToolServer("desktop", "0")
    offer_profile(server, session, "full")
    return server


async def _start(backend: Backend, display: HeadlessDisplay, name: str, folder: Path) -> Window:
    process = _spawn(display, name, folder / name)
    async with asyncio.timeout(START):
        while True:
            for window in await backend.windows.list():
                if window.application == process.pid:
                    await wait_for(backend, process.pid, FRAME, START)
                    return window
            await asyncio.sleep(0.05)


def _spawn(display: HeadlessDisplay, name: str, home: Path) -> subprocess.Popen[bytes]:
    home.mkdir()
    return subprocess.Popen(
        [name],
        env={**display.target.environment, "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=display.target.process_group,
    )
