"""The overview of the page: all servers and the host at a glance. Which states count as trouble, tokens and
cost of today, where a server comes from, and the folders it uses."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from toolcrib.config.aliases import canonical
from toolcrib.config.secret_detection import without_secrets
from toolcrib.errors import NoModel
from toolcrib.host import Host
from toolcrib.operations.approvals import gather_waiting
from toolcrib.operations.lookup import UP
from toolcrib.operations.operation import (
    EVERYTHING,
    RUNNING,
    operation,
)
from toolcrib.operations.results.overview import (
    BuiltIn,
    ConfigTrouble,
    HostCounts,
    HostInfo,
    Overview,
    ServerGlance,
    ServerSource,
    SourceKind,
    Today,
)
from toolcrib.operations.results.tools import count_ready
from toolcrib.operations.server_notes import ALL, Note, read_notes
from toolcrib.operations.settings import missing_from
from toolcrib.schema.json_values import moment
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.schema.tools import Tool
from toolcrib.servers.transport import traits_of
from toolcrib.store.audit_search import ServerHours, call_hours
from toolcrib.store.chat_rows import sums
from toolcrib.version import __version__


@operation(page=True, needs=EVERYTHING)
async def overview(host: Host) -> Overview:
    """Show all servers with their sources and their last 24 hours."""
    now = datetime.now(UTC)
    hours = await host.audit.look(lambda connection: call_hours(connection, now))
    stored = frozenset(await asyncio.to_thread(host.core.secrets.names))
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
    """The tools by server; the last known ones of an unavailable server."""
    known: dict[str, list[Tool]] = {}
    for tool in host.toolset.catalog.tools():
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
        "needs": status.needs,
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
        "held": [
            {"tool": tool.definition.name, "reason": tool.held_reason} for tool in tools if tool.in_review
        ],
        "checking": sum(tool.checking for tool in tools),
        "missing": missing_from(raw, stored, host.core.connector.environ),
        "bars": [
            {"calls": calls, "failed": failed}
            for calls, failed in zip(hours.calls, hours.failed, strict=True)
        ],
        "typical_ms": hours.typical_ms,
        "in_flight": host.toolset.caller.counts.of(name).in_flight,
        "stale_tools": status.stale_tools,
        "junk_lines": status.junk_lines,
        "last_failure": status.last_failure,
    }


def _since(host: Host, status: ServerStatus, note: Note) -> str | None:
    """When its state last changed; for a disabled server, when the user turned it off, if known."""
    if status.state is ServerState.DISABLED and not status.enabled:
        return note.off_at
    since = host.core.server_events.since(status.name)
    return None if since is None else moment(since)


def _newest(raw: Mapping[str, Any], note: Note) -> str | None:
    """The newest version, unless it is installed."""
    return note.newest if note.newest and note.newest != raw.get("version") else None


def _attempts(host: Host, status: ServerStatus) -> tuple[int | None, int | None]:
    if status.state is not ServerState.BACKOFF or status.name not in host.config.servers:
        return None, None
    crashes = host.servers[status.name].crashes
    # An unreachable server has no attempts: it is retried forever.
    return (crashes + 1, host.config.servers[status.name].restart.give_up_after) if crashes else (None, None)


_TROUBLE = (ServerState.FAILED, ServerState.BACKOFF, ServerState.DEGRADED)


@operation(page=True, needs=RUNNING)
async def host_info(host: Host) -> HostInfo:
    """Show the host's version, paths, counts and today's usage."""
    paths, base = host.paths, host.pages.address
    return {
        "version": __version__,
        "pid": os.getpid(),
        "home": str(paths.home or paths.config_file.parent),
        "user_home": str(Path.home()),
        "address": base,
        "gateway": None if base is None else f"{base}/mcp",
        "started": moment(host.started),
        "config": str(paths.config_file),
        "log": str(paths.state / "host.log"),
        "switched_on": host.settings.global_enabled,
        "mode": host.approvals.policy.mode,
        "model": _model(host),
        "counts": await _counts(host),
        "today": await _today(host),
    }


async def _counts(host: Host) -> HostCounts:
    states = [status.state for status in host.servers.statuses()]
    return {
        "servers": len(states) + _installing(host),
        "up": sum(state in UP for state in states),
        "trouble": sum(state in _TROUBLE for state in states),
        "off": states.count(ServerState.DISABLED),
        "needs_you": len(await gather_waiting(host)),
        "tools": count_ready(host),
        "unsaved": host.audit.waiting + host.core.database.waiting,
        "lost": host.audit.lost + host.core.database.lost,
        "calls_running": host.toolset.caller.counts.in_flight,
        "chats": await host.audit.look(
            lambda connection: int(connection.execute("SELECT COUNT(*) FROM chats").fetchone()[0])
        ),
    }


def _installing(host: Host) -> int:
    """Servers that are being installed and have no entry yet; lists include them."""
    known = host.config.names
    return sum(setup.installing and setup.name not in known for setup in host.installs.setups.all())


async def _today(host: Host) -> Today:
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    used, written, cost = await host.audit.look(lambda connection: sums(connection, midnight))
    return {"tokens": used + written, "input": used, "output": written, "cost": cost}


def _model(host: Host) -> str | None:
    try:
        return host.chats.models.choose()
    except NoModel:
        return None


_PROGRAM = re.compile(r"\.(?:py|[cm]?js|ts|jar|rb|sh)$", re.IGNORECASE)


def source_of(raw: Mapping[str, Any], imported_from: str = "") -> ServerSource:
    """Where a server comes from, read from its entry."""
    entry = canonical(raw)
    kind, text = _kind_and_text(entry)
    version = entry.get("version")
    return {
        "kind": kind,
        "text": text,
        "version": str(version) if version else None,
        "imported_from": imported_from,
    }


def touched(raw: Mapping[str, Any]) -> list[str]:
    """The folders and files named in a server's arguments."""
    arguments = canonical(raw).get("args")
    texts = [str(argument) for argument in arguments] if isinstance(arguments, list) else []
    values = [text.partition("=")[2] if text.startswith("-") else text for text in texts]
    return [value for value in values if value.startswith(("/", "~/")) and not _PROGRAM.search(value)]


def _kind_and_text(entry: Mapping[str, Any]) -> tuple[SourceKind, str]:
    if entry.get("url"):
        return "address", without_secrets(str(entry["url"]))
    if traits_of(entry.get("type")).in_process:
        return "in process", str(entry.get("module", ""))
    if entry.get("tarballPath"):
        return "bundle", str(entry["tarballPath"])
    if entry.get("sourcePath"):
        return "folder", str(entry["sourcePath"])
    if entry.get("package"):
        return ("pypi" if traits_of(entry.get("type")).index == "pypi" else "npm"), str(entry["package"])
    if entry.get("module"):
        return "pypi", str(entry["module"])
    arguments = entry.get("args")
    rest = arguments if isinstance(arguments, list) else []
    program = PurePath(str(entry.get("command", ""))).name
    return "command", " ".join([program, *(str(argument) for argument in rest)])
