"""Finds the application or window that is meant: by id, resource name, name, bundle id, path or title. Has
the errors for unknown or ambiguous names, with the choices."""

from __future__ import annotations

import os
from collections.abc import Sequence

from toolcrib.bundled.desktop.backend import Application, Backend, Window
from toolcrib.bundled.desktop.desktop_entries import programs_of
from toolcrib.bundled.desktop.failures import (
    AmbiguousApplication,
    AmbiguousWindow,
    ApplicationNotFound,
    WindowNotFound,
)
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.resources import application_of, split_name
from toolcrib.serverkit.threads import in_thread

MAX_TITLE = 120
MAX_CHOICES = 10


async def choose_application(backend: Backend, wanted: str | None) -> int:
    """Its id; the active window's application if none is named. Raises `ToolFailure` with the choices."""
    name = application_of(wanted)
    if name is None:
        return await _active(backend)
    listed, found = await _find(backend, name)
    if len(found) == 1:
        return found[0].id
    choices = ", ".join(f"{program.id} ({program.name})" for program in (found or listed)[: 2 * MAX_CHOICES])
    hint = f"Give the id of one of these: {choices}." if choices else "No window is open."
    if found:
        raise AmbiguousApplication(f"{len(found)} applications match {wanted!r}.", hint)
    nameless = [window for window in await windows_of(backend, wanted) if window.application is None]
    if nameless:
        raise _unknown_process(nameless[0])
    raise ApplicationNotFound(f"No application is called {wanted!r}.", hint)


async def applications_of(backend: Backend, wanted: str | None) -> list[int]:
    """The application that is named; all that are running for `applications/-` or none."""
    if application_of(wanted) is None:
        return [application.id for application in await backend.applications.list()]
    return [await choose_application(backend, wanted)]


async def _find(backend: Backend, name: str) -> tuple[Sequence[Application], list[Application]]:
    """All applications, and those with this name; a more exact match goes before a title."""
    listed = await backend.applications.list()
    found = [application for application in listed if _is_called(application, name)]
    if not found and not name.isdecimal():
        programs = await in_thread(programs_of, name, os.environ)
        found = [application for application in listed if _names(application) & programs]
    if not found:
        folded = name.casefold()
        titled = {
            window.application for window in await backend.windows.list() if folded in window.title.casefold()
        }
        found = [application for application in listed if application.id in titled]
    return listed, found


async def _active(backend: Backend) -> int:
    active = next((window for window in await backend.windows.list() if window.active), None)
    if active is not None and active.application is not None:
        return active.application
    if active is not None:
        raise _unknown_process(active)
    raise WindowNotFound("No window is active.", "Name an application, or focus one of its windows first.")


def _unknown_process(window: Window) -> ApplicationNotFound:
    return ApplicationNotFound(
        f"The process of the window {window.id} {window.title[:MAX_TITLE]!r} is not known, so its elements "
        "cannot be found.",
        "Use take_screenshot, click, type_text and press_key with the id of the window.",
    )


def _is_called(application: Application, name: str) -> bool:
    if name.isdecimal():
        return application.id == int(name)
    if "/" in name:
        return application.executable == name
    return name.casefold() in _names(application)


def _names(application: Application) -> set[str]:
    program = application.executable.rpartition("/")[2]
    return {name.casefold() for name in (application.name, application.window_class, program) if name}


def choose_window(windows: Sequence[Window], wanted: int | str) -> Window:
    """The window with this id or resource name, or the only one with this title.

    Raises `WindowNotFound` or `AmbiguousWindow` with the choices.
    """
    listed = list(reversed(windows))
    found = _windows_called(listed, wanted)
    if len(found) == 1:
        return found[0]
    choices = "\n".join(describe_window(window) for window in (found or listed)[:MAX_CHOICES])
    hint = f"Give the id of one of these:\n{choices}" if choices else "No window is open."
    if found:
        raise AmbiguousWindow(f"{len(found)} windows match {wanted!r}.", hint)
    raise WindowNotFound(f"No window is called {wanted!r}.", hint)


def _windows_called(listed: Sequence[Window], wanted: int | str) -> list[Window]:
    application, name = split_name(str(wanted), "windows")
    if name.isdecimal():
        found = [window for window in listed if window.id == int(name)]
    else:
        found = [window for window in listed if window.title == name]
        found = found or [window for window in listed if name.casefold() in window.title.casefold()]
    return [window for window in found if application in (None, str(window.application))]


async def windows_of(backend: Backend, application: str | None) -> list[Window]:
    """The windows of an application named by id, name, path or a part of a title, topmost first."""
    listed = list(reversed(await backend.windows.list()))
    wanted = application_of(application)
    if wanted is None:
        return listed
    found = [window for window in listed if _belongs(window, wanted)]
    if found or wanted.isdecimal():
        return found
    _, applications = await _find(backend, wanted)
    processes = {program.id for program in applications}
    return [window for window in listed if window.application in processes]


def window_at(windows: Sequence[Window], point: Point) -> Window | None:
    """The topmost window at a point; `windows` are from the lowest to the topmost."""
    there = (window for window in reversed(windows) if not window.minimised and window.rect.contains(point))
    return next(there, None)


def _belongs(window: Window, wanted: str) -> bool:
    if wanted.isdecimal():
        return window.application == int(wanted)
    name = wanted.casefold()
    return name == window.window_class.casefold() or name in window.title.casefold()


def describe_window(window: Window) -> str:
    rect = window.rect
    marks = [name for name in ("active", "minimised") if getattr(window, name)]
    return " ".join(
        [
            f"{window.id} {window.title[:MAX_TITLE]!r}",
            f"({window.window_class}, application {window.application})",
            f"at {rect.x},{rect.y} size {rect.width}x{rect.height}",
            *marks,
        ]
    )
