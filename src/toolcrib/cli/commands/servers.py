"""`toolcrib servers`: how every server is doing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from toolcrib.cli.colours import of_state
from toolcrib.cli.declare import Seconds, declare
from toolcrib.cli.output import counted, note, print_json, say
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table
from toolcrib.cli.times import until

WAIT = 20.0
"""Seconds for servers that must first be started; those that take longer are shown as starting."""


@declare("Servers")
@click.option("--wait", type=Seconds(0, 3600), help="Wait so many seconds for servers to start.")
@click.option("--watch", "-w", is_flag=True, help="Go on and show each change of the running host.")
async def command(surface: Surface, wait: float | None, watch: bool) -> None:
    """Show how every server is doing."""
    async with surface.reach() as crib:
        if watch:
            await crib.run("watch", on_event=lambda event: _show_change(surface, event))
            return
        patience = wait if wait is not None else (0.0 if crib.running else WAIT)
        found = await crib.run("servers", {"wait": patience})
        if surface.answer(found):
            return
        _show(found, running=crib.running)


def _show(found: list[dict[str, Any]], *, running: bool) -> None:
    if not found:
        note("No servers yet. Add one with: toolcrib add NAME -- COMMAND")
        return
    columns = [column for column in _COLUMNS if running or column not in _OF_A_RUNNING_HOST]
    if not any(server["calls"]["total"] for server in found):
        columns = [column for column in columns if column not in _OF_CALLS]
    show_table(
        columns,
        [[_COLUMNS[column](server) for column in columns] for server in found],
        colour=lambda column, text: of_state(text) if columns[column] == "STATE" else "",
        right=[number for number, column in enumerate(columns) if column in _NUMBERS],
    )
    for server in found:
        if server["hint"] and server["state"] not in ("ready", "disabled"):
            note(f"{server['name']}: {server['hint']}")
    if not running:
        note("No host is running: each server was started for this look only. To keep them: toolcrib up")


def reason(server: Mapping[str, Any]) -> str:
    """Why the server is in its state, and when it is tried again."""
    again = f"tries again {until(server['retry_at'])}" if server["retry_at"] else ""
    because = server["reason"].rstrip(".") if again else server["reason"]
    if server["state"] == "failed":
        given_up = f"gave up; start it again with: toolcrib start {server['name']}"
        return "; ".join(part for part in (because.rstrip("."), given_up) if part)
    return "; ".join(part for part in (because, again) if part)


def _p95(server: dict[str, Any]) -> str:
    ms = server["calls"]["p95_ms"]
    if ms is None:
        return "-"
    return f"{ms / 1000:.1f} s" if ms >= 1000 else f"{ms:.3g} ms"


_COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "NAME": lambda server: server["name"],
    "STATE": lambda server: server["state"],
    "TOOLS": lambda server: str(server["tools"] or "-"),
    "PROTOCOL": lambda server: server["era"] or "-",
    "RESTARTS": lambda server: str(server["restarts"] or "-"),
    "PID": lambda server: str(server["pid"] or "-"),
    "CALLS": lambda server: str(server["calls"]["total"] or "-"),
    "ERRORS": lambda server: str(server["calls"]["errors"] or "-"),
    "P95": _p95,
    "REASON": reason,
}
_OF_CALLS = frozenset({"CALLS", "ERRORS", "P95"})
_OF_A_RUNNING_HOST = _OF_CALLS | {"PID"}
"""Without one, the processes ended with the look, and nobody called."""
_NUMBERS = _OF_CALLS | {"TOOLS", "RESTARTS"}


def _show_change(surface: Surface, event: dict[str, Any]) -> None:
    if surface.json:
        print_json(event)
    elif "removed" in event:
        say(f"{event['removed']}: removed")
    elif "config_error" in event:
        say(f"config: {event['config_error']}")
    else:
        say(describe(event["server"]))


def describe(server: Mapping[str, Any]) -> str:
    """A server's state in one line."""
    tools = f" ({counted(server['tools'], 'tool')})" if server["state"] == "ready" else ""
    why = reason(server)
    return f"{server['name']}: {server['state']}{tools}{f': {why}' if why else ''}"
