"""Finds what a call would act on, from the arguments that the tools share; changes nothing.

What each tool is used for: calls for the same purpose in the same window need one approval. Tools that are
not listed either only look, or are approved like any other tool.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from toolcrib.bundled.desktop.backend import Backend, Element, Window
from toolcrib.bundled.desktop.coordinates import to_screen
from toolcrib.bundled.desktop.elements.search import search
from toolcrib.bundled.desktop.elements.selector import parse_selector
from toolcrib.bundled.desktop.geometry import Point, Rect, Space
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.window_lookup import choose_application
from toolcrib.serverkit.context import ToolFailure

Kind = Literal["window", "program", "application", "clipboard", "macro", "each"]
"""What the approval is for: a window, a program to start, a running application, the clipboard, one run of a
macro, or one call."""

MARK = 16
"""Pixels on each side of a point that is marked."""
_ELEMENT = ("element", "element_id")
_WINDOW = ("window", "window_id")
_APPLICATION = ("application", "parent", "app_name", "pid")
Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Purpose:
    kind: Kind
    action: str
    """For the preview: `click`, `type` …"""
    label: str
    """What an approval allows; `{target}` is the window, program or application."""
    shown: str = ""
    """The argument whose text the preview shows: what will be typed."""
    points: bool = False
    """Its coordinates are a place on the screen, not a new place of a window."""
    types: bool = False
    """Its keys go to the focused field, whatever that is."""


def _control(action: str, shown: str = "", *, points: bool = False, types: bool = False) -> Purpose:
    return Purpose("window", action, "Control the window {target}", shown, points, types)


_OPEN = Purpose("program", "open", "Open {target}")
_END = Purpose("application", "end", "Close the application {target}")
_READ = Purpose("clipboard", "read_clipboard", "Read the clipboard")
_WRITE = Purpose("clipboard", "write_clipboard", "Change the clipboard", "text")
_SCRIPT = Purpose("each", "script", "Run this script", "script")

PURPOSES: dict[str, Purpose] = {
    "click": _control("click", points=True),
    "click_element": _control("click"),
    "scroll": _control("scroll", points=True),
    "drag": _control("drag", points=True),
    "type_text": _control("type", "text", types=True),
    "press_key": _control("press", types=True),
    "write_element_value": _control("fill", "value"),
    "perform_element_action": _control("act", "action"),
    "create_input": _control("act", points=True, types=True),
    "focus_window": _control("window"),
    "move_window": _control("window"),
    "resize_window": _control("window"),
    "minimize_window": _control("window"),
    "restore_window": _control("window"),
    "close_window": _control("close"),
    "open_application": _OPEN,
    "delete_application": _END,
    "get_clipboard": _READ,
    "get_clipboard_history": _READ,
    "write_clipboard": _WRITE,
    "clear_clipboard": _WRITE,
    "execute_macro": Purpose("macro", "macro", "Run this macro"),
    "execute_apple_script": _SCRIPT,
    "execute_javascript": _SCRIPT,
    "execute_shell_command": Purpose("each", "script", "Run this command", "command"),
}


@dataclass(frozen=True)
class Target:
    window: Window
    element: Element | None = None
    at: Point | None = None

    @property
    def rect(self) -> Rect | None:
        """The part of the screen that is meant; None for the whole window."""
        if self.element is not None and self.element.rect is not None:
            return self.element.rect
        return None if self.at is None else Rect(self.at.x - MARK, self.at.y - MARK, 2 * MARK, 2 * MARK)


async def find_target(
    session: DesktopSession, backend: Backend, purpose: Purpose, given: Arguments
) -> Target:
    """The window, and the element or point in it; raises `ToolFailure` if it is not clear."""
    windows = await backend.windows.list()
    element = _first(given, _ELEMENT) or _nested_element(given.get("input"))
    if element is not None:
        name = str(element).rpartition("/")[2]
        snapshot, found = await session.snapshots.resolve(backend, name)
        return await _around(backend, windows, snapshot.tree.application, found)
    if given.get("selector") is not None:
        process = await choose_application(backend, _application(given))
        return await _around(backend, windows, process, await _select(backend, process, given["selector"]))
    if purpose.points:
        at = await _point(session, backend, given)
        if at is not None:
            return Target(_at(windows, at), at=at)
    return Target(await find_window(backend, given, windows))


async def find_window(backend: Backend, given: Arguments, windows: Sequence[Window] | None = None) -> Window:
    """The window that is named, that of the application that is named, or the active one."""
    listed = windows if windows is not None else await backend.windows.list()
    named = _first(given, _WINDOW)
    if named is None and "/windows/" in str(given.get("name") or ""):
        named = str(given["name"])
    if named is not None:
        return _called(listed, str(named).rpartition("/")[2] if "/windows/" in str(named) else named)
    if given.get("name") is not None and _application(given) is None:
        return _called(listed, given["name"])
    if _application(given) is None:
        return _only([window for window in listed if window.active], "No window is active.")
    process = await choose_application(backend, _application(given))
    return _main(listed, process)


def _first(given: Arguments, names: Sequence[str]) -> Any:
    return next((given[name] for name in names if given.get(name) is not None), None)


def _application(given: Arguments) -> str | None:
    named = _first(given, _APPLICATION)
    return None if named is None or str(named).strip() in ("", "applications/-") else str(named)


def _called(windows: Sequence[Window], wanted: Any) -> Window:
    if str(wanted).strip().isdecimal():
        return _only(
            [window for window in windows if window.id == int(wanted)], f"There is no window {wanted}."
        )
    same = [window for window in windows if window.title == wanted]
    part = str(wanted).casefold()
    return _only(
        same or [window for window in windows if part in window.title.casefold()], f"No window is {wanted!r}."
    )


def _only(found: Sequence[Window], problem: str) -> Window:
    if len(found) != 1:
        raise ToolFailure(problem if not found else f"{len(found)} windows match.")
    return found[0]


def _main(windows: Sequence[Window], process: int) -> Window:
    """The active window of an application, else its topmost."""
    own = [window for window in windows if window.application == process]
    if not own:
        raise ToolFailure(f"The application {process} shows no window.")
    return next((window for window in own if window.active), max(own, key=lambda window: window.level))


def _at(windows: Sequence[Window], at: Point) -> Window:
    there = [window for window in windows if window.rect.contains(at) and not window.minimised]
    if not there:
        raise ToolFailure(f"No window is at {at.x},{at.y}.")
    return max(there, key=lambda window: window.level)


async def _around(backend: Backend, windows: Sequence[Window], process: int, element: Element) -> Target:
    """The window of the application that shows the element."""
    if element.rect is None:
        places = await backend.accessibility.rects([element.ref])
        element = dataclasses.replace(element, rect=places.get(element.ref))
    own = [candidate for candidate in windows if candidate.application == process and not candidate.minimised]
    rect = element.rect
    over = [candidate for candidate in own if rect is not None and candidate.rect.contains(rect.centre)]
    window = max(over, key=lambda candidate: candidate.level) if over else _main(windows, process)
    return Target(window, element)


async def _select(backend: Backend, process: int, selector: Any) -> Element:
    result = await search(backend, process, parse_selector(selector))
    found = result.meant
    if len(found) != 1:
        raise ToolFailure(f"{len(found) or 'No'} elements match the selector.")
    return found[0]


async def _point(session: DesktopSession, backend: Backend, given: Arguments) -> Point | None:
    place = _place(given)
    if place is None:
        return None
    space = cast("Space", given.get("space") or "screen")
    return await to_screen(backend, session.pictures, *place, space, given.get("reference"))


def _nested_element(given: Any) -> str | None:
    """The first element in the positions of an input action."""
    if not isinstance(given, Mapping):
        return None
    if isinstance(given.get("element"), str):
        return str(given["element"])
    return next((found for value in given.values() if (found := _nested_element(value)) is not None), None)


def _place(given: Any) -> tuple[float, float] | None:
    """The first position in the arguments, also in nested ones such as `{"click": {"position": …}}`."""
    if not isinstance(given, Mapping):
        return None
    x, y = given.get("x"), given.get("y")
    if isinstance(x, int | float) and isinstance(y, int | float):
        return float(x), float(y)
    return next((found for value in given.values() if (found := _place(value)) is not None), None)
