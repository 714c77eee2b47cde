"""Typing, keys and the pointer, checked by what the programs wrote to files."""

from __future__ import annotations

import contextlib
import struct
import subprocess
from pathlib import Path

import pytest

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from tests.bundled.desktop.shared_display import layout_of
from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.backends.x11 import open_backend
from toolcrib.bundled.desktop.backends.x11.connection import XConnection
from toolcrib.bundled.desktop.backends.x11.key_remapping import PROPERTY
from toolcrib.bundled.desktop.backends.x11.keysyms import keysyms_of_chord
from toolcrib.bundled.desktop.elements.search import wait_for
from toolcrib.bundled.desktop.elements.selector import parse_selector
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

ASCII = "The quick brown Fox_jumps over 13 lazy dogs! @#$%^&*()[]{};:'\",.<>/?\\|`~-=+"
SCRIPTS = {
    "ascii": ASCII,
    "latin": "Grüße aus Zürich — naïve café, 50 € ¡olé! Žluťoučký kůň",
    "mixed": "日本語テキスト Ελληνικά Привет мир שלום مرحبا हिन्दी ไทย 한국어",
    "emoji": "ok 🚀✅👍 done",
    "sixty": "".join(chr(0x4E00 + index * 7) for index in range(60)),
    "capital": "É",
    "lines": "first\nsecond\tline\nthird",
}


async def editor(backend: Backend, programs: Programs, file: Path, program: str = "mousepad") -> Window:
    """An editor with an empty file, focused."""
    file.touch()
    window = await window_of(backend, programs.start(program, str(file)))
    return await backend.windows.focus(window.id)


async def saved(backend: Backend, window: Window, file: Path, expected: str) -> None:
    """Save once the text has arrived: FeatherPad handles shortcuts before text that is still queued."""
    assert window.application is not None
    area = parse_selector({"attributes": {"multi_line": "true", "editable": "true", "visible": "true"}})
    field = (await wait_for(backend, window.application, area, 20)).matches[0]

    async def has_arrived() -> bool:
        now = await backend.accessibility.read(field.ref)
        return now is not None and (now.text or "").rstrip("\n") == expected

    async def is_written() -> bool:
        return file.read_text(encoding="utf-8").rstrip("\n") == expected

    with contextlib.suppress(TimeoutError):
        await eventually(has_arrived, 10)
    await backend.input.press("ctrl+s", window.id)
    with contextlib.suppress(TimeoutError):
        await eventually(is_written, 10)
    assert file.read_text(encoding="utf-8").rstrip("\n") == expected


@pytest.mark.parametrize("program", ["mousepad", "featherpad"])
async def test_text_in_any_script_arrives_exactly(
    backend: Backend, programs: Programs, tmp_path: Path, program: str
) -> None:
    file = tmp_path / "note.txt"
    window = await editor(backend, programs, file, program)
    for text in SCRIPTS.values():
        await backend.input.press("ctrl+a", window.id)
        await backend.input.type_text(text, window.id)
        await saved(backend, window, file, text)


@pytest.mark.parametrize("layout", ["de", "fr", "ru"])
async def test_typing_does_not_depend_on_the_layout(
    backend: Backend, programs: Programs, tmp_path: Path, layout: str
) -> None:
    text = "zyZY@€~|\\{}[] ß Ω 日 q;:\"#'"
    file = tmp_path / "note.txt"
    window = await editor(backend, programs, file)
    environment = programs.target.environment
    subprocess.run(["setxkbmap", layout], env=environment, check=True)
    try:
        await backend.input.type_text(text, window.id)
        await backend.windows.focus(window.id)
        subprocess.run(["setxkbmap", "us"], env=environment, check=True)
        await saved(backend, window, file, text)
    finally:
        subprocess.run(["setxkbmap", "us"], env=environment, check=True)


async def test_typing_stops_when_the_window_is_not_active(backend: Backend, programs: Programs) -> None:
    first = await window_of(backend, programs.start("xterm", "-e", "sleep", "60"))
    second = await window_of(backend, programs.start("xterm", "-e", "sleep", "60"))
    await backend.windows.focus(second.id)
    with pytest.raises(ToolFailure, match="Only 0 of 5 characters"):
        await backend.input.type_text("hello", first.id)


async def test_spare_keys_are_given_back_at_the_end(programs: Programs) -> None:
    target = programs.target
    opened = await open_backend(target)
    window = await window_of(opened, programs.start("xterm", "-e", "cat"))
    await opened.windows.focus(window.id)
    await opened.input.type_text("日本", window.id)
    watcher = XConnection(target.display, target.cookie)
    assert 0x1000000 | ord("日") in all_keysyms(watcher)
    opened.close()
    assert 0x1000000 | ord("日") not in all_keysyms(watcher)
    assert watcher.read_numbers(watcher.root, PROPERTY) == []
    watcher.raw.disconnect()


async def test_spare_keys_of_a_crashed_process_are_taken_back(programs: Programs) -> None:
    target = programs.target
    crashed = XConnection(target.display, target.cookie)
    lowest, highest = crashed.raw.setup.min_keycode, crashed.raw.setup.max_keycode
    reply = crashed.core.GetKeyboardMapping(lowest, highest - lowest + 1).reply()
    width, keysyms = reply.keysyms_per_keycode, list(reply.keysyms)
    rows = {lowest + at: keysyms[at * width : (at + 1) * width] for at in range(highest - lowest + 1)}
    code = next(code for code, row in rows.items() if not any(row))
    mark = 0x1000000 | ord("漢")
    crashed.core.ChangeKeyboardMapping(1, code, width, [mark] * 4 + [0] * (width - 4))
    data = struct.pack("=5I", 0x7FFFFFF, code, mark, 0, 0)
    crashed.core.ChangeProperty(0, crashed.root, crashed.atom(PROPERTY), 6, 32, 5, data)
    crashed.sync()
    opened = await open_backend(target)
    await opened.input.press("shift", None)
    assert mark not in all_keysyms(crashed)
    opened.close()
    crashed.raw.disconnect()


def all_keysyms(connection: XConnection) -> set[int]:
    setup = connection.raw.setup
    count = setup.max_keycode - setup.min_keycode + 1
    return set(connection.core.GetKeyboardMapping(setup.min_keycode, count).reply().keysyms)


async def test_a_click_on_a_covered_window_is_refused(backend: Backend, programs: Programs) -> None:
    below = programs.start("xterm", "-e", "sleep", "60")
    above = programs.start("xterm", "-e", "sleep", "60")
    for process in (below, above):
        window = await window_of(backend, process)
        await backend.windows.place(window.id, Rect(300, 200, 300, 200))
        await backend.windows.focus(window.id)
    with pytest.raises(ToolFailure, match="Another window covers"):
        await backend.input.click(Point(400, 300), owner=below.pid)
    await backend.input.click(Point(400, 300), owner=above.pid)


async def test_a_drag_selects_text_and_scrolling_moves_it(
    backend: Backend, programs: Programs, tmp_path: Path
) -> None:
    file = tmp_path / "note.txt"
    file.write_text("alpha beta gamma\n" * 200)
    window = await window_of(backend, programs.start("mousepad", str(file)))
    await backend.windows.focus(window.id)
    middle = window.rect.centre
    before = await backend.capture.window(window.id)

    async def has_changed() -> bool:
        return bool(((await backend.capture.window(window.id)).pixels != before.pixels).mean() > 0.001)

    await backend.input.scroll(middle, down=5)
    await eventually(has_changed)
    before = await backend.capture.window(window.id)
    await backend.input.drag(middle, Point(middle.x + 80, middle.y + 40))
    await eventually(has_changed)


@pytest.mark.parametrize(
    ("chord", "count"),
    [("ctrl+s", 2), ("ctrl++", 2), ("+", 1), ("F5", 1), ("enter", 1), ("ctrl+alt+Delete", 3)],
)
def test_chords_are_read(chord: str, count: int) -> None:
    assert len(keysyms_of_chord(chord)) == count


@pytest.mark.parametrize("chord", ["", "ctrl+ +x", "hyper+nothing", "a+b+c+d+e+f+g"])
def test_a_wrong_chord_is_refused(chord: str) -> None:
    with pytest.raises(ToolFailure):
        keysyms_of_chord(chord)


async def test_a_layout_that_was_switched_after_typing_stays_when_the_keys_are_given_back(
    programs: Programs,
) -> None:
    opened = await open_backend(programs.target)
    window = await window_of(opened, programs.start("xterm", "-e", "cat"))
    await opened.windows.focus(window.id)
    environment = programs.target.environment
    watcher = XConnection(programs.target.display, programs.target.cookie)
    subprocess.run(["setxkbmap", "ru"], env=environment, check=True)
    before = layout_of(watcher)
    subprocess.run(["setxkbmap", "de"], env=environment, check=True)
    await opened.input.type_text("日本", window.id)
    subprocess.run(["setxkbmap", "ru"], env=environment, check=True)
    opened.close()
    assert layout_of(watcher) == before
    watcher.raw.disconnect()
