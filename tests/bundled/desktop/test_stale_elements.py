"""Elements that move, go or are replaced while they are used: the right one is clicked, or none."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from functools import partial

import pytest

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from toolcrib.bundled.desktop.backend import Backend, Element
from toolcrib.bundled.desktop.elements import acting
from toolcrib.bundled.desktop.elements.search import search, wait_for
from toolcrib.bundled.desktop.elements.selector import Selector, parse_selector
from toolcrib.bundled.desktop.elements.snapshots import Snapshots, StaleElement
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.serverkit.context import ToolFailure

BUTTON = parse_selector({"role": "button", "text": "OK"})
YES = parse_selector({"role": "button", "text": "Yes"})
START = 60.0
"""Seconds for a program to show its elements, on a machine that is busy with other things."""


async def button_of(
    backend: Backend, process: subprocess.Popen[bytes], selector: Selector = BUTTON
) -> Element:
    await window_of(backend, process)
    found = await wait_for(backend, process.pid, selector, START)
    assert found.matches
    return found.matches[0]


async def test_a_click_follows_a_window_that_moved(backend: Backend, programs: Programs) -> None:
    process = programs.start("zenity", "--info", "--text=x")
    button = await button_of(backend, process)
    window = await window_of(backend, process)
    await backend.windows.place(window.id, Rect(700, 500, window.rect.width, window.rect.height))
    snapshots = Snapshots()
    snapshot = snapshots.add((await search(backend, process.pid, BUTTON)).tree)

    async def has_moved() -> bool:
        _, now = await snapshots.resolve(backend, snapshot.id_of(button))
        return now.rect is not None and Rect(650, 450, 640, 400).contains(now.rect.centre)

    await eventually(has_moved)
    _, now = await snapshots.resolve(backend, snapshot.id_of(button))
    assert now.rect is not None
    await backend.input.click(now.rect.centre, owner=process.pid)
    assert await asyncio.to_thread(process.wait, 10) == 0


async def misuse_stale_elements(backend: Backend, programs: Programs, attempts: int) -> None:
    """Each round keeps an id, makes it stale, and tries it on the window that took its place."""
    snapshots = Snapshots()
    for _ in range(attempts):
        gone = programs.start("zenity", "--info", "--text=gone", "--title=gone")
        button = await button_of(backend, gone)
        name = snapshots.add((await search(backend, gone.pid, BUTTON)).tree).id_of(button)
        heir = programs.start("zenity", "--question", "--text=Delete everything?", "--title=heir")
        window = await window_of(backend, heir)
        assert button.rect is not None
        await backend.windows.place(window.id, Rect(button.rect.x - 60, button.rect.y - 60, 200, 120))
        await programs.kill(gone)
        with pytest.raises(StaleElement):
            await snapshots.resolve(backend, name)
        # The server may not have noticed the end of the program yet: then its own window takes the click.
        with contextlib.suppress(ToolFailure):
            await backend.input.click(button.rect.centre, owner=gone.pid)
        await eventually(partial(_has_no_window, backend, gone))
        with pytest.raises(ToolFailure, match="covers"):
            await backend.input.click(button.rect.centre, owner=gone.pid)
        await backend.windows.focus(window.id)  # it has processed its events after this
        assert heir.poll() is None
        await programs.kill(heir)


async def _has_no_window(backend: Backend, process: subprocess.Popen[bytes]) -> bool:
    return all(window.application != process.pid for window in await backend.windows.list())


async def test_a_stale_element_is_never_clicked(backend: Backend, programs: Programs) -> None:
    await misuse_stale_elements(backend, programs, 4)


@pytest.mark.acceptance
@pytest.mark.timeout(1800)
async def test_no_stale_element_is_clicked_in_a_hundred_attempts(
    backend: Backend, programs: Programs
) -> None:
    await misuse_stale_elements(backend, programs, 100)


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_no_stale_element_is_clicked_in_a_thousand_attempts(
    backend: Backend, programs: Programs
) -> None:
    await misuse_stale_elements(backend, programs, 1000)


async def click_moving_windows(backend: Backend, programs: Programs, attempts: int) -> None:
    """A window jumps around while its button is clicked; the button beside it would end it with 1."""
    for number in range(attempts):
        process = programs.start("zenity", "--question", "--text=Continue?")
        button = await button_of(backend, process, YES)
        window = await window_of(backend, process)
        width, height = window.rect.width, window.rect.height
        steps = range(number, number + 12)
        places = [Rect(40 + 97 * step % 700, 60 + 61 * step % 400, width, height) for step in steps]
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_move(backend, window.id, places))
            await acting.click(backend, process.pid, button, "single")
            assert await asyncio.to_thread(process.wait, START) == 0


async def _move(backend: Backend, window: int, places: list[Rect]) -> None:
    with contextlib.suppress(ToolFailure):  # it closes after the click
        for place in places:
            await backend.windows.place(window, place)


async def test_a_button_of_a_moving_window_is_hit(backend: Backend, programs: Programs) -> None:
    await click_moving_windows(backend, programs, 4)


@pytest.mark.acceptance
@pytest.mark.timeout(1800)
async def test_buttons_of_moving_windows_are_hit_every_time(backend: Backend, programs: Programs) -> None:
    await click_moving_windows(backend, programs, 100)


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_buttons_of_a_thousand_moving_windows_are_hit(backend: Backend, programs: Programs) -> None:
    await click_moving_windows(backend, programs, 1000)
