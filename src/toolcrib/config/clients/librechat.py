"""LibreChat: the `librechat.yaml` of whoever runs it, in the folder that it runs from."""

from __future__ import annotations

from pathlib import Path

from toolcrib.config.client_files import yaml_text
from toolcrib.config.client_files.client import Client, Entry
from toolcrib.config.client_files.gateway import Address, Program
from toolcrib.config.client_files.places import Places
from toolcrib.config.importing.dialect import MILLISECONDS, Dialect, Timer


def _file(places: Places) -> Path:
    return places.home / "LibreChat" / "librechat.yaml"


def _by_program(name: str, program: Program) -> Entry:
    return {"type": "stdio", "command": program.command, "args": list(program.args)}


def _by_address(name: str, address: Address) -> Entry:
    return {"type": "streamable-http", "url": address.url, **address.headers("${NAME}")}


client = Client(
    title="LibreChat",
    syntax=yaml_text,
    table=("mcpServers",),
    file=_file,
    by_program=_by_program,
    by_address=_by_address,
    expands=True,
    afterwards="It takes effect when LibreChat is started again.",
    dialect=Dialect(
        addresses={"url": "sse"},
        types={"stdio": "stdio", "http": "streamable-http", "sse": "sse"},
        start=(Timer(key="initTimeout", unit=MILLISECONDS),),
        call=(Timer(key="timeout", unit=MILLISECONDS),),
    ),
    project=("librechat.yaml",),
)
