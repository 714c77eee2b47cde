"""Zed: a part of its settings, which people comment."""

from __future__ import annotations

from pathlib import Path

from toolcrib.config.client_files import jsonc
from toolcrib.config.client_files.client import Client, Entry
from toolcrib.config.client_files.gateway import Address, Program
from toolcrib.config.client_files.places import Places
from toolcrib.config.importing.dialect import Dialect, NotAServer


def _file(places: Places) -> Path:
    if places.platform == "win32":
        return places.roaming / "Zed" / "settings.json"
    # XDG's folder on Linux alone.
    folder = places.home / ".config" if places.platform == "darwin" else places.config
    return folder / "zed" / "settings.json"


def _by_program(name: str, program: Program) -> Entry:
    # Older versions want the source; newer ones read over it.
    return {"source": "custom", "command": program.command, "args": list(program.args)}


def _by_address(name: str, address: Address) -> Entry:
    return {"url": address.url, **address.headers()}


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


client = Client(
    title="Zed",
    syntax=jsonc,
    table=("context_servers",),
    file=_file,
    by_program=_by_program,
    by_address=_by_address,
    afterwards="It takes effect at once.",
    dialect=Dialect(fills=False, off="enabled", read=_read, write=_write),
    project=(".zed/settings.json",),
)
