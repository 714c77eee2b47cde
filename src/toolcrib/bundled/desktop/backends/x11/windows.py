"""Lists and controls windows as the EWMH standard describes; a list takes one round trip. Decides how long to
wait for focus, a new size or closing, and the message that no window manager is running."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import xcffib
import xcffib.res
from xcffib.xproto import ConfigWindow, EventMask, InputFocus, MapState, StackMode, WindowClass

from toolcrib.bundled.desktop.backend import SetupProblem, Window
from toolcrib.bundled.desktop.backends.x11.connection import XConnection, XThread, numbers, text
from toolcrib.bundled.desktop.deadline import wait_until
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.modality import blocked_windows, check_window, names_of
from toolcrib.serverkit.context import ToolFailure

FROM_PAGER = 2
STATIC_GRAVITY = 10
POSITION_AND_SIZE = 0xF00
ICONIC_STATE = 3
PATIENCE = 8.0
"""Seconds for the window manager to do what it was asked."""
BLOCKED_PATIENCE = 1.0
"""The same for a window behind a modal dialog, which gets the focus instead."""
MANAGER_PATIENCE = 3.0
CLOSE_PATIENCE = 3.0
"""Seconds for a program to close its window; it may ask the user first."""
PLACE_PATIENCE = 0.5
STILL = 0.05
"""Seconds without a move after which a window that was placed has its final size."""
POLL = 0.002
PING_PATIENCE = 1.5
FOCUS_ATTEMPTS = 3
SETTLE_ATTEMPTS = 3
LOCAL_CLIENT_PID = 2
FRAME_DEPTH = 3
"""How deep in the frame of a window manager a program's own window is."""
_PROPERTIES = (
    "WM_STATE", "_NET_WM_NAME", "WM_NAME", "_NET_WM_PID", "WM_CLIENT_MACHINE", "_NET_WM_STATE", "WM_CLASS",
    "WM_TRANSIENT_FOR",
)  # fmt: skip
_STATES = ("_NET_WM_STATE_HIDDEN", "_NET_WM_STATE_MODAL")
_LISTS = ("_NET_CLIENT_LIST_STACKING", "_NET_CLIENT_LIST")
"""Of the window manager; not every one keeps the first, which has the windows in their order."""
NO_MANAGER = SetupProblem(
    "No window manager is running on this display: windows have no frames and cannot be minimised, and keys "
    "go to the window that was focused last.",
    "Start one, such as openbox.",
    fatal=False,
)


class X11Windows:
    def __init__(self, thread: XThread) -> None:
        self._thread = thread

    async def list(self) -> Sequence[Window]:
        return await self._thread.run(list_windows)

    async def focus(self, window: int) -> Window:
        return await self._thread.run(focus, window)

    async def place(self, window: int, rect: Rect) -> Window:
        return await self._thread.run(place, window, rect)

    async def minimise(self, window: int) -> Window:
        return await self._thread.run(minimise, window)

    async def restore(self, window: int) -> Window:
        return await self._thread.run(focus, window)

    async def close(self, window: int) -> bool:
        return await self._thread.run(close, window)

    async def problem(self) -> SetupProblem | None:
        return None if await self._thread.run(has_manager) else NO_MANAGER

    async def content_origin(self, application: int, title: str) -> Point | None:
        return await self._thread.run(content_origin, application, title)


def list_windows(connection: XConnection) -> list[Window]:
    """From the lowest to the topmost."""
    return _describe(connection, enumerate)


def get_window(connection: XConnection, window: int) -> Window:
    found = _describe(connection, lambda ids: [(ids.index(window), window)] if window in ids else [])
    if not found:
        raise ToolFailure(
            f"There is no window {window}; it may have been closed.", "Call list_windows again."
        )
    return found[0]


def _describe(
    connection: XConnection, choose: Callable[[list[int]], Iterable[tuple[int, int]]]
) -> list[Window]:
    """The windows that are chosen by level and id from all."""
    connection.learn_atoms(*_LISTS, "_NET_ACTIVE_WINDOW", *_STATES, *_PROPERTIES)
    managed = has_manager(connection)
    ids = _ids(connection, managed)
    active = _active(connection, managed)
    asked = [(level, window, *_ask(connection, window)) for level, window in choose(ids)]
    found = (_read(connection, managed, active, *request) for request in asked)
    return [window for window in found if window is not None]


def _ids(connection: XConnection, managed: bool) -> list[int]:
    """All windows, from the lowest to the topmost if the window manager says so."""
    listed = (connection.read_numbers(connection.root, name) for name in _LISTS) if managed else ()
    return next(filter(None, listed), None) or _top_levels(connection, managed)


def _top_levels(connection: XConnection, managed: bool) -> list[int]:
    """The mapped windows where no window manager lists them, without menus and tooltips."""
    found: list[int] = []
    children = connection.core.QueryTree(connection.root).reply().children
    asked = [(window, connection.core.GetWindowAttributes(window)) for window in children]
    for window, answer in asked:
        try:
            attributes = answer.reply()
            client = _client_in(connection, window)
        except xcffib.Error:
            continue  # it has just closed
        if attributes.map_state != MapState.Viewable or attributes._class != WindowClass.InputOutput:
            continue
        if client is not None:
            found.append(client)
        elif not managed and not attributes.override_redirect:
            found.append(window)
    return found


def _client_in(connection: XConnection, frame: int, depth: int = FRAME_DEPTH) -> int | None:
    """The program's window that a window manager has put into a frame, or the window itself."""
    if connection.read_numbers(frame, "WM_STATE")[:1]:
        return frame
    if not depth:
        return None
    children = connection.core.QueryTree(frame).reply().children
    return next(filter(None, (_client_in(connection, child, depth - 1) for child in children)), None)


def focus(connection: XConnection, window: int) -> Window:
    """Activate it unless it is in front, and wait until it has processed its events.

    It is activated again if a window that was just opened has taken the focus meanwhile.
    """
    for _ in range(FOCUS_ATTEMPTS):
        found = get_window(connection, window)
        managed = has_manager(connection)
        if not managed:
            connection.core.ConfigureWindow(window, ConfigWindow.StackMode, [StackMode.Above])
            connection.core.SetInputFocus(InputFocus.Parent, window, xcffib.CurrentTime)
        elif not found.active or _ids(connection, managed)[-1:] != [window]:
            connection.send_to_root(window, "_NET_ACTIVE_WINDOW", FROM_PAGER)
        dialog = blocked_windows(list_windows(connection)).get(window)
        if not _until(
            lambda: is_active(connection, window), PATIENCE if dialog is None else BLOCKED_PATIENCE
        ):
            check_window(list_windows(connection), found)
            break
        settled = _settled(connection, window)
        if settled.active:
            return settled
    raise ToolFailure(
        f"The window {window} did not become active.", "Another window may be modal: look at the screen."
    )


def _settled(connection: XConnection, window: int) -> Window:
    """The window, once the program knows where it is: it learns that from an event like any other."""
    for _ in range(SETTLE_ATTEMPTS):
        before = get_window(connection, window)
        ping(connection, window)
        now = get_window(connection, window)
        if now.rect == before.rect:
            break
    return now


def is_active(connection: XConnection, window: int) -> bool:
    return active_window(connection) == window


def active_window(connection: XConnection) -> int | None:
    """As the window manager says, or the one with the keyboard focus if there is none that does."""
    return _active(connection, has_manager(connection))


def _active(connection: XConnection, managed: bool) -> int | None:
    found = connection.read_numbers(connection.root, "_NET_ACTIVE_WINDOW")
    if found and managed:
        return found[0] or None
    window = connection.core.GetInputFocus().reply().focus
    listed = set(_ids(connection, managed)) if window > InputFocus.PointerRoot else set()
    while listed and window not in listed:
        window = connection.core.QueryTree(window).reply().parent
        if window in (0, connection.root):
            return None
    return window if listed else None


def place(connection: XConnection, window: int, rect: Rect) -> Window:
    before = get_window(connection, window).rect
    flags = (FROM_PAGER << 12) | POSITION_AND_SIZE | STATIC_GRAVITY
    sizes = [value & 0xFFFFFFFF for value in (rect.x, rect.y, rect.width, rect.height)]
    if has_manager(connection):
        connection.send_to_root(window, "_NET_MOVERESIZE_WINDOW", flags, *sizes)
    else:
        four = ConfigWindow.X | ConfigWindow.Y | ConfigWindow.Width | ConfigWindow.Height
        border = connection.core.GetGeometry(window).reply().border_width
        corner = [(value - border) & 0xFFFFFFFF for value in sizes[:2]]
        connection.core.ConfigureWindow(window, four, [*corner, *sizes[2:]])
    placed = _Placing(before, rect)
    _until(lambda: placed.is_done(get_window(connection, window).rect), PLACE_PATIENCE)
    return get_window(connection, window)


class _Placing:
    """A window on its way; programs may have a smallest size, so it need not become what was asked for."""

    def __init__(self, before: Rect, wanted: Rect) -> None:
        self._before = self._last = before
        self._wanted = wanted
        self._since = time.monotonic()

    def is_done(self, now: Rect) -> bool:
        """Whether it is in its place, or has changed and then kept still."""
        if now != self._last:
            self._last, self._since = now, time.monotonic()
        return now == self._wanted or (now != self._before and time.monotonic() - self._since > STILL)


def minimise(connection: XConnection, window: int) -> Window:
    get_window(connection, window)
    if not has_manager(connection):
        raise ToolFailure(NO_MANAGER.message, NO_MANAGER.hint)
    connection.send_to_root(window, "WM_CHANGE_STATE", ICONIC_STATE)
    if not _until(lambda: get_window(connection, window).minimised):
        raise ToolFailure(f"The window {window} cannot be minimised.")
    return get_window(connection, window)


def close(connection: XConnection, window: int) -> bool:
    get_window(connection, window)
    if has_manager(connection):
        connection.send_to_root(window, "_NET_CLOSE_WINDOW", 0, FROM_PAGER)
    elif _takes_part(connection, window, "WM_DELETE_WINDOW"):
        wanted = connection.atom("WM_DELETE_WINDOW")
        message = connection.client_message(window, "WM_PROTOCOLS", wanted, xcffib.CurrentTime)
        connection.core.SendEvent(False, window, 0, message)
    return _until(lambda: window not in _ids(connection, has_manager(connection)), CLOSE_PATIENCE)


def answers_pings(connection: XConnection, window: int) -> bool:
    """A window that does not say so must never get one: xterm closes at any message of this kind."""
    return _takes_part(connection, window, "_NET_WM_PING")


def _takes_part(connection: XConnection, window: int, protocol: str) -> bool:
    return connection.atom(protocol) in connection.read_numbers(window, "WM_PROTOCOLS")


def client_of(connection: XConnection, window: int) -> int | None:
    """The process that created a window, as the server knows it."""
    try:
        spec = xcffib.res.ClientIdSpec.synthetic(window, LOCAL_CLIENT_PID)
        found = connection.extension(xcffib.res).QueryClientIds(1, [spec]).reply()
    except (xcffib.XcffibException, KeyError):
        return None
    return next((number for entry in found.ids for number in entry.value if number), None)


def ping(connection: XConnection, window: int, timeout: float = PING_PATIENCE) -> bool:
    """Wait until the window has processed all earlier events, or has closed; False if it does not say."""
    if not answers_pings(connection, window):
        return False
    pings = connection.atom("_NET_WM_PING")
    changed = (xcffib.xproto.UnmapNotifyEvent, xcffib.xproto.DestroyNotifyEvent)
    stamp = time.monotonic_ns() // 1000 & 0x7FFFFFFF
    _listen(connection, EventMask.SubstructureNotify | EventMask.StructureNotify)
    try:
        message = connection.client_message(window, "WM_PROTOCOLS", pings, stamp, window)
        connection.core.SendEvent(False, window, 0, message)
        answer = connection.wait_for(
            lambda event: (
                _answers(event, stamp)
                or (isinstance(event, changed) and place_of(connection, window) is None)
            ),
            timeout,
        )
        return answer is not None
    finally:
        _listen(connection, 0)


def wait_for_manager(connection: XConnection) -> bool:
    """Whether a window manager is running; waits a moment for one that has just been started."""
    return _until(lambda: has_manager(connection), MANAGER_PATIENCE)


def has_manager(connection: XConnection) -> bool:
    """A manager that crashed leaves its property on the root window, but not the window that it names."""
    named = connection.read_numbers(connection.root, "_NET_SUPPORTING_WM_CHECK")
    return bool(named) and connection.read_numbers(named[0], "_NET_SUPPORTING_WM_CHECK") == named


def place_of(connection: XConnection, window: int) -> Rect | None:
    """Where a window is now; None if it has closed."""
    try:
        size = connection.core.GetGeometry(window)
        corner = connection.core.TranslateCoordinates(window, connection.root, 0, 0).reply()
        reply = size.reply()
    except xcffib.Error:
        return None
    return Rect(corner.dst_x, corner.dst_y, reply.width, reply.height)


def content_origin(connection: XConnection, application: int, title: str) -> Point | None:
    """Where the content of its only window, or only one with this title, starts inside its own shadow."""
    windows = [window for window in list_windows(connection) if window.application == application]
    if len(windows) > 1:  # GTK 4 gives a window without a title the name of the program
        called = {title} if title else {"", *(window.window_class for window in windows)}
        windows = [window for window in windows if called & names_of(window)]
    if len(windows) != 1:
        return None
    left, _, top, _ = [*connection.read_numbers(windows[0].id, "_GTK_FRAME_EXTENTS"), 0, 0, 0, 0][:4]
    return Point(windows[0].rect.x + left, windows[0].rect.y + top)


def top_level(connection: XConnection, window: int) -> int:
    """The frame around a window, which is a child of the root window."""
    while True:
        tree = connection.core.QueryTree(window).reply()
        if tree.parent in (connection.root, 0):
            return window
        window = tree.parent


def _listen(connection: XConnection, mask: int) -> None:
    connection.core.ChangeWindowAttributes(connection.root, xcffib.xproto.CW.EventMask, [mask])


def _answers(event: Any, stamp: int) -> bool:
    return isinstance(event, xcffib.xproto.ClientMessageEvent) and event.data.data32[1] == stamp


def _ask(connection: XConnection, window: int) -> tuple[Any, Any, list[Any]]:
    return (
        connection.core.GetGeometry(window),
        connection.core.TranslateCoordinates(window, connection.root, 0, 0),
        [connection.get_property(window, name) for name in _PROPERTIES],
    )


def _read(
    connection: XConnection,
    managed: bool,
    active: int | None,
    level: int,
    window: int,
    geometry: Any,
    position: Any,
    properties: list[Any],
) -> Window | None:
    try:
        size, corner = geometry.reply(), position.reply()
        wm_state, title, old_title, process, machine, state, window_class, owner = (
            request.reply() for request in properties
        )
    except xcffib.Error:
        return None  # it has just closed
    if managed and not any(numbers(wm_state)[:1]):
        return None  # a new window that has the id of one that has closed, and is not managed yet
    states = numbers(state)
    return Window(
        id=window,
        title=text(title) or text(old_title),
        application=_process(connection, window, next(iter(numbers(process)), None), text(machine)),
        window_class=text(window_class).rstrip("\0").rpartition("\0")[2],
        rect=Rect(corner.dst_x, corner.dst_y, size.width, size.height),
        level=level,
        active=window == active,
        minimised=connection.atom("_NET_WM_STATE_HIDDEN") in states,
        modal=connection.atom("_NET_WM_STATE_MODAL") in states,
        owner=next(iter(numbers(owner)), None),
    )


def _process(connection: XConnection, window: int, said: int | None, machine: str) -> int | None:
    """The process on this machine; a number that a window of another one gives is no process here."""
    here = not machine or _first_label(machine) == _first_label(socket.gethostname())
    if here and said:
        return said
    known = client_of(connection, window)
    return known if known is not None and (here or known == said) else None


def _first_label(host: str) -> str:
    return host.strip("\0").partition(".")[0].casefold()


def _until(condition: Callable[[], bool], timeout: float = PATIENCE) -> bool:
    return wait_until(condition, timeout, POLL)
