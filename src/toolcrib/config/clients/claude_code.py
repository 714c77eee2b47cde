"""Claude Code: the person's own file, in which it also keeps its state."""

from __future__ import annotations

from pathlib import Path

from toolcrib.config.client_files import jsonc
from toolcrib.config.client_files.client import Client, Entry
from toolcrib.config.client_files.gateway import Address, Program
from toolcrib.config.client_files.places import Places
from toolcrib.config.importing.dialect import MILLISECONDS, Dialect, Timer


def _file(places: Places) -> Path:
    return (places.named("CLAUDE_CONFIG_DIR") or places.home) / ".claude.json"


def _sign(places: Places) -> Path:
    return places.named("CLAUDE_CONFIG_DIR") or places.home / ".claude"


def _by_program(name: str, program: Program) -> Entry:
    return {"type": "stdio", "command": program.command, "args": list(program.args)}


def _by_address(name: str, address: Address) -> Entry:
    # Without a type, an entry with an address is an error there.
    return {"type": "http", "url": address.url, **address.headers("${NAME}")}


def _command(name: str, gateway: Program | Address) -> list[str]:
    begins = ["claude", "mcp", "add", "--scope", "user"]
    if isinstance(gateway, Address):
        return [*begins, "--transport", "http", name, gateway.url]
    return [*begins, name, "--", gateway.command, *gateway.args]


client = Client(
    title="Claude Code",
    syntax=jsonc,
    table=("mcpServers",),
    file=_file,
    by_program=_by_program,
    by_address=_by_address,
    expands=True,
    sign=_sign,
    own_command=_command,
    afterwards="It takes effect in new sessions of Claude Code.",
    dialect=Dialect(
        types={"stdio": "stdio", "http": "http", "sse": "sse"},
        defaults=True,
        call=(Timer(key="timeout", unit=MILLISECONDS),),
    ),
    project=(".mcp.json",),
    inner_tables=lambda folder: (("projects", str(folder), "mcpServers"),),
)
