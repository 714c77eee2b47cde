"""Imports and exports."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from toolcrib.config.drafts import DraftQuestion
from toolcrib.features.clients.transfer.plan import Standing as ImportStanding
from toolcrib.features.clients.transfer.translation import ExportedServer


class FoundSource(TypedDict):
    """A config file of another host."""

    host: str
    title: str
    file: str
    table: list[str]
    workspace: str | None
    servers: list[str]
    new: list[str]
    problem: str


class ImportSource(TypedDict):
    """The config file that servers are imported from."""

    host: str | None
    title: str
    file: str


ImportPlanned = TypedDict(
    "ImportPlanned",
    {
        "name": str,
        "as": str,
        "standing": ImportStanding,
        "action": Literal["add", "skip", "replace"],
        "entry": dict[str, Any],
        "secrets": list[str],
        "waiting": list[str],
        "questions": list[DraftQuestion],
        "notes": list[str],
        "remarks": list[str],
        "install": str,
    },
)
"""A server to import; values of secrets are never included."""


class ImportPlan(TypedDict):
    """The planned or finished import; `digest` identifies the content that was read."""

    source: ImportSource
    servers: list[ImportPlanned]
    refused: dict[str, str]
    digest: str
    written: bool


class Exported(TypedDict):
    """Our servers in another host's format."""

    host: str
    title: str
    file: str
    document: str
    servers: list[ExportedServer]
    left_out: dict[str, str]
    changes: bool
    replaces: bool
    written: bool
    backup: str | None


EntryForm = Literal["program", "address"]


class ClientEntry(TypedDict):
    """How to connect a client: a command, or an entry for its config file."""

    client: str
    title: str
    form: EntryForm
    command: str
    """A terminal command that writes the entry: the client's own if it has one, else ours."""
    file: str
    snippet: str
    """The config file if it had only this entry."""
    afterwards: str
    """When the change takes effect."""
    needs_token: bool
    """Whether the profile needs a token; the snippet has a placeholder for it."""


class ClientChanged(TypedDict):
    """The change to a client's config file."""

    client: str
    title: str
    file: str
    written: bool
    """False if nothing had to change."""
    backup: str | None
    afterwards: str
