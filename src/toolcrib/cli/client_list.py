"""The clients that can be connected, as a table: which are here, and which use a crib already."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from toolcrib.cli.output import label
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table


def show_clients(surface: Surface) -> None:
    """List them; a file that cannot be read is told of, and harms nothing."""
    from toolcrib.config.client_files.state import client_states

    found = [{**asdict(one), "file": str(one.file), "names": list(one.names)} for one in client_states()]
    if surface.answer(found):
        return
    rows = [[one["client"], _word(one["found"]), _told(one), one["file"]] for one in found]
    show_table(["CLIENT", "HERE", "CONNECTED", "FILE"], rows, colour=_colour)
    for one in found:
        if one["problem"]:
            label("warning:", "yellow", one["problem"])


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
