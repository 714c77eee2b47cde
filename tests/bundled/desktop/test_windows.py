"""Windows of real programs are listed, moved, minimised, focused, closed and captured."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from xcffib.xproto import Atom

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from tests.bundled.desktop.full_tools import FullTools
from tests.bundled.desktop.test_faults import x_server
from toolcrib.bundled.desktop.backend import Backend, Screenshot, Window
from toolcrib.bundled.desktop.backends.x11 import DisplayTarget, open_backend
from toolcrib.bundled.desktop.backends.x11.connection import XConnection
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

RED, GREEN = ((0, 0, 255), (0, 255, 0))


async def coloured(backend: Backend, programs: Programs, colour: str) -> Window:
    process = programs.start("xterm", "-bg", colour, "-T", f"{colour} window", "-e", "sleep", "60")
    return await window_of(backend, process)


def share_of(screenshot: Screenshot, colour: tuple[int, int, int]) -> float:
    return float((screenshot.pixels == colour).all(axis=2).mean())


async def test_windows_are_listed_with_title_class_process_and_place(
    backend: Backend, programs: Programs
) -> None:
    process = programs.start("zenity", "--info", "--title=Žluťoučký 日本", "--text=x")
    window = await window_of(backend, process)
    assert (window.title, window.window_class, window.application) == (
        "Žluťoučký 日本",
        "Zenity",
        process.pid,
    )
    assert window.rect.width > 100
    assert not window.minimised


async def test_a_window_is_moved_minimised_restored_and_closed(backend: Backend, programs: Programs) -> None:
    process = programs.start("mousepad")
    window = await window_of(backend, process)
    wanted = Rect(120, 90, 500, 380)
    assert (await backend.windows.place(window.id, wanted)).rect == wanted
    assert (await backend.windows.minimise(window.id)).minimised
    with pytest.raises(ToolFailure, match="is minimised"):
        await backend.capture.window(window.id)
    restored = await backend.windows.restore(window.id)
    assert not restored.minimised
    assert restored.active
    assert await backend.windows.close(window.id)
    await asyncio.to_thread(process.wait, 10)
    with pytest.raises(ToolFailure, match="may have been closed"):
        await backend.windows.focus(window.id)


async def test_focus_moves_between_windows_and_xterm_survives_it(
    backend: Backend, programs: Programs
) -> None:
    """A ping to xterm would close it: its WM_PROTOCOLS do not list _NET_WM_PING."""
    first = await coloured(backend, programs, "#ff0000")
    second = await window_of(backend, programs.start("mousepad"))
    for window in (first, second, first):
        assert (await backend.windows.focus(window.id)).active
    assert {first.id, second.id} <= {window.id for window in await backend.windows.list()}


async def test_a_covered_window_is_captured_with_its_own_content(
    backend: Backend, programs: Programs
) -> None:
    red = await coloured(backend, programs, "#ff0000")
    green = await coloured(backend, programs, "#00ff00")
    for window in (red, green):
        await backend.windows.place(window.id, Rect(200, 150, 400, 300))
    await backend.windows.focus(green.id)

    async def is_drawn() -> bool:
        return share_of(await backend.capture.screen(Rect(220, 170, 300, 200)), GREEN) > 0.9

    await eventually(is_drawn)
    covered = await backend.capture.window(red.id)
    assert share_of(covered, RED) > 0.9
    assert share_of(covered, GREEN) == 0
    place = next(window.rect for window in await backend.windows.list() if window.id == red.id)
    assert covered.origin == Point(place.x, place.y)


async def test_a_region_is_cut_to_the_screen_and_outside_it_refused(backend: Backend) -> None:
    assert (await backend.capture.screen(Rect(1270, 790, 100, 100))).pixels.shape == (10, 10, 3)
    with pytest.raises(ToolFailure, match="outside the screen"):
        await backend.capture.screen(Rect(2000, 2000, 10, 10))


async def test_the_display_is_listed(backend: Backend) -> None:
    assert [(each.rect, each.scale) for each in await backend.displays.list()] == [
        (Rect(0, 0, 1280, 800), 1.0)
    ]


async def test_a_new_window_with_the_id_of_a_closed_one_is_listed_only_when_it_is_managed(
    backend: Backend, programs: Programs
) -> None:
    """A server gives the ids of a client that ended to the next one, and a window manager may lag behind."""
    client = XConnection(programs.target.display, programs.target.cookie)
    window = client.raw.generate_id()
    client.core.CreateWindow(0, window, client.root, 0, 0, 60, 40, 0, 1, 0, 0, [])
    listed = struct.pack("=I", window)
    for name in ("_NET_CLIENT_LIST_STACKING", "_NET_ACTIVE_WINDOW"):
        client.core.ChangeProperty(0, client.root, client.atom(name), Atom.WINDOW, 32, 1, listed)
    client.sync()
    assert await backend.windows.list() == []
    client.core.MapWindow(window)
    client.sync()

    async def is_listed() -> bool:
        return [each.id for each in await backend.windows.list()] == [window]

    await eventually(is_listed)
    client.raw.disconnect()


async def test_a_program_that_does_not_say_its_process_is_opened_found_and_closed(full: FullTools) -> None:
    """Programs without a toolkit, and those of Tk, set no _NET_WM_PID; the X server knows it."""
    opened = await full.data("open_application", id="xmessage", arguments=["-title", "Old program", "Hello"])
    assert opened["window"]["title"] == "Old program"
    process = opened["application"]
    assert Path(f"/proc/{process}/exe").readlink().name == "xmessage"
    [listed] = (await full.data("list_applications"))["applications"]
    assert listed["pid"] == process
    for arguments in ({}, {"parent": "Old program"}, {"parent": "xmessage"}):
        assert (await full.data("find_elements", **arguments))["application"] == process
    assert (await full.data("close_window", name="Old program"))["success"]


async def test_a_window_of_another_machine_has_no_process_here_and_is_used_by_its_id(
    full: FullTools, programs: Programs
) -> None:
    client = XConnection(programs.target.display, programs.target.cookie)
    window = client.raw.generate_id()
    client.core.CreateWindow(0, window, client.root, 0, 0, 60, 40, 0, 1, 0, 0, [])
    for name, kind, size, value in (
        ("WM_NAME", Atom.STRING, 8, b"Far away"),
        ("WM_CLIENT_MACHINE", Atom.STRING, 8, b"elsewhere.example"),
        ("_NET_WM_PID", Atom.CARDINAL, 32, struct.pack("=I", 1)),
    ):
        client.core.ChangeProperty(0, window, client.atom(name), kind, size, len(value) * 8 // size, value)
    client.core.MapWindow(window)
    client.sync()

    async def look() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await full.data("list_windows"))["windows"]
        return found

    [found] = await eventually(look)
    assert (found["id"], found["title"], found["application"]) == (window, "Far away", None)
    assert (await full.data("focus_window", name="Far away"))["id"] == window
    for arguments in ({}, {"parent": "Far away"}):
        assert await full.reason("find_elements", **arguments) == "APPLICATION_NOT_FOUND"
    here = socket.gethostname().encode()
    client.core.ChangeProperty(0, window, client.atom("WM_CLIENT_MACHINE"), Atom.STRING, 8, len(here), here)
    client.core.DeleteProperty(window, client.atom("_NET_WM_PID"))
    client.sync()
    assert (await full.data("get_window", name=str(window)))["application"] == os.getpid()
    client.raw.disconnect()


@pytest.mark.acceptance
async def test_without_a_window_manager_windows_are_listed_and_it_is_said(tmp_path: Path) -> None:
    number = f":{os.getpid() % 30_000 + 31_000}"
    environment = {**os.environ, "DISPLAY": number, "HOME": str(tmp_path)}
    with x_server(number, "640x480"), running("xmessage", "-title", "Alone", "Hello", env=environment) as own:
        desktop = await open_backend(DisplayTarget(number, environment=environment))
        bare = FullTools(desktop)

        async def look() -> Any:
            result = await bare.result("list_windows")
            return result if result["structuredContent"]["windows"] else None

        listed = await eventually(look)
        [window] = listed["structuredContent"]["windows"]
        assert (window["title"], window["application"]) == ("Alone", own.pid)
        assert "No window manager is running" in listed["content"][0]["text"]
        assert (await bare.data("focus_window", name="Alone"))["active"]
        moved = await bare.data("move_window", name="Alone", x=100, y=50)
        assert (moved["bounds"]["x"], moved["bounds"]["y"]) == (100, 50)
        assert await bare.reason("minimize_window", name="Alone") == "FAILED_PRECONDITION"
        assert (await bare.data("close_window", name="Alone"))["success"]
        bare.session.close()


@contextlib.contextmanager
def running(*command: str, env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()
