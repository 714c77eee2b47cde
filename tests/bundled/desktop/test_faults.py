"""Displays and programs that disappear, and typing that is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bundled.desktop.conftest import Programs, eventually, processes_of_group, window_of
from toolcrib.bundled.desktop import create
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.backends.x11.connection import DisplayLost
from toolcrib.bundled.desktop.elements.search import wait_for
from toolcrib.bundled.desktop.elements.selector import parse_selector
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.serverkit.context import ToolFailure


@pytest.mark.acceptance
async def test_a_display_that_disappears_is_replaced_by_a_new_one(tmp_path: Path) -> None:
    session = DesktopSession(SessionSettings(headless=(640, 480), home=tmp_path))
    try:
        backend = await session.backend()
        display = session._display
        assert display is not None
        display._programs[0].send_signal(signal.SIGKILL)
        await eventually(lambda: _is_lost(backend))
        with pytest.raises(DisplayLost, match="has gone"):
            await backend.windows.list()
        again = await session.backend()
        assert again is not backend
        assert (await again.capture.screen()).pixels.shape == (480, 640, 3)
        assert display.target.process_group is not None
        assert processes_of_group(display.target.process_group) == []
    finally:
        session.close()


@pytest.mark.acceptance
async def test_a_display_that_returns_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    number = f":{os.getpid() % 30_000 + 1000}"
    monkeypatch.setenv("DISPLAY", number)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "")
    session = DesktopSession(SessionSettings())
    with x_server(number, "640x480") as server:
        backend = await session.backend()
        server.kill()
        server.wait()
        await eventually(lambda: _is_lost(backend))
    with pytest.raises(ToolFailure, match="cannot be opened"):
        await session.backend()
    with x_server(number, "800x600"):
        shot = await (await session.backend()).capture.screen()
        assert shot.pixels.shape == (600, 800, 3)
        await asyncio.to_thread(session.close)


@contextlib.contextmanager
def x_server(number: str, size: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server with a fixed number, ready to connect to."""
    readable, writable = os.pipe()
    command = ["Xvfb", number, "-screen", "0", f"{size}x24", "-nolisten", "tcp", "-displayfd", str(writable)]
    process = subprocess.Popen(command, pass_fds=(writable,), stderr=subprocess.DEVNULL)
    os.close(writable)
    try:
        assert os.read(readable, 100)
        yield process
    finally:
        os.close(readable)
        process.kill()
        process.wait()


async def _is_lost(backend: Backend) -> bool:
    return not backend.alive


async def test_without_a_display_the_reason_and_a_way_out_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    server = create([])
    result = await server.tools["list_windows"].call({})
    assert result["isError"]
    assert "DISPLAY is not set" in result["content"][0]["text"]
    assert "--headless" in result["content"][0]["text"]
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert "no session bus" in (await server.tools["list_windows"].call({}))["content"][0]["text"]
    monkeypatch.delenv("WAYLAND_DISPLAY")
    monkeypatch.setenv("DISPLAY", ":4321")
    assert "':4321' cannot be opened" in (await server.tools["list_windows"].call({}))["content"][0]["text"]


async def test_a_killed_program_ends_a_reading_without_an_error(backend: Backend, programs: Programs) -> None:
    process = programs.start("mousepad")
    await window_of(backend, process)
    await wait_for(backend, process.pid, parse_selector("role:text"), 20)
    reading = asyncio.create_task(backend.accessibility.tree(process.pid, 2))
    await asyncio.sleep(0)
    process.kill()
    process.wait()
    await reading
    assert (await backend.accessibility.tree(process.pid, 2)).elements == ()


async def test_a_cancelled_typing_stops(backend: Backend, programs: Programs, tmp_path: Path) -> None:
    process = programs.start("xterm", "-e", f"cat > {tmp_path / 'out'}")
    window = await window_of(backend, process)
    await backend.windows.focus(window.id)
    with backend.events.listen() as changes:
        typing = asyncio.create_task(backend.input.type_text("x\n" * 10_000, window.id))
        await changes.next(10)
    typing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await typing
    await backend.input.press("ctrl+d", window.id)
    await asyncio.to_thread(process.wait, 20)
    assert len((tmp_path / "out").read_text()) < 20_000
