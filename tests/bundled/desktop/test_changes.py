"""Changes on the display arrive as events: new windows, the active one, and pixels."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.bundled.desktop.conftest import Programs, window_of
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.changes import ChangeListener, Changes, DesktopChange
from toolcrib.serverkit.context import ToolFailure


async def first(changes: ChangeListener, wanted: Callable[[DesktopChange], bool]) -> DesktopChange:
    while True:
        change = await changes.next(30)
        assert change is not None
        if wanted(change):
            return change


async def test_a_new_window_and_its_drawing_are_reported(backend: Backend, programs: Programs) -> None:
    with backend.events.listen() as changes:
        process = programs.start("xterm", "-e", "cat")
        await first(changes, lambda change: (change.kind, change.detail) == ("window", "list"))
        window = await window_of(backend, process)
        await backend.windows.focus(window.id)
    with backend.events.listen() as changes:
        await changes.settled(0.3, 10)
        await backend.input.type_text("a", window.id)
        await first(changes, lambda change: change.kind == "pixels")


async def test_an_opened_program_is_returned_with_its_window(backend: Backend) -> None:
    window = await backend.applications.open(["xterm", "-T", "opened here"], 20)
    assert window is not None
    assert window.title == "opened here"
    listed = {each.id: each for each in await backend.applications.list()}
    assert listed[window.application].name == "XTerm"
    await backend.applications.close(window.application, force=True)


async def test_a_program_that_is_missing_or_fails_is_named(backend: Backend) -> None:
    with pytest.raises(ToolFailure, match="'no-such-program' was not found"):
        await backend.applications.open(["no-such-program"], 5)
    with pytest.raises(ToolFailure, match="ended with code 1"):
        await backend.applications.open(["false"], 5)


async def test_a_listener_to_the_clipboard_alone_wakes_no_costly_source() -> None:
    changes = Changes(asyncio.get_running_loop())
    woken: list[str] = []
    changes.on_listen = lambda: woken.append("again")
    with changes.listen("clipboard") as clipboard:
        assert (changes.wanted, woken) == (False, [])
        with changes.listen() as everything:
            assert (changes.wanted, woken) == (True, ["again"])
            for kind in ("pixels", "clipboard"):
                changes.publish(DesktopChange(kind))
            assert [await everything.next(5), await everything.next(5)] == [
                DesktopChange("pixels"),
                DesktopChange("clipboard"),
            ]
        assert await clipboard.next(5) == DesktopChange("clipboard")
        assert not changes.wanted
