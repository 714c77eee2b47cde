"""`overview`: all servers at a glance, with where they come from and how their last day went."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from toolcrib.control.answers.overview import BuiltIn, ConfigTrouble, Overview, ServerGlance
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import UP
from toolcrib.control.needs import EVERYTHING, Configured, Emit, Needs
from toolcrib.control.secret_use import missing_from
from toolcrib.control.server_notes import ALL, Note, read_notes
from toolcrib.control.shapes import moment
from toolcrib.control.sources import source_of, touched
from toolcrib.host import Host
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.schema.tools import Tool
from toolcrib.store.call_hours import ServerHours, call_hours

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """Really connects: a list of what is configured would say nothing."""
    return EVERYTHING


async def run(host: Host, params: Params, emit: Emit) -> Overview:
    """`{switched_on, switched_at, config_error, built_in, servers}`."""
    now = datetime.now(UTC)
    hours = await host.audit.look(lambda connection: call_hours(connection, now))
    stored = frozenset(await asyncio.to_thread(host.secrets.names))
    notes = await asyncio.to_thread(read_notes, host)
    everything, known = notes.get(ALL, Note()), _known_tools(host)
    return {
        "switched_on": host.settings.global_enabled,
        "switched_at": everything.off_at,
        "ended": everything.processes,
        "config_error": _trouble(host),
        "built_in": _built_in(host),
        "servers": [
            _glance(
                host,
                status,
                known.get(status.name, []),
                hours.get(status.name, ServerHours()),
                stored,
                notes.get(status.name, Note()),
            )
            for status in host.servers.statuses()
        ],
    }


def _trouble(host: Host) -> ConfigTrouble | None:
    error = host.config_error
    return None if error is None else {"message": error.message, "line": error.line, "column": error.column}


def _built_in(host: Host) -> list[BuiltIn]:
    tools = [tool for tool in host.tools() if tool.origin != "mcp"]
    names = dict.fromkeys(tool.server or "" for tool in tools)
    return [
        {"name": name, "tools": sum((tool.server or "") == name for tool in tools), "note": ""}
        for name in names
    ]


def _known_tools(host: Host) -> dict[str, list[Tool]]:
    """The tools by server; of one that is away, those that it had."""
    known: dict[str, list[Tool]] = {}
    for tool in host.tool_catalog.tools():
        known.setdefault(tool.server or "", []).append(tool)
    return known


def _glance(
    host: Host,
    status: ServerStatus,
    tools: Sequence[Tool],
    hours: ServerHours,
    stored: frozenset[str],
    note: Note,
) -> ServerGlance:
    name, since = status.name, _since(host, status, note)
    raw = host.config.servers[name].raw if name in host.config.servers else {}
    attempt, attempts = _attempts(host, status)
    return {
        "name": name,
        "type": status.type,
        "enabled": status.enabled,
        "state": status.state.value,
        "reason": status.reason,
        "hint": status.hint,
        "retry_at": status.retry_at,
        "since": since,
        "up_since": status.last_connected if status.state in UP else None,
        "pid": status.pid,
        "version": status.version,
        "restarts": status.restarts,
        "attempt": attempt,
        "attempts": attempts,
        "source": source_of(raw, note.imported_from),
        "newest": _newest(raw, note),
        "touches": touched(raw),
        "tools": status.tools or len(tools),
        "tokens": sum(tool.tokens for tool in tools if tool.enabled or tool.stale) if tools else None,
        "held": [tool.definition.name for tool in tools if tool.held],
        "missing": missing_from(raw, stored, host.connector.environ),
        "bars": [
            {"calls": calls, "failed": failed}
            for calls, failed in zip(hours.calls, hours.failed, strict=True)
        ],
        "typical_ms": hours.typical_ms,
        "in_flight": host.caller.counts.of(name).in_flight,
        "stale_tools": status.stale_tools,
        "junk_lines": status.junk_lines,
        "last_failure": status.last_failure,
    }


def _since(host: Host, status: ServerStatus, note: Note) -> str | None:
    """When it came into its state; of one that is off, when a person turned it off, where that is known."""
    if status.state is ServerState.DISABLED and not status.enabled:
        return note.off_at
    since = host.server_events.since(status.name)
    return None if since is None else moment(since)


def _newest(raw: Mapping[str, Any], note: Note) -> str | None:
    """What was seen, unless it is the one in place."""
    return note.newest if note.newest and note.newest != raw.get("version") else None


def _attempts(host: Host, status: ServerStatus) -> tuple[int | None, int | None]:
    if status.state is not ServerState.BACKOFF or status.name not in host.config.servers:
        return None, None
    crashes = host.servers[status.name].crashes
    # Of one that is only out of reach nobody counts: it is tried for ever.
    return (crashes + 1, host.config.servers[status.name].restart.give_up_after) if crashes else (None, None)
