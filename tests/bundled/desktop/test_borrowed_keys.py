"""Typing on a keyboard layout without empty keys: keys are borrowed, and given back exactly as they were."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import xcffib.xinput
from xcffib.xproto import GrabMode

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from tests.bundled.desktop.full_layout import LAUNCHERS, FullLayout
from tests.bundled.desktop.test_input import editor, saved
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.backends.x11 import open_backend
from toolcrib.bundled.desktop.backends.x11.key_remapping import PROPERTY, borrowable
from toolcrib.serverkit.context import ToolFailure

TEXT = "é€漢字😀"
LONG = "".join(chr(0x4E00 + index * 7) for index in range(600))
CONTROL = 4
XI2_KEYBOARD, XI2_KEYCODE, XI2_ASYNC = 3, 1, 1
CRASHING = """
import asyncio, sys
from toolcrib.bundled.desktop.backends.x11 import DisplayTarget, open_backend

async def main():
    opened = await open_backend(DisplayTarget(sys.argv[1], bytes.fromhex(sys.argv[2])))
    await opened.input.hold(keys=["漢"])
    print("held", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def layout(programs: Programs) -> Iterator[FullLayout]:
    made = FullLayout(programs.target)
    made.fill_empty()
    yield made
    made.close()


@pytest.mark.parametrize("program", ["mousepad", "featherpad"])
async def test_text_arrives_and_every_key_is_as_before(
    backend: Backend, programs: Programs, layout: FullLayout, tmp_path: Path, program: str
) -> None:
    file = tmp_path / "note.txt"
    window = await editor(backend, programs, file, program)
    before = layout.described()
    for text in (TEXT, "É", f"a{TEXT}b {TEXT}", LONG[:60]):
        await backend.input.press("ctrl+a", window.id)
        await backend.input.type_text(text, window.id)
        assert layout.described() == before
        await saved(backend, window, file, text)


@pytest.mark.parametrize("names", ["de", "ru", "us,ru,de,fr"])
async def test_text_arrives_in_every_layout(
    backend: Backend, programs: Programs, layout: FullLayout, tmp_path: Path, names: str
) -> None:
    file = tmp_path / "note.txt"
    window = await editor(backend, programs, file)
    subprocess.run(["setxkbmap", names], env=programs.target.environment, check=True)
    layout.fill_empty()
    before = layout.described()
    text = f"zyZY@~|\\{{}}[] ß Ω q;:\"#' {TEXT}"
    await backend.input.type_text(text, window.id)
    assert layout.described() == before
    subprocess.run(["setxkbmap", "us"], env=programs.target.environment, check=True)
    await saved(backend, window, file, text)


async def test_text_arrives_in_a_program_that_does_not_say_what_it_has_processed(
    backend: Backend, programs: Programs, layout: FullLayout, tmp_path: Path
) -> None:
    window = await window_of(backend, programs.start("xterm", "-u8", "-e", "cat > typed; sleep 60"))
    await backend.windows.focus(window.id)
    before = layout.described()
    await backend.input.type_text(f"{TEXT}\n", window.id)
    await backend.input.press("é", window.id)
    await backend.input.press("enter", window.id)
    await backend.input.press("ctrl+d", window.id)
    assert layout.described() == before

    async def has_arrived() -> bool:
        return (tmp_path / "typed").read_text(encoding="utf-8") == f"{TEXT}\né\n"

    await eventually(has_arrived)


async def test_keys_are_given_back_when_typing_is_cancelled(
    backend: Backend, programs: Programs, layout: FullLayout, tmp_path: Path
) -> None:
    file = tmp_path / "note.txt"
    window = await editor(backend, programs, file)
    before, described = layout.rows(), layout.described()
    typing = asyncio.ensure_future(backend.input.type_text(LONG, window.id))
    await eventually(lambda: _soon(bool(layout.changed(before))))
    typing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await typing
    assert typing.cancelled()
    await eventually(lambda: _soon(not layout.changed(before)))
    assert layout.described() == described
    await backend.input.press("ctrl+a", window.id)
    await backend.input.type_text(TEXT, window.id)
    await saved(backend, window, file, TEXT)


async def test_keys_are_given_back_when_the_program_ends(
    backend: Backend, programs: Programs, layout: FullLayout
) -> None:
    process = programs.start("mousepad")
    window = await window_of(backend, process)
    await backend.windows.focus(window.id)
    before, described = layout.rows(), layout.described()
    typing = asyncio.ensure_future(backend.input.type_text(LONG, window.id))
    await eventually(lambda: _soon(bool(layout.changed(before))))
    await programs.kill(process)
    with pytest.raises(ToolFailure, match="the window has closed"):
        await typing
    assert layout.described() == described


async def test_a_key_that_is_held_is_not_borrowed(backend: Backend, layout: FullLayout) -> None:
    held = layout.keys_with(LAUNCHERS)
    before = layout.rows()
    layout.press(held)
    await backend.input.hold(keys=["漢"])
    changed = layout.changed(before)
    assert changed
    assert not changed & held
    await backend.input.release(keys=["漢"])
    assert layout.rows() == before


async def test_a_borrowed_key_keeps_its_character_while_it_is_held(
    backend: Backend, programs: Programs, layout: FullLayout, tmp_path: Path
) -> None:
    file = tmp_path / "note.txt"
    window = await editor(backend, programs, file)
    before = layout.rows()
    await backend.input.hold(keys=["漢"])
    changed = layout.changed(before)
    assert {before[code][0] in LAUNCHERS for code in changed} == {True}
    await backend.input.type_text("€", window.id)
    assert layout.changed(before) == changed
    await backend.input.release(keys=["漢"])
    assert layout.rows() == before


@pytest.mark.parametrize("is_new", [False, True])
async def test_a_key_that_another_program_has_grabbed_is_not_borrowed(
    backend: Backend, layout: FullLayout, is_new: bool
) -> None:
    before, grabbed = layout.rows(), layout.keys_with(LAUNCHERS)
    for code in grabbed:
        _grab(layout, code, is_new)
    layout.connection.sync()
    await backend.input.hold(keys=["漢"])
    changed = layout.changed(before)
    assert changed
    assert not changed & grabbed
    await backend.input.release(keys=["漢"])


async def test_keys_of_a_crashed_process_are_given_back_by_the_next(
    programs: Programs, layout: FullLayout
) -> None:
    target, before, described = programs.target, layout.rows(), layout.described()
    assert target.cookie is not None
    command = [sys.executable, "-c", CRASHING, target.display, target.cookie.hex()]
    crashed = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert crashed.stdout is not None
    assert await asyncio.to_thread(crashed.stdout.readline) == b"held\n"
    assert layout.changed(before)
    await programs.kill(crashed)
    crashed.stdout.close()
    opened = await open_backend(target)
    await eventually(lambda: _soon(not layout.changed(before)))
    assert layout.described() == described
    assert layout.connection.read_numbers(layout.connection.root, PROPERTY) == []
    opened.close()


async def test_a_layout_that_is_loaded_meanwhile_stays(
    backend: Backend, programs: Programs, layout: FullLayout
) -> None:
    environment = programs.target.environment
    subprocess.run(["setxkbmap", "de"], env=environment, check=True)
    german = layout.described()
    subprocess.run(["setxkbmap", "us"], env=environment, check=True)
    layout.fill_empty()
    await backend.input.hold(keys=["漢"])
    subprocess.run(["setxkbmap", "de"], env=environment, check=True)
    await backend.input.release(keys=["漢"])
    assert layout.described() == german


@pytest.mark.parametrize("names", ["us", "us,ru,de,fr"])
async def test_empty_keys_are_given_back_without_changes_of_others(programs: Programs, names: str) -> None:
    environment = programs.target.environment
    subprocess.run(["setxkbmap", names], env=environment, check=True)
    layout = FullLayout(programs.target)
    before = layout.described()
    opened = await open_backend(programs.target)
    window = await window_of(opened, programs.start("xterm", "-e", "cat"))
    await opened.windows.focus(window.id)
    await opened.input.type_text(LONG[:60], window.id)
    assert layout.described() != before
    opened.close()  # waits for a moment only
    await eventually(lambda: _soon(layout.described() == before))
    layout.close()


async def test_typing_fails_and_changes_nothing_if_no_key_can_be_borrowed(
    backend: Backend, programs: Programs, layout: FullLayout
) -> None:
    layout.fill(borrowable(layout.rows()))
    window = await window_of(backend, programs.start("xterm", "-e", "cat"))
    await backend.windows.focus(window.id)
    before = layout.described()
    with pytest.raises(ToolFailure, match="leaves no key free"):
        await backend.input.type_text(TEXT, window.id)
    assert layout.described() == before


def test_multimedia_keys_come_before_function_keys_and_duplicates() -> None:
    rows = {
        10: [0x28, 0, 0x28, 0],  # a parenthesis that another key types too
        11: [0x28, 0x29, 0x28, 0x29],
        12: [0xFFCA, 0, 0xFFCA, 0],  # F13
        13: [0x1008FF12, 0, 0x1008FF12, 0],  # XF86AudioMute
        14: [0x1008FF41, 0, 0x1008FF41, 0],  # XF86Launch1
    }
    assert borrowable(rows) == [14, 13, 12, 10]


@pytest.mark.parametrize(
    "keysym",
    [0x61, 0xE9, 0x35, 0x20, 0xFF0D, 0xFF08, 0xFF09, 0xFF1B, 0xFF51, 0xFFE1, 0xFFE3, 0xFE03, 0x1008FF2A],
    ids=lambda keysym: f"{keysym:#x}",
)
def test_keys_that_matter_are_not_borrowed_even_if_there_are_two(keysym: int) -> None:
    row = [keysym, 0, keysym, 0]
    assert borrowable({10: row, 11: row}) == []


async def _soon(value: bool) -> bool:
    return value


def _grab(layout: FullLayout, code: int, is_new: bool) -> None:
    """With Ctrl; `is_new` through the second version of the input extension."""
    connection = layout.connection
    if not is_new:
        connection.core.GrabKey(
            False, connection.root, CONTROL, code, GrabMode.Async, GrabMode.Async, is_checked=True
        ).check()
        return
    extension = connection.extension(xcffib.xinput)
    extension.XIQueryVersion(2, 0).reply()
    grab = (XI2_KEYCODE, XI2_ASYNC, XI2_ASYNC, False, [], [CONTROL])
    asked = extension.XIPassiveGrabDevice(0, connection.root, 0, code, XI2_KEYBOARD, 1, 0, *grab)
    assert list(asked.reply().modifiers) == []
