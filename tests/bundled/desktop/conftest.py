"""A real display with real programs; the display is shared by the tests of a process, programs are not."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from tests.bundled.desktop.shared_display import SharedDisplay
from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.backends.x11 import DisplayTarget, open_backend
from toolcrib.bundled.desktop.headless import HeadlessDisplay

if TYPE_CHECKING:
    from tests.bundled.desktop.full_tools import FullTools

T = TypeVar("T")
DEADLINE = 90.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """X11 is for Linux; there a missing program is a failure, as `scripts/test-needs.sh` installs them."""
    for item in items:
        if sys.platform != "linux" and "bundled/desktop" in item.path.as_posix():
            item.add_marker(pytest.mark.skip(reason="The desktop server has no backend for this system yet."))


@pytest.fixture(scope="session")
def shared_display() -> Iterator[SharedDisplay]:
    shared = SharedDisplay()
    yield shared
    shared.close()


@pytest.fixture
def display(shared_display: SharedDisplay) -> HeadlessDisplay:
    return shared_display.usable()


def own_settings(home: Path) -> dict[str, str]:
    """The environment of a program whose settings no other one shares.

    Not with dconf: its service writes to the home of the display, where this program would not read them, so
    that it forgets what it has just set.
    """
    return {"HOME": str(home), "GSETTINGS_BACKEND": "memory"}


@dataclass
class Programs:
    """Starts programs on the display, each with a home of its own, and ends them."""

    target: DisplayTarget
    folder: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *command: str, **options: Any) -> subprocess.Popen[bytes]:
        if shutil.which(command[0]) is None:
            pytest.fail(f"{command[0]} is not installed; see scripts/test-needs.sh")
        home = self.folder / f"home{len(self.started)}"
        home.mkdir()
        process = subprocess.Popen(
            command,
            env={**self.target.environment, **own_settings(home)},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            process_group=self.target.process_group,
            **{"stdout": subprocess.DEVNULL, **options},
        )
        self.started.append(process)
        return process

    async def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        await asyncio.to_thread(process.wait)

    def end(self) -> None:
        for process in self.started:
            process.kill()
        for process in self.started:
            process.wait()


@pytest.fixture
def programs(display: HeadlessDisplay, tmp_path: Path) -> Iterator[Programs]:
    made = Programs(display.target, tmp_path)
    yield made
    made.end()


@pytest.fixture
async def backend(display: HeadlessDisplay) -> AsyncIterator[Backend]:
    opened = await open_backend(display.target)
    yield opened
    opened.close()


async def eventually(look: Callable[[], Awaitable[T]], deadline: float = DEADLINE) -> T:
    """The first true value; asked again until the deadline."""
    async with asyncio.timeout(deadline):
        while not (found := await look()):  # noqa: ASYNC110 - what it looks at has no event
            await asyncio.sleep(0.02)
    return found


async def window_of(backend: Backend, process: subprocess.Popen[bytes]) -> Window:
    async def look() -> Window | None:
        listed = await backend.windows.list()
        return next((window for window in listed if window.application == process.pid), None)

    found = await eventually(look)
    assert found is not None
    return found


def processes_of_group(group: int) -> list[str]:
    """The names of the living processes of a group."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] != "Z":
                found.append((folder / "comm").read_text().strip())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def x_socket(display: str) -> tuple[int, int] | None:
    """Which socket a display has; None for none. Another display may take its number once it has ended."""
    try:
        found = (Path("/tmp/.X11-unix") / f"X{display.removeprefix(':')}").stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_ctime_ns


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
async def full(backend: Backend) -> AsyncIterator[FullTools]:
    from tests.bundled.desktop.full_tools import FullTools

    made = FullTools(backend)
    yield made
    made.session.close()
