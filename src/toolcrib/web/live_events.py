"""Converts the host's events to events for pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolcrib.host import Host
from toolcrib.operations.approvals import gather_waiting
from toolcrib.operations.results.calls import record_json
from toolcrib.operations.results.servers import server_shown
from toolcrib.operations.results.setups import setup_json
from toolcrib.schema.events import (
    ConfigChanged,
    Event,
    Noticed,
    RunChanged,
    ServerChanged,
    ServerRemoved,
    SetupForgotten,
    SetupTold,
    ToolsChanged,
    TurnTold,
    WaitingChanged,
    WorkflowsChanged,
)
from toolcrib.schema.json_values import to_json
from toolcrib.schema.tools import CallRecord

CALLS_A_TICK = 2
"""Calls with an event of their own between two ticks; further ones are only counted."""


def shown_event(host: Host, event: Event) -> dict[str, Any] | None:
    """The event for pages; None if pages do not need it."""
    if isinstance(event, ServerChanged):
        return {"kind": "server", "server": to_json(server_shown(event.status, host))}
    if isinstance(event, ServerRemoved):
        return {"kind": "server_removed", "name": event.name}
    if isinstance(event, ToolsChanged):
        return {"kind": "tools", "version": event.version, "server": event.server}
    if isinstance(event, ConfigChanged):
        return {"kind": "config", "error": event.error, "changed": list(event.changed)}
    if isinstance(event, SetupTold):
        return {"kind": "setup", "setup": to_json(setup_json(event.status))}
    if isinstance(event, SetupForgotten):
        return {"kind": "setup_forgotten", "name": event.name}
    if isinstance(event, TurnTold):
        shown = dict(event.event)
        return {"kind": "chat", "chat": event.chat, "turn": event.turn, "n": event.number, "event": shown}
    if isinstance(event, Noticed):
        undo = None if event.undo is None else dict(event.undo)
        return {"kind": "notice", "text": event.text, "undo": undo}
    if isinstance(event, WorkflowsChanged):
        return {"kind": "workflow", "name": event.name}
    if isinstance(event, RunChanged):
        return {"kind": "run", "run": event.run, "step": event.step}
    return None


def changes_waiting(event: Event) -> bool:
    """Whether the list of what waits for the user may have changed."""
    return isinstance(event, WaitingChanged | ServerChanged | ServerRemoved | ToolsChanged | RunChanged)


async def waiting_event(host: Host) -> tuple[dict[str, Any], list[Any]]:
    """The event about what waits for the user, and the full list to compare with."""
    items = await gather_waiting(host)
    return {"kind": "waiting", "count": len(items), "oldest": items[0] if items else None}, list(items)


class CallEvents:
    """Publishes calls at a rate that a page can show."""

    def __init__(self, host: Host, publish: Callable[..., None]) -> None:
        self._counts = host.toolset.caller.counts
        self._publish = publish
        self._published = 0
        self._counted = 0
        self._running = 0

    def add(self, record: CallRecord) -> None:
        if self._published < CALLS_A_TICK:
            self._published += 1
            self._publish("call", record=record_json(record))
        else:
            self._counted += 1

    def tick(self) -> None:
        if self._counted:
            self._publish("calls", count=self._counted)
        self._published = self._counted = 0
        running = self._counts.in_flight
        if running != self._running:
            self._running = running
            self._publish("running", count=running)
