"""VS Code: `mcp.json` of the default profile."""

from __future__ import annotations

from pathlib import Path

from toolcrib.config.connecting import jsonc
from toolcrib.config.connecting.client import Client, Entry
from toolcrib.config.connecting.gateway import Address, Program
from toolcrib.config.connecting.places import Places


def _file(places: Places) -> Path:
    return places.applications / "Code" / "User" / "mcp.json"


def _by_program(name: str, program: Program) -> Entry:
    return {"type": "stdio", "command": program.command, "args": list(program.args)}


def _by_address(name: str, address: Address) -> Entry:
    return {"type": "http", "url": address.url, **address.headers("${env:NAME}")}


client = Client(
    title="VS Code",
    syntax=jsonc,
    table=("servers",),
    file=_file,
    by_program=_by_program,
    by_address=_by_address,
    expands=True,
    afterwards="It takes effect at once; VS Code asks before it starts a server for the first time.",
)
