"""Servers: status, logs, starting and stopping, enabling and disabling, the master switch; help and messages
of these commands. Memory and calls of today, how often a followed log is read, and how much of its end."""

from __future__ import annotations

import asyncio
import os
from datetime import datetime
from pathlib import Path
from typing import Annotated

from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.operations.command import SERVER, Command
from toolcrib.operations.lookup import check_server, not_up, servers_settled
from toolcrib.operations.operation import (
    EVERYTHING,
    RUNNING,
    Emit,
    Invocation,
    Seconds,
    named_server,
    operation,
)
from toolcrib.operations.parameters import Within
from toolcrib.operations.results.overview import ServerFacts
from toolcrib.operations.results.servers import (
    LogBatch,
    LogLine,
    LogLines,
    MasterSwitch,
    Server,
    ServerChecked,
    Switched,
    Watched,
    server_shown,
)
from toolcrib.operations.server_notes import ALL, note_switch
from toolcrib.schema.events import ConfigChanged, ServerChanged, ServerRemoved
from toolcrib.schema.events import Event as HostEvent
from toolcrib.schema.json_values import moment
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.servers.processes.log_lines import read_line
from toolcrib.servers.processes.termination import memory_of_group
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import DatabaseConnection


def _server_command(help: str, done: str = "") -> Command:
    return Command(section="Servers", help=help, done=done, shows_server=True, parameters=(SERVER,))


@operation(page=True, needs=EVERYTHING)
async def servers(host: Host, *, wait: Seconds = 0.0) -> list[Server]:
    """List the servers and how they are doing, in the order of the file."""
    await servers_settled(host, wait)
    return [server_shown(status, host) for status in host.servers.statuses()]


_TODAY = """SELECT COUNT(*),
    COALESCE(SUM(CASE WHEN outcome IN ('ok', 'cancelled', 'denied') THEN 0 ELSE 1 END), 0)
FROM calls WHERE time >= ? AND server = ?"""
_LAST = "SELECT time FROM calls WHERE server = ? ORDER BY time DESC LIMIT 1"


@operation(page=True, needs=named_server)
async def server_facts(host: Host, name: str) -> ServerFacts:
    """Show a server's memory, last use and calls of today."""
    check_server(host, name)
    midnight = to_stored(datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0))

    def look(connection: DatabaseConnection) -> tuple[int, int, int | None]:
        calls, failed = connection.execute(_TODAY, (midnight, name)).fetchone()
        last = connection.execute(_LAST, (name,)).fetchone()
        return calls, failed, last[0] if last else None

    calls, failed, last = await host.audit.look(look)
    return {
        "name": name,
        "memory": await _memory(host, name),
        "last_used": None if last is None else moment(from_stored(last)),
        "calls_today": calls,
        "failed_today": failed,
    }


async def _memory(host: Host, name: str) -> int | None:
    """Memory of the whole process group: a server may have child processes."""
    pid = host.servers.status(name).pid if name in host.servers else None
    if pid is None:
        return None
    return await asyncio.to_thread(memory_of_group, pid) or None


@operation(needs=RUNNING)
async def watch(host: Host, invocation: Invocation[Watched]) -> None:
    """Emit every server, then each change, until the reader disconnects.

    Events are `{"server": …}`, `{"removed": NAME}` and `{"config_error": …}`.
    """
    with host.events.subscribe() as events:
        for status in host.servers.statuses():
            await invocation.emit({"server": server_shown(status, host)})
        async for event in events:
            shown = _shown(host, event)
            if shown is not None:
                await invocation.emit(shown)


def _shown(host: Host, event: HostEvent) -> Watched | None:
    if isinstance(event, ServerChanged):
        return {"server": server_shown(event.status, host)}
    if isinstance(event, ServerRemoved):
        return {"removed": event.name}
    if isinstance(event, ConfigChanged) and event.error is not None:
        return {"config_error": event.error}
    return None


@operation(page=True)
async def check(host: Host, server: str) -> ServerChecked:
    """Check that a server is configured.

    Raises `UnknownServer`. The type of a broken entry is null.
    """
    check_server(host, server)
    entry = host.config.servers.get(server)
    return {"server": server, "type": entry.type if entry else None}


@operation(page=True, needs=RUNNING, command=_server_command("Start NAME in the running host."))
async def start(host: Host, name: str) -> Server:
    """Start a server and forget its earlier failures.

    Returns once it is up; raises `ServerNotReady` with the reason.
    """
    check_startable(host, name)
    host.servers[name].start()
    return await started(host, name)


@operation(
    page=True,
    needs=RUNNING,
    command=_server_command(
        "Stop NAME in the running host.\n\nIt stays off until it, or the host, is started again."
    ),
)
async def stop(host: Host, name: str) -> Server:
    """Stop a server until it or the host is started again.

    Returns once none of its processes run.
    """
    check_server(host, name)
    await host.servers[name].stop()
    return server_shown(host.servers.status(name), host)


@operation(page=True, needs=RUNNING, command=_server_command("Restart NAME in the running host."))
async def restart(host: Host, name: str) -> Server:
    """Restart a server and forget its earlier failures.

    Returns once it is up; raises `ServerNotReady` with the reason.
    """
    check_startable(host, name)
    await host.servers[name].restart()
    return await started(host, name)


@operation(
    page=True, command=_server_command("Switch NAME on, now and at every start.", done="{name} is on.")
)
async def enable(host: Host, name: str) -> Switched:
    """Enable a server, now and at every start.

    `server` in the result is null if no host is running.
    """
    return await set_enabled(host, name, True)


@operation(
    page=True, command=_server_command("Switch NAME off, now and at every start.", done="{name} is off.")
)
async def disable(host: Host, name: str) -> Switched:
    """Disable a server, now and at every start.

    `server` in the result is null if no host is running.
    """
    return await set_enabled(host, name, False)


@operation(
    page=True,
    command=Command(
        section="Host", help="Turn the master switch on: enabled servers may run.", done="Everything is on."
    ),
)
async def on(host: Host) -> MasterSwitch:
    """Turn the master switch on; enabled servers start."""
    return await set_master_switch(host, True)


@operation(
    page=True,
    command=Command(
        section="Host",
        help="Turn the master switch off: no server runs.",
        done="Everything is off. To turn it on again: toolcrib on",
    ),
)
async def off(host: Host) -> MasterSwitch:
    """Turn the master switch off; no server runs until it is turned on."""
    return await set_master_switch(host, False)


INTERVAL = 0.2
"""Seconds between two reads of the file."""
BATCH_LINES = 5_000
"""Lines per event, so that no event contains a whole log."""


@operation(page=True)
async def logs(
    host: Host,
    invocation: Invocation[LogLine | LogBatch],
    name: str,
    *,
    count: Annotated[int, Within(ge=0, le=100_000)] = 100,
    follow: bool = False,
    batch: bool = False,
) -> LogLines:
    """Show what a server wrote to stderr and what happened to it; with `follow` also each new line.

    Following emits `{"line": …}` for each line, or with `batch` `{"lines": […]}`, until the reader is gone.
    """
    check_server(host, name)
    tail = Tail(host.paths.server_log(name))
    lines = await asyncio.to_thread(tail.last, count)
    if follow and batch and not lines:
        await invocation.emit(log_part([]))
    while follow:
        await _emit_lines(lines, batch, invocation.emit)
        await asyncio.sleep(INTERVAL)
        lines = await asyncio.to_thread(tail.more)
    return {"server": name, **log_part(lines)}


def log_part(lines: list[str]) -> LogBatch:
    """Lines of the file as they are shown."""
    entries = [read_line(line) for line in lines]
    return {
        "lines": [entry.text for entry in entries],
        "times": [entry.time for entry in entries],
        "events": [index for index, entry in enumerate(entries) if entry.is_event],
    }


async def _emit_lines(lines: list[str], batch: bool, emit: Emit) -> None:
    if batch:
        for start in range(0, len(lines), BATCH_LINES):
            await emit(log_part(lines[start : start + BATCH_LINES]))
        return
    for entry in map(read_line, lines):
        await emit({"line": entry.text, "time": entry.time, "is_event": entry.is_event})


START_MARGIN = 5.0
"""Seconds added to a server's start timeout, because it may have to wait for its turn."""


async def set_enabled(host: Host, name: str, enabled: bool) -> Switched:
    """Enable or disable a server, in the config file and in this host."""
    await asyncio.to_thread(host.core.config_store.set_enabled, name, enabled)
    await asyncio.to_thread(note_switch, host, name, enabled)
    await host.reload()
    return {"name": name, "enabled": enabled, "server": status_json(host, name)}


async def set_master_switch(host: Host, enabled: bool) -> MasterSwitch:
    """Turn the master switch on or off, in the config file and in this host."""
    running = sum(status.pid is not None for status in host.servers.statuses())
    await asyncio.to_thread(host.core.config_store.set_global_enabled, enabled)
    await asyncio.to_thread(note_switch, host, ALL, enabled, running)
    await host.reload()
    return {"enabled": enabled}


def status_json(host: Host, name: str) -> Server | None:
    """The status of a server; None if this host does not run it."""
    if name not in host.servers:
        return None
    return server_shown(host.servers.status(name), host)


async def status_within(host: Host, name: str, wait: float) -> Server | None:
    """The same, after at most so many seconds for a server that was just added."""
    if wait and name in host.servers:
        await settled(host, name, wait)
    return status_json(host, name)


async def settled(host: Host, name: str, within: float | None = None) -> ServerStatus:
    """The status once the server is up or has failed, or after a timeout."""
    supervisor = host.servers[name]
    try:
        async with asyncio.timeout(within or supervisor.entry.start_timeout + START_MARGIN):
            return await supervisor.settled()
    except TimeoutError:
        return supervisor.status


async def started(host: Host, name: str) -> Server:
    """The status after a start; raises `ServerNotReady` with the reason if it failed."""
    status = await settled(host, name)
    if status.state in (ServerState.READY, ServerState.DEGRADED, ServerState.STARTING):
        return server_shown(status, host)
    raise not_up(status)


def check_startable(host: Host, name: str) -> None:
    """Refuse to start an unknown server, and any server while the master switch is off."""
    check_server(host, name)
    if not host.config.settings.global_enabled:
        raise UsageError("Everything is switched off.", hint="Switch it on first: toolcrib on")


READ_BYTES = 256 * 1024
"""Bytes to read from the end of the file for its last lines, and at most per read of new lines."""
LINE_BYTES = 160
"""Bytes of a typical line: a request for many lines reads more of the file."""
MAX_BYTES = 32 * 1024 * 1024


class Tail:
    """The end of a file. The file may be missing; one that is replaced is read from its start."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self._file_number: int | None = None
        self._partial = b""

    def last(self, count: int) -> list[str]:
        """The last complete lines, oldest first; `more` continues from there."""
        try:
            with self._path.open("rb") as file:
                self._file_number = os.fstat(file.fileno()).st_ino
                size = file.seek(0, os.SEEK_END)
                wanted = min(MAX_BYTES, max(READ_BYTES, count * LINE_BYTES))
                start = file.seek(max(0, size - wanted))
                data = file.read(size - start)
        except OSError:
            return []
        self._position = start + len(data)
        *lines, self._partial = data.split(b"\n")
        if start > 0:
            lines = lines[1:]  # Probably only the end of a line.
        return [_text(line) for line in lines[-count:]] if count > 0 else []

    def more(self) -> list[str]:
        """The lines completed since the last read."""
        try:
            with self._path.open("rb") as file:
                found = os.fstat(file.fileno())
                if found.st_ino != self._file_number or found.st_size < self._position:
                    self._file_number, self._position, self._partial = found.st_ino, 0, b""
                file.seek(self._position)
                data = file.read(READ_BYTES)
        except OSError:
            return []
        self._position += len(data)
        *lines, self._partial = (self._partial + data).split(b"\n")
        return [_text(line) for line in lines]


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")
