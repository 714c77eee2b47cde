"""Devin Desktop, which was called Windsurf until June 2026; the older versions keep another file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from toolcrib.config.client_files import jsonc
from toolcrib.config.client_files.client import Client, Entry
from toolcrib.config.client_files.gateway import Address, Program
from toolcrib.config.client_files.places import Places
from toolcrib.config.importing.dialect import Dialect


def _file(places: Places) -> Path:
    # It uses ~/.config on macOS too, as terminal programs do.
    folder = places.roaming if places.platform == "win32" else places.config
    return folder / "devin" / "mcp_config.json"


def _windsurf_file(places: Places) -> Path:
    return places.home / ".codeium" / "windsurf" / "mcp_config.json"


def _by_program(name: str, program: Program) -> Entry:
    return {"command": program.command, "args": list(program.args)}


def _by_address(name: str, address: Address) -> Entry:
    return {"url": address.url, **address.headers("${env:NAME}")}


def _windsurf_address(name: str, address: Address) -> Entry:
    return {"serverUrl": address.url, **address.headers("${env:NAME}")}


_dialect = Dialect(
    addresses={"url": "http", "serverUrl": "http"},
    types={"sse": "sse"},
    variable="${env:NAME}",
    off="disabled",
    exclude="disabledTools",
    grants=frozenset({"alwaysAllow", "autoApprove"}),
)
_windsurf = Client(
    title="Windsurf",
    syntax=jsonc,
    table=("mcpServers",),
    file=_windsurf_file,
    by_program=_by_program,
    by_address=_windsurf_address,
    expands=True,
    afterwards="It takes effect when you refresh Windsurf's MCP panel.",
    dialect=replace(_dialect, addresses={"serverUrl": "http", "url": "http"}),
)
client = replace(
    _windsurf,
    title="Devin Desktop (Windsurf)",
    file=_file,
    by_address=_by_address,
    afterwards="It takes effect when you refresh the MCP list of Devin Desktop.",
    dialect=_dialect,
    project=(".devin/mcp_config.json",),
    older=_windsurf,
    other_names=("devin", "devin-desktop"),
)
