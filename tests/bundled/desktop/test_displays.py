"""Several displays, and positions in each coordinate space, checked by real clicks."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Iterator

import pytest
import xcffib.randr

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from toolcrib.bundled.desktop.backend import Backend, Element, Window
from toolcrib.bundled.desktop.backends.x11.connection import XConnection
from toolcrib.bundled.desktop.coordinates import to_screen
from toolcrib.bundled.desktop.elements.search import wait_for
from toolcrib.bundled.desktop.elements.selector import parse_selector
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.headless import HeadlessDisplay
from toolcrib.bundled.desktop.pictures import Pictures, encode
from toolcrib.serverkit.context import ToolFailure

LEFT, RIGHT = Rect(0, 0, 800, 800), Rect(800, 100, 480, 700)
YES = parse_selector({"role": "button", "text": "Yes"})


@contextlib.contextmanager
def monitors(display: HeadlessDisplay) -> Iterator[None]:
    """Two monitors on one screen, the right one lower and primary."""
    connection = XConnection(display.target.display, display.target.cookie)
    randr = connection.extension(xcffib.randr)
    output = randr.GetScreenResources(connection.root).reply().outputs[0]
    named = [("left", LEFT, False, [output]), ("right", RIGHT, True, [])]
    for name, rect, primary, outputs in named:
        info = xcffib.randr.MonitorInfo.synthetic(
            connection.atom(name), primary, False, len(outputs), rect.x, rect.y, rect.width, rect.height,
            rect.width, rect.height, outputs,
        )  # fmt: skip
        randr.SetMonitor(connection.root, info, is_checked=True).check()
    try:
        yield
    finally:
        for name, *_ in named:
            randr.DeleteMonitor(connection.root, connection.atom(name))
        connection.sync()
        connection.raw.disconnect()


async def question(
    backend: Backend, programs: Programs, at: Point
) -> tuple[subprocess.Popen[bytes], Window, Element]:
    """A window at a place, with a button that ends its program with 0."""
    process = programs.start("zenity", "--question", "--text=Continue?")
    window = await window_of(backend, process)
    await backend.windows.place(window.id, Rect(at.x, at.y, window.rect.width, window.rect.height))
    window = await backend.windows.focus(window.id)
    button = (await wait_for(backend, process.pid, YES, 60)).matches[0]
    assert button.rect is not None
    assert window.rect.contains(button.rect.centre)
    return process, window, button


async def test_each_display_is_listed_with_its_place(backend: Backend, display: HeadlessDisplay) -> None:
    with monitors(display):
        listed = {each.name: each for each in await backend.displays.list()}
        assert {name: each.rect for name, each in listed.items()} == {"left": LEFT, "right": RIGHT}
        assert [each.name for each in listed.values() if each.primary] == ["right"]
        assert len({each.id for each in listed.values()}) == 2
    (only,) = await backend.displays.list()
    assert only.primary


@pytest.mark.parametrize(("resources", "scale"), [("Xft.dpi:\t144\n", 1.5), ("Xft.dpi: 0\n", 1.0), ("", 1.0)])
async def test_the_scale_is_that_of_the_users_settings(
    backend: Backend, display: HeadlessDisplay, resources: str, scale: float
) -> None:
    connection = XConnection(display.target.display, display.target.cookie)
    name, kind = connection.atom("RESOURCE_MANAGER"), connection.atom("STRING")
    data = f"*customization: -color\n{resources}".encode()
    connection.core.ChangeProperty(0, connection.root, name, kind, 8, len(data), data)
    connection.sync()
    try:
        assert [each.scale for each in await backend.displays.list()] == [scale]
    finally:
        connection.core.DeleteProperty(connection.root, name)
        connection.sync()
        connection.raw.disconnect()


async def test_a_click_on_the_second_display_hits_in_window_space(
    backend: Backend, programs: Programs, display: HeadlessDisplay
) -> None:
    with monitors(display):
        process, window, button = await question(backend, programs, Point(850, 400))
        assert button.rect is not None
        assert RIGHT.contains(button.rect.centre)
        inside = button.rect.centre.moved(-window.rect.x, -window.rect.y)
        at = await to_screen(backend, Pictures(), inside.x, inside.y, "window", window.id)
        await backend.input.click(at, owner=process.pid)
        assert await asyncio.to_thread(process.wait, 30) == 0


@pytest.mark.parametrize("longest", [1280, 640, 417])
async def test_a_click_on_a_pixel_of_a_scaled_screenshot_hits(
    backend: Backend, programs: Programs, longest: int
) -> None:
    process, _, button = await question(backend, programs, Point(333, 271))
    assert button.rect is not None
    region = Rect(111, 57, 1100, 700)
    picture = encode(await backend.capture.screen(region), "png", longest)
    pictures = Pictures()
    name = pictures.add(picture.space)
    scale = picture.width / region.width
    middle = button.rect.centre.moved(-region.x, -region.y)
    at = await to_screen(backend, pictures, middle.x * scale, middle.y * scale, "screenshot", name)
    await backend.input.click(at, owner=process.pid)
    assert await asyncio.to_thread(process.wait, 30) == 0


async def test_a_window_that_moved_takes_its_space_along(backend: Backend, programs: Programs) -> None:
    process, window, button = await question(backend, programs, Point(200, 200))
    assert button.rect is not None
    inside = button.rect.centre.moved(-window.rect.x, -window.rect.y)
    moved = Rect(600, 450, window.rect.width, window.rect.height)

    async def is_moved() -> bool:
        return (await backend.windows.place(window.id, moved)).rect == moved

    await eventually(is_moved)
    at = await to_screen(backend, Pictures(), inside.x, inside.y, "window", str(window.id))
    assert at == inside.moved(moved.x, moved.y)
    await backend.input.click(at, owner=process.pid)
    assert await asyncio.to_thread(process.wait, 30) == 0
    with pytest.raises(ToolFailure, match="no window"):
        await to_screen(backend, Pictures(), 1, 1, "window", 1)
