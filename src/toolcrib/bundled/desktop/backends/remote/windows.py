"""Applications, windows and displays of a remote desktop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import grpc
from google.longrunning import operations_pb2

from toolcrib.bundled.desktop.backend import Application, Display, Window
from toolcrib.bundled.desktop.backends.remote.connection import (
    GrpcConnection,
    RemoteFailure,
    operation_failure,
)
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.grpc.messages import rect_of
from toolcrib.bundled.desktop.grpc.schema import Duration, v1
from toolcrib.bundled.desktop.resources import application_name
from toolcrib.serverkit.context import ToolFailure

PAGE = 1000
MOST_PAGES = 20
ALL = "applications/-"
FOCUSED = "focused=true"
"""A filter of our own server; others may ignore it."""
LOOKED_AT = 4


async def list_all(connection: GrpcConnection, method: str, request: Any, field: str) -> list[Any]:
    """All pages of a list."""
    request.page_size = PAGE
    found: list[Any] = []
    for _ in range(MOST_PAGES):
        response = await connection.call(method, request)
        found += getattr(response, field)
        request.page_token = response.next_page_token
        if not request.page_token:
            break
    return found


class RemoteWindows:
    def __init__(self, connection: GrpcConnection) -> None:
        self._connection = connection
        self._names: dict[int, str] = {}

    async def list(self) -> Sequence[Window]:
        listing = list_all(self._connection, "ListWindows", v1.ListWindowsRequest(parent=ALL), "windows")
        messages, focused = await asyncio.gather(listing, self._focused())
        self._names = {window_id(each.name): each.name for each in messages}
        active = await self._active(messages, focused)
        windows = [replace(window_from(each), active=each.name == active) for each in messages]
        return sorted(windows, key=lambda window: window.level)

    async def focus(self, window: int) -> Window:
        return replace(await self._change("FocusWindow", window), active=True)

    async def place(self, window: int, rect: Rect) -> Window:
        await self._change("MoveWindow", window, x=rect.x, y=rect.y)
        return await self._change("ResizeWindow", window, width=rect.width, height=rect.height)

    async def minimise(self, window: int) -> Window:
        return await self._change("MinimizeWindow", window)

    async def restore(self, window: int) -> Window:
        return await self._change("RestoreWindow", window)

    async def problem(self) -> None:
        return None

    async def close(self, window: int) -> bool:
        name = await self.name_of(window)
        response = await self._connection.call("CloseWindow", v1.CloseWindowRequest(name=name))
        return bool(response.success)

    async def get(self, window: int) -> Window:
        """As it is now."""
        return await self._change("GetWindow", window)

    async def name_of(self, window: int) -> str:
        if window not in self._names:
            await self.list()
        if window not in self._names:
            raise ToolFailure(f"There is no window {window}.", "Call list_windows again.")
        return self._names[window]

    async def _change(self, method: str, window: int, **fields: Any) -> Window:
        request = getattr(v1, f"{method}Request")(name=await self.name_of(window), **fields)
        return window_from(await self._connection.call(method, request))

    async def _focused(self) -> Sequence[str] | None:
        """The names of the focused windows; None if the server does not know the filter."""
        request = v1.ListWindowsRequest(parent=ALL, filter=FOCUSED)
        try:
            response = await self._connection.call("ListWindows", request)
        except RemoteFailure as error:
            if error.code != grpc.StatusCode.INVALID_ARGUMENT:
                raise
            return None
        return [each.name for each in response.windows]

    async def _active(self, messages: Sequence[Any], focused: Sequence[str] | None) -> str | None:
        if focused is not None and len(focused) <= 1:
            return focused[0] if focused else None
        topmost = sorted(messages, key=lambda each: -each.z_index)[:LOOKED_AT]
        for each in topmost:
            request = v1.GetWindowStateRequest(name=f"{each.name}/state")
            if (await self._connection.call("GetWindowState", request)).focused:
                return str(each.name)
        return None


class RemoteApplications:
    def __init__(self, connection: GrpcConnection, windows: RemoteWindows) -> None:
        self._connection = connection
        self._windows = windows

    async def list(self) -> Sequence[Application]:
        listed = await list_all(
            self._connection, "ListApplications", v1.ListApplicationsRequest(), "applications"
        )
        return [Application(each.pid, each.display_name, each.display_name) for each in listed]

    async def open(self, command: Sequence[str], timeout: float) -> Window | None:
        if len(command) != 1:
            raise ToolFailure(
                "A remote desktop server opens applications without arguments.", "Leave the arguments out."
            )
        request = v1.OpenApplicationRequest(id=command[0])
        operation = await self._finish(await self._connection.call("OpenApplication", request), timeout)
        if operation is None:
            return None
        opened = v1.OpenApplicationResponse()
        operation.response.Unpack(opened)
        own = [each for each in await self._windows.list() if each.application == opened.application.pid]
        return own[-1] if own else None

    async def close(self, application: int, *, force: bool) -> None:
        request = v1.DeleteApplicationRequest(name=application_name(application), force=force)
        await self._connection.call("DeleteApplication", request)

    async def _finish(self, operation: Any, timeout: float) -> Any | None:
        """The finished operation; None if it takes longer. Raises what it failed with."""
        deadline = time.monotonic() + timeout
        while not operation.done:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            wait = Duration()
            wait.FromMilliseconds(max(1, int(left * 1000)))
            request = operations_pb2.WaitOperationRequest(name=operation.name, timeout=wait)
            operation = await self._connection.call("WaitOperation", request, left + 5)
        if operation.HasField("error"):
            raise operation_failure(operation.error)
        return operation


class RemoteDisplays:
    def __init__(self, connection: GrpcConnection) -> None:
        self._connection = connection

    async def list(self) -> Sequence[Display]:
        listed = await list_all(self._connection, "ListDisplays", v1.ListDisplaysRequest(), "displays")
        return [
            Display(each.display_id, each.name, rect_of(each.frame), each.is_main, each.scale or 1.0)
            for each in listed
        ]

    async def pointer(self) -> Point:
        at = await self._connection.call("CaptureCursorPosition", v1.CaptureCursorPositionRequest())
        return Point(round(at.x), round(at.y))


def window_id(name: str) -> int:
    identifier = name.rpartition("/")[2]
    if not identifier.isdecimal():
        raise ToolFailure(f"The desktop server named a window {name[:100]!r}, which has no number.")
    return int(identifier)


def window_from(message: Any) -> Window:
    application = message.name.split("/")[1:2]
    process = int(application[0]) if application and application[0].isdecimal() else 0
    return Window(
        id=window_id(message.name),
        title=message.title,
        application=process or None,
        window_class=message.bundle_id,
        rect=rect_of(message.bounds),
        level=message.z_index,
        minimised=not message.visible,
    )
