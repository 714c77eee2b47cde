"""Cursor: the servers of all projects."""

from __future__ import annotations

from pathlib import Path

from toolcrib.config.client_files import jsonc
from toolcrib.config.client_files.client import Client, Entry
from toolcrib.config.client_files.gateway import Address, Program
from toolcrib.config.client_files.places import Places
from toolcrib.config.importing.dialect import Dialect


def _file(places: Places) -> Path:
    return places.home / ".cursor" / "mcp.json"


def _by_program(name: str, program: Program) -> Entry:
    return {"command": program.command, "args": list(program.args)}


def _by_address(name: str, address: Address) -> Entry:
    return {"url": address.url, **address.headers("${env:NAME}")}


client = Client(
    title="Cursor",
    syntax=jsonc,
    table=("mcpServers",),
    file=_file,
    by_program=_by_program,
    by_address=_by_address,
    expands=True,
    afterwards="It takes effect at once; Cursor lists it in its settings, under MCP.",
    dialect=Dialect(types={"sse": "sse"}, variable="${env:NAME}"),
    project=(".cursor/mcp.json",),
)
