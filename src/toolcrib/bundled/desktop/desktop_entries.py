"""Finds installed applications by name, id, path or title, as their desktop entry files describe them; the
folders that are searched, and the error for an unknown application."""

from __future__ import annotations

import configparser
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.bundled.desktop.chromium_programs import with_accessibility
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread
from toolcrib.suggestions import did_you_mean

if TYPE_CHECKING:
    from toolcrib.bundled.desktop.backend import Backend

DEFAULT_FOLDERS = "/usr/local/share:/usr/share"
MAX_ENTRIES = 5000


async def command_of(backend: Backend, name: str) -> list[str]:
    """The command that opens an application by its program, path, id or title, so that it offers elements.

    Other systems, and the desktop of another machine, know their applications themselves.
    """
    if backend.name not in ("x11", "wayland"):
        return [name.strip()]
    command = await in_thread(find_command, name.strip(), os.environ)
    return await in_thread(with_accessibility, command)


def find_command(name: str, environment: Mapping[str, str]) -> list[str]:
    """The command for a program's name or path, or the id or title of an application."""
    if "/" in name:
        if os.access(name, os.X_OK) and Path(name).is_file():
            return [name]
        raise ToolFailure(f"{name} is not a program.", "Give its full path, or the application's name.")
    if shutil.which(name, path=environment.get("PATH")) is not None:
        return [name]
    known: dict[str, list[str]] = {}
    for entry_id, title, command in _entries(environment):
        known.setdefault(entry_id.casefold(), command)
        known.setdefault(title.casefold(), command)
    found = known.get(name.casefold().removesuffix(".desktop"))
    if found is None:
        raise ToolFailure(f"No application is called {name!r}.", did_you_mean(name, list(known)))
    return found


def programs_of(name: str, environment: Mapping[str, str]) -> frozenset[str]:
    """The programs of a desktop entry, by its id or title, in lower case; none for an unknown one."""
    wanted = name.casefold().removesuffix(".desktop")
    return frozenset(
        Path(command[0]).name.casefold()
        for entry_id, title, command in _entries(environment)
        if wanted in (entry_id.casefold(), title.casefold())
    )


def _entries(environment: Mapping[str, str]) -> Iterator[tuple[str, str, list[str]]]:
    home = Path(environment.get("HOME", "/"), ".local", "share")
    folders = (environment.get("XDG_DATA_DIRS") or DEFAULT_FOLDERS).split(":")
    files = (
        file
        for folder in (home, *map(Path, folders))
        for file in sorted((folder / "applications").glob("*.desktop"))
    )
    for _, file in zip(range(MAX_ENTRIES), files, strict=False):
        entry = _read(file)
        if entry is not None:
            yield file.stem, *entry


def _read(file: Path) -> tuple[str, list[str]] | None:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parser.read(file, encoding="utf-8")
        section = parser["Desktop Entry"]
        words = shlex.split(section["Exec"])
    except (configparser.Error, KeyError, ValueError, OSError):
        return None
    command = [word for word in words if not word.startswith("%")]
    if section.get("Hidden") == "true" or section.get("Terminal") == "true" or not command:
        return None
    return section.get("Name", file.stem), command
