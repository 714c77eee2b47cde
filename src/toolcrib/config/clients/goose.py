"""Goose: an extension in its YAML file, which it writes anew whenever a setting changes."""

from __future__ import annotations

from pathlib import Path

from toolcrib.config.client_files import yaml_text
from toolcrib.config.client_files.client import Client, Entry
from toolcrib.config.client_files.gateway import Address, Program
from toolcrib.config.client_files.places import Places
from toolcrib.config.importing.dialect import Dialect, NotAServer, Timer, take_list, take_table

DESCRIPTION = "Every server of the tool crib"
TIMEOUT = 300
"""Seconds for a call; Goose's own default."""


def _file(places: Places) -> Path:
    if places.platform == "win32":
        return places.roaming / "Block" / "goose" / "config" / "config.yaml"
    folder = places.home / ".config" if places.platform == "darwin" else places.config
    return folder / "goose" / "config.yaml"


def _by_program(name: str, program: Program) -> Entry:
    how = {"type": "stdio", "cmd": program.command, "args": list(program.args)}
    return {"enabled": True, "name": name, "description": DESCRIPTION, **how, "timeout": TIMEOUT}


def _by_address(name: str, address: Address) -> Entry:
    how = {"type": "streamable_http", "uri": address.url, **address.headers()}
    return {"enabled": True, "name": name, "description": DESCRIPTION, **how, "timeout": TIMEOUT}


def _read(entry: Entry) -> Entry:
    """Values that lie in its keyring are asked for: no other program may read them there."""
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


client = Client(
    title="Goose",
    syntax=yaml_text,
    table=("extensions",),
    file=_file,
    by_program=_by_program,
    by_address=_by_address,
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
