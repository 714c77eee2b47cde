"""A call acts on what its own question was about, or not at all; the desktop is a fake one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from toolcrib.bundled.desktop.backend import Application, Element, ElementTree, Window
from toolcrib.bundled.desktop.consent.control import Scopes, preview
from toolcrib.bundled.desktop.failures import TargetChanged
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.macros.model import read_macro
from toolcrib.bundled.desktop.macros.store import MacroStore
from toolcrib.bundled.desktop.operations.input import focus_target
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.serverkit.caller_context import call_id

EDITOR = Window(1, "Letter", 10, "Editor", Rect(0, 0, 100, 100), level=1, active=True)
DIALOG = Window(2, "Delete all?", 10, "Editor", Rect(200, 0, 100, 100), level=2)
OTHER = Window(3, "Bank", 20, "Browser", Rect(400, 0, 100, 100), level=0)
SELECTOR = {"text": "OK"}


class FakeDesktop:
    """What the approval looks at: windows, running programs, and one button."""

    def __init__(self) -> None:
        self.shown = [EDITOR, DIALOG, OTHER]
        self.running = [Application(10, "editor"), Application(20, "browser")]
        self.button = Rect(10, 10, 20, 20)
        self.role = "button"
        self.settings = SimpleNamespace(home=None)
        self.windows = SimpleNamespace(list=self._windows)
        self.applications = SimpleNamespace(list=self._applications)
        self.accessibility = SimpleNamespace(tree=self._tree, rects=self._rects, texts=self._texts)

    def activate(self, window: Window) -> None:
        self.shown = [replace(each, active=each.id == window.id) for each in self.shown]

    async def backend(self, context: Any = None) -> Any:
        return self

    async def _windows(self) -> list[Window]:
        return self.shown

    async def _applications(self) -> list[Application]:
        return self.running

    async def _tree(self, application: int, timeout: float) -> ElementTree:
        states = frozenset({"showing", "visible"})
        return ElementTree(
            application, (Element(("a", "1"), None, self.role, "OK", states=states, rect=self.button),)
        )

    async def _rects(self, refs: list[Any]) -> dict[Any, Rect]:
        return dict.fromkeys(refs, self.button)

    async def _texts(self, elements: list[Element]) -> dict[Any, str]:
        return {}


@pytest.fixture
def desktop() -> FakeDesktop:
    return FakeDesktop()


@pytest.fixture
def scopes(desktop: FakeDesktop) -> Scopes:
    return Scopes(cast("DesktopSession", desktop))


@contextmanager
def call(number: int | None) -> Iterator[None]:
    token = call_id.set(None if number is None else f"call-{number}")
    try:
        yield
    finally:
        call_id.reset(token)


async def test_each_of_two_equal_calls_is_compared_with_its_own_question(
    desktop: FakeDesktop, scopes: Scopes
) -> None:
    arguments = {"text": "x"}
    with call(1):
        await scopes.scope("type_text", arguments)
    with call(2):
        await scopes.scope("type_text", arguments)
    with call(1):
        await scopes.verify("type_text", arguments)
    desktop.activate(OTHER)
    with call(2), pytest.raises(TargetChanged, match="nothing was done"):
        await scopes.verify("type_text", arguments)


async def test_keys_do_not_go_to_a_window_that_became_active_after_the_check(
    desktop: FakeDesktop, scopes: Scopes
) -> None:
    backend = await desktop.backend()
    with call(1):
        await scopes.scope("type_text", {"text": "x"})
        await scopes.verify("type_text", {"text": "x"})
        assert (await focus_target(backend, None)).id == EDITOR.id
        desktop.activate(OTHER)
        with pytest.raises(TargetChanged, match="Another window became active"):
            await focus_target(backend, None)
    with call(None):  # nobody was asked, so that any window may get the keys
        await scopes.verify("type_text", {"text": "x"})
        assert (await focus_target(backend, None)).id == OTHER.id


async def test_the_second_question_does_not_replace_the_first(desktop: FakeDesktop, scopes: Scopes) -> None:
    with call(1):
        await scopes.scope("type_text", {"text": "x"})
    desktop.activate(OTHER)
    with call(2):
        await scopes.scope("type_text", {"text": "x"})
    with call(1), pytest.raises(TargetChanged):
        await scopes.verify("type_text", {"text": "x"})
    with call(2):
        await scopes.verify("type_text", {"text": "x"})


async def test_an_approval_is_used_once_and_only_for_its_call(scopes: Scopes) -> None:
    with call(1):
        await scopes.scope("type_text", {"text": "x"})
        with pytest.raises(TargetChanged, match="not known what the user was asked"):
            await scopes.verify("type_text", {"text": "rm -rf ~"})
        with pytest.raises(TargetChanged):
            await scopes.verify("type_text", {"text": "x"})


async def test_a_call_that_was_asked_about_without_a_target_is_refused(scopes: Scopes) -> None:
    with call(7), pytest.raises(TargetChanged, match="not known what the user was asked"):
        await scopes.verify("click", {"x": 5, "y": 5})
    with call(8):
        await scopes.scope("type_text", {"text": "x"})
        scopes.end_all()
        with pytest.raises(TargetChanged):
            await scopes.verify("type_text", {"text": "x"})


async def test_a_call_that_needed_no_approval_passes(scopes: Scopes) -> None:
    with call(None):
        await scopes.verify("click", {"x": 5, "y": 5})


async def test_a_selector_is_approved_for_the_window_that_it_finds(
    desktop: FakeDesktop, scopes: Scopes
) -> None:
    arguments = {"selector": SELECTOR, "application": "10"}
    with call(1):
        asked = await scopes.scope("click_element", arguments)
        assert "Letter" in asked["label"]
        await scopes.verify("click_element", arguments)
    with call(2):
        await scopes.scope("click_element", arguments)
        desktop.button = Rect(210, 10, 20, 20)  # now it is in another window of the same program
        with pytest.raises(TargetChanged):
            await scopes.verify("click_element", arguments)


async def test_an_element_that_has_become_a_password_field_needs_its_own_question(
    desktop: FakeDesktop, scopes: Scopes
) -> None:
    arguments = {"selector": SELECTOR, "application": "10", "value": "x"}
    with call(1):
        await scopes.scope("write_element_value", arguments)
        desktop.role = "password text"
        with pytest.raises(TargetChanged):
            await scopes.verify("write_element_value", arguments)


async def test_another_process_of_the_same_name_is_not_closed(desktop: FakeDesktop, scopes: Scopes) -> None:
    arguments = {"name": "editor"}
    with call(1):
        await scopes.scope("delete_application", arguments)
        desktop.running = [Application(11, "editor"), Application(20, "browser")]
        with pytest.raises(TargetChanged):
            await scopes.verify("delete_application", arguments)


async def test_the_picture_is_of_the_window_that_is_asked_about(desktop: FakeDesktop, scopes: Scopes) -> None:
    with call(1):
        await scopes.scope("type_text", {"text": "x"})
        desktop.activate(OTHER)
        target = scopes.target("type_text", {"text": "x"})
    assert target is not None
    assert target.window.id == EDITOR.id
    with call(2):
        assert scopes.target("type_text", {"text": "x"}) is None


async def test_a_macro_that_was_replaced_while_the_user_was_asked_does_not_run(
    desktop: FakeDesktop, scopes: Scopes, tmp_path: Path
) -> None:
    desktop.settings = SimpleNamespace(home=tmp_path)
    store = MacroStore.of_home(tmp_path)
    store.create(read_macro({"display_name": "Hello", "actions": [{"wait": {"duration": 1}}]}), "hello")
    arguments = {"macro": "macros/hello"}
    with call(1):
        asked = await scopes.scope("execute_macro", arguments)
        await scopes.verify("execute_macro", arguments)
        shown = await preview(cast("DesktopSession", desktop), "execute_macro", arguments)
    with call(2):
        await scopes.scope("execute_macro", arguments)
        store.delete("macros/hello")
        store.create(read_macro({"display_name": "Hello", "actions": [{"wait": {"duration": 9}}]}), "hello")
        with pytest.raises(TargetChanged):
            await scopes.verify("execute_macro", arguments)
    assert asked["key"] == ""
    assert '"duration": 1' in shown["text"]


async def test_the_oldest_of_many_questions_are_forgotten_and_then_refused(scopes: Scopes) -> None:
    for number in range(300):
        with call(number):
            await scopes.scope("type_text", {"text": "x"})
    with call(0), pytest.raises(TargetChanged):
        await scopes.verify("type_text", {"text": "x"})
    with call(299):
        await scopes.verify("type_text", {"text": "x"})
