"""Shows the running host without a terminal: a line per change, or one line of JSON."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from toolcrib.cli.commands.servers import describe
from toolcrib.cli.output import as_json, say, say_exactly
from toolcrib.cli.streams import OutputFailed, mute
from toolcrib.host import Host
from toolcrib.operations.results.servers import server_shown
from toolcrib.schema.events import ConfigChanged, Event, ServerChanged, ServerRemoved, ToolsChanged
from toolcrib.schema.json_values import to_json
from toolcrib.tasks import cancel_and_wait
from toolcrib.version import __version__
from toolcrib.web.serving import Served


@asynccontextmanager
async def announce_json(served: Served) -> AsyncIterator[None]:
    """Print one line once the host listens."""
    paths = served.host.paths
    home = paths.home or paths.config_file.parent
    place = {"url": served.sign_in_address(), "pid": os.getpid()}
    _print(say_exactly, as_json({**place, "socket": str(paths.socket), "home": str(home)}))
    yield


@asynccontextmanager
async def plain_view(served: Served) -> AsyncIterator[None]:
    """Print the address of the page, the state of each server, and each change."""
    host = served.host
    home = host.paths.home or host.paths.config_file.parent
    _say(f"Toolcrib {__version__} runs as process {os.getpid()}, home {home}. Ctrl-C stops it.")
    _say(f"Web page: {served.sign_in_address()}")
    printer = asyncio.create_task(_follow(host), name="plain view")
    try:
        yield
    finally:
        await cancel_and_wait(printer)
    _say("Stopping the servers.")


async def _follow(host: Host) -> None:
    printed: dict[str, str] = {}
    """The last line of each server."""
    with host.events.subscribe() as events:
        for status in host.servers.statuses():
            _say_once(printed, status.name, describe(to_json(server_shown(status, host))))
        async for event in events:
            _show(event, printed, host)


def _show(event: Event, printed: dict[str, str], host: Host) -> None:
    if isinstance(event, ServerChanged):
        _say_once(printed, event.status.name, describe(to_json(server_shown(event.status, host))))
    elif isinstance(event, ToolsChanged) and event.server in host.servers:
        server = to_json(server_shown(host.servers.status(event.server or ""), host))
        if not server["checking"]:
            _say_once(printed, server["name"], describe(server))
    elif isinstance(event, ServerRemoved):
        printed.pop(event.name, None)
        _say(f"{event.name}: removed")
    elif isinstance(event, ConfigChanged) and event.error:
        _say(f"config: {event.error} The previous configuration stays in use.")


def _say_once(printed: dict[str, str], name: str, line: str) -> None:
    if printed.get(name) != line:
        printed[name] = line
        _say(line)


def _say(line: str) -> None:
    _print(say, line)


def _print(write: Callable[[str], None], line: str) -> None:
    """Print a line; if that is not possible, the host keeps running silently."""
    try:
        write(line)
    except OutputFailed:
        mute()
