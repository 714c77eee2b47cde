"""Server processes left behind by hosts that have ended."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from toolcrib.operations.health import CheckContext, CheckResult, ok, warning
from toolcrib.servers.processes import orphans


async def check(context: CheckContext) -> list[CheckResult]:
    """Usually none: every host ends them when it starts."""
    left = await asyncio.to_thread(_left, context.paths.state / "hosts")
    if not left:
        return [ok("orphans", "No server process was left behind.")]
    shown = ", ".join(map(str, left))
    hint = "They are ended when a host starts: toolcrib up"
    return [warning("orphans", f"Processes of a host that has ended: {shown}.", hint)]


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
