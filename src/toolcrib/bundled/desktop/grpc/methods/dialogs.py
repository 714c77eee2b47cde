"""File dialogs that are open: a path is filled in, and the dialog is confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Element, ElementRef
from toolcrib.bundled.desktop.elements import acting
from toolcrib.bundled.desktop.elements.pointing import raise_window
from toolcrib.bundled.desktop.elements.search import search
from toolcrib.bundled.desktop.failures import InvalidValue
from toolcrib.bundled.desktop.grpc.names import application_of
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
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
        buttons = [each for each in self.parts if each.role == "push button"]
        named = {each.name.casefold().replace("_", "").strip(): each for each in buttons}
        return next((named[name] for name in names if name in named), None)

    @property
    def field(self) -> Element | None:
        """Where a path is typed."""
        found = [each for each in self.parts if each.role in FIELDS and "editable" in each.states]
        return next((each for each in found if "multi line" not in each.states), None)


class FileDialogMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop

    async def automate_open_file_dialog(self, request: Any) -> Any:
        """One file; several at once cannot be expressed in the field of a dialog."""
        path = _path(request.file_path, request.default_directory)
        problem = await self._fill(request, path, overwrite=True)
        return v1.AutomateOpenFileDialogResponse(
            success=not problem, selected_paths=[] if problem else [path], error=problem
        )

    async def automate_save_file_dialog(self, request: Any) -> Any:
        path = _path(request.file_path, request.default_directory)
        problem = await self._fill(request, path, overwrite=request.confirm_overwrite)
        return v1.AutomateSaveFileDialogResponse(
            success=not problem, saved_path="" if problem else path, error=problem
        )

    async def _fill(self, request: Any, path: str, *, overwrite: bool) -> str:
        """Why it failed; empty if the dialog took the path."""
        application = application_of(request.application, "application")
        seconds = min(request.timeout or DEFAULT_TIMEOUT, LONGEST_TIMEOUT)
        try:
            async with self._desktop.turn() as backend, asyncio.timeout(seconds):
                found = await _enter(backend, application, path)
                await _wait_until_closed(backend, application, found.dialog, overwrite)
        except TimeoutError:
            return f"No file dialog took the path within {seconds:g} s."
        except ToolFailure as failure:
            return failure.message
        return ""


def offer_methods(desktop: ServedDesktop) -> FileDialogMethods:
    return FileDialogMethods(desktop)


def _path(path: str, folder: str) -> str:
    joined = PurePosixPath(folder or "/", path) if path else PurePosixPath(folder)
    if not joined.is_absolute() or (path and not folder and not PurePosixPath(path).is_absolute()):
        raise InvalidValue("The path must be absolute, or default_directory must be given.")
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
        if all(each.dialog.ref != dialog.ref for each in left):
            return
        question = next((each for each in left if each.button(OVERWRITING)), None)
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
    visible = {each.ref: each for each in result.matches if each.visible}
    return [
        FileDialog(visible[dialog], [each for each in visible.values() if owners.get(each.ref) == dialog])
        for dialog in dict.fromkeys(owners.values())
        if dialog in visible
    ]
