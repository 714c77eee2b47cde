"""Servers of other hosts: found, planned, taken in; and ours for them."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from toolcrib.config.importing.planning import Standing as ImportStanding


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
    """Where servers come from."""

    host: str | None
    title: str
    file: str


class ImportQuestion(TypedDict):
    """A value that only the person knows."""

    id: str
    text: str
    secret: bool
    default: str | None
    choices: list[str]
    required: bool
    multiple: bool


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
        "questions": list[ImportQuestion],
        "notes": list[str],
        "remarks": list[str],
        "install": str,
    },
)
"""A server of a plan; values of secrets are never part of it."""


class ImportPlan(TypedDict):
    """What would be done, or was; `digest` names exactly what was read."""

    source: ImportSource
    servers: list[ImportPlanned]
    refused: dict[str, str]
    digest: str
    written: bool


class ExportVariable(TypedDict):
    """A variable that the other host has to have."""

    name: str
    secret: str
    """The name of our secret that it holds; empty for a plain variable."""


class ExportedServer(TypedDict):
    """A server as another host has it."""

    name: str
    entry: dict[str, Any]
    variables: list[ExportVariable]
    notes: list[str]


class Exported(TypedDict):
    """Our servers in the words of another host."""

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
