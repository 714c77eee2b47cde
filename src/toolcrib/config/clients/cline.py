"""Cline: its settings inside those of VS Code."""

from __future__ import annotations

from pathlib import Path

from toolcrib.config.connecting import jsonc
from toolcrib.config.connecting.client import Client, Entry
from toolcrib.config.connecting.gateway import Address, Program
from toolcrib.config.connecting.places import Places
from toolcrib.config.importing.dialect import Dialect, Timer

SETTINGS = Path("User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")


def _file(places: Places) -> Path:
    return places.applications / "Code" / SETTINGS


def _by_program(name: str, program: Program) -> Entry:
    return {"command": program.command, "args": list(program.args)}


def _by_address(name: str, address: Address) -> Entry:
    # An address without a type means SSE there.
    return {"type": "streamableHttp", "url": address.url, **address.headers()}


client = Client(
    title="Cline",
    syntax=jsonc,
    table=("mcpServers",),
    file=_file,
    by_program=_by_program,
    by_address=_by_address,
    sign=lambda places: _file(places).parent.parent,
    afterwards="It takes effect at once; Cline lists it under its MCP servers.",
    dialect=Dialect(
        addresses={"url": "sse"},
        types={"http": "streamableHttp", "sse": "sse"},
        fills=False,
        off="disabled",
        call=(Timer(key="timeout"),),
        grants=frozenset({"autoApprove", "alwaysAllow"}),
    ),
    elsewhere=lambda places: (places.applications / "Cursor" / SETTINGS,),
)
