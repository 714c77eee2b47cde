"""The tools for windows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypedDict, cast

from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.choosing import MAX_TITLE, describe_window, windows_of
from toolcrib.bundled.desktop.choosing import choose_window as choose_window
from toolcrib.bundled.desktop.elements.difference import summarise
from toolcrib.bundled.desktop.failures import MissingField, OutOfRange, WindowNotFound
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.lists import filtered, masked, ordered
from toolcrib.bundled.desktop.pages import paginate
from toolcrib.bundled.desktop.resources import window_name
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.tools.offer import ACTING, LOOKING, Offer, answer, with_changes
from toolcrib.bundled.desktop.window_changes import describe_changes
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.server import ToolServer

PAGE = 30
"""Windows of a page; with the longest titles, they fit into 2000 tokens."""
LARGEST_COORDINATE = 32_767
"""X11 places windows with 16 bits."""


class Bounds(TypedDict):
    x: int
    y: int
    width: int
    height: int


class WindowData(TypedDict):
    name: str
    id: int
    title: str
    application: int | None
    bundle_id: str
    bounds: Bounds
    z_index: int
    visible: bool
    active: bool
    minimised: bool


class WindowFields(TypedDict, total=False):
    """A window with only the fields that were asked for."""

    name: str
    id: int
    title: str
    application: int | None
    bundle_id: str
    bounds: Bounds
    z_index: int
    visible: bool
    active: bool
    minimised: bool


class WindowActed(WindowData):
    changes: list[str]


class WindowClosed(TypedDict):
    success: bool
    changes: list[str]


class WindowList(TypedDict):
    space: str
    windows: list[WindowData]
    more: int
    next_page_token: str


Operation = Callable[[Backend, Window], Awaitable[Window]]


class WindowTools:
    def __init__(self, session: DesktopSession) -> None:
        self._session = session

    async def list_windows(
        self,
        context: ToolContext,
        app_name: str | None = None,
        parent: str | None = None,
        page_size: int = 0,
        page_token: str = "",
        order_by: str = "",
        filter: str = "",  # noqa: A002
    ) -> WindowList:
        backend = await self._session.backend(context)
        found = await windows_of(backend, parent)
        if app_name is not None:
            named = {each.id for each in await windows_of(backend, app_name)}
            found = [each for each in found if each.id in named]
        chosen = ordered(filtered(found, filter, _FILTERS), order_by, _ORDERS)
        query = ("windows", parent, app_name, order_by, filter)
        page = paginate(chosen, page_size, page_token, *query, default=PAGE)
        data: WindowList = {
            "space": "screen",
            "windows": [window_data(each) for each in page.items],
            "more": page.more,
            "next_page_token": page.next_page_token,
        }
        lines = [describe_window(window) for window in page.items] or ["No windows."]
        if page.more:
            lines.append(f"… {page.more} more; continue with page_token {page.next_page_token}.")
        problem = await backend.windows.problem()
        if problem is not None:
            lines.append(f"{problem.message} {problem.hint}")
        return answer(data, "\n".join(lines))

    async def get_window(self, name: str, context: ToolContext, read_mask: str = "") -> WindowFields:
        backend = await self._session.backend(context)
        found = choose_window(await backend.windows.list(), name)
        data = cast("WindowFields", masked(window_data(found), read_mask))
        return answer(data, describe_window(found))

    async def focus_window(
        self,
        context: ToolContext,
        name: str | None = None,
        app_name: str | None = None,
        window_id: int | str | None = None,
        pid: int | None = None,
    ) -> WindowActed:
        given = [each for each in (name, window_id) if each is not None]
        if len(given) + (app_name is not None) + (pid is not None) != 1:
            raise MissingField("Give exactly one of name, app_name, window_id and pid.")
        backend = await self._session.backend(context)
        if given:
            found = choose_window(await backend.windows.list(), given[0])
        else:
            found = await _topmost(backend, app_name if pid is None else str(pid))
        return await self._act(context, found, _focus, "Active now")

    async def move_window(self, name: str, x: float, y: float, context: ToolContext) -> WindowActed:
        async def move(backend: Backend, window: Window) -> Window:
            place = Rect(_checked(x), _checked(y), window.rect.width, window.rect.height)
            return await backend.windows.place(window.id, place)

        return await self._act(context, name, move, "Now")

    async def resize_window(
        self, name: str, width: float, height: float, context: ToolContext
    ) -> WindowActed:
        async def resize(backend: Backend, window: Window) -> Window:
            place = Rect(window.rect.x, window.rect.y, _checked(width, 1), _checked(height, 1))
            return await backend.windows.place(window.id, place)

        return await self._act(context, name, resize, "Now")

    async def minimize_window(self, name: str, context: ToolContext) -> WindowActed:
        async def minimise(backend: Backend, window: Window) -> Window:
            return await backend.windows.minimise(window.id)

        return await self._act(context, name, minimise, "Minimised")

    async def restore_window(self, name: str, context: ToolContext) -> WindowActed:
        async def restore(backend: Backend, window: Window) -> Window:
            return await backend.windows.restore(window.id)

        return await self._act(context, name, restore, "Restored")

    async def close_window(self, name: str, context: ToolContext, force: bool = False) -> WindowClosed:
        backend = await self._session.backend(context)
        before = await backend.windows.list()
        window = choose_window(before, name)
        closed = await backend.windows.close(window.id)
        if not closed and force:
            closed = await _end_program(backend, before, window)
        changes = summarise(describe_changes(before, await backend.windows.list()))
        data: WindowClosed = {"success": closed, "changes": changes}
        still = "is still open: it may ask whether to save" if not closed else "is closed"
        return answer(data, with_changes(f"The window {window.title[:MAX_TITLE]!r} {still}.", changes))

    async def _act(
        self, context: ToolContext, target: str | Window, operation: Operation, verb: str
    ) -> WindowActed:
        backend = await self._session.backend(context)
        before = await backend.windows.list()
        window = choose_window(before, target) if isinstance(target, str) else target
        now = await operation(backend, window)
        changes = summarise(describe_changes(before, await backend.windows.list()))
        data: WindowActed = {**window_data(now), "changes": changes}
        return answer(data, with_changes(f"{verb}: {describe_window(now)}", changes))


def offer_tools(server: ToolServer, session: DesktopSession, wanted: frozenset[str] | None) -> None:
    tools, offer = WindowTools(session), Offer(server, wanted)
    arranging = {"destructive": False, "idempotent": True, "outside": True, "reach": "here", "limit": 30.0}
    offer(tools.list_windows, "List windows", **LOOKING)
    offer(tools.get_window, "Get a window", **LOOKING)
    offer(tools.focus_window, "Focus a window", **arranging)
    offer(tools.move_window, "Move a window", **arranging)
    offer(tools.resize_window, "Resize a window", **arranging)
    offer(tools.minimize_window, "Minimise a window", **arranging)
    offer(tools.restore_window, "Restore a window", **arranging)
    offer(tools.close_window, "Close a window", **{**ACTING, "destructive": True})


def window_data(window: Window) -> WindowData:
    rect = window.rect
    return {
        "name": window_name(window.application, window.id),
        "id": window.id,
        "title": window.title[:MAX_TITLE],
        "application": window.application,
        "bundle_id": window.window_class,
        "bounds": {"x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height},
        "z_index": window.level,
        "visible": not window.minimised,
        "active": window.active,
        "minimised": window.minimised,
    }


_ORDERS: dict[str, Callable[[Window], object]] = {
    "window_id": lambda window: window.id,
    "title": lambda window: window.title.casefold(),
    "z_order": lambda window: window.level,
}
_FILTERS: dict[str, Callable[[Window], object]] = {
    "title": lambda window: window.title,
    "visible": lambda window: not window.minimised,
    "minimized": lambda window: window.minimised,
}


async def _focus(backend: Backend, window: Window) -> Window:
    return await backend.windows.focus(window.id)


async def _topmost(backend: Backend, application: str | None) -> Window:
    """The topmost window of an application, one that is not minimised if there is any."""
    found = sorted(await windows_of(backend, application), key=lambda window: window.minimised)
    if not found:
        raise WindowNotFound(f"The application {application!r} has no window.", "Call list_windows.")
    return found[0]


async def _end_program(backend: Backend, listed: Sequence[Window], window: Window) -> bool:
    """Kill the program of a window that does not close, unless other windows would go with it."""
    others = [each for each in listed if each.application == window.application and each.id != window.id]
    if window.application is None or others:
        raise ToolFailure(
            "The window does not close, and its program has other windows.",
            "Answer its question if it asks one, or end the program with delete_application.",
        )
    await backend.applications.close(window.application, force=True)
    return True


def _checked(value: float, smallest: int = -LARGEST_COORDINATE) -> int:
    if not smallest <= value <= LARGEST_COORDINATE:
        raise OutOfRange(f"{value:g} is not between {smallest} and {LARGEST_COORDINATE}.")
    return round(value)
