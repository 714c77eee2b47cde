"""Tools for file dialogs that are open: a path is filled in, and the dialog is confirmed. Has the words on
buttons that confirm ("Save", "OK") or overwrite ("Replace", "Yes"), and the timeouts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from toolcrib.bundled.desktop.backend import Backend, Element, ElementRef
from toolcrib.bundled.desktop.elements import acting
from toolcrib.bundled.desktop.elements.pointing import raise_window
from toolcrib.bundled.desktop.elements.search import search
from toolcrib.bundled.desktop.failures import InvalidFormat, InvalidResourceName
from toolcrib.bundled.desktop.operations.table import ACTING, Desktop, operation
from toolcrib.serverkit.context import ToolFailure

DEFAULT_TIMEOUT, LONGEST_TIMEOUT = 30.0, 120.0
PAUSE = 0.1
DIALOGS = {"file chooser", "dialog", "alert"}
FIELDS = {"text", "entry"}
CONFIRMING = ("save", "open", "ok", "choose", "select")
OVERWRITING = ("replace", "overwrite", "yes")


@dataclass(frozen=True)
class FileDialog:
    """An open dialog and what is visible in it."""

    dialog: Element
    parts: Sequence[Element]

    def button(self, names: Sequence[str]) -> Element | None:
        buttons = [element for element in self.parts if element.role == "push button"]
        named = {button.name.casefold().replace("_", "").strip(): button for button in buttons}
        return next((named[name] for name in names if name in named), None)

    @property
    def field(self) -> Element | None:
        """Where a path is typed."""
        found = [element for element in self.parts if element.role in FIELDS and "editable" in element.states]
        return next((field for field in found if "multi line" not in field.states), None)


@dataclass(frozen=True)
class FileOpened:
    success: bool
    selected_paths: list[str]
    error: str


@dataclass(frozen=True)
class FileSaved:
    success: bool
    saved_path: str
    error: str


@operation("", ACTING)
async def automate_open_file_dialog(
    desktop: Desktop, application: str, file_path: str = "", default_directory: str = "", timeout: float = 0.0
) -> FileOpened:
    """One file; several at once cannot be expressed in the field of a dialog."""
    path = _path(file_path, default_directory)
    problem = await _fill(desktop, application, path, timeout, overwrite=True)
    return FileOpened(not problem, [] if problem else [path], problem)


@operation("", ACTING)
async def automate_save_file_dialog(
    desktop: Desktop,
    application: str,
    file_path: str = "",
    default_directory: str = "",
    timeout: float = 0.0,
    confirm_overwrite: bool = False,
) -> FileSaved:
    path = _path(file_path, default_directory)
    problem = await _fill(desktop, application, path, timeout, overwrite=confirm_overwrite)
    return FileSaved(not problem, "" if problem else path, problem)


async def _fill(desktop: Desktop, name: str, path: str, timeout: float, *, overwrite: bool) -> str:
    """Why it failed; empty if the dialog took the path."""
    application = await desktop.process(name)
    if application is None:
        raise InvalidResourceName(f"{name!r} does not name one application.", "Such as applications/17.")
    seconds = min(timeout or DEFAULT_TIMEOUT, LONGEST_TIMEOUT)
    backend = await desktop.backend()
    try:
        async with desktop.observing(application), asyncio.timeout(seconds):
            found = await _enter(backend, application, path)
            await _wait_until_closed(backend, application, found.dialog, overwrite)
    except TimeoutError:
        return f"No file dialog took the path within {seconds:g} s."
    except ToolFailure as failure:
        return failure.message
    return ""


def _path(path: str, folder: str) -> str:
    joined = PurePosixPath(folder or "/", path) if path else PurePosixPath(folder)
    if not joined.is_absolute() or (path and not folder and not PurePosixPath(path).is_absolute()):
        raise InvalidFormat("The path must be absolute, or default_directory must be given.")
    return str(joined)


async def _enter(backend: Backend, application: int, path: str) -> FileDialog:
    """Write the path into the dialog and confirm it; GTK shows the field for it only when asked."""
    asked = False
    while True:
        for found in await _dialogs(backend, application):
            button = found.button(CONFIRMING)
            if found.field is not None:
                await acting.write(backend, application, found.field, path)
                await _confirm(backend, application, found)
                return found
            if button is not None and not asked:
                asked = True
                window = await raise_window(backend, application, button)
                await backend.input.press("ctrl+l", window.id if window is not None else None)
        await asyncio.sleep(PAUSE)


async def _confirm(backend: Backend, application: int, found: FileDialog) -> None:
    """With its button, or with the enter key where that stays disabled until a file is selected."""
    button = found.button(CONFIRMING)
    try:
        if button is not None:
            await acting.click(backend, application, button, "single")
            return
    except ToolFailure:
        pass
    window = await raise_window(backend, application, found.dialog)
    await backend.input.press("enter", window.id if window is not None else None)


async def _wait_until_closed(backend: Backend, application: int, dialog: Element, overwrite: bool) -> None:
    while True:
        left = await _dialogs(backend, application)
        if all(other.dialog.ref != dialog.ref for other in left):
            return
        question = next((other for other in left if other.button(OVERWRITING)), None)
        if question is not None:
            if not overwrite:
                await backend.input.press("escape", None)
                raise ToolFailure("The file exists already.", "Set confirm_overwrite.")
            button = question.button(OVERWRITING)
            assert button is not None
            await acting.click(backend, application, button, "single")
        await asyncio.sleep(PAUSE)


async def _dialogs(backend: Backend, application: int) -> list[FileDialog]:
    """The visible dialogs of an application, each with its visible parts."""
    result = await search(backend, application, None)
    owners: dict[ElementRef, ElementRef] = {}
    for element in result.tree.elements:
        if element.parent in owners:
            owners[element.ref] = owners[element.parent]
        elif element.role in DIALOGS:
            owners[element.ref] = element.ref
    visible = {element.ref: element for element in result.matches if element.visible}
    return [
        FileDialog(
            visible[dialog], [element for element in visible.values() if owners.get(element.ref) == dialog]
        )
        for dialog in dict.fromkeys(owners.values())
        if dialog in visible
    ]
