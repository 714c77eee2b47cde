"""The stop key, the stop of the page and a cancelled call: all end input at once and leave no key pressed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.bundled.desktop.asking import CHAT, Desktop, desktop
from tests.bundled.desktop.conftest import Programs, eventually, window_of
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.headless import HeadlessDisplay
from toolcrib.errors import Denied
from toolcrib.operations.screens import resume

LONG = "abcdefghi\n" * 2000
MOST_TYPED = 5000
"""Far more than a program takes before the call is cancelled, and far less than it would get."""


async def text_of(backend: Backend, application: int) -> str:
    """The text of an editor once it has stopped growing."""
    tree = await backend.accessibility.tree(application, 5)
    field = next(each for each in tree.elements if {"editable", "showing"} <= each.states)
    seen: list[str | None] = [None]

    async def settled() -> bool:
        found = await backend.accessibility.read(field.ref)
        seen.append(found.text if found else None)
        return seen[-1] is not None and seen[-1] == seen[-2]

    await eventually(settled)
    return seen[-1] or ""


async def typing(agent: Desktop, backend: Backend, window: int) -> asyncio.Task[dict[str, object]]:
    """A call that has begun to type."""
    task = asyncio.create_task(agent.result("type_text", text=LONG, window=window))
    with backend.events.listen() as changes:
        while (change := await changes.next(20)) is not None and change.kind != "element":
            pass
    assert not task.done()
    return task


async def test_the_stop_key_ends_typing_and_refuses_more_until_the_user_allows_it(
    tmp_path: Path,
    display: HeadlessDisplay,
    programs: Programs,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    editor = programs.start("mousepad")
    window = await window_of(backend, editor)
    async with desktop(tmp_path, display, monkeypatch, CHAT) as agent:
        await agent.element(editor.pid, role="text")
        task = await typing(agent, backend, window.id)
        programs.start("xdotool", "key", "--clearmodifiers", "ctrl+alt+Escape")
        said = (await asyncio.wait_for(task, 20))["content"][0]["text"]  # type: ignore[index]
        assert "stopped all input" in said
        assert "toolcrib resume desktop" in said

        assert len(await text_of(backend, editor.pid)) <= MOST_TYPED
        asked = len(agent.user.questions)
        with pytest.raises(Denied, match="stopped all input"):
            await agent.data("press_key", keys="a", window=window.id)

        state = await resume(agent.host, "desktop")
        assert state["stopped"] == ""
        assert state["stop_key"] == "ctrl+alt+escape"
        assert len(agent.user.questions) == asked
        await agent.data("press_key", keys="a", window=window.id)
        assert len(agent.user.questions) == asked + 1


async def test_a_cancelled_call_stops_typing_and_holds_no_key(
    tmp_path: Path,
    display: HeadlessDisplay,
    programs: Programs,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    editor = programs.start("mousepad")
    window = await window_of(backend, editor)
    async with desktop(tmp_path, display, monkeypatch, CHAT) as agent:
        await agent.element(editor.pid, role="text")
        task = await typing(agent, backend, window.id)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(await text_of(backend, editor.pid)) <= MOST_TYPED
        await agent.data("press_key", keys="ctrl+a", window=window.id)
        await agent.data("type_text", text="Quiet", window=window.id)
        assert await text_of(backend, editor.pid) == "Quiet"
