"""Codex: a table of its TOML file."""

from __future__ import annotations

from pathlib import Path

from toolcrib.config.connecting import toml_text
from toolcrib.config.connecting.client import Client, Entry
from toolcrib.config.connecting.gateway import Address, Program
from toolcrib.config.connecting.places import Places


def _file(places: Places) -> Path:
    return (places.named("CODEX_HOME") or places.home / ".codex") / "config.toml"


def _by_program(name: str, program: Program) -> Entry:
    return {"command": program.command, "args": list(program.args)}


def _by_address(name: str, address: Address) -> Entry:
    if address.token_variable:
        return {"url": address.url, "bearer_token_env_var": address.token_variable}
    headers = address.headers()
    return {"url": address.url, **({"http_headers": headers["headers"]} if headers else {})}


client = Client(
    title="Codex",
    syntax=toml_text,
    table=("mcp_servers",),
    file=_file,
    by_program=_by_program,
    by_address=_by_address,
    expands=True,
    afterwards="It takes effect in new sessions of Codex.",
)
