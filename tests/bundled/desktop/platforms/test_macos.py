"""The macOS backend against recorded names, signatures and shapes of the system; not a real Mac."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy
import pytest

from tests.bundled.desktop.platforms.fake_mac import RECORDED, SILENT, AxNode, FakeMac, MacWindow, node
from toolcrib.bundled.desktop.backend import ClickRefused, Element
from toolcrib.bundled.desktop.backends import backend_module, macos
from toolcrib.bundled.desktop.backends.macos import capture
from toolcrib.bundled.desktop.backends.macos.applications import open_arguments
from toolcrib.bundled.desktop.backends.macos.capture import convert_pixels
from toolcrib.bundled.desktop.backends.macos.desktop import MacDesktop
from toolcrib.bundled.desktop.backends.macos.keycodes import FLAGS, KEYS, MODIFIER_KEYS, events_of_chord
from toolcrib.bundled.desktop.backends.macos.permissions import missing_permissions
from toolcrib.bundled.desktop.backends.macos.vocabulary import role_name
from toolcrib.bundled.desktop.backends.x11.atspi.vocabulary import ROLES
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

EDITOR, OTHER = 501, 777


def editor_application(mac: FakeMac) -> AxNode:
    """A document window with a text, a check box, a password and a slider, and a menu bar."""
    save = node(EDITOR, "AXButton", (120, 130, 60, 24), Title="Save")
    save.actions["AXPress"] = lambda: mac.events.append({"pressed": "Save"})
    text = node(EDITOR, "AXTextArea", (110, 160, 480, 200), Value="hello", Description="Document")
    text.settable |= {"AXValue", "AXFocused"}
    label = node(EDITOR, "AXStaticText", (110, 370, 80, 20), Value="Volume")
    volume = node(EDITOR, "AXSlider", (200, 370, 200, 20), Value=0.25, TitleUIElement=label)
    volume.settable.add("AXValue")
    secret = node(
        EDITOR, "AXTextField", (110, 400, 200, 20), Subrole="AXSecureTextField", Value="•••", Title="PIN"
    )
    secret.settable.add("AXValue")
    check = node(EDITOR, "AXCheckBox", (110, 430, 100, 20), Title="Wrap lines", Value=1, Enabled=False)
    hidden = node(EDITOR, "AXButton", (120, 2000, 60, 24), Title="Scrolled out")
    window = node(EDITOR, "AXWindow", (100, 100, 500, 400), Title="Notes", Main=True, Minimized=False)
    window.settable |= {"AXPosition", "AXSize", "AXMinimized", "AXMain"}
    window.actions["AXRaise"] = lambda: mac.bring_forward(next(w for w in mac.windows if w.number == 11))
    window.add(save, text, label, volume, secret, check, hidden)
    for child in window.attributes["AXChildren"]:
        child.attributes["AXWindow"] = window
    quit_item = node(EDITOR, "AXMenuItem", (0, 22, 200, 22), Title="Quit")
    menu = node(EDITOR, "AXMenu", (0, 22, 200, 60)).add(quit_item)
    file = node(EDITOR, "AXMenuBarItem", (40, 0, 40, 22), Title="File", Selected=False).add(menu)
    bar = node(EDITOR, "AXMenuBar", (0, 0, 1440, 22)).add(file)
    application = node(EDITOR, "AXApplication", Title="Notes").add(window, bar)
    application.attributes["AXWindows"] = [window]
    application.settable.add("AXFrontmost")
    return application


@pytest.fixture
def mac() -> FakeMac:
    made = FakeMac(
        windows=[
            MacWindow(21, OTHER, "Browser", (400, 300, 600, 500)),
            MacWindow(11, EDITOR, "Notes", (100, 100, 500, 400)),
            MacWindow(5, 1, "Dock", (0, 800, 1440, 100), layer=20),
            MacWindow(6, OTHER, "", (0, 0, 1, 1)),
        ],
        focused=OTHER,
    )
    made.applications[EDITOR] = editor_application(made)
    made.applications[OTHER] = node(OTHER, "AXApplication", Title="Browser")
    return made


@pytest.fixture
async def desktop(mac: FakeMac) -> AsyncIterator[MacDesktop]:
    opened = MacDesktop(mac.frameworks())
    yield opened
    opened.close()


def named(elements: tuple[Element, ...], name: str) -> Element:
    return next(element for element in elements if element.name == name)


def test_macos_has_its_backend_and_loads_nothing_of_the_system() -> None:
    assert backend_module("darwin") is macos
    assert not {"Quartz", "AppKit", "objc", "ApplicationServices"} & set(sys.modules)


def test_the_probe_names_the_place_in_the_settings(mac: FakeMac) -> None:
    mac.trusted = mac.may_record = False

    accessibility, recording = missing_permissions(mac.frameworks())

    assert "System Settings > Privacy & Security > Accessibility" in accessibility.hint
    assert "Privacy & Security > Screen & System Audio Recording" in recording.hint
    assert not accessibility.fatal
    mac.trusted = mac.may_record = True
    assert missing_permissions(mac.frameworks()) == []


def test_the_probe_on_another_system_says_so() -> None:
    assert [problem.fatal for problem in macos.probe(macos.user_target())] == [True]


async def test_without_permission_input_and_elements_are_refused(mac: FakeMac, desktop: MacDesktop) -> None:
    mac.trusted = False

    with pytest.raises(ToolFailure, match="does not allow"):
        await desktop.input.click(Point(1, 1))
    with pytest.raises(ToolFailure, match="does not allow"):
        await desktop.accessibility.tree(EDITOR, 1.0)
    mac.may_record = False
    with pytest.raises(ToolFailure, match="screenshots"):
        await desktop.capture.screen()
    assert mac.events == []


async def test_windows_are_listed_from_the_lowest_to_the_topmost(desktop: MacDesktop) -> None:
    notes, browser = await desktop.windows.list()

    assert (notes.id, notes.title, notes.rect, notes.level) == (11, "Notes", Rect(100, 100, 500, 400), 0)
    assert (browser.application, browser.active, notes.active) == (OTHER, True, False)


async def test_each_call_frees_what_the_system_gave_it(mac: FakeMac, desktop: MacDesktop) -> None:
    await desktop.windows.list()
    await desktop.accessibility.tree(EDITOR, 5.0)

    assert mac.pools == 2


async def test_focus_activates_the_program_and_raises_the_window(mac: FakeMac, desktop: MacDesktop) -> None:
    focused = await desktop.windows.focus(11)

    assert focused.active
    assert mac.activated == [EDITOR]
    assert mac.windows[0].number == 11


async def test_a_window_is_moved_minimised_and_closed(mac: FakeMac, desktop: MacDesktop) -> None:
    element = mac.applications[EDITOR].attributes["AXWindows"][0]
    window = mac.windows[1]

    def moved() -> None:
        at, size = element.attributes["AXPosition"].value, element.attributes["AXSize"].value
        window.rect = (*map(int, at), *map(int, size))

    def minimised() -> None:
        window.on_screen = not element.attributes["AXMinimized"]

    element.actions |= {"set AXPosition": moved, "set AXSize": moved, "set AXMinimized": minimised}
    element.attributes["AXCloseButton"] = AxNode(
        EDITOR, actions={"AXPress": lambda: mac.windows.remove(window)}
    )

    placed = await desktop.windows.place(11, Rect(-300, 40, 640, 480))
    hidden = await desktop.windows.minimise(11)
    shown = await desktop.windows.restore(11)

    assert placed.rect == Rect(-300, 40, 640, 480)
    assert (hidden.minimised, hidden.level) == (True, 0)
    assert not shown.minimised
    assert await desktop.windows.close(11)


async def test_a_window_that_cannot_be_told_from_another_is_left_alone(
    mac: FakeMac, desktop: MacDesktop
) -> None:
    application = mac.applications[EDITOR]
    twin = node(EDITOR, "AXWindow", (100, 100, 500, 400), Title="Notes")
    application.attributes["AXWindows"].append(twin)

    with pytest.raises(ToolFailure, match="cannot be told from another"):
        await desktop.windows.place(11, Rect(0, 0, 300, 300))


async def test_elements_are_read_with_roles_states_and_places(desktop: MacDesktop) -> None:
    tree = await desktop.accessibility.tree(EDITOR, 5.0)

    assert tree.complete
    roles = {element.name: element.role for element in tree.elements}
    assert roles == {
        "Notes": "frame",
        "": "popup menu",
        "Save": "push button",
        "Document": "text",
        "Volume": "slider",
        "PIN": "password text",
        "Wrap lines": "check box",
        "Scrolled out": "push button",
        "File": "menu",
        "Quit": "menu item",
    }
    save, check = named(tree.elements, "Save"), named(tree.elements, "Wrap lines")
    assert save.rect == Rect(120, 130, 60, 24)
    assert {"enabled", "showing"} <= save.states
    assert "checked" in check.states
    assert "enabled" not in check.states
    assert named(tree.elements, "Document").text == "hello"
    assert {"editable"} <= named(tree.elements, "Document").states
    assert [each.text for each in tree.elements if each.role == "slider"] == ["0.25"]
    assert named(tree.elements, "PIN").text is None
    order = [element.ref for element in tree.elements]
    assert all(order.index(e.parent) < order.index(e.ref) for e in tree.elements if e.parent is not None)


async def test_what_is_scrolled_out_or_in_a_closed_menu_has_no_place(
    mac: FakeMac, desktop: MacDesktop
) -> None:
    tree = await desktop.accessibility.tree(EDITOR, 5.0)
    hidden, item = named(tree.elements, "Scrolled out"), named(tree.elements, "Quit")

    assert (hidden.rect, item.rect) == (None, None)
    assert not hidden.states & {"showing"}
    read = await desktop.accessibility.read(item.ref)
    assert read is not None
    assert read.rect is None
    bar = mac.applications[EDITOR].attributes["AXChildren"][1]
    bar.attributes["AXChildren"][0].attributes["AXSelected"] = True
    opened = await desktop.accessibility.read(item.ref)
    assert opened is not None
    assert opened.rect == Rect(0, 22, 200, 22)


async def test_an_element_keeps_its_ref_and_is_gone_when_it_is_gone(
    mac: FakeMac, desktop: MacDesktop
) -> None:
    first = named((await desktop.accessibility.tree(EDITOR, 5.0)).elements, "Save")
    again = named((await desktop.accessibility.tree(EDITOR, 5.0)).elements, "Save")
    assert first.ref == again.ref

    window = mac.applications[EDITOR].attributes["AXWindows"][0]
    window.attributes["AXChildren"][0].error = -25202
    assert await desktop.accessibility.read(first.ref) is None
    assert await desktop.accessibility.act(first.ref, "press") is False


async def test_actions_have_plain_names(mac: FakeMac, desktop: MacDesktop) -> None:
    save = named((await desktop.accessibility.tree(EDITOR, 5.0)).elements, "Save")

    assert await desktop.accessibility.actions(save.ref) == ["press"]
    assert await desktop.accessibility.act(save.ref, "press")
    assert not await desktop.accessibility.act(save.ref, "show menu")
    assert mac.events == [{"pressed": "Save"}]


async def test_texts_values_and_passwords_are_written(mac: FakeMac, desktop: MacDesktop) -> None:
    tree = (await desktop.accessibility.tree(EDITOR, 5.0)).elements
    text, secret = named(tree, "Document"), named(tree, "PIN")
    volume = next(element for element in tree if element.role == "slider")

    assert await desktop.accessibility.write(text.ref, "größer 漢字 😀")
    assert await desktop.accessibility.write(volume.ref, "0.5")
    assert await desktop.accessibility.write(secret.ref, "1234")
    assert not await desktop.accessibility.write(volume.ref, "loud")
    assert not await desktop.accessibility.write(named(tree, "Save").ref, "x")
    texts = await desktop.accessibility.texts(tree)
    assert (texts[text.ref], texts[volume.ref]) == ("größer 漢字 😀", "0.5")
    assert secret.ref not in texts


async def test_an_entry_of_a_pop_up_button_is_chosen_in_its_menu(mac: FakeMac, desktop: MacDesktop) -> None:
    window = mac.applications[EDITOR].attributes["AXWindows"][0]
    chosen: list[str] = []
    button = node(EDITOR, "AXPopUpButton", (300, 430, 100, 20), Title="Font", Value="Menlo")
    items = [node(EDITOR, "AXMenuItem", Title=name) for name in ("Menlo", "Courier")]
    items[1].actions["AXPress"] = lambda: chosen.append("Courier")
    menu = node(EDITOR, "AXMenu").add(*items)
    menu.actions["AXCancel"] = lambda: chosen.append("cancelled")
    button.actions["AXPress"] = lambda: button.attributes.update(AXChildren=[menu])
    window.add(button)
    font = named((await desktop.accessibility.tree(EDITOR, 5.0)).elements, "Font")

    assert (font.role, font.text) == ("combo box", "Menlo")
    assert await desktop.accessibility.write(font.ref, "Courier")
    assert not await desktop.accessibility.write(font.ref, "Times")
    assert chosen == ["Courier", "cancelled"]


async def test_a_program_that_hangs_gives_a_partial_tree(mac: FakeMac, desktop: MacDesktop) -> None:
    window = mac.applications[EDITOR].attributes["AXWindows"][0]
    window.attributes["AXChildren"][2].error = SILENT

    tree = await desktop.accessibility.tree(EDITOR, 5.0)

    assert not tree.complete
    assert "Save" in {element.name for element in tree.elements}
    mac.applications[EDITOR].error = 0
    save = named(tree.elements, "Save")
    window.attributes["AXChildren"][0].error = SILENT
    with pytest.raises(ToolFailure, match="does not answer"):
        await desktop.accessibility.read(save.ref)


async def test_a_click_is_refused_where_another_program_is_on_top(mac: FakeMac, desktop: MacDesktop) -> None:
    with pytest.raises(ClickRefused, match="covers"):
        await desktop.input.click(Point(450, 350), owner=EDITOR)
    seen = next(each for each in await desktop.windows.list() if each.id == 11)
    mac.windows[1].rect = (110, 100, 500, 400)
    with pytest.raises(ClickRefused, match="moved"):
        await desktop.input.click(Point(150, 150), owner=EDITOR, unmoved=seen)
    assert mac.events == []


async def test_a_double_click_counts_its_clicks(mac: FakeMac, desktop: MacDesktop) -> None:
    await desktop.input.click(Point(150, 150), count=2, owner=EDITOR)

    number = RECORDED["numbers"]
    down, up = number["kCGEventLeftMouseDown"], number["kCGEventLeftMouseUp"]
    assert [(event["kind"], event.get("clicks")) for event in mac.events] == [
        (number["kCGEventMouseMoved"], None),
        *[(down, 1), (up, 1), (down, 2), (up, 2)],
    ]
    assert {event["at"] for event in mac.events} == {(150, 150)}


async def test_a_right_drag_and_a_scroll_send_their_events(mac: FakeMac, desktop: MacDesktop) -> None:
    await desktop.input.drag(Point(-20, 10), Point(100, 70), button="right")
    number = RECORDED["numbers"]
    kinds = [event["kind"] for event in mac.events]
    assert kinds == [
        number["kCGEventMouseMoved"],
        number["kCGEventRightMouseDown"],
        *[number["kCGEventRightMouseDragged"]] * 12,
        number["kCGEventRightMouseUp"],
    ]
    assert (mac.events[0]["at"], mac.events[-1]["at"]) == ((-20, 10), (100, 70))

    mac.events.clear()
    await desktop.input.scroll(Point(5, 5), down=2, right=-1)
    assert [event.get("wheels") for event in mac.events] == [None, (-3, 0), (-3, 0), (0, 3)]


async def test_what_is_held_moves_with_the_pointer_and_is_released_at_the_end(
    mac: FakeMac, desktop: MacDesktop
) -> None:
    await desktop.input.hold(keys=["shift"], button="left", at=Point(10, 10))
    await desktop.input.hold(keys=["shift"], button="left")
    await desktop.input.move(Point(30, 30))
    await desktop.input.release(button="left")
    await desktop.input.release()

    number = RECORDED["numbers"]
    assert [event["kind"] for event in mac.events if "kind" in event] == [
        number["kCGEventMouseMoved"],
        number["kCGEventLeftMouseDown"],
        number["kCGEventLeftMouseDragged"],
        number["kCGEventLeftMouseUp"],
    ]
    keys = [(event["code"], event["pressed"], event["flags"]) for event in mac.events if "code" in event]
    assert keys == [(MODIFIER_KEYS["shift"], True, FLAGS["shift"]), (MODIFIER_KEYS["shift"], False, 0)]


async def test_text_is_typed_as_characters_in_any_layout(mac: FakeMac, desktop: MacDesktop) -> None:
    await desktop.input.type_text("ä漢\n😀", 21)

    downs = [event for event in mac.events if event["pressed"]]
    assert [event.get("text") for event in downs] == ["ä", "漢", None, "😀"]
    assert downs[2]["code"] == KEYS["enter"]
    assert {event["flags"] for event in mac.events} == {0}
    assert len(mac.events) == 8


async def test_typing_stops_when_the_window_is_not_active(mac: FakeMac, desktop: MacDesktop) -> None:
    with pytest.raises(ToolFailure, match="0 of 3"):
        await desktop.input.type_text("abc", 11)
    with pytest.raises(ToolFailure, match="not active"):
        await desktop.input.press("cmd+s", 11)
    assert mac.events == []


def test_key_codes_are_those_of_the_systems_table() -> None:
    """Values of kVK_ANSI_… and kVK_… in HIToolbox/Events.h."""
    known = {"a": 0, "s": 1, "z": 6, "v": 9, "b": 11, "q": 12, "t": 17, "1": 18, "=": 24, "9": 25, "0": 29}
    known |= {"p": 35, "l": 37, "j": 38, "'": 39, "\\": 42, ",": 43, "/": 44, "n": 45, "m": 46, ".": 47}
    known |= {"enter": 36, "tab": 48, "space": 49, "`": 50, "backspace": 51, "escape": 53, "f1": 122}
    known |= {"f5": 96, "f12": 111, "delete": 117, "home": 115, "end": 119, "pageup": 116, "pagedown": 121}
    known |= {"left": 123, "right": 124, "down": 125, "up": 126, "]": 30, "[": 33, "o": 31, "u": 32, "i": 34}
    known |= {"k": 40, ";": 41, "-": 27, "8": 28, "7": 26, "5": 23, "6": 22, "4": 21, "3": 20, "2": 19}

    assert {name: KEYS[name] for name in known} == known
    assert FLAGS["super"] == RECORDED["numbers"]["kCGEventFlagMaskCommand"]
    assert FLAGS["shift"] == RECORDED["numbers"]["kCGEventFlagMaskShift"]
    assert FLAGS["ctrl"] == RECORDED["numbers"]["kCGEventFlagMaskControl"]
    assert FLAGS["alt"] == RECORDED["numbers"]["kCGEventFlagMaskAlternate"]
    assert FLAGS["fn"] == RECORDED["numbers"]["kCGEventFlagMaskSecondaryFn"]


@pytest.mark.parametrize(
    ("chord", "expected"),
    [
        ("enter", [(36, True, ""), (36, False, "")]),
        ("cmd+s", [(55, True, "super"), (1, True, "super"), (1, False, "super"), (55, False, "")]),
        ("A", [(56, True, "shift"), (0, True, "shift"), (0, False, "shift"), (56, False, "")]),
        ("ctrl++", [(59, True, "ctrl"), (56, True, "ctrl shift"), (24, True, "ctrl shift"),
                    (24, False, "ctrl shift"), (56, False, "ctrl"), (59, False, "")]),
        ("shift", [(56, True, "shift"), (56, False, "")]),
    ],
)  # fmt: skip
def test_chords_become_events(chord: str, expected: list[tuple[int, bool, str]]) -> None:
    made = [(event.code, event.pressed, event.flags) for event in events_of_chord(chord)]

    assert made == [(code, down, sum(FLAGS[name] for name in held.split())) for code, down, held in expected]


@pytest.mark.parametrize("chord", ["", "a+b", "ctrl+nothing", "ctrl+shift+alt+cmd+fn+a+b"])
def test_what_is_no_chord_is_refused(chord: str) -> None:
    with pytest.raises(ToolFailure):
        events_of_chord(chord)


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
async def test_displays_have_points_and_their_scale(mac: FakeMac, desktop: MacDesktop, scale: float) -> None:
    mac.displays = {7: ((0, 0, 1440, 900), scale), 9: ((-1920, -180, 1920, 1080), 1.0)}

    main, left = await desktop.displays.list()

    assert (main.rect, main.primary, main.scale) == (Rect(0, 0, 1440, 900), True, scale)
    assert (left.rect, left.primary, left.scale) == (Rect(-1920, -180, 1920, 1080), False, 1.0)


@pytest.mark.parametrize("scale", [1, 2])
async def test_pictures_have_one_pixel_for_each_point(mac: FakeMac, desktop: MacDesktop, scale: int) -> None:
    mac.displays = {1: ((0, 0, 200, 100), scale), 2: ((-100, 0, 100, 100), 1.0)}
    asked: list[tuple[float, float, int, int]] = []

    def image(area: Any, option: int, window: int, options: int) -> Any:
        asked.append((area.origin.x, area.size.width, option, window))
        width, height = (300, 100) if window == 0 else (600, 500)
        pixels = numpy.zeros((height * scale, width * scale, 4), numpy.uint8)
        pixels[:, : width * scale // 2] = (255, 0, 0, 255)
        padded = numpy.zeros((height * scale, width * scale * 4 + 64), numpy.uint8)
        padded[:, : width * scale * 4] = pixels.reshape(height * scale, -1)
        return SimpleNamespace(
            width=width * scale,
            height=height * scale,
            row=padded.shape[1],
            info=0x2002,
            data=padded.tobytes(),
        )

    mac.image = image
    screen = await desktop.capture.screen()
    part = await desktop.capture.screen(Rect(-50, 0, 300, 100))
    window = await desktop.capture.window(21)

    assert (screen.origin, screen.pixels.shape) == (Point(-100, 0), (100, 300, 3))
    assert [*screen.pixels[50, 100], *screen.pixels[50, 200]] == [255, 0, 0, 0, 0, 0]
    assert (part.origin, part.pixels.shape) == (Point(-50, 0), (100, 250, 3))
    assert (window.origin, window.pixels.shape) == (Point(400, 300), (500, 600, 3))
    assert asked[0] == (-100, 300, RECORDED["numbers"]["kCGWindowListOptionOnScreenOnly"], 0)
    assert asked[2][2:] == (RECORDED["numbers"]["kCGWindowListOptionIncludingWindow"], 21)
    with pytest.raises(ToolFailure, match="outside the screen"):
        await desktop.capture.screen(Rect(5000, 0, 10, 10))


async def test_the_systems_program_takes_the_picture_if_quartz_does_not(
    mac: FakeMac, desktop: MacDesktop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    picture, program = tmp_path / "picture.png", tmp_path / "screencapture"
    cv2.imwrite(str(picture), numpy.full((1800, 2880, 3), 7, numpy.uint8))  # two pixels for each point
    program.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\nfor last; do :; done\ncp {picture} "$last"\n'
    )
    program.chmod(0o700)
    monkeypatch.setattr(capture, "PROGRAM", str(program))

    shot = await desktop.capture.screen()

    assert (shot.pixels.shape, int(shot.pixels.min())) == ((900, 1440, 3), 7)
    assert (tmp_path / "arguments").read_text().startswith("-x -t png -R 0,0,1440,900 ")
    program.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(ToolFailure, match="no picture"):
        await desktop.capture.window(21)


def test_both_byte_orders_become_blue_green_red() -> None:
    red = bytes([255, 0, 0, 255])

    assert convert_pixels(red, 1, 1, 4, little=False)[0, 0].tolist() == [0, 0, 255]
    assert convert_pixels(red, 1, 1, 4, little=True)[0, 0].tolist() == [255, 0, 0]


async def test_the_clipboard_is_read_and_written(mac: FakeMac, desktop: MacDesktop) -> None:
    text = "text/plain;charset=utf-8"
    assert await desktop.clipboard.read() is None
    await desktop.clipboard.write({text: "größer".encode(), "text/html": b"<b>x</b>"})
    assert mac.pasteboard == {"public.utf8-plain-text": "größer".encode(), "public.html": b"<b>x</b>"}
    found = await desktop.clipboard.read()
    assert found is not None
    assert (found.text, found.available) == ("größer", (text, "text/html"))
    html = await desktop.clipboard.read("text/html")
    assert html is not None
    assert html.data == b"<b>x</b>"

    mac.pasteboard.clear()
    mac.pasteboard["public.tiff"] = b"TIFF"
    picture = await desktop.clipboard.read()
    assert picture is not None
    assert (picture.media_type, picture.data) == ("image/png", b"\x89PNG of TIFF")
    await desktop.clipboard.write({})
    assert mac.pasteboard == {}
    with pytest.raises(ToolFailure, match="64 MiB"):
        await desktop.clipboard.write({text: bytes((64 << 20) + 1)})


async def test_programs_are_listed_and_ended(mac: FakeMac, desktop: MacDesktop) -> None:
    front, back = await desktop.applications.list()

    assert (front.id, back.id) == (OTHER, EDITOR)
    assert (back.name, back.window_class) == ("Program 501", "org.example.program501")
    assert back.executable == "/Applications/P501.app/Contents/MacOS/P"
    await desktop.applications.close(EDITOR, force=True)
    assert mac.ended == [(EDITOR, True)]
    with pytest.raises(ToolFailure):
        await desktop.applications.close(9999, force=False)


def test_programs_are_opened_by_name_id_or_path() -> None:
    assert open_arguments(["TextEdit"]) == ["-a", "TextEdit"]
    assert open_arguments(["com.apple.TextEdit", "x"]) == ["-b", "com.apple.TextEdit", "--args", "x"]
    assert open_arguments(["/Applications/Notes.app"]) == ["-a", "/Applications/Notes.app"]


async def test_a_listener_learns_of_new_windows(mac: FakeMac, desktop: MacDesktop) -> None:
    with desktop.events.listen() as changes:
        await desktop.windows.list()
        change = None
        number = 100
        while change is None:  # until the watcher has seen the state before
            number += 1
            mac.windows.insert(0, MacWindow(number, OTHER, "New", (0, 0, 300, 300)))
            change = await changes.next(0.6)
        assert (change.kind, change.application) == ("window", OTHER)


def test_every_role_is_one_of_ours() -> None:
    from toolcrib.bundled.desktop.backends.macos.vocabulary import ROLES as MAC_ROLES
    from toolcrib.bundled.desktop.backends.macos.vocabulary import SUBROLES

    assert {*MAC_ROLES.values(), *SUBROLES.values()} <= set(ROLES)
    assert role_name("AXMenuItem", has_menu=True) == "menu"
    assert role_name("AXRadioButton", "AXTabButton") == "page tab"
    assert role_name("AXSomethingNew") == "something new"
