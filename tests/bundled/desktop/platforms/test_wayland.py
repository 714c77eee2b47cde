"""Wayland sessions: what works there works, the rest says why not and what to use instead."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from tests.bundled.desktop.platforms.portal_service import (
    CANCELLED,
    ENDED,
    REMOTE_DESKTOP,
    SCREENSHOT,
    PortalService,
)
from toolcrib.bundled.desktop.backend import Backend, ClickRefused, Window
from toolcrib.bundled.desktop.backends import backend_module, wayland, x11
from toolcrib.bundled.desktop.backends.wayland import WaylandTarget, probe
from toolcrib.bundled.desktop.backends.wayland import portal as portal_requests
from toolcrib.bundled.desktop.backends.wayland import screen as screen_requests
from toolcrib.bundled.desktop.backends.wayland.desktop import WlClipboard
from toolcrib.bundled.desktop.backends.wayland.input import Stream, locate
from toolcrib.bundled.desktop.backends.wayland.portal import PortalRefused
from toolcrib.bundled.desktop.backends.wayland.target import is_wayland
from toolcrib.bundled.desktop.backends.wayland.windows import FIRST_ID
from toolcrib.bundled.desktop.clipboard_content import TEXT
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.headless import HeadlessDisplay
from toolcrib.serverkit.context import ToolFailure

SERVICE_FILE = "dbus-1/services/org.freedesktop.portal.Desktop.service"


@pytest.fixture
async def portal(display: HeadlessDisplay, tmp_path: Path) -> AsyncIterator[PortalService]:
    service = PortalService(tmp_path, streams=[(41, (0, 0), (320, 400)), (42, (320, 0), (320, 400))])
    await service.serve(display.target.bus_address)
    yield service
    service.stop()


@pytest.fixture
async def desktop(display: HeadlessDisplay) -> AsyncIterator[Backend]:
    """A Wayland session without XWayland: programs are known through accessibility alone."""
    target = WaylandTarget("wayland-0", "", display.target.bus_address, display.target.environment)
    opened = await wayland.open_backend(target)
    yield opened
    opened.close()


@pytest.fixture
async def with_xwayland(display: HeadlessDisplay, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Backend]:
    environment = display.target.environment
    monkeypatch.setenv("XAUTHORITY", environment["XAUTHORITY"])
    target = WaylandTarget("wayland-0", display.target.display, display.target.bus_address, environment)
    opened = await wayland.open_backend(target)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"WAYLAND_DISPLAY": "wayland-0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, True),
        ({"XDG_SESSION_TYPE": "wayland"}, True),
        ({"XDG_SESSION_TYPE": "wayland", "DISPLAY": ":0"}, True),
        ({"XDG_SESSION_TYPE": "x11", "DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-1"}, False),
        ({"XDG_SESSION_TYPE": "tty", "DISPLAY": ":0"}, False),
        ({}, False),
    ],
)
def test_a_wayland_session_is_recognised(environment: Mapping[str, str], expected: bool) -> None:
    assert is_wayland(environment) is expected


def test_the_session_decides_which_backend_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("XDG_SESSION_TYPE", "x11")
    assert backend_module("linux") is x11

    monkeypatch.setenv("XDG_SESSION_TYPE", "wayland")
    assert backend_module("linux") is wayland


def test_a_display_of_its_own_is_an_x11_display_in_a_wayland_session_too(display: HeadlessDisplay) -> None:
    assert probe(display.target) == x11.probe(display.target)


def test_the_probe_says_what_works_and_what_to_install(tmp_path: Path) -> None:
    service = tmp_path / SERVICE_FILE
    bare = {"XDG_DATA_DIRS": str(tmp_path), "HOME": str(tmp_path / "home"), "PATH": str(tmp_path)}

    without = probe(WaylandTarget("wayland-0", "", "unix:path=/bus", bare))
    service.parent.mkdir(parents=True)
    service.write_text("[D-BUS Service]\n")
    with_portal = probe(WaylandTarget("wayland-0", ":0", "unix:path=/bus", bare))

    assert not any(problem.fatal for problem in (*without, *with_portal))
    assert [problem.message.partition(".")[0] for problem in with_portal] == ["This is a Wayland session"]
    assert "--headless" in with_portal[0].hint
    assert "xdg-desktop-portal-gnome" in without[1].hint
    assert "wl-clipboard" in without[2].hint


def test_a_session_without_bus_and_xwayland_cannot_be_used() -> None:
    assert [problem.fatal for problem in probe(WaylandTarget("wayland-0", "", "", {}))] == [
        False,
        True,
        False,
    ]


async def test_a_screenshot_comes_through_the_portal_and_leaves_no_file(
    desktop: Backend, portal: PortalService
) -> None:
    whole = await desktop.capture.screen()
    part = await desktop.capture.screen(Rect(300, 100, 400, 50))

    assert whole.pixels.shape == (400, 640, 3)
    assert (part.origin, part.pixels.shape) == (Point(300, 100), (50, 340, 3))
    assert [*part.pixels[0, 19], *part.pixels[0, 20]] == [255, 0, 0, 0, 0, 0]
    assert len(portal.pictures) == 2
    assert not any(file.exists() for file in portal.pictures)
    assert [display.rect for display in await desktop.displays.list()] == [Rect(0, 0, 640, 400)]


async def test_a_scaled_screenshot_has_the_size_of_the_x11_screen(
    with_xwayland: Backend, portal: PortalService
) -> None:
    portal.picture_size = (1920, 1200)  # 1280x800 at 150 %

    shot = await with_xwayland.capture.screen()

    assert shot.pixels.shape == (800, 1280, 3)
    assert [*shot.pixels[0, 638], *shot.pixels[0, 642]] == [255, 0, 0, 0, 0, 0]


async def test_a_refused_screenshot_says_so(desktop: Backend, portal: PortalService) -> None:
    portal.answer = CANCELLED
    with pytest.raises(PortalRefused, match="did not allow"):
        await desktop.capture.screen()

    portal.answer = ENDED
    with pytest.raises(ToolFailure) as failed:
        await desktop.capture.screen()
    assert "--headless" in (failed.value.hint or "")


async def test_an_unanswered_question_is_withdrawn(
    desktop: Backend, portal: PortalService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen_requests, "CONSENT_PATIENCE", 0.3)
    portal.answer = None

    with pytest.raises(PortalRefused, match="not answered"):
        await desktop.capture.screen()

    async def closed() -> bool:
        return bool(portal.closed)

    await eventually(closed)
    assert "/request/" in portal.closed[0]


async def test_a_desktop_without_portals_names_the_alternative(
    desktop: Backend, portal: PortalService
) -> None:
    portal.interfaces.pop(SCREENSHOT)
    portal.interfaces.pop(REMOTE_DESKTOP)

    with pytest.raises(ToolFailure, match="offers no screenshots") as no_picture:
        await desktop.capture.screen()
    with pytest.raises(ToolFailure, match="does not let programs send input") as no_input:
        await desktop.input.press("enter", None)

    assert all("--headless" in (each.value.hint or "") for each in (no_picture, no_input))


async def test_without_a_portal_on_the_bus_the_failure_names_the_package(desktop: Backend) -> None:
    with pytest.raises(ToolFailure, match="xdg-desktop-portal is not installed") as failed:
        await desktop.capture.screen()

    assert "--headless" in (failed.value.hint or "")


async def test_the_pointer_is_moved_and_clicked_after_one_question(
    desktop: Backend, portal: PortalService
) -> None:
    await desktop.capture.screen()
    portal.events.clear()

    await desktop.input.click(Point(400, 10), button="right", count=2)
    await desktop.input.scroll(Point(0, 0), down=3, right=-2)

    assert portal.questions == ["Screenshot", "Start"]
    assert portal.events == [
        ("devices", 3),
        ("sources", 1),
        ("PointerMotionAbsolute", 42, 80.5, 10.5),
        *[("PointerButton", 0x111, 1), ("PointerButton", 0x111, 0)] * 2,
        ("PointerMotionAbsolute", 41, 0.5, 0.5),
        ("PointerAxisDiscrete", 0, 3),
        ("PointerAxisDiscrete", 1, -2),
    ]


async def test_a_drag_releases_the_button_at_its_end(desktop: Backend, portal: PortalService) -> None:
    await desktop.input.drag(Point(10, 10), Point(130, 70))

    moves = [event[2:] for event in portal.events if event[0] == "PointerMotionAbsolute"]
    buttons = [event[2] for event in portal.events if event[0] == "PointerButton"]
    assert (moves[0], moves[-1], len(moves)) == ((10.5, 10.5), (130.5, 70.5), 13)
    assert buttons == [1, 0]
    assert portal.events[-1][0] == "PointerButton"


async def test_what_is_held_stays_down_until_it_is_released(desktop: Backend, portal: PortalService) -> None:
    await desktop.input.hold(keys=["ctrl"], button="left", at=Point(10, 10))
    await desktop.input.move(Point(20, 20))
    await desktop.input.release()

    changes = [event for event in portal.events if event[0] in ("KeyboardKeysym", "PointerButton")]
    assert changes == [
        ("KeyboardKeysym", 0xFFE3, 1),
        ("PointerButton", 0x110, 1),
        ("PointerButton", 0x110, 0),
        ("KeyboardKeysym", 0xFFE3, 0),
    ]


async def test_chords_are_pressed_in_order_and_released_in_reverse(
    desktop: Backend, portal: PortalService
) -> None:
    await desktop.input.press("ctrl+shift+s", None)

    keys = [event[1:] for event in portal.events if event[0] == "KeyboardKeysym"]
    assert keys == [(0xFFE3, 1), (0xFFE1, 1), (0x73, 1), (0x73, 0), (0xFFE1, 0), (0xFFE3, 0)]


async def test_a_user_who_allows_only_the_keyboard_is_obeyed(desktop: Backend, portal: PortalService) -> None:
    portal.devices = 1
    await desktop.capture.screen()

    await desktop.input.press("enter", None)
    with pytest.raises(PortalRefused, match="pointer"):
        await desktop.input.click(Point(10, 10))


async def test_input_asks_again_after_the_user_ended_the_session(
    desktop: Backend, portal: PortalService
) -> None:
    await desktop.input.press("a", None)
    await portal.end_session()
    portal.answer = CANCELLED

    async def refused() -> bool:
        try:
            await desktop.input.press("b", None)
        except PortalRefused:
            return True
        except ToolFailure:  # the end of the session has not arrived yet
            return False
        return False

    assert await eventually(refused)
    assert [event[1] for event in portal.events if event[0] == "KeyboardKeysym"] == [ord("a")] * 2
    assert portal.questions == ["Start", "Start"]
    assert any("/session/" in path for path in portal.closed)


@pytest.mark.parametrize(
    ("screen", "point", "node", "x", "y"),
    [
        (Rect(0, 0, 1920, 1080), Point(0, 0), 1, 0.5, 0.5),
        (Rect(0, 0, 3840, 2160), Point(3839, 2159), 1, 1919.75, 1079.75),
        (Rect(0, 0, 2880, 1620), Point(1440, 810), 1, 960.33, 540.33),
    ],
)
def test_positions_are_scaled_to_the_shared_display(
    screen: Rect, point: Point, node: int, x: float, y: float
) -> None:
    stream, *found = locate(point, screen, [Stream(1, Rect(0, 0, 1920, 1080))])

    assert stream.node == node
    assert found == pytest.approx([x, y], abs=0.01)


def test_displays_left_of_the_first_have_negative_positions() -> None:
    streams = [Stream(1, Rect(-1280, 0, 1280, 1024)), Stream(2, Rect(0, 0, 1920, 1024))]

    assert locate(Point(-1, 5), Rect(-1280, 0, 3200, 1024), streams) == (streams[0], 1279.5, 5.5)
    assert locate(Point(0, 5), Rect(-1280, 0, 3200, 1024), streams) == (streams[1], 0.5, 5.5)


def test_a_position_on_no_shared_display_is_refused() -> None:
    streams = [Stream(1, Rect(0, 0, 100, 100)), Stream(2, Rect(100, 0, 100, 50))]

    with pytest.raises(ToolFailure, match="no display that the user shares"):
        locate(Point(150, 80), Rect(0, 0, 200, 100), streams)


async def window_listed(desktop: Backend, process_id: int) -> Window:
    async def look() -> Window | None:
        listed = await desktop.windows.list()
        return next((each for each in listed if each.application == process_id), None)

    found = await eventually(look)
    assert found is not None
    return found


async def test_a_wayland_program_is_read_and_activated_but_never_clicked(
    desktop: Backend, portal: PortalService, programs: Programs
) -> None:
    process = programs.start("zenity", "--entry", "--title=Name", "--text=Your name")
    window = await window_listed(desktop, process.pid)

    async def labelled() -> bool:
        tree = await desktop.accessibility.tree(process.pid, 5.0)
        return any(each.name == "OK" for each in tree.elements)

    await eventually(labelled)
    tree = await desktop.accessibility.tree(process.pid, 5.0)
    button = next(each for each in tree.elements if each.name == "OK")
    now = await desktop.accessibility.read(button.ref)

    assert window.title == "Name"
    assert process.pid in {each.id for each in await desktop.applications.list()}
    assert now is not None
    assert now.rect is None
    assert await desktop.accessibility.rects([button.ref]) == {}
    with pytest.raises(ClickRefused):
        await desktop.input.click(Point(10, 10), owner=process.pid)
    with pytest.raises(ToolFailure, match="outside the screen"):
        await desktop.input.click(Point(window.rect.x + 5, window.rect.y + 5))
    with pytest.raises(ToolFailure, match="cannot be moved"):
        await desktop.windows.place(window.id, Rect(0, 0, 100, 100))
    with pytest.raises(ToolFailure, match="single Wayland window"):
        await desktop.capture.window(window.id)
    actions = await desktop.accessibility.actions(button.ref)
    assert await desktop.accessibility.act(button.ref, actions[0])
    assert await asyncio.to_thread(process.wait, 30) == 0


async def test_typing_goes_to_the_active_wayland_window_alone(
    desktop: Backend, backend: Backend, portal: PortalService, programs: Programs
) -> None:
    process = programs.start("zenity", "--entry", "--title=First")
    on_x11 = await window_of(backend, process)
    await backend.windows.focus(on_x11.id)

    async def active() -> Window | None:
        listed = await desktop.windows.list()
        return next((each for each in listed if each.application == process.pid and each.active), None)

    window = await eventually(active)
    assert window is not None
    await desktop.input.type_text("aß漢", window.id)
    keys = [event[1] for event in portal.events if event[0] == "KeyboardKeysym" and event[2] == 1]
    assert keys == [0x61, 0xDF, 0x1006F22]

    await backend.windows.minimise(on_x11.id)
    portal.events.clear()

    async def refused() -> bool:
        try:
            await desktop.input.type_text("x", window.id)
        except ToolFailure as error:
            return "0 of 1" in error.message
        return False

    assert await eventually(refused)


async def test_x11_programs_are_controlled_through_xwayland(
    with_xwayland: Backend, portal: PortalService, programs: Programs
) -> None:
    process = programs.start("zenity", "--entry", "--title=Here")

    async def on_x11() -> Window | None:
        window = await window_of(with_xwayland, process)
        return window if window.id < FIRST_ID else None

    window = await eventually(on_x11)
    assert window is not None
    focused = await with_xwayland.windows.focus(window.id)
    await with_xwayland.input.type_text("typed", window.id)
    shot = await with_xwayland.capture.window(window.id)
    moved = await with_xwayland.windows.place(
        window.id, Rect(200, 150, focused.rect.width, focused.rect.height)
    )

    assert focused.active
    assert shot.pixels.shape == (focused.rect.height, focused.rect.width, 3)
    assert (moved.rect.x, moved.rect.y) == (200, 150)
    assert [each.id for each in await with_xwayland.windows.list()].count(window.id) == 1
    assert portal.events == []
    assert await with_xwayland.windows.close(window.id)


async def test_a_session_whose_xwayland_is_gone_still_takes_screenshots(
    display: HeadlessDisplay, portal: PortalService
) -> None:
    target = WaylandTarget("wayland-0", ":9999", display.target.bus_address, display.target.environment)
    opened = await wayland.open_backend(target)

    assert opened.alive
    assert (await opened.capture.screen()).pixels.shape == (400, 640, 3)
    opened.close()


WL_PASTE = """#!/bin/sh
[ -f "$HOME/clipboard" ] || exit 1
case "$1" in
--list-types) cat "$HOME/types" ;;
--no-newline) [ "$2" = --type ] && grep -qxF "$3" "$HOME/types" && cat "$HOME/clipboard" ;;
esac
"""
WL_COPY = """#!/bin/sh
case "$1" in
--clear) rm -f "$HOME/clipboard" ;;
--type) echo "$2" > "$HOME/types"; cat > "$HOME/clipboard" ;;
*) exit 2 ;;
esac
"""


async def test_the_clipboard_works_with_wl_clipboard(tmp_path: Path) -> None:
    for name, text in (("wl-paste", WL_PASTE), ("wl-copy", WL_COPY)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(stat.S_IRWXU)
    clipboard = WlClipboard({"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)})

    assert await clipboard.read() is None
    await clipboard.write({"text/html": b"<b>x</b>", TEXT: "größer\n".encode()})
    read = await clipboard.read()
    assert read is not None
    assert (read.text, read.media_type, read.available) == ("größer\n", TEXT, (TEXT,))
    await clipboard.write({"image/png": bytes(range(256)) * 1000})
    assert await clipboard.read("text/plain") is None
    picture = await clipboard.read()
    assert picture is not None
    assert picture.data == bytes(range(256)) * 1000
    await clipboard.write({})
    assert await clipboard.read() is None


async def test_a_missing_clipboard_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure) as failed:
        await WlClipboard({"PATH": str(tmp_path)}).read()

    assert "wl-clipboard" in (failed.value.hint or "")


async def test_only_the_portals_own_signals_count(
    desktop: Backend, portal: PortalService, display: HeadlessDisplay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program on the bus cannot pretend that the user agreed."""
    monkeypatch.setattr(screen_requests, "CONSENT_PATIENCE", 0.5)
    monkeypatch.setattr(portal_requests.secrets, "token_hex", lambda size: "guessed")
    portal.answer = None
    other = PortalService(portal.folder)
    other.bus = await portal_requests.MessageBus(bus_address=display.target.bus_address).connect()
    taking = asyncio.create_task(desktop.capture.screen())

    async def asked() -> bool:
        return bool(portal.questions)

    await eventually(asked)
    names = await other.bus.call(
        portal_requests.Message(*portal_requests.DBUS, portal_requests.DBUS[0], "ListNames")
    )
    for name in names.body[0]:
        path = f"{portal_requests.PATH}/request/{name.lstrip(':').replace('.', '_')}/toolcribguessed"
        if name.startswith(":"):
            await other._signal(path, portal_requests.REQUEST, "Response", "ua{sv}", 0, {})
    with pytest.raises(PortalRefused, match="not answered"):
        await taking
    other.stop()
