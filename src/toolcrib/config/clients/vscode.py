"""VS Code: `mcp.json` of the default profile."""

from __future__ import annotations

from pathlib import Path

from toolcrib.config.client_files import jsonc
from toolcrib.config.client_files.client import Client, Entry
from toolcrib.config.client_files.gateway import Address, Program
from toolcrib.config.client_files.places import Places
from toolcrib.config.importing.dialect import Dialect
from toolcrib.config.importing.questions import Question


def _file(places: Places) -> Path:
    return places.applications / "Code" / "User" / "mcp.json"


def _by_program(name: str, program: Program) -> Entry:
    return {"type": "stdio", "command": program.command, "args": list(program.args)}


def _by_address(name: str, address: Address) -> Entry:
    return {"type": "http", "url": address.url, **address.headers("${env:NAME}")}


def _questions(text: str) -> dict[str, Question]:
    """Its `inputs`: a text to type or a choice; what a command of the editor would answer is asked too."""
    asked = jsonc.read(text).get("inputs")
    known = [one for one in asked if isinstance(one, dict)] if isinstance(asked, list) else []
    return {one["id"]: _question(one) for one in known if isinstance(one.get("id"), str)}


def _question(one: Entry) -> Question:
    options = one["options"] if isinstance(one.get("options"), list) else ()
    return Question(
        id=str(one["id"]),
        text=str(one.get("description") or one["id"]),
        secret=bool(one.get("password")),
        default=str(one.get("default") or ""),
        choices=tuple(str(o.get("value") if isinstance(o, dict) else o) for o in options),
    )


client = Client(
    title="VS Code",
    syntax=jsonc,
    table=("servers",),
    file=_file,
    by_program=_by_program,
    by_address=_by_address,
    expands=True,
    afterwards="It takes effect at once; VS Code asks before it starts a server for the first time.",
    dialect=Dialect(
        types={"stdio": "stdio", "http": "http", "sse": "sse"},
        variable="${env:NAME}",
        folder=True,
        nulls=True,
    ),
    questions=_questions,
    project=(".vscode/mcp.json",),
    elsewhere=lambda places: (places.applications / "Code - Insiders" / "User" / "mcp.json",),
)
