"""`toolcrib servers`: list the servers and their state; the columns, hints and retry times, and the line for
each change with `--watch`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from toolcrib.cli.declare import declare, wait_option
from toolcrib.cli.output import counted, note, print_json, say, show_table, state_colour
from toolcrib.cli.surface import Surface
from toolcrib.cli.times import until

if TYPE_CHECKING:
    from toolcrib.operations.client import Server, WatchedServer
    from toolcrib.operations.results.servers import WatchedConfig, WatchedRemoval


@declare("Servers")
@wait_option
@click.option("--watch", "-w", is_flag=True, help="Keep running and print each change.")
async def command(surface: Surface, wait: float | None, watch: bool) -> None:
    """List the servers and their state."""
    async with surface.reach() as client:
        if watch:
            await client.watch(on_event=lambda event: _show_change(surface, event))
            return
        found = await client.servers(wait=surface.start_wait(wait, client, running=0.0))
        if surface.answer(found):
            return
        _show(found, running=client.running)


def _show(found: list[Server], *, running: bool) -> None:
    if not found:
        note("No servers yet. Add one with: toolcrib add NAME -- COMMAND")
        return
    columns = [column for column in _COLUMNS if running or column not in _OF_A_RUNNING_HOST]
    if not any(server["calls"]["total"] for server in found):
        columns = [column for column in columns if column not in _OF_CALLS]
    show_table(
        columns,
        [[_COLUMNS[column](server) for column in columns] for server in found],
        colour=lambda column, text: state_colour(text) if columns[column] == "STATE" else "",
        right=[number for number, column in enumerate(columns) if column in _NUMBERS],
    )
    for server in found:
        if server["hint"] and server["state"] not in ("ready", "disabled"):
            note(f"{server['name']}: {server['hint']}")
    if not running:
        note("No host is running: the servers ran only for this list. To keep them running: toolcrib up")


def reason(server: Server) -> str:
    """The reason for the state of a server, and the time until it is retried."""
    again = f"retry {until(server['retry_at'])}" if server["retry_at"] else ""
    because = server["reason"].rstrip(".") if again else server["reason"]
    if server["state"] == "failed":
        given_up = f"gave up; restart it with: toolcrib start {server['name']}"
        return "; ".join(part for part in (because.rstrip("."), given_up) if part)
    return "; ".join(part for part in (because, again, _held(server)) if part)


def _held(server: Server) -> str:
    """The tools that cannot be called yet, and how they are released."""
    if server["checking"]:
        return f"{server['checking']:,} of {server['tools']:,} tools are still being checked"
    if not server["held"]:
        return ""
    return f"{counted(server['held'], 'tool')} held for review: toolcrib trust {server['name']}"


def _p95(server: Server) -> str:
    ms = server["calls"]["p95_ms"]
    if ms is None:
        return "-"
    return f"{ms / 1000:.1f} s" if ms >= 1000 else f"{ms:.3g} ms"


_COLUMNS: dict[str, Callable[[Server], str]] = {
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
"""Without a running host, the processes have ended and there were no calls."""
_NUMBERS = _OF_CALLS | {"TOOLS", "RESTARTS"}


def _show_change(surface: Surface, event: WatchedServer | WatchedRemoval | WatchedConfig) -> None:
    if surface.json:
        print_json(event)
    elif "removed" in event:
        say(f"{event['removed']}: removed")
    elif "config_error" in event:
        say(f"config: {event['config_error']}")
    else:
        say(describe(event["server"]))


def describe(server: Server) -> str:
    """The state of a server in one line."""
    tools = f" ({counted(server['tools'], 'tool')})" if server["state"] == "ready" else ""
    why = reason(server)
    return f"{server['name']}: {server['state']}{tools}{f': {why}' if why else ''}"
