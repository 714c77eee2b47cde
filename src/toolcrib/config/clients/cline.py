"""Cline: a file of its own; older versions keep it inside the settings of VS Code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from toolcrib.config.client_files import jsonc
from toolcrib.config.client_files.client import Client, Entry
from toolcrib.config.client_files.gateway import Address, Program
from toolcrib.config.client_files.places import Places
from toolcrib.config.importing.dialect import Dialect, Timer

SETTINGS = Path("User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")


def _file(places: Places) -> Path:
    named = places.named("CLINE_MCP_SETTINGS_PATH")
    data = places.named("CLINE_DATA_DIR") or places.home / ".cline" / "data"
    return named or data / "settings" / SETTINGS.name


def _sign(places: Places) -> Path:
    return places.named("CLINE_DATA_DIR") or places.home / ".cline" / "data"


def _extension_file(places: Places) -> Path:
    return places.applications / "Code" / SETTINGS


def _by_program(name: str, program: Program) -> Entry:
    return {"command": program.command, "args": list(program.args)}


def _by_address(name: str, address: Address) -> Entry:
    # An address without a type means SSE there.
    return {"type": "streamableHttp", "url": address.url, **address.headers()}


def _read(entry: Entry) -> Entry:
    """How to reach it may stand in a table of its own: `"transport": {"type": …}`."""
    nested = entry.get("transport")
    if not isinstance(nested, Mapping):
        return entry
    return {**{key: value for key, value in entry.items() if key != "transport"}, **nested}


_extension = Client(
    title="Cline",
    syntax=jsonc,
    table=("mcpServers",),
    file=_extension_file,
    by_program=_by_program,
    by_address=_by_address,
    sign=lambda places: _extension_file(places).parent.parent,
    afterwards="It takes effect at once; Cline lists it under its MCP servers.",
    dialect=Dialect(
        addresses={"url": "sse"},
        types={"http": "streamableHttp", "sse": "sse"},
        fills=False,
        off="disabled",
        call=(Timer(key="timeout"),),
        grants=frozenset({"autoApprove", "alwaysAllow"}),
        read=_read,
    ),
    elsewhere=lambda places: (places.applications / "Cursor" / SETTINGS,),
)
client = replace(_extension, file=_file, sign=_sign, older=_extension)
