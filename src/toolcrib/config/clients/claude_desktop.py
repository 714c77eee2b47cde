"""Claude Desktop: servers that it starts; those with an address are added in the application itself."""

from __future__ import annotations

from pathlib import Path

from toolcrib.config.client_files import jsonc
from toolcrib.config.client_files.client import Client, Entry
from toolcrib.config.client_files.gateway import Program
from toolcrib.config.client_files.places import Places
from toolcrib.config.importing.dialect import Dialect


def _file(places: Places) -> Path:
    return places.applications / "Claude" / "claude_desktop_config.json"


def _by_program(name: str, program: Program) -> Entry:
    return {"command": program.command, "args": list(program.args)}


client = Client(
    title="Claude Desktop",
    syntax=jsonc,
    table=("mcpServers",),
    file=_file,
    by_program=_by_program,
    afterwards="It takes effect when Claude Desktop is quit and started again.",
    dialect=Dialect(remote=False, fills=False),
)
