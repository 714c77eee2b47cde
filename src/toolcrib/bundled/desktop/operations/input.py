"""The tools for keys and text."""

from __future__ import annotations

from typing import TypedDict

from toolcrib.bundled.desktop.backend import Backend, Tree, Window
from toolcrib.bundled.desktop.choosing import choose_window
from toolcrib.bundled.desktop.elements.observing import observe
from toolcrib.bundled.desktop.failures import OutOfRange, TargetChanged, WindowNotFound
from toolcrib.bundled.desktop.keys import chord_of
from toolcrib.bundled.desktop.session import DesktopSession, approved_window
from toolcrib.bundled.desktop.tools.offer import ACTING, Offer, answer, with_changes
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.server import ToolServer

MAX_CHARACTERS = 20_000
MAX_TIMES = 100
VERIFY_ATTEMPTS = 8


class TypingResult(TypedDict):
    window: int
    characters: int
    verified: bool | None
    changes: list[str]


class KeyResult(TypedDict):
    window: int
    keys: str
    times: int
    changes: list[str]


class InputTools:
    def __init__(self, session: DesktopSession) -> None:
        self._session = session

    async def type_text(
        self, text: str, context: ToolContext, window: int | str | None = None
    ) -> TypingResult:
        if len(text) > MAX_CHARACTERS:
            raise OutOfRange(
                f"At most {MAX_CHARACTERS} characters can be typed at once.", "Use the clipboard."
            )
        backend = await self._session.backend(context)
        target = await focus_target(backend, window)
        async with observe(backend, target.application or 0) as report:
            await backend.input.type_text(text, target.id)
        verified = await arrived(backend, report.after, text)
        data: TypingResult = {
            "window": target.id,
            "characters": len(text),
            "verified": verified,
            "changes": report.changes,
        }
        said = f"Typed {len(text)} characters into {target.title!r}."
        if verified is False:
            said += " But the focused field does not contain all of it: read it before you go on."
        return answer(data, with_changes(said, report.changes, report.nothing))

    async def press_key(
        self,
        key: str,
        context: ToolContext,
        modifiers: list[str] | None = None,
        window: int | str | None = None,
        times: int = 1,
    ) -> KeyResult:
        chord = chord_of(key, modifiers)
        backend = await self._session.backend(context)
        target = await focus_target(backend, window)
        count = min(max(1, times), MAX_TIMES)
        async with observe(backend, target.application or 0) as report:
            await backend.input.press(chord, target.id, times=count)
        data: KeyResult = {"window": target.id, "keys": chord, "times": count, "changes": report.changes}
        return answer(
            data, with_changes(f"Pressed {chord} in {target.title!r}.", report.changes, report.nothing)
        )


def offer_tools(server: ToolServer, session: DesktopSession, wanted: frozenset[str] | None) -> None:
    tools, offer = InputTools(session), Offer(server, wanted)
    offer(tools.type_text, "Type text", **ACTING)
    offer(tools.press_key, "Press keys", **ACTING)


async def focus_target(backend: Backend, window: int | str | None) -> Window:
    """The window that gets the keys, active; the active one if none is named and the user approved it."""
    listed = await backend.windows.list()
    if window is not None:
        found = choose_window(listed, window)
        return found if found.active else await backend.windows.focus(found.id)
    active = next((each for each in listed if each.active), None)
    if active is None:
        raise WindowNotFound("No window is active.", "Name the window that the keys are for.")
    if approved_window.get() not in (None, active.id):
        raise TargetChanged(
            "Another window became active after the user was asked, so nothing was done.",
            "Look at the windows again, and call the tool with the window that you mean.",
        )
    return active


async def arrived(backend: Backend, tree: Tree | None, text: str) -> bool | None:
    """Whether the focused field contains what was typed; None if its contents cannot be read."""
    focused = (
        next((each for each in tree.elements if {"focused", "editable"} <= each.states), None)
        if tree
        else None
    )
    if focused is None:
        return None
    with backend.events.listen() as changes:
        for _ in range(VERIFY_ATTEMPTS):
            now = await backend.accessibility.read(focused.ref)
            if now is None or now.text is None:
                return None
            if text.replace("\r\n", "\n").strip() in now.text:
                return True
            await changes.next(0.1)
    return False
