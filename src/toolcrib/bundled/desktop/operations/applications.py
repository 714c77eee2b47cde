"""The tools for applications: open, list, get, end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypedDict, cast

from toolcrib.bundled.desktop.backend import Application, Backend
from toolcrib.bundled.desktop.choosing import choose_application, describe_window
from toolcrib.bundled.desktop.chromium_programs import NO_ELEMENTS, lacks_switch
from toolcrib.bundled.desktop.desktop_entries import command_of
from toolcrib.bundled.desktop.elements.difference import summarise
from toolcrib.bundled.desktop.failures import ApplicationNotFound, InvalidValue, MissingField
from toolcrib.bundled.desktop.lists import filtered, masked, ordered
from toolcrib.bundled.desktop.opening import open_program
from toolcrib.bundled.desktop.pages import paginate
from toolcrib.bundled.desktop.resources import application_name, application_of
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.tools.offer import ACTING, LOOKING, Offer, answer, with_changes
from toolcrib.bundled.desktop.tools.windows import WindowData, window_data
from toolcrib.bundled.desktop.window_changes import describe_changes
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.threads import in_thread

LONGEST_WAIT = 60.0
END_PATIENCE = 5.0
POLL = 0.25
MAX_ARGUMENTS = 50
NO_WINDOW = "was started but shows no window yet. Look with list_windows."
HOME = "Programs here save files in {} unless you give a full path; they are kept there."


class OpenedApplication(TypedDict):
    name: str
    command: list[str]
    application: int | None
    window: WindowData | None
    running_before: bool
    """Another instance has opened it, and the window was there before."""
    home: str
    """Where programs on a display of our own save files; empty on the user's."""


class ApplicationData(TypedDict):
    name: str
    pid: int
    display_name: str
    bundle_id: str
    executable: str
    accessible: bool


class ApplicationFields(TypedDict, total=False):
    """An application with only the fields that were asked for."""

    name: str
    pid: int
    display_name: str
    bundle_id: str
    executable: str
    accessible: bool


class ApplicationList(TypedDict):
    applications: list[ApplicationData]
    more: int
    next_page_token: str


class ApplicationEnded(TypedDict):
    success: bool
    changes: list[str]


class ApplicationTools:
    def __init__(self, session: DesktopSession) -> None:
        self._session = session

    async def open_application(
        self,
        id: str,  # noqa: A002
        context: ToolContext,
        background: bool = False,
        arguments: list[str] | None = None,
        timeout: float = 30.0,
    ) -> OpenedApplication:
        given = list(arguments or ())
        if len(given) > MAX_ARGUMENTS or any("\0" in each for each in (id, *given)):
            raise InvalidValue("These arguments cannot be passed to a program.")
        backend = await self._session.backend(context)
        command = [*await command_of(backend, id), *given]
        patience = min(max(1.0, timeout), LONGEST_WAIT)
        opened = await open_program(backend, command, patience, background=background)
        window = opened.window
        process = window.application if window else None
        data: OpenedApplication = {
            "name": application_name(process) if process is not None else "",
            "command": command,
            "application": process,
            "window": window_data(window) if window else None,
            "running_before": opened.running,
            "home": str(self._session.programs_home or ""),
        }
        said = [f"Opened {describe_window(window)}" if window else f"{id} {NO_WINDOW}"]
        if window is not None and opened.running:
            said = [f"{id} was running already; its window is {describe_window(window)}"]
            silent = process is not None and await in_thread(lacks_switch, process)
            said += [NO_ELEMENTS] if silent else []
        said += [HOME.format(data["home"])] if data["home"] else []
        return answer(data, "\n".join(said))

    async def get_application(
        self, name: str, context: ToolContext, read_mask: str = ""
    ) -> ApplicationFields:
        backend = await self._session.backend(context)
        found = await _find(backend, name)
        return answer(cast("ApplicationFields", masked(_data(found), read_mask)), _line(found))

    async def list_applications(
        self,
        context: ToolContext,
        page_size: int = 0,
        page_token: str = "",
        order_by: str = "",
        filter: str = "",  # noqa: A002
    ) -> ApplicationList:
        backend = await self._session.backend(context)
        listed = await backend.applications.list()
        chosen = ordered(filtered(listed, filter, _FILTERS), order_by, _ORDERS)
        page = paginate(chosen, page_size, page_token, "applications", order_by, filter)
        data: ApplicationList = {
            "applications": [_data(each) for each in page.items],
            "more": page.more,
            "next_page_token": page.next_page_token,
        }
        lines = [_line(each) for each in page.items] or ["No application has a window."]
        if page.more:
            lines.append(f"… {page.more} more; continue with page_token {page.next_page_token}.")
        return answer(data, "\n".join(lines))

    async def delete_application(
        self, name: str, context: ToolContext, force: bool = False
    ) -> ApplicationEnded:
        backend = await self._session.backend(context)
        found = await _find(backend, name)
        before = await backend.windows.list()
        await backend.applications.close(found.id, force=force)
        ended = await _has_ended(backend, found.id)
        lines = summarise(describe_changes(before, await backend.windows.list()))
        data: ApplicationEnded = {"success": ended, "changes": lines}
        said = "ended" if ended else "is still running; try force"
        return answer(data, with_changes(f"{_line(found)} {said}.", lines))


def offer_tools(server: ToolServer, session: DesktopSession, wanted: frozenset[str] | None) -> None:
    tools, offer = ApplicationTools(session), Offer(server, wanted)
    opening = {"open_world": True, "outside": True, "reach": "anybody", "limit": LONGEST_WAIT + 30}
    offer(tools.open_application, "Open an application", **opening)
    offer(tools.get_application, "Get an application", **LOOKING)
    offer(tools.list_applications, "List applications", **LOOKING)
    offer(tools.delete_application, "End an application", **{**ACTING, "destructive": True})


_ORDERS: dict[str, Callable[[Application], object]] = {
    "name": lambda application: application.id,
    "pid": lambda application: application.id,
    "display_name": lambda application: application.name.casefold(),
}
_FILTERS: dict[str, Callable[[Application], object]] = {"name": lambda application: application.name}


async def _find(backend: Backend, name: str) -> Application:
    if application_of(name) is None:
        raise MissingField("No application is named.", "Call list_applications.")
    process = await choose_application(backend, name)
    for each in await backend.applications.list():
        if each.id == process:
            return each
    raise ApplicationNotFound(f"{name!r} has just ended.", "Call list_applications.")


async def _has_ended(backend: Backend, process: int) -> bool:
    deadline = time.monotonic() + END_PATIENCE
    with backend.events.listen("window") as changes:
        while process in {each.id for each in await backend.applications.list()}:
            if time.monotonic() > deadline:
                return False
            await changes.next(POLL)
    return True


def _data(application: Application) -> ApplicationData:
    return {
        "name": application_name(application.id),
        "pid": application.id,
        "display_name": application.name,
        "bundle_id": application.window_class,
        "executable": application.executable,
        "accessible": application.accessible,
    }


def _line(application: Application) -> str:
    return f"{application.id} {application.name!r} ({application.executable or 'unknown program'})"
