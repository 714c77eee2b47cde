"""The running host where there is no terminal: a line for each change, or one of JSON and silence."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from toolcrib import __version__
from toolcrib.cli.commands.servers import describe
from toolcrib.cli.output import as_json, mute, say, say_exactly
from toolcrib.control.shapes import server_json
from toolcrib.host import Host
from toolcrib.schema.events import ConfigChanged, Event, ServerChanged, ServerRemoved
from toolcrib.tasks import cancel_and_wait
from toolcrib.web.serving import Served


@asynccontextmanager
async def announce_json(served: Served) -> AsyncIterator[None]:
    """One line once the host listens, for whoever started it."""
    paths = served.host.paths
    home = paths.home or paths.config_file.parent
    place = {"url": served.sign_in_address(), "pid": os.getpid()}
    _if_heard(say_exactly, as_json({**place, "socket": str(paths.socket), "home": str(home)}))
    yield


@asynccontextmanager
async def plain_view(served: Served) -> AsyncIterator[None]:
    """Where the page is, then a line for each server's state, now and whenever it changes."""
    host = served.host
    home = host.paths.home or host.paths.config_file.parent
    _say_if_heard(f"Toolcrib {__version__} runs as process {os.getpid()}, home {home}. Ctrl-C ends it.")
    _say_if_heard(f"The page: {served.sign_in_address()}")
    teller = asyncio.create_task(_tell(host), name="plain view")
    try:
        yield
    finally:
        await cancel_and_wait(teller)
    _say_if_heard("Ending the servers.")


async def _tell(host: Host) -> None:
    told: dict[str, str] = {}
    with host.events.subscribe() as news:
        for status in host.servers.statuses():
            _say_once(told, status.name, describe(server_json(status)))
        async for event in news:
            _tell_of(event, told)


def _tell_of(event: Event, told: dict[str, str]) -> None:
    if isinstance(event, ServerChanged):
        _say_once(told, event.status.name, describe(server_json(event.status)))
    elif isinstance(event, ServerRemoved):
        told.pop(event.name, None)
        _say_if_heard(f"{event.name}: removed")
    elif isinstance(event, ConfigChanged) and event.error:
        _say_if_heard(f"config: {event.error} The last good state stays.")


def _say_once(told: dict[str, str], name: str, line: str) -> None:
    if told.get(name) != line:
        told[name] = line
        _say_if_heard(line)


def _say_if_heard(line: str) -> None:
    _if_heard(say, line)


def _if_heard(tell: Callable[[str], None], line: str) -> None:
    """A reader of our output that has gone ends the telling, not the host."""
    try:
        tell(line)
    except OSError:
        mute()
