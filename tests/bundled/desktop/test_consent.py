"""Approvals of desktop tools: one question for a window, and its picture with the target."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.approvals.people import NO, YES
from tests.bundled.desktop.asking import CHAT, desktop, pixels
from tests.bundled.desktop.conftest import Programs, window_of
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.headless import HeadlessDisplay
from toolcrib.errors import Denied


async def test_looking_is_free_and_acting_asks_once_for_a_window(
    tmp_path: Path,
    display: HeadlessDisplay,
    programs: Programs,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = programs.start("zenity", "--entry", "--title=First", "--text=Name")
    second = programs.start("zenity", "--entry", "--title=Second", "--text=Name", "--hide-text")
    window = await window_of(backend, first)
    await window_of(backend, second)
    async with desktop(tmp_path, display, monkeypatch, CHAT) as agent:
        field = await agent.element(first.pid, role="textbox")
        await agent.data("list_windows")
        await agent.data("take_screenshot")
        assert agent.titles == []

        await agent.data("write_element_value", element=field, value="Ada")
        await agent.data("click_element", element=field)
        await agent.data("type_text", text=" Lovelace", window=window.id)
        assert agent.titles == ["Control the window “First” (Zenity)"]

        question = agent.user.questions[0]
        assert question.scopes == ("once", "chat")
        shown = question.preview
        assert shown is not None
        assert (shown["kind"], shown["title"], shown["text"]) == ("screen", "First", "Ada")
        assert pixels(shown["picture"]).shape[:2] == (shown["height"], shown["width"])
        place = await backend.windows.list()
        inside = next(each for each in place if each.id == window.id).rect
        target = shown["target"]
        assert 0 <= target["x"] < inside.width
        assert 0 < target["height"] < inside.height

        password = await agent.element(second.pid, role="password text")
        for _ in range(2):
            await agent.data("write_element_value", element=password, value="secret")
        assert len(agent.user.questions) == 3
        assert agent.user.questions[-1].scopes == ("once",)
        assert "field for passwords" in agent.user.questions[-1].reasons[-1]
        assert not agent.host.approvals.policy.rules.active


async def test_each_purpose_and_each_terminal_asks_again(
    tmp_path: Path,
    display: HeadlessDisplay,
    programs: Programs,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = programs.start("xterm", "-T", "Shell", "-e", "sleep", "1000")
    window = await window_of(backend, terminal)
    async with desktop(tmp_path, display, monkeypatch, CHAT) as agent:
        await agent.data("get_clipboard")
        await agent.data("get_clipboard")
        await agent.data("write_clipboard", text="x")
        assert agent.titles == ["Read the clipboard", "Change the clipboard"]
        for _ in range(2):
            await agent.data("press_key", keys="a", window=window.id)
        assert len(agent.user.questions) == 4
        assert "terminal" in agent.user.questions[-1].reasons[-1]
        await agent.failure("open_application", program="no-such-program")
        assert agent.titles[-1] == "Open no-such-program"


async def test_a_denied_action_does_nothing(
    tmp_path: Path,
    display: HeadlessDisplay,
    programs: Programs,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process = programs.start("zenity", "--entry", "--title=Denied", "--entry-text=before")
    await window_of(backend, process)
    async with desktop(tmp_path, display, monkeypatch, NO) as agent:
        field = await agent.element(process.pid, role="textbox")
        with pytest.raises(Denied):
            await agent.data("write_element_value", element=field, value="after")
        found = await agent.data("find_elements", application=str(process.pid), selector={"role": "textbox"})
        assert found["elements"][0]["value"] == "before"


@pytest.mark.parametrize("isolation", ["shared", "session"])
async def test_keys_do_not_go_to_a_window_that_became_active_while_the_user_was_asked(
    isolation: str,
    tmp_path: Path,
    display: HeadlessDisplay,
    programs: Programs,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = programs.start("zenity", "--entry", "--title=Asked")
    other = programs.start("zenity", "--entry", "--title=Other")
    asked, another = await window_of(backend, first), await window_of(backend, other)
    async with desktop(tmp_path, display, monkeypatch, YES, isolation=isolation) as agent:
        await backend.windows.focus(asked.id)
        answer = agent.user.ask

        async def slow(question: object) -> object:
            await backend.windows.focus(another.id)
            return await answer(question)  # type: ignore[arg-type]

        monkeypatch.setattr(agent.user, "ask", slow)
        said = await agent.failure("type_text", text="x")
        assert "nothing was done" in said
        assert agent.user.questions[0].grant is not None
        assert "“Asked”" in agent.user.questions[0].grant.label


async def test_each_of_two_equal_calls_at_once_acts_on_the_window_of_its_own_question(
    tmp_path: Path,
    display: HeadlessDisplay,
    programs: Programs,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = programs.start("zenity", "--entry", "--title=Asked")
    other = programs.start("zenity", "--entry", "--title=Other")
    asked, another = await window_of(backend, first), await window_of(backend, other)
    async with desktop(tmp_path, display, monkeypatch, YES) as agent:
        await backend.windows.focus(asked.id)
        answer, both = agent.user.ask, []

        async def slow(question: object) -> object:
            both.append(question)
            if len(both) == 2:
                await backend.windows.focus(another.id)
            return await answer(question)  # type: ignore[arg-type]

        monkeypatch.setattr(agent.user, "ask", slow)
        calls = [agent.result("type_text", text="x") for _ in range(2)]
        results = await asyncio.gather(*calls)
        field = await agent.data(
            "find_elements", application=str(other.pid), selector={"role": "textbox"}, wait=20
        )
        assert len(both) == 2
        assert any("nothing was done" in str(result["content"]) for result in results)
        assert field["elements"][0]["value"] == ""
