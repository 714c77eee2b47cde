"""Many windows and large trees: listed, searched and read within their deadlines."""

from __future__ import annotations

import asyncio
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from xcffib.xproto import Atom, PropMode

from tests.bundled.desktop.conftest import Programs, eventually
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.backends.x11.connection import XConnection
from toolcrib.bundled.desktop.elements.search import search
from toolcrib.bundled.desktop.elements.selector import parse_selector
from toolcrib.bundled.desktop.geometry import Point

USER_POSITION = 1
NORMAL_HINTS = struct.pack("=18I", USER_POSITION, *(0,) * 17)
"""WM_NORMAL_HINTS: the window manager need not search a free place for each window."""


def open_windows(programs: Programs, count: int) -> XConnection:
    """Empty windows of one client."""
    client = XConnection(programs.target.display, programs.target.cookie)
    hints, kind = Atom.WM_NORMAL_HINTS, Atom.WM_SIZE_HINTS
    for number in range(count):
        window = client.raw.generate_id()
        place = (number * 37 % 1200, number * 23 % 700)
        client.core.CreateWindow(0, window, client.root, *place, 60, 40, 0, 1, 0, 0, [])
        client.core.ChangeProperty(PropMode.Replace, window, hints, kind, 32, 18, NORMAL_HINTS)
        client.core.MapWindow(window)
    client.sync()
    return client


async def check_many_windows(backend: Backend, programs: Programs, count: int, deadline: float) -> None:
    client = open_windows(programs, count)

    async def are_listed() -> bool:
        """All, and the window manager has focused the last one."""
        listed = await backend.windows.list()
        return len(listed) == count and listed[-1].active

    async def are_gone() -> bool:
        return not await backend.windows.list()

    try:
        await eventually(are_listed, deadline)
        listed = await backend.windows.list()
        assert (await backend.windows.focus(listed[0].id)).active
    finally:
        client.raw.disconnect()
    await eventually(are_gone, deadline)


async def test_a_hundred_windows_are_listed(backend: Backend, programs: Programs) -> None:
    await check_many_windows(backend, programs, 100, 60)


@pytest.mark.acceptance
@pytest.mark.timeout(600)
async def test_a_thousand_windows_are_listed(backend: Backend, programs: Programs) -> None:
    await check_many_windows(backend, programs, 1000, 240)


async def large_program(programs: Programs, *arguments: str) -> subprocess.Popen[bytes]:
    program = str(Path(__file__).with_name("large_program.py"))
    process = programs.start(sys.executable, program, *arguments, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert await asyncio.to_thread(process.stdout.readline) == b"ready\n"
    return process


async def test_a_large_tree_is_read_and_searched(backend: Backend, programs: Programs) -> None:
    process = await large_program(programs, "5000")
    found = await search(backend, process.pid, parse_selector({"text": "button 30-42"}), 20)
    assert found.tree.complete
    assert len(found.tree.elements) > 5000
    assert [each.ref[1] for each in found.matches] == ["/p30/b42"]


async def test_what_lies_under_a_sibling_is_not_confirmed(backend: Backend, programs: Programs) -> None:
    process = await large_program(programs, "101")
    buttons = (await search(backend, process.pid, parse_selector({"role": "button"}), 20)).matches
    lowest = await backend.accessibility.at_point(buttons[0].ref, Point(20, 20))
    assert (lowest.state, lowest.element and lowest.element.ref) == ("other", buttons[1].ref)
    topmost = await backend.accessibility.at_point(buttons[-1].ref, Point(20, 20))
    assert topmost.state != "other"


@pytest.mark.acceptance
async def test_a_tree_of_fifty_thousand_elements_is_read(backend: Backend, programs: Programs) -> None:
    process = await large_program(programs, "49000")
    found = await search(backend, process.pid, parse_selector({"text": "button 400-42"}), 60)
    assert found.tree.complete
    assert [each.ref[1] for each in found.matches] == ["/p400/b42"]


async def test_a_slow_program_gives_what_it_answered_in_time(backend: Backend, programs: Programs) -> None:
    process = await large_program(programs, "5000", "slow")
    tree = await backend.accessibility.tree(process.pid, 1.5)
    assert not tree.complete
    assert 0 < len(tree.elements) < 5000
