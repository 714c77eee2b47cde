"""Tools for applications: open, list, get, end. Decides the default and longest wait for a window, the time
to end, most arguments, and messages such as "shows no window yet"."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.bundled.desktop.backend import Application, Backend
from toolcrib.bundled.desktop.chromium_programs import NO_ELEMENTS, lacks_switch
from toolcrib.bundled.desktop.desktop_entries import command_of
from toolcrib.bundled.desktop.failures import InvalidFormat
from toolcrib.bundled.desktop.lists import filtered, ordered
from toolcrib.bundled.desktop.opening import open_program
from toolcrib.bundled.desktop.operations.table import (
    ENDING,
    LOOKING,
    Desktop,
    OperationTraits,
    Reply,
    more_line,
    operation,
    with_changes,
)
from toolcrib.bundled.desktop.operations.windows import WindowRecord, window_record
from toolcrib.bundled.desktop.resources import application_name
from toolcrib.bundled.desktop.window_lookup import describe_window
from toolcrib.serverkit.threads import in_thread

LONGEST_WAIT = 60.0
END_PATIENCE = 5.0
POLL = 0.25
MAX_ARGUMENTS = 50
NO_WINDOW = "was started but shows no window yet. Look with list_windows."
HOME = "Programs here save files in {} unless you give a full path; they are kept there."

OPENING = OperationTraits(open_world=True, outside=True, reach="anybody", limit=LONGEST_WAIT + 30)
FIELDS: Mapping[str, Callable[[Application], Any]] = {
    "name": lambda application: application.name,
    "pid": lambda application: application.id,
    "display_name": lambda application: application.name,
}
"""What a list can be filtered by."""
ORDERS: Mapping[str, Callable[[Application], Any]] = {
    "name": lambda application: application.id,
    "pid": lambda application: application.id,
    "display_name": lambda application: application.name.casefold(),
}


@dataclass(frozen=True)
class ApplicationRecord:
    name: str
    pid: int
    display_name: str
    bundle_id: str
    executable: str
    accessible: bool


@dataclass(frozen=True)
class OpenedApplication:
    name: str
    command: list[str]
    application: int | None
    window: WindowRecord | None
    running_before: bool
    """Another instance has opened it, and the window was there before."""
    home: str
    """Where programs on a display of our own save files; empty on the user's."""


@dataclass(frozen=True)
class ApplicationList:
    applications: list[ApplicationRecord]
    more: int
    next_page_token: str


@dataclass(frozen=True)
class ApplicationEnded:
    success: bool
    changes: list[str]


def application_record(application: Application) -> ApplicationRecord:
    return ApplicationRecord(
        name=application_name(application.id),
        pid=application.id,
        display_name=application.name,
        bundle_id=application.window_class,
        executable=application.executable,
        accessible=application.accessible,
    )


@operation("Open an application", OPENING)
async def open_application(
    desktop: Desktop,
    id: str,  # noqa: A002
    background: bool = False,
    arguments: list[str] | None = None,
    timeout: float = 30.0,
) -> Reply[OpenedApplication]:
    given = list(arguments or ())
    if len(given) > MAX_ARGUMENTS or any("\0" in text for text in (id, *given)):
        raise InvalidFormat("These arguments cannot be passed to a program.")
    backend = await desktop.backend()
    command = [*await command_of(backend, id), *given]
    patience = min(max(1.0, timeout), LONGEST_WAIT)
    opened = await open_program(backend, command, patience, background=background)
    window = opened.window
    process = window.application if window else None
    data = OpenedApplication(
        name=application_name(process) if process is not None else "",
        command=command,
        application=process,
        window=window_record(desktop, window) if window else None,
        running_before=opened.running,
        home=str(desktop.session.programs_home or ""),
    )
    said = [f"Opened {describe_window(window)}" if window else f"{id} {NO_WINDOW}"]
    if window is not None and opened.running:
        said = [f"{id} was running already; its window is {describe_window(window)}"]
        silent = process is not None and await in_thread(lacks_switch, process)
        said += [NO_ELEMENTS] if silent else []
    said += [HOME.format(data.home)] if data.home else []
    return Reply(data, "\n".join(said))


@operation("Get an application", LOOKING, maskable=True)
async def get_application(desktop: Desktop, name: str) -> Reply[ApplicationRecord]:
    found = await desktop.application(name)
    return Reply(application_record(found), _line(found))


@operation("List applications", LOOKING)
async def list_applications(
    desktop: Desktop,
    page_size: int = 0,
    page_token: str = "",
    order_by: str = "",
    filter: str = "",  # noqa: A002
) -> Reply[ApplicationList]:
    listed = await (await desktop.backend()).applications.list()
    chosen = ordered(filtered(listed, filter, FIELDS), order_by, ORDERS)
    page = desktop.page(chosen, page_size, page_token, "applications", order_by, filter)
    applications = [application_record(application) for application in page.items]
    data = ApplicationList(applications, page.more, page.next_page_token)
    lines = [_line(application) for application in page.items] or ["No application has a window."]
    return Reply(data, "\n".join([*lines, *more_line(page)]))


@operation("End an application", ENDING)
async def delete_application(desktop: Desktop, name: str, force: bool = False) -> Reply[ApplicationEnded]:
    found = await desktop.application(name)
    async with desktop.acting() as action:
        await action.backend.applications.close(found.id, force=force)
        ended = await _has_ended(action.backend, found.id)
    said = "ended" if ended else "is still running; try force"
    text = with_changes(f"{_line(found)} {said}.", action.changes)
    return Reply(ApplicationEnded(ended, action.changes), text)


async def _has_ended(backend: Backend, process: int) -> bool:
    deadline = time.monotonic() + END_PATIENCE
    with backend.events.listen("window") as changes:
        while process in {application.id for application in await backend.applications.list()}:
            if time.monotonic() > deadline:
                return False
            await changes.next(POLL)
    return True


def _line(application: Application) -> str:
    return f"{application.id} {application.name!r} ({application.executable or 'unknown program'})"
