"""VS Code: `mcp.json` of the default profile."""

from __future__ import annotations

from toolcrib.config.drafts import DraftQuestion
from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import Entry, McpClient
from toolcrib.features.clients.transfer.dialect import Dialect


def _questions(text: str) -> dict[str, DraftQuestion]:
    """Its `inputs`: a text to type or a choice; what a command of the editor would answer is asked too."""
    asked = jsonc.read(text).get("inputs")
    known = [given for given in asked if isinstance(given, dict)] if isinstance(asked, list) else []
    return {given["id"]: _question(given) for given in known if isinstance(given.get("id"), str)}


def _question(given: Entry) -> DraftQuestion:
    options = given["options"] if isinstance(given.get("options"), list) else ()
    return DraftQuestion(
        id=str(given["id"]),
        text=str(given.get("description") or given["id"]),
        secret=bool(given.get("password")),
        default=str(given.get("default") or ""),
        choices=tuple(str(o.get("value") if isinstance(o, dict) else o) for o in options),
    )


client = McpClient(
    title="VS Code",
    syntax=jsonc,
    table=("servers",),
    file=lambda folders: folders.applications / "Code" / "User" / "mcp.json",
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
    other_files=lambda folders: (folders.applications / "Code - Insiders" / "User" / "mcp.json",),
)
