"""Tools for windows: list, get, focus, move, resize, minimize, restore, close. Decides windows on a page,
fields to filter and sort by, and what happens if a window does not close ("it may ask whether to save")."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.elements.search import read_tree
from toolcrib.bundled.desktop.failures import MissingField, OutOfRange, WindowNotFound
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.lists import filtered, ordered
from toolcrib.bundled.desktop.operations.table import (
    ARRANGING,
    ENDING,
    LOOKING,
    Action,
    Desktop,
    Reply,
    more_line,
    operation,
    with_changes,
)
from toolcrib.bundled.desktop.resources import window_name
from toolcrib.bundled.desktop.window_lookup import MAX_TITLE, describe_window
from toolcrib.serverkit.context import ToolFailure

PAGE = 30
"""Windows of a page; with the longest titles, they fit into 2000 tokens."""
LARGEST_COORDINATE = 32_767
"""X11 places windows with 16 bits."""
WINDOW_ROLES = {"frame", "dialog", "window", "alert", "file chooser"}
STATE_TIMEOUT = 1.0

FIELDS: Mapping[str, Callable[[Window], Any]] = {
    "title": lambda window: window.title,
    "bundle_id": lambda window: window.window_class,
    "window_id": lambda window: window.id,
    "z_index": lambda window: window.level,
    "z_order": lambda window: window.level,
    "visible": lambda window: not window.minimised,
    "minimized": lambda window: window.minimised,
    "focused": lambda window: window.active,
}
"""What a list can be filtered and ordered by."""


@dataclass(frozen=True)
class WindowRecord:
    """A window on the wire: with a resource name, and the words of the gRPC interface."""

    name: str
    id: int
    title: str
    application: int | None
    bundle_id: str
    bounds: Rect
    z_index: int
    visible: bool
    active: bool
    minimised: bool


@dataclass(frozen=True)
class WindowActed(WindowRecord):
    changes: list[str]


@dataclass(frozen=True)
class WindowClosed:
    success: bool
    changes: list[str]


@dataclass(frozen=True)
class WindowList:
    space: str
    windows: list[WindowRecord]
    more: int
    next_page_token: str


@dataclass(frozen=True)
class WindowState:
    name: str
    resizable: bool
    minimizable: bool
    closable: bool
    modal: bool
    ax_hidden: bool
    minimized: bool
    focused: bool
    fullscreen: bool


def window_record(desktop: Desktop, window: Window) -> WindowRecord:
    return WindowRecord(
        name=window_name(window.application, window.id),
        id=window.id,
        title=window.title[:MAX_TITLE] if desktop.for_model else window.title,
        application=window.application,
        bundle_id=window.window_class,
        bounds=window.rect,
        z_index=window.level,
        visible=not window.minimised,
        active=window.active,
        minimised=window.minimised,
    )


@operation("List windows", LOOKING)
async def list_windows(
    desktop: Desktop,
    app_name: str | None = None,
    parent: str | None = None,
    page_size: int = 0,
    page_token: str = "",
    order_by: str = "",
    filter: str = "",  # noqa: A002
) -> Reply[WindowList]:
    found = await desktop.windows_of(parent)
    if app_name is not None:
        named = {window.id for window in await desktop.windows_of(app_name)}
        found = [window for window in found if window.id in named]
    chosen = ordered(filtered(found, filter, FIELDS), order_by, FIELDS)
    query = ("windows", parent, app_name, order_by, filter)
    page = desktop.page(chosen, page_size, page_token, *query, default=PAGE)
    windows = [window_record(desktop, window) for window in page.items]
    data = WindowList("screen", windows, page.more, page.next_page_token)
    lines = [describe_window(window) for window in page.items] or ["No windows."]
    problem = await (await desktop.backend()).windows.problem() if desktop.for_model else None
    notes = [f"{problem.message} {problem.hint}"] if problem is not None else []
    return Reply(data, "\n".join([*lines, *more_line(page), *notes]))


@operation("Get a window", LOOKING, maskable=True)
async def get_window(desktop: Desktop, name: str) -> Reply[WindowRecord]:
    found = desktop.choose_window(await (await desktop.backend()).windows.list(), name)
    return Reply(window_record(desktop, found), describe_window(found))


@operation("", LOOKING)
async def get_window_state(desktop: Desktop, name: str) -> WindowState:
    backend = await desktop.backend()
    window = desktop.choose_window(await backend.windows.list(), name)
    states = await _states(backend, window)
    displays = await backend.displays.list()
    return WindowState(
        name=f"{window_name(window.application, window.id)}/state",
        resizable="resizable" in states,
        minimizable="modal" not in states,
        closable=True,
        modal="modal" in states,
        ax_hidden=not states,
        minimized=window.minimised,
        focused=window.active,
        fullscreen=any(window.rect == display.rect for display in displays),
    )


@operation("Focus a window", ARRANGING)
async def focus_window(
    desktop: Desktop,
    name: str | None = None,
    app_name: str | None = None,
    window_id: int | str | None = None,
    pid: int | None = None,
) -> Reply[WindowActed]:
    given = [value for value in (name, window_id) if value is not None]
    if len(given) + (app_name is not None) + (pid is not None) != 1:
        raise MissingField("Give exactly one of name, app_name, window_id and pid.")
    async with desktop.acting() as action:
        if given:
            found = desktop.choose_window(action.windows, given[0])
        else:
            found = await _topmost(desktop, app_name if pid is None else str(pid))
        now = await action.backend.windows.focus(found.id)
    return _acted(desktop, action, now, "Active now")


@operation("Move a window", ARRANGING)
async def move_window(desktop: Desktop, name: str, x: float, y: float) -> Reply[WindowActed]:
    async def move(backend: Backend, window: Window) -> Window:
        place = Rect(_checked(x), _checked(y), window.rect.width, window.rect.height)
        return await backend.windows.place(window.id, place)

    return await _change(desktop, name, move, "Now")


@operation("Resize a window", ARRANGING)
async def resize_window(desktop: Desktop, name: str, width: float, height: float) -> Reply[WindowActed]:
    async def resize(backend: Backend, window: Window) -> Window:
        place = Rect(window.rect.x, window.rect.y, _checked(width, 1), _checked(height, 1))
        return await backend.windows.place(window.id, place)

    return await _change(desktop, name, resize, "Now")


@operation("Minimise a window", ARRANGING)
async def minimize_window(desktop: Desktop, name: str) -> Reply[WindowActed]:
    return await _change(desktop, name, lambda backend, it: backend.windows.minimise(it.id), "Minimised")


@operation("Restore a window", ARRANGING)
async def restore_window(desktop: Desktop, name: str) -> Reply[WindowActed]:
    return await _change(desktop, name, lambda backend, it: backend.windows.restore(it.id), "Restored")


@operation("Close a window", ENDING)
async def close_window(desktop: Desktop, name: str, force: bool = False) -> Reply[WindowClosed]:
    async with desktop.acting() as action:
        window = desktop.choose_window(action.windows, name)
        closed = await action.backend.windows.close(window.id)
        if not closed and force:
            closed = await _end_program(desktop, action, window)
    still = "is still open: it may ask whether to save" if not closed else "is closed"
    text = with_changes(f"The window {window.title[:MAX_TITLE]!r} {still}.", action.changes)
    return Reply(WindowClosed(closed, action.changes), text)


async def _change(
    desktop: Desktop, name: str, change: Callable[[Backend, Window], Awaitable[Window]], verb: str
) -> Reply[WindowActed]:
    async with desktop.acting() as action:
        now = await change(action.backend, desktop.choose_window(action.windows, name))
    return _acted(desktop, action, now, verb)


def _acted(desktop: Desktop, action: Action, now: Window, verb: str) -> Reply[WindowActed]:
    data = WindowActed(**vars(window_record(desktop, now)), changes=action.changes)
    return Reply(data, with_changes(f"{verb}: {describe_window(now)}", action.changes))


async def _topmost(desktop: Desktop, application: str | None) -> Window:
    """The topmost window of an application, one that is not minimised if there is any."""
    found = sorted(await desktop.windows_of(application), key=lambda window: window.minimised)
    if not found:
        raise WindowNotFound(f"The application {application!r} has no window.", "Call list_windows.")
    return found[0]


async def _end_program(desktop: Desktop, action: Action, window: Window) -> bool:
    """Kill the program of a window that does not close, unless other windows would go with it."""
    others = [
        other for other in action.windows if other.application == window.application and other != window
    ]
    if window.application is None or others:
        if not desktop.for_model:  # the response has a field for it
            return False
        raise ToolFailure(
            "The window does not close, and its program has other windows.",
            "Answer its question if it asks one, or end the program with delete_application.",
        )
    await action.backend.applications.close(window.application, force=True)
    return True


async def _states(backend: Backend, window: Window) -> frozenset[str]:
    """The states of the window's own element; empty if accessibility does not show it."""
    if window.application is None:
        return frozenset()
    tree = await read_tree(backend, window.application, STATE_TIMEOUT)
    own: Sequence[frozenset[str]] = [
        element.states
        for element in tree.elements
        if element.role in WINDOW_ROLES and element.name == window.title
    ]
    return own[0] if own else frozenset()


def _checked(value: float, smallest: int = -LARGEST_COORDINATE) -> int:
    if not smallest <= value <= LARGEST_COORDINATE:  # false for NaN, too
        raise OutOfRange(f"{value:g} is not between {smallest} and {LARGEST_COORDINATE}.")
    return round(value)
