"""The clients that can be connected, as a table: which are here, and which use a crib already."""

from __future__ import annotations

from typing import Any

from toolcrib.cli.output import label
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table
from toolcrib.errors import ToolcribError


def show_clients(surface: Surface) -> None:
    """List them; a file that cannot be read is told of, and harms nothing."""
    from toolcrib.config.connecting.client import client_names

    found = [_state(name) for name in client_names()]
    if surface.answer(found):
        return
    rows = [[one["client"], _word(one["found"]), _told(one), one["file"]] for one in found]
    show_table(["CLIENT", "HERE", "CONNECTED", "FILE"], rows, colour=_colour)
    for one in found:
        if one["problem"]:
            label("warning:", "yellow", one["problem"])


def _state(name: str) -> dict[str, Any]:
    from toolcrib.config.connecting.client import find_client
    from toolcrib.config.connecting.editing import is_ours, read_entries
    from toolcrib.config.connecting.places import find_places

    client, places = find_client(name), find_places()
    state = {"client": name, "title": client.title, "file": str(client.file(places))}
    here = client.is_here(places)
    try:
        entries = read_entries(client, client.file(places))
    except ToolcribError as error:
        problem = f"{client.title}: {error.message}"
        return {**state, "found": here, "connected": None, "names": [], "problem": problem}
    names = [one for one, entry in entries.items() if is_ours(one, entry)]
    return {**state, "found": here, "connected": bool(names), "names": names, "problem": ""}


def _told(state: dict[str, Any]) -> str:
    if state["connected"] is None:
        return "unreadable"
    names = [one for one in state["names"] if one != "toolcrib"]
    return f"yes ({', '.join(names)})" if names else _word(state["connected"])


def _word(value: bool) -> str:
    return "yes" if value else "-"


def _colour(column: int, text: str) -> str:
    if column == 2 and text == "unreadable":
        return "red"
    return "green" if column == 2 and text != "-" else ""
