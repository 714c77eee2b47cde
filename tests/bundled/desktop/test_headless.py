"""A display of our own starts complete, and leaves nothing behind however it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bundled.desktop.conftest import Programs, eventually, processes_of_group, window_of, x_socket
from toolcrib.bundled.desktop.backends.x11 import open_backend
from toolcrib.bundled.desktop.backends.x11.connection import XConnection
from toolcrib.bundled.desktop.backends.x11.windows import has_manager, wait_for_manager
from toolcrib.bundled.desktop.headless import FAMILY_LOCAL, HeadlessDisplay, parse_size, take_home
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.errors import UsageError

HOLD_A_DISPLAY = """
import json, sys
from toolcrib.bundled.desktop.backends.x11.connection import XConnection
from toolcrib.bundled.desktop.backends.x11.windows import has_manager, wait_for_manager
from toolcrib.bundled.desktop.headless import HeadlessDisplay
opened = HeadlessDisplay.start((640, 480))
print(json.dumps([opened.target.process_group, opened.target.display, str(opened._folder)]), flush=True)
sys.stdin.read()
"""


SocketId = tuple[int, int] | None


async def nothing_left(group: int, display: str, own: SocketId, folder: Path) -> bool:
    return not processes_of_group(group) and x_socket(display) != own and not folder.exists()


async def test_closing_ends_every_program_and_removes_sockets_and_files() -> None:
    opened = await asyncio.to_thread(HeadlessDisplay.start, (640, 480))
    group, name = opened.target.process_group, opened.target.display
    assert group is not None
    own = x_socket(name)
    backend = await open_backend(opened.target)
    process = subprocess.Popen(
        ["xterm"], env=opened.target.environment, process_group=group, stderr=subprocess.DEVNULL
    )
    await window_of(backend, process)
    backend.close()
    await asyncio.to_thread(opened.close)
    process.wait(5)
    assert processes_of_group(group) == []
    assert x_socket(name) != own
    assert not opened._folder.exists()


@pytest.mark.acceptance
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
async def test_a_killed_owner_leaves_no_process_and_no_socket(ending: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_A_DISPLAY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        group, display, folder = json.loads(await asyncio.to_thread(owner.stdout.readline))
        own = x_socket(display)
        assert processes_of_group(group)
        owner.send_signal(ending)
        await asyncio.to_thread(owner.wait, 10)
    await eventually(lambda: nothing_left(group, display, own, Path(folder)))


async def test_a_client_without_the_cookie_is_refused(display: HeadlessDisplay) -> None:
    import xcffib

    with pytest.raises(xcffib.ConnectionException):
        xcffib.connect(display.target.display)


def test_the_cookie_is_found_by_clients_that_look_for_this_display(display: HeadlessDisplay) -> None:
    """python-xlib, which other automation tools use, ignores a cookie for any display."""
    written = Path(display.target.environment["XAUTHORITY"]).read_bytes()
    host, number = socket.gethostname().encode(), display.target.display.removeprefix(":").encode()
    address = struct.pack(">HH", FAMILY_LOCAL, len(host)) + host + struct.pack(">H", len(number)) + number
    assert display.target.cookie is not None
    assert display.target.cookie in written.partition(address)[2]


async def test_the_window_manager_is_started_again_after_a_crash(
    display: HeadlessDisplay, programs: Programs
) -> None:
    watcher = XConnection(display.target.display, display.target.cookie)
    await asyncio.to_thread(wait_for_manager, watcher)
    before = display._programs[-1]
    before.kill()

    async def is_replaced() -> bool:
        return display._programs[-1] is not before and has_manager(watcher)

    await eventually(is_replaced)
    watcher.raw.disconnect()
    backend = await open_backend(display.target)
    window = await window_of(backend, programs.start("xterm", "-e", "sleep", "60"))
    assert (await backend.windows.focus(window.id)).active
    backend.close()


async def saved_by_a_program(display: HeadlessDisplay, name: str) -> None:
    """A program saves a file in its home, and keeps running until the display ends it."""
    script = f'echo kept >"$HOME/{name}"; exec sleep 600'
    xterm = ["xterm", "-e", "sh", "-c", script]
    group = display.target.process_group
    subprocess.Popen(xterm, env=display.target.environment, process_group=group, stderr=subprocess.DEVNULL)

    async def is_saved() -> bool:
        return (display.home / name).is_file() and (display.home / name).read_text() == "kept\n"

    await eventually(is_saved)


@pytest.mark.acceptance
async def test_what_a_program_saved_stays_when_the_display_is_killed_and_the_server_ends(
    tmp_path: Path,
) -> None:
    session = DesktopSession(SessionSettings(headless=(640, 480), home=tmp_path))
    await session.backend()
    display = session._display
    assert display is not None
    await saved_by_a_program(display, "letter.txt")
    display._programs[0].kill()
    assert session._backend is not None
    backend = session._backend
    await eventually(lambda: asyncio.to_thread(lambda: not backend.alive))
    await session.backend()
    kept = tmp_path / "data" / "desktop" / "home" / "letter.txt"
    assert session.programs_home == kept.parent
    assert kept.read_text() == "kept\n"
    await asyncio.to_thread(session.close)
    assert kept.read_text() == "kept\n"
    assert kept.parent.stat().st_mode & 0o077 == 0


@pytest.mark.acceptance
async def test_two_displays_at_once_have_homes_of_their_own(tmp_path: Path) -> None:
    first = await asyncio.to_thread(HeadlessDisplay.start, (640, 480), tmp_path)
    second = await asyncio.to_thread(HeadlessDisplay.start, (640, 480), tmp_path)
    try:
        assert (first.home.name, second.home.name) == ("home", "home-2")
        await asyncio.to_thread(first.close)
        again = await asyncio.to_thread(HeadlessDisplay.start, (640, 480), tmp_path, "home-2")
        assert again.home.name == "home"
        await asyncio.to_thread(again.close)
    finally:
        await asyncio.to_thread(second.close)


async def test_the_home_of_a_killed_server_is_used_again_at_once(tmp_path: Path) -> None:
    """The lock is held until its programs have ended; browsers leave a link to a process that is gone."""
    starting = "HeadlessDisplay.start((640, 480)"
    script = HOLD_A_DISPLAY.replace(starting, f"{starting}, __import__('pathlib').Path({str(tmp_path)!r})")
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        await asyncio.to_thread(owner.stdout.readline)
        profile = tmp_path / "home" / ".config" / "chromium"
        profile.mkdir(parents=True)
        (profile / "SingletonLock").symlink_to("another-host-4711")
        (profile / "Bookmarks").write_text("{}")
        owner.kill()
        await asyncio.to_thread(owner.wait, 10)
        home, held = await asyncio.to_thread(take_home, tmp_path)
    os.close(held)
    assert home == tmp_path / "home"
    assert [each.name for each in profile.iterdir()] == ["Bookmarks"]


@pytest.mark.parametrize("text", ["", "1280", "1280x", "x", "9x9", "99999x800", "1280x800x24", "-1x5"])
def test_a_wrong_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="size of a display"):
        parse_size(text)
