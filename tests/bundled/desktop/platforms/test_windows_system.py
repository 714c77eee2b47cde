"""The Windows backend against documented structures, numbers and interfaces; not a real Windows."""

from __future__ import annotations

import asyncio
import ctypes
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy
import pytest

from tests.bundled.desktop.platforms.fake_windows import FakeAutomation, FakeWindows, NativeWindow, UiaNode
from toolcrib.bundled.desktop.backend import ClickRefused, Element
from toolcrib.bundled.desktop.backends import backend_module, windows
from toolcrib.bundled.desktop.backends.windows import api, structures, vocabulary
from toolcrib.bundled.desktop.backends.windows.clipboard_formats import pack_html, unpack_html
from toolcrib.bundled.desktop.backends.windows.desktop import WindowsDesktop
from toolcrib.bundled.desktop.backends.windows.input import absolute
from toolcrib.bundled.desktop.backends.windows.integrity import missing_rights
from toolcrib.bundled.desktop.backends.windows.vocabulary import CONTROL_TYPES, role_name
from toolcrib.bundled.desktop.backends.windows.windows import around
from toolcrib.bundled.desktop.backends.x11.atspi.vocabulary import ROLES
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

NOTEPAD, ADMIN, STORE = 501, 700, 800
TEXT = "text/plain;charset=utf-8"
TIMEOUT, GONE = -2146233083, -2147220991


@pytest.fixture
def system() -> FakeWindows:
    return FakeWindows(
        windows=[
            NativeWindow(21, ADMIN, "Services", Rect(400, 300, 600, 500), kind="MMC"),
            NativeWindow(11, NOTEPAD, "Notes – größer", Rect(100, 100, 500, 400)),
            NativeWindow(31, 9, "Calculator", Rect(900, 50, 300, 400), kind="ApplicationFrameWindow",
                         children={"Windows.UI.Core.CoreWindow": 32, "point": 32}),
            NativeWindow(32, STORE, "Calculator", Rect(900, 50, 300, 400), visible=False, parent=31),
            NativeWindow(41, 9, "Hidden", Rect(0, 0, 10, 10), cloaked=True),
            NativeWindow(42, 9, "", Rect(0, 0, 10, 10)),
            NativeWindow(43, 9, "Tool", Rect(0, 0, 10, 10), style=0x80),
        ],
        front=21,
        levels={ADMIN: 0x3000},
    )  # fmt: skip


def element(
    kind: int, name: str, number: int, rect: Any = (110.0, 110.0, 60.0, 24.0), **more: Any
) -> UiaNode:
    values = {
        vocabulary.CONTROL_TYPE: kind,
        vocabulary.NAME: name,
        vocabulary.RUNTIME_ID: (42, 11, number),
        vocabulary.BOUNDING_RECTANGLE: rect,
        vocabulary.PROCESS_ID: NOTEPAD,
        vocabulary.IS_ENABLED: True,
        **{getattr(vocabulary, key): value for key, value in more.items()},
    }
    return UiaNode(values)


class ValuePattern:
    def __init__(self, node: UiaNode, number: int) -> None:
        self._node, self._number = node, number

    def SetValue(self, value: Any) -> None:  # noqa: N802
        self._node.values[self._number] = value


@pytest.fixture
def automation() -> FakeAutomation:
    save = element(50000, "Save", 2, HAS_INVOKE=True)
    text = element(50030, "Text editor", 3, HAS_VALUE=True, VALUE="hello", VALUE_READ_ONLY=False)
    text.patterns[10002] = ValuePattern(text, vocabulary.VALUE)
    volume = element(50015, "Volume", 4, HAS_RANGE=True, RANGE_VALUE=25.0)
    volume.patterns[10003] = ValuePattern(volume, vocabulary.RANGE_VALUE)
    secret = element(50004, "PIN", 5, IS_PASSWORD=True, HAS_VALUE=True, VALUE="x", VALUE_READ_ONLY=False)
    secret.patterns[10002] = ValuePattern(secret, vocabulary.VALUE)
    check = element(50002, "Wrap", 6, HAS_TOGGLE=True, TOGGLE_STATE=1, IS_ENABLED=False)
    hidden = element(50000, "Scrolled out", 7, IS_OFFSCREEN=True)
    file = element(50011, "File", 8, HAS_EXPAND=True, EXPAND_STATE=0)
    window = element(50032, "Notes", 1, (92.0, 69.0, 516.0, 439.0))
    window.children = [save, text, volume, secret, check, hidden, file]
    popup = element(50009, "", 9, (0.0, 0.0, 0.0, 0.0))
    return FakeAutomation({11: window, -1: popup})


@pytest.fixture
async def desktop(system: FakeWindows, automation: FakeAutomation) -> AsyncIterator[WindowsDesktop]:
    opened = WindowsDesktop(system.api(), automation.load)
    yield opened
    opened.close()


def named(elements: tuple[Element, ...], name: str) -> Element:
    return next(each for each in elements if each.name == name)


def test_windows_has_its_backend_and_loads_nothing_of_the_system() -> None:
    assert backend_module("win32") is windows
    assert "comtypes" not in sys.modules
    assert [problem.fatal for problem in windows.probe(windows.user_target())] == [True]


@pytest.mark.skipif(
    ctypes.sizeof(ctypes.c_void_p) != 8, reason="the documented sizes are those of 64-bit systems"
)
def test_structures_have_the_documented_sizes_and_offsets() -> None:
    sizes = {
        structures.NativePoint: 8,
        structures.NativeRect: 16,
        structures.MouseInput: 32,
        structures.KeyboardInput: 24,
        structures.InputRecord: 40,
        structures.MonitorInfo: 104,
        structures.BitmapHeader: 40,
        structures.SidAndAttributes: 16,
    }

    assert {kind: ctypes.sizeof(kind) for kind in sizes} == sizes
    assert structures.MouseInput.extra_info.offset == 24
    assert structures.KeyboardInput.flags.offset == 4
    assert structures.KeyboardInput.extra_info.offset == 16
    assert structures.InputRecord.union.offset == 8  # type: ignore[attr-defined]
    assert structures.MonitorInfo.device.offset == 40
    assert structures.BitmapHeader.bits.offset == 14


def kind_of(declared: str) -> Any:
    """The ctypes type of a C type; a pointer to a structure may also be passed as an address."""
    numbers = {
        "int": ctypes.c_int32,
        "UINT": ctypes.c_uint32,
        "SHORT": ctypes.c_int16,
        "WCHAR": ctypes.c_uint16,
    }
    names = dict.fromkeys(("INT", "LONG", "WINBOOL", "HRESULT"), numbers["int"])
    names |= dict.fromkeys(("TOKEN_INFORMATION_CLASS", "MONITOR_DPI_TYPE"), numbers["int"])
    names |= dict.fromkeys(("DWORD", "ACCESS_MASK"), numbers["UINT"])
    names |= {"WPARAM": ctypes.c_size_t, "SIZE_T": ctypes.c_size_t}
    names |= {"LPARAM": ctypes.c_ssize_t, "LRESULT": ctypes.c_ssize_t, "POINT": structures.NativePoint}
    names |= {"LPWSTR": ctypes.c_wchar_p, "LPCWSTR": ctypes.c_wchar_p}
    targets = {"PDWORD_PTR": ctypes.c_size_t, "PHANDLE": ctypes.c_void_p, "LPINPUT": structures.InputRecord}
    targets |= {"LPPOINT": structures.NativePoint, "LPRECT": structures.NativeRect, "PUCHAR": ctypes.c_uint8}
    targets |= dict.fromkeys(("PDWORD", "LPDWORD", "UINT *"), numbers["UINT"])
    targets |= {"LPMONITORINFO": structures.MonitorInfo}
    callbacks = {"WNDENUMPROC": api.WindowCallback, "MONITORENUMPROC": api.MonitorCallback}
    if declared in targets:
        return ctypes.POINTER(targets[declared])
    return callbacks.get(declared) or numbers.get(declared) or names.get(declared, ctypes.c_void_p)


@pytest.mark.parametrize("library", api.PROTOTYPES)
def test_functions_have_the_types_of_the_systems_headers(library: str) -> None:
    """Recorded from the headers of mingw-w64: the result, then the arguments."""
    recorded = json.loads(Path(__file__).with_name("windows_headers.json").read_text())

    for name, (result, arguments) in api.PROTOTYPES[library].items():
        assert [result, *arguments] == [kind_of(declared) for declared in recorded[name]], name


def test_records_have_the_bytes_that_windows_reads() -> None:
    key = bytes(structures.key_record(0x41, 0x1E, 2))
    wheel = bytes(structures.mouse_record(0x800, data=-120))

    assert key[:16] == b"\x01\0\0\0\0\0\0\0\x41\0\x1e\0\x02\0\0\0"
    assert wheel[8:24] == b"\0\0\0\0\0\0\0\0\x88\xff\xff\xff\0\x08\0\0"


def test_identifiers_are_those_of_the_systems_headers() -> None:
    """Values of UIAutomationClient.h."""
    documented = {"NAME": 30005, "BOUNDING_RECTANGLE": 30001, "IS_OFFSCREEN": 30022, "IS_PASSWORD": 30019}
    documented |= {"VALUE": 30045, "VALUE_READ_ONLY": 30046, "TOGGLE_STATE": 30086, "IS_SELECTED": 30079}
    documented |= {"EXPAND_STATE": 30070, "RANGE_VALUE": 30047, "HAS_INVOKE": 30031, "RUNTIME_ID": 30000}
    patterns = {"click": 10000, "toggle": 10015, "select": 10010, "expand": 10005, "dodefault": 10018}

    assert {name: getattr(vocabulary, name) for name in documented} == documented
    assert {name: vocabulary.ACTIONS[name][1] for name in patterns} == patterns
    assert (len(CONTROL_TYPES), CONTROL_TYPES[32], CONTROL_TYPES[40]) == (41, "frame", "tool bar")


def test_every_role_is_one_of_ours() -> None:
    assert set(CONTROL_TYPES) <= set(ROLES)
    assert role_name({vocabulary.CONTROL_TYPE: 50032, vocabulary.IS_MODAL: True}) == "dialog"
    assert role_name({vocabulary.CONTROL_TYPE: 50011, vocabulary.HAS_TOGGLE: True}) == "check menu item"
    assert role_name({vocabulary.CONTROL_TYPE: 99999}) == "unknown"


def test_the_probe_says_which_programs_cannot_be_controlled(system: FakeWindows) -> None:
    (problem,) = missing_rights(system.api())
    assert "administrator" in problem.message
    assert not problem.fatal

    system.own_level, system.locked = 0x3000, True
    (locked,) = missing_rights(system.api())
    assert "locked" in locked.message


async def test_windows_are_listed_from_the_lowest_to_the_topmost(desktop: WindowsDesktop) -> None:
    calculator, notes, services = await desktop.windows.list()

    assert (notes.id, notes.title, notes.rect) == (11, "Notes – größer", Rect(100, 100, 500, 400))
    assert (services.active, services.level, notes.active) == (True, 2, False)
    assert calculator.application == STORE


async def test_every_thread_is_aware_of_the_scale(system: FakeWindows, desktop: WindowsDesktop) -> None:
    await desktop.windows.list()
    await desktop.accessibility.tree(NOTEPAD, 1.0)

    assert system.aware == [-4, -4]


async def test_a_window_is_focused_moved_minimised_and_closed(
    system: FakeWindows, desktop: WindowsDesktop
) -> None:
    focused = await desktop.windows.focus(11)
    moved = await desktop.windows.place(11, Rect(-800, 40, 640, 480))
    hidden = await desktop.windows.minimise(11)
    shown = await desktop.windows.restore(11)

    assert focused.active
    assert moved.rect == Rect(-800, 40, 640, 480)
    assert (hidden.minimised, shown.minimised) == (True, False)
    assert await desktop.windows.close(11)
    with pytest.raises(ToolFailure, match="no window 11"):
        await desktop.windows.focus(11)


async def test_a_window_that_stays_behind_is_reported(
    system: FakeWindows, desktop: WindowsDesktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolcrib.bundled.desktop.backends.windows import windows as module

    monkeypatch.setattr(module._until, "__defaults__", (0.05,))
    monkeypatch.setattr(module, "PROMPT_PATIENCE", 0.01)
    system.windows[1].answer = False

    with pytest.raises(ToolFailure, match="did not become active"):
        await desktop.windows.focus(11)
    assert [sent[1] for sent in system.sent] == [0x12, 0x12]


def test_the_frame_is_added_around_the_wanted_inside() -> None:
    inside, outside = Rect(108, 131, 500, 400), Rect(100, 100, 516, 439)

    assert around(Rect(0, 0, 640, 480), inside, outside) == Rect(-8, -31, 656, 519)


async def test_monitors_have_physical_places_and_their_scale(
    system: FakeWindows, desktop: WindowsDesktop
) -> None:
    system.monitors = [
        (Rect(0, 0, 3840, 2160), 192),
        (Rect(-1920, 100, 1920, 1080), 96),
        (Rect(3840, 0, 2560, 1440), 144),
    ]

    first, second, third = await desktop.displays.list()

    assert (first.name, first.primary, first.scale) == (r"\\.\DISPLAY1", True, 2.0)
    assert (second.rect, second.primary, second.scale) == (Rect(-1920, 100, 1920, 1080), False, 1.0)
    assert third.scale == 1.5


@pytest.mark.parametrize(
    "whole",
    [Rect(0, 0, 1920, 1080), Rect(-1920, -200, 5760, 2360), Rect(0, 0, 1366, 768), Rect(-1, 0, 7680, 4320)],
)
def test_every_pixel_is_hit_by_its_absolute_position(whole: Rect) -> None:
    for x in range(whole.x, whole.x + whole.width):
        units, _ = absolute(Point(x, whole.y), whole)
        assert 0 <= units < 65536
        assert whole.x + units * whole.width // 65536 == x


async def test_a_click_goes_to_its_pixel_even_if_windows_rounds(
    system: FakeWindows, desktop: WindowsDesktop
) -> None:
    await desktop.input.click(Point(150, 150), owner=NOTEPAD, count=2)
    assert system.cursor == Point(150, 150)
    assert [flags for _, flags, _ in system.sent] == [0xC001, 2, 4, 2, 4]

    system.sent.clear()
    system.rounding = 1
    await desktop.input.click(Point(-1 + 10, 20), button="right")
    assert system.cursor == Point(9, 20)
    assert system.sent[1:] == [("set cursor", 9, 20), ("mouse", 8, 0), ("mouse", 16, 0)]


async def test_swapped_buttons_are_taken_into_account(system: FakeWindows, desktop: WindowsDesktop) -> None:
    system.swapped = True

    await desktop.input.click(Point(1, 1))

    assert [flags for _, flags, _ in system.sent[1:]] == [8, 16]


async def test_a_click_is_refused_unless_it_reaches_its_program(
    system: FakeWindows, desktop: WindowsDesktop
) -> None:
    seen = next(each for each in await desktop.windows.list() if each.id == 11)
    with pytest.raises(ClickRefused, match="covers"):
        await desktop.input.click(Point(450, 350), owner=NOTEPAD)
    system.windows[1].rect = Rect(101, 100, 500, 400)
    with pytest.raises(ClickRefused, match="moved"):
        await desktop.input.click(Point(150, 150), owner=NOTEPAD, unmoved=seen)
    with pytest.raises(ToolFailure, match="administrator"):
        await desktop.input.click(Point(450, 350), owner=ADMIN)
    system.locked = True
    with pytest.raises(ToolFailure, match="locked"):
        await desktop.input.click(Point(150, 150))
    assert system.sent == []


async def test_a_store_app_is_clicked_inside_its_frame(system: FakeWindows, desktop: WindowsDesktop) -> None:
    await desktop.input.click(Point(950, 100), owner=STORE)

    assert system.cursor == Point(950, 100)


async def test_a_drag_and_a_scroll_send_their_events(system: FakeWindows, desktop: WindowsDesktop) -> None:
    await desktop.input.drag(Point(10, 10), Point(130, 70))
    assert [flags for _, flags, _ in system.sent] == [0xC001, 2, *[0xC001] * 12, 4]
    assert system.cursor == Point(130, 70)

    system.sent.clear()
    await desktop.input.scroll(Point(5, 5), down=2, right=-1)
    assert system.sent[1:] == [("mouse", 0x800, -120)] * 2 + [("mouse", 0x1000, -120)]


async def test_what_is_held_is_pressed_once_and_released_when_the_desktop_closes(
    system: FakeWindows, desktop: WindowsDesktop
) -> None:
    await desktop.input.hold(keys=["shift"], button="left", at=Point(10, 10))
    await desktop.input.hold(keys=["shift"])
    await desktop.input.release(button="left")
    assert [each[1:3] for each in system.sent] == [(0xC001, 0), (0x10, 0x10 + 100), (2, 0), (4, 0)]

    desktop.close()
    async with asyncio.timeout(10):
        while system.sent[-1] != ("key", 0x10, 0x10 + 100, 2):  # noqa: ASYNC110 - by another thread
            await asyncio.sleep(0.01)


async def test_text_is_typed_as_utf_16_in_any_layout(system: FakeWindows, desktop: WindowsDesktop) -> None:
    system.front = 11

    await desktop.input.type_text("ä\n😀", 11)

    assert system.sent == [
        ("key", 0, 0xE4, 4),
        ("key", 0, 0xE4, 6),
        ("key", 0x0D, 0x0D + 100, 0),
        ("key", 0x0D, 0x0D + 100, 2),
        ("key", 0, 0xD83D, 4),
        ("key", 0, 0xD83D, 6),
        ("key", 0, 0xDE00, 4),
        ("key", 0, 0xDE00, 6),
    ]


async def test_typing_is_refused_without_focus_or_rights(
    system: FakeWindows, desktop: WindowsDesktop
) -> None:
    with pytest.raises(ToolFailure, match="0 of 3"):
        await desktop.input.type_text("abc", 11)
    with pytest.raises(ToolFailure, match="not active"):
        await desktop.input.press("enter", 11)
    with pytest.raises(ToolFailure, match="administrator"):
        await desktop.input.type_text("abc", 21)
    system.front, system.blocked = 11, True
    with pytest.raises(ToolFailure, match="blocked"):
        await desktop.input.type_text("abc", 11)
    assert system.sent == []


@pytest.mark.parametrize(
    ("chord", "keys"),
    [
        ("ctrl+s", [0x11, 0x53]),
        ("A", [0x10, 0x41]),
        ("@", [0x11, 0x12, 0x51]),
        ("ctrl+shift+left", [0x11, 0x10, 0x25]),
        ("f24", [0x87]),
        ("ctrl++", [0x11, 0xBB]),
    ],
)
async def test_chords_use_the_keys_of_the_layout(
    system: FakeWindows, desktop: WindowsDesktop, chord: str, keys: list[int]
) -> None:
    await desktop.input.press(chord, None)

    assert [sent[1] for sent in system.sent] == [*keys, *reversed(keys)]
    extended = {sent[1] for sent in system.sent if sent[3] & 1}
    assert extended == {key for key in keys if key == 0x25}
    assert [sent[3] & 2 for sent in system.sent] == [0] * len(keys) + [2] * len(keys)


async def test_a_key_that_the_layout_lacks_is_refused(system: FakeWindows, desktop: WindowsDesktop) -> None:
    with pytest.raises(ToolFailure, match="No key of this keyboard layout"):
        await desktop.input.press("win+ж", None)
    with pytest.raises(ToolFailure, match="no key 'entr'") as failed:
        await desktop.input.press("entr", None)
    assert "enter" in (failed.value.hint or "")
    assert system.sent == []


async def test_pictures_are_cut_at_the_screen_and_free_what_they_use(
    system: FakeWindows, desktop: WindowsDesktop
) -> None:
    system.monitors = [(Rect(0, 0, 300, 200), 96), (Rect(-100, 0, 100, 200), 144)]

    whole = await desktop.capture.screen()
    part = await desktop.capture.screen(Rect(-120, 190, 50, 50))
    window = await desktop.capture.window(11)

    assert (whole.origin, whole.pixels.shape) == (Point(-100, 0), (200, 400, 3))
    assert whole.pixels[7, 105].tolist() == [5, 7, 0]
    assert (part.origin, part.pixels.shape) == (Point(-100, 190), (10, 30, 3))
    assert (window.origin, window.pixels.shape) == (Point(100, 100), (400, 500, 3))
    assert system.objects == {}
    with pytest.raises(ToolFailure, match="outside the screen"):
        await desktop.capture.screen(Rect(5000, 0, 10, 10))
    system.windows[1].minimised = True
    with pytest.raises(ToolFailure, match="minimised"):
        await desktop.capture.window(11)


async def test_elements_are_read_with_roles_states_and_places(desktop: WindowsDesktop) -> None:
    tree = await desktop.accessibility.tree(NOTEPAD, 5.0)

    assert tree.complete
    assert {each.name: each.role for each in tree.elements} == {
        "Notes": "frame",
        "Save": "push button",
        "Text editor": "document text",
        "Volume": "slider",
        "PIN": "password text",
        "Wrap": "check box",
        "Scrolled out": "push button",
        "File": "menu",
        "": "popup menu",
    }
    save = named(tree.elements, "Save")
    assert (save.ref, save.rect) == ((str(NOTEPAD), "42.11.2"), Rect(110, 110, 60, 24))
    assert {"enabled", "showing"} <= save.states
    assert named(tree.elements, "Wrap").states == frozenset({"checked", "visible", "showing"})
    assert "editable" in named(tree.elements, "Text editor").states
    assert named(tree.elements, "Volume").text == "25"
    assert named(tree.elements, "PIN").text is None
    assert named(tree.elements, "Scrolled out").rect is None
    assert "collapsed" in named(tree.elements, "File").states
    assert [each.parent for each in tree.elements][:2] == [None, tree.elements[0].ref]


async def test_texts_values_and_passwords_are_written(
    automation: FakeAutomation, desktop: WindowsDesktop
) -> None:
    tree = (await desktop.accessibility.tree(NOTEPAD, 5.0)).elements
    text, volume, secret = named(tree, "Text editor"), named(tree, "Volume"), named(tree, "PIN")

    assert await desktop.accessibility.write(text.ref, "größer 漢字 😀")
    assert await desktop.accessibility.write(volume.ref, "40")
    assert await desktop.accessibility.write(secret.ref, "1234")
    assert not await desktop.accessibility.write(volume.ref, "loud")
    assert not await desktop.accessibility.write(named(tree, "Save").ref, "x")
    assert await desktop.accessibility.texts(tree) == {text.ref: "größer 漢字 😀", volume.ref: "40"}
    assert await desktop.accessibility.focus(text.ref)


async def test_a_document_without_a_value_is_read_as_text(
    automation: FakeAutomation, desktop: WindowsDesktop
) -> None:
    document = automation.roots[11].children[1]
    document.values[vocabulary.HAS_VALUE], document.values[vocabulary.HAS_TEXT] = False, True
    document.patterns[10014] = SimpleNamespace(
        DocumentRange=SimpleNamespace(GetText=lambda most: "long text")
    )
    found = named((await desktop.accessibility.tree(NOTEPAD, 5.0)).elements, "Text editor")

    read = await desktop.accessibility.read(found.ref)

    assert read is not None
    assert read.text == "long text"


async def test_actions_follow_from_patterns(automation: FakeAutomation, desktop: WindowsDesktop) -> None:
    done: list[str] = []
    automation.roots[11].children[0].patterns[10000] = SimpleNamespace(Invoke=lambda: done.append("invoked"))
    save = named((await desktop.accessibility.tree(NOTEPAD, 5.0)).elements, "Save")

    assert await desktop.accessibility.actions(save.ref) == ["click"]
    assert await desktop.accessibility.act(save.ref, "click")
    assert not await desktop.accessibility.act(save.ref, "toggle")
    assert not await desktop.accessibility.act(save.ref, "explode")
    assert done == ["invoked"]


async def test_an_entry_of_a_combo_box_is_chosen_while_it_is_open(
    automation: FakeAutomation, desktop: WindowsDesktop
) -> None:
    done: list[str] = []
    entries = [element(50007, name, number) for number, name in enumerate(("Menlo", "Courier"), 20)]
    for entry in entries:
        name = entry.values[vocabulary.NAME]
        entry.patterns[10010] = SimpleNamespace(Select=lambda name=name: done.append(name))
    font = element(50003, "Font", 19, HAS_EXPAND=True, EXPAND_STATE=0)
    font.patterns[10005] = SimpleNamespace(
        Expand=lambda: font.children.append(UiaNode(element(50008, "", 18).values, entries)),
        Collapse=lambda: font.children.clear(),
    )
    automation.roots[11].children.append(font)
    found = named((await desktop.accessibility.tree(NOTEPAD, 5.0)).elements, "Font")

    assert await desktop.accessibility.write(found.ref, "Courier")
    assert not await desktop.accessibility.write(found.ref, "Times")
    assert done == ["Courier"]
    assert font.children == []


async def test_what_hangs_gives_a_partial_tree_and_what_is_gone_is_none(
    automation: FakeAutomation, desktop: WindowsDesktop
) -> None:
    save = named((await desktop.accessibility.tree(NOTEPAD, 5.0)).elements, "Save")
    automation.roots[11].children[0].error = GONE
    automation.roots[11].children[3].error = TIMEOUT

    tree = await desktop.accessibility.tree(NOTEPAD, 5.0)

    assert not tree.complete
    assert "Volume" in {each.name for each in tree.elements}
    assert await desktop.accessibility.read(save.ref) is None
    automation.roots[11].children[0].error = TIMEOUT
    with pytest.raises(ToolFailure, match="does not answer"):
        await desktop.accessibility.read(save.ref)
    assert await desktop.accessibility.rects([save.ref]) == {}


async def test_the_clipboard_holds_text_html_and_pictures(
    system: FakeWindows, desktop: WindowsDesktop
) -> None:
    assert await desktop.clipboard.read() is None
    system.clipboard_busy = 2
    await desktop.clipboard.write({TEXT: "größer\n😀".encode(), "text/html": "<b>ß</b>".encode()})
    assert bytes(system.memory[system.clipboard[13]]) == "größer\r\n😀\0".encode("utf-16-le")
    found = await desktop.clipboard.read()
    html = await desktop.clipboard.read("text/html")
    assert found is not None
    assert (found.text, found.available) == ("größer\n😀", (TEXT, "text/html"))
    assert html is not None
    assert html.text == "<b>ß</b>"

    picture = numpy.zeros((3, 5, 3), numpy.uint8)
    picture[1, 2] = (10, 20, 30)
    png = cv2.imencode(".png", picture)[1].tobytes()
    await desktop.clipboard.write({"image/png": png})
    assert set(system.clipboard) == {system.formats["PNG"], 8}
    del system.clipboard[system.formats["PNG"]]
    bitmap = await desktop.clipboard.read()
    assert bitmap is not None
    decoded = cv2.imdecode(numpy.frombuffer(bitmap.data, numpy.uint8), cv2.IMREAD_COLOR)
    assert numpy.array_equal(decoded, picture)
    await desktop.clipboard.write({})
    assert system.clipboard == {}


async def test_copied_files_are_read_as_addresses(system: FakeWindows, desktop: WindowsDesktop) -> None:
    system.clipboard[15] = 1
    system.files = [r"C:\Users\me\a b.txt", r"D:\x.png"]

    found = await desktop.clipboard.read()

    assert found is not None
    assert (found.media_type, found.text) == (
        "text/uri-list",
        "file:///C:/Users/me/a%20b.txt\r\nfile:///D:/x.png",
    )


async def test_a_clipboard_that_stays_open_is_reported(
    system: FakeWindows, desktop: WindowsDesktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolcrib.bundled.desktop.backends.windows import clipboard

    monkeypatch.setattr(clipboard, "PATIENCE", 0.05)
    system.clipboard_busy = 10_000

    with pytest.raises(ToolFailure, match="keeps the clipboard open"):
        await desktop.clipboard.read()


def test_the_offsets_of_the_html_format_point_at_the_fragment() -> None:
    packed = pack_html("<p>漢</p>".encode())
    numbers = dict(line.split(":", 1) for line in packed.decode().split("\r\n")[1:5])

    assert packed[int(numbers["StartHTML"]) :].startswith(b"<html>")
    assert len(packed) == int(numbers["EndHTML"])
    assert packed[int(numbers["StartFragment"]) : int(numbers["EndFragment"])].decode() == "<p>漢</p>"
    assert unpack_html(packed).decode() == "<p>漢</p>"


async def test_programs_are_listed_opened_and_ended(system: FakeWindows, desktop: WindowsDesktop) -> None:
    front, *_ = await desktop.applications.list()
    assert (front.id, front.name, front.executable) == (ADMIN, "program700", r"C:\Windows\program700.exe")

    def show() -> None:
        system.windows.insert(0, NativeWindow(90, 55, "Other", Rect(0, 0, 50, 50)))
        system.windows.insert(1, NativeWindow(91, 56, "Wanted", Rect(0, 0, 50, 50)))

    system.on_execute = show
    opened = await desktop.applications.open(["program56", "a file.txt"], 5.0)
    assert opened is not None
    assert opened.id == 91
    assert system.executed == [(None, "open", "program56", '"a file.txt"', None, 1)]
    with pytest.raises(ToolFailure, match="not found"):
        await desktop.applications.open(["missing"], 1.0)
    await desktop.applications.close(56, force=True)
    await desktop.applications.close(55, force=False)
    assert system.ended == [56]
    assert system.find(90) is None
