"""Gemini CLI: a part of its settings, in which an address over streamable HTTP has a key of its own."""

from __future__ import annotations

from pathlib import Path

from toolcrib.config.client_files import jsonc
from toolcrib.config.client_files.client import Client, Entry
from toolcrib.config.client_files.gateway import Address, Program
from toolcrib.config.client_files.places import Places
from toolcrib.config.importing.dialect import MILLISECONDS, Dialect, Timer


def _file(places: Places) -> Path:
    return places.home / ".gemini" / "settings.json"


def _by_program(name: str, program: Program) -> Entry:
    return {"command": program.command, "args": list(program.args)}


def _by_address(name: str, address: Address) -> Entry:
    return {"httpUrl": address.url, **address.headers("${NAME}")}


client = Client(
    title="Gemini CLI",
    syntax=jsonc,
    table=("mcpServers",),
    file=_file,
    by_program=_by_program,
    by_address=_by_address,
    expands=True,
    afterwards="It takes effect in new sessions of Gemini CLI.",
    dialect=Dialect(
        addresses={"httpUrl": "http", "url": "sse"},
        bare=True,
        call=(Timer(key="timeout", unit=MILLISECONDS),),
        include="includeTools",
        exclude="excludeTools",
        folder=True,
        grants=frozenset({"trust"}),
    ),
    project=(".gemini/settings.json",),
)
