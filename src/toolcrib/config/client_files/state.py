"""Which clients are on this machine, and which of them use a crib already."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toolcrib.config.client_files.client import client_names, find_client
from toolcrib.config.client_files.editing import is_ours, read_entries
from toolcrib.config.client_files.places import find_places
from toolcrib.errors import ToolcribError


@dataclass(frozen=True, kw_only=True)
class ClientState:
    """One client."""

    client: str
    title: str
    file: Path
    found: bool
    """It seems to be installed."""
    connected: bool | None
    """None when its file cannot be read."""
    names: tuple[str, ...] = ()
    """What it calls its entries that lead to a crib."""
    problem: str = ""


def client_states() -> list[ClientState]:
    """All clients; a file that cannot be read is told of, and harms nothing."""
    return [client_state(name) for name in client_names()]


def client_state(name: str) -> ClientState:
    """One client; raises `NotFound` for one that nobody knows."""
    places = find_places()
    client = find_client(name).here(places)
    file, here = client.file(places), client.is_here(places)
    try:
        entries = read_entries(client, file)
    except ToolcribError as error:
        problem = f"{client.title}: {error.message}"
        return ClientState(
            client=name, title=client.title, file=file, found=here, connected=None, problem=problem
        )
    names = tuple(one for one, entry in entries.items() if is_ours(one, entry))
    return ClientState(
        client=name, title=client.title, file=file, found=here, connected=bool(names), names=names
    )
