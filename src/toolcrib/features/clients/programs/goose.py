"""Goose: an extension in its YAML file."""

from __future__ import annotations

from pathlib import Path

from toolcrib.features.clients.files import yaml_text
from toolcrib.features.clients.files.client import Entry, McpClient
from toolcrib.features.clients.files.gateway import Address, Program, UserFolders
from toolcrib.features.clients.transfer.dialect import Dialect, NotAServer, Timer, take_list, take_table

DESCRIPTION = "All servers of Toolcrib"
TIMEOUT = 300
"""Seconds for a call; Goose's own default."""


def _file(folders: UserFolders) -> Path:
    if folders.platform == "win32":
        return folders.roaming / "Block" / "goose" / "config" / "config.yaml"
    folder = folders.home / ".config" if folders.platform == "darwin" else folders.config
    return folder / "goose" / "config.yaml"


def _entry(name: str, gateway: Program | Address) -> Entry:
    if isinstance(gateway, Program):
        how: Entry = {"type": "stdio", "cmd": gateway.command, "args": list(gateway.args)}
    else:
        how = {"type": "streamable_http", "uri": gateway.url, **gateway.headers()}
    return {"enabled": True, "name": name, "description": DESCRIPTION, **how, "timeout": TIMEOUT}


def _read(entry: Entry) -> Entry:
    """Values in its keyring become questions: no other program may read them there."""
    if entry.get("type") not in (None, "stdio", "streamable_http", "sse"):
        raise NotAServer(f"it is part of Goose itself (type {entry['type']})")
    asked = {str(key): f"${{answer:{key}}}" for key in take_list(entry, "env_keys")}
    return {**entry, "envs": {**take_table(entry, "envs"), **asked}}


def _write(name: str, entry: Entry) -> Entry:
    envs = entry.pop("envs", {})
    keys = [key for key, value in envs.items() if value == f"${{{key}}}"]
    plain = {key: value for key, value in envs.items() if key not in keys}
    base = {"enabled": True, "name": name, "description": "", "timeout": TIMEOUT}
    return {**base, **entry, "envs": plain, "env_keys": keys}


client = McpClient(
    title="Goose",
    syntax=yaml_text,
    table=("extensions",),
    file=_file,
    own_entry=_entry,
    afterwards="It takes effect in new sessions of Goose.",
    dialect=Dialect(
        command="cmd",
        env="envs",
        addresses={"uri": "http"},
        types={"stdio": "stdio", "http": "streamable_http"},
        fills=False,
        forwards=True,
        off="enabled",
        call=(Timer(key="timeout"),),
        include="available_tools",
        read=_read,
        write=_write,
    ),
)
