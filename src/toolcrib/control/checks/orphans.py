"""Processes that hosts which are no more have left behind."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from toolcrib.control.findings import Finding, Place, odd, well
from toolcrib.servers.processes import orphans


async def check(place: Place) -> list[Finding]:
    """None, as a rule: every start of a host sweeps."""
    left = await asyncio.to_thread(_left, place.paths.state / "hosts")
    if not left:
        return [well("orphans", "No server process was left behind.")]
    shown = ", ".join(map(str, left))
    hint = "They are ended when a host starts: toolcrib up"
    return [odd("orphans", f"Processes of a host that is no more: {shown}.", hint)]


def _left(notes: Path) -> list[int]:
    found: list[int] = []
    for note in notes.glob("*.json"):
        try:
            host = json.loads(note.read_text())
            alive = orphans.start_time(int(host["pid"])) == host["start"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if not alive:
            found.extend(orphans.marked(str(host["token"])))
    return found
