"""Zed: a part of its settings."""

from __future__ import annotations

from pathlib import Path

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import Entry, McpClient
from toolcrib.features.clients.files.gateway import UserFolders
from toolcrib.features.clients.transfer.dialect import Dialect, NotAServer


def _file(folders: UserFolders) -> Path:
    if folders.platform == "win32":
        return folders.roaming / "Zed" / "settings.json"
    # XDG's folder on Linux alone.
    folder = folders.home / ".config" if folders.platform == "darwin" else folders.config
    return folder / "zed" / "settings.json"


def _read(entry: Entry) -> Entry:
    command = entry.get("command")
    if isinstance(command, dict):  # As older versions write it.
        entry = {**entry, **command, "command": command.get("path")}
        entry.pop("path", None)
    if entry.pop("source", "custom") == "extension" or ("settings" in entry and "command" not in entry):
        raise NotAServer("it belongs to an extension of Zed")
    return entry


def _write(name: str, entry: Entry) -> Entry:
    return {"source": "custom", **entry} if "command" in entry else entry


client = McpClient(
    title="Zed",
    syntax=jsonc,
    table=("context_servers",),
    file=_file,
    afterwards="It takes effect at once.",
    dialect=Dialect(fills=False, off="enabled", read=_read, write=_write),
    project=(".zed/settings.json",),
)
