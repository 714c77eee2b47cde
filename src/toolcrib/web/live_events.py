"""What of the host's events a page is told, and in which form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolcrib.control.setup_shapes import setup_json
from toolcrib.control.shapes import record_json, server_json
from toolcrib.control.waiting import gather_waiting
from toolcrib.host import Host
from toolcrib.schema.events import (
    ConfigChanged,
    Event,
    Noticed,
    ServerChanged,
    ServerRemoved,
    SetupForgotten,
    SetupTold,
    ToolsChanged,
    TurnTold,
    WaitingChanged,
)
from toolcrib.schema.tools import CallRecord

CALLS_A_TICK = 2
"""Calls that are told one by one between two ticks; of more, only the number."""


def shown_event(host: Host, event: Event) -> dict[str, Any] | None:
    """An event of the host as one of the series; None for what no page has to know."""
    if isinstance(event, ServerChanged):
        return {"kind": "server", "server": server_json(event.status, host.caller.counts)}
    if isinstance(event, ServerRemoved):
        return {"kind": "server_removed", "name": event.name}
    if isinstance(event, ToolsChanged):
        return {"kind": "tools", "version": event.version, "server": event.server}
    if isinstance(event, ConfigChanged):
        return {"kind": "config", "error": event.error, "changed": list(event.changed)}
    if isinstance(event, SetupTold):
        return {"kind": "setup", "setup": setup_json(event.status)}
    if isinstance(event, SetupForgotten):
        return {"kind": "setup_forgotten", "name": event.name}
    if isinstance(event, TurnTold):
        told = dict(event.event)
        return {"kind": "chat", "chat": event.chat, "turn": event.turn, "n": event.number, "event": told}
    if isinstance(event, Noticed):
        undo = None if event.undo is None else dict(event.undo)
        return {"kind": "notice", "text": event.text, "undo": undo}
    return None


def worth_a_look(event: Event) -> bool:
    """True when something else may wait for a person after it."""
    return isinstance(event, WaitingChanged | ServerChanged | ServerRemoved | ToolsChanged)


async def waiting_event(host: Host) -> tuple[dict[str, Any], list[Any]]:
    """What waits, as an event that says how much, and as the whole, to compare with."""
    items = await gather_waiting(host)
    return {"kind": "waiting", "count": len(items), "oldest": items[0] if items else None}, list(items)


class CallTelling:
    """Tells of calls at a rate that a page can show."""

    def __init__(self, host: Host, tell: Callable[..., None]) -> None:
        self._counts = host.caller.counts
        self._tell = tell
        self._told = 0
        self._untold = 0
        self._running = 0

    def take(self, record: CallRecord) -> None:
        """A call ended."""
        if self._told < CALLS_A_TICK:
            self._told += 1
            self._tell("call", record=record_json(record))
        else:
            self._untold += 1

    def tick(self) -> None:
        """Some time went by."""
        if self._untold:
            self._tell("calls", count=self._untold)
        self._told = self._untold = 0
        running = self._counts.in_flight
        if running != self._running:
            self._running = running
            self._tell("running", count=running)
