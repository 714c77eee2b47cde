"""MCP clients and the views that they use."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

EntryForm = Literal["program", "address"]


class KnownClient(TypedDict):
    """An MCP client that can be connected."""

    client: str
    title: str
    file: str
    found: bool
    """It seems to be installed here."""
    connected: bool | None
    """None when its file cannot be read."""
    names: list[str]
    problem: str


class ClientEntry(TypedDict):
    """What a client needs to use this crib, in the forms in which a person can have it."""

    client: str
    title: str
    form: EntryForm
    command: str
    """Writes the entry, in a terminal: the client's own command, else ours."""
    file: str
    snippet: str
    """The entry, as it would stand in the file if nothing else did."""
    afterwards: str
    """When a change takes effect."""
    needs_token: bool
    """The view asks for a token, whose place is marked in the snippet."""


class ClientChanged(TypedDict):
    """What became of a client's file."""

    client: str
    title: str
    file: str
    written: bool
    """False when it was so already."""
    backup: str | None
    afterwards: str


class ViewUse(TypedDict):
    """Who came by a view of the gateway."""

    name: str
    today: int
    """Calls since midnight."""
    last_call: str | None
