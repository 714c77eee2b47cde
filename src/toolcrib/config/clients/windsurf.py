"""Windsurf."""

from __future__ import annotations

from pathlib import Path

from toolcrib.config.connecting import jsonc
from toolcrib.config.connecting.client import Client, Entry
from toolcrib.config.connecting.gateway import Address, Program
from toolcrib.config.connecting.places import Places
from toolcrib.config.importing.dialect import Dialect


def _file(places: Places) -> Path:
    return places.home / ".codeium" / "windsurf" / "mcp_config.json"


def _by_program(name: str, program: Program) -> Entry:
    return {"command": program.command, "args": list(program.args)}


def _by_address(name: str, address: Address) -> Entry:
    return {"serverUrl": address.url, **address.headers("${env:NAME}")}


client = Client(
    title="Windsurf",
    syntax=jsonc,
    table=("mcpServers",),
    file=_file,
    by_program=_by_program,
    by_address=_by_address,
    expands=True,
    afterwards="It takes effect when you refresh Windsurf's MCP panel.",
    dialect=Dialect(
        addresses={"serverUrl": "http", "url": "http"},
        types={"sse": "sse"},
        variable="${env:NAME}",
        off="disabled",
        exclude="disabledTools",
        grants=frozenset({"alwaysAllow", "autoApprove"}),
    ),
)
