"""Screens that our own servers work on: which there are, watching one, and stopping and allowing all input
(`toolcrib halt`, `resume` and their messages). Timeouts of requests for a screen."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NotRequired

from typing_extensions import TypedDict

from toolcrib.errors import NotFound, PeerError, ToolcribError
from toolcrib.host import Host
from toolcrib.operations.command import SERVER, Command
from toolcrib.operations.lookup import UP, check_server
from toolcrib.operations.operation import RUNNING, Invocation, operation

SCREEN, STOP, RESUME = "toolcrib/screen", "toolcrib/stop", "toolcrib/resume"
TIMEOUT = 10.0
WAIT = 20.0
"""Seconds that a server waits for a change before it answers without one."""
_NO_SCREEN = "Servers with a screen are listed on their page and by: toolcrib servers"


class ScreenState(TypedDict):
    """The screen of a server, and whether it may use the mouse and the keyboard."""

    server: str
    own: bool
    """A display of its own, which can be watched; else the user's."""
    open: bool
    """Whether the display is in use."""
    stopped: str
    """How the user stopped all input: a key, or `the page`; empty while it is allowed."""
    stop_key: str
    """The key that stops all input; empty if none is heard."""


class ScreenShown(ScreenState):
    """A state with the screen as it is now, if it has changed."""

    picture: NotRequired[str]
    """A JPEG in base64."""
    width: NotRequired[int]
    height: NotRequired[int]


@operation(page=True, needs=RUNNING)
async def screens(host: Host) -> list[ScreenState]:
    """List the screens of running servers that came with Toolcrib."""
    running = [
        status.name
        for status in host.servers.statuses()
        if status.name in host.config.bundled and status.state in UP
    ]
    found = await asyncio.gather(*(_state(host, name) for name in running))
    return [state for state in found if state is not None]


@operation(page=True, needs=RUNNING)
async def screen_watch(host: Host, invocation: Invocation[ScreenShown], name: str) -> None:
    """Emit the screen of a server whenever it changes, until the reader disconnects.

    Raises `NotFound` if the server has no screen.
    """
    seen = ""
    while True:
        answer = await _ask(host, name, SCREEN, seen=seen, wait=WAIT)
        if answer.get("seen") == seen:
            continue
        seen = str(answer.get("seen") or "")
        await invocation.emit(_shown(name, answer))


@operation(
    page=True,
    needs=RUNNING,
    command=Command(
        section="Servers",
        help="Stop all mouse and keyboard input of NAME, a desktop server.",
        done="All input of {server} is stopped. To allow it again: toolcrib resume {server}",
        parameters=(SERVER,),
    ),
)
async def halt(host: Host, name: str) -> ScreenState:
    """Stop all input of a desktop server; running actions are cancelled, others refused until `resume`.

    Raises `NotFound` if the server has no screen.
    """
    return _shown(name, await _ask(host, name, STOP, by="the page"))


@operation(
    page=True,
    needs=RUNNING,
    command=Command(
        section="Servers",
        help="Allow input of NAME again after it was stopped.",
        done="{server} may use the mouse and the keyboard again. You are asked for each window.",
        parameters=(SERVER,),
    ),
)
async def resume(host: Host, name: str) -> ScreenState:
    """Allow input of a desktop server after `halt` or its stop key; every window needs approval again.

    Raises `NotFound` if the server has no screen.
    """
    return _shown(name, await _ask(host, name, RESUME))


async def _state(host: Host, name: str) -> ScreenState | None:
    try:
        return _shown(name, await _ask(host, name, SCREEN, state_only=True))
    except ToolcribError:
        return None


async def _ask(host: Host, name: str, method: str, **params: Any) -> Mapping[str, Any]:
    check_server(host, name)
    if name not in host.config.bundled:
        raise NotFound(f"{name} has no screen.", hint=_NO_SCREEN)
    session = await host.servers.session(name)
    try:
        answer: Mapping[str, Any] = await session.request(method, params, timeout=WAIT + TIMEOUT)
    except PeerError as error:
        raise NotFound(f"{name} has no screen.", hint=_NO_SCREEN) from error
    return answer


def _shown(name: str, answer: Mapping[str, Any]) -> ScreenShown:
    shown: ScreenShown = {
        "server": name,
        "own": answer.get("own") is True,
        "open": answer.get("open") is True,
        "stopped": str(answer.get("stopped") or ""),
        "stop_key": str(answer.get("stop_key") or ""),
    }
    if isinstance(answer.get("picture"), str):
        shown["picture"] = answer["picture"]
        shown["width"], shown["height"] = int(answer["width"]), int(answer["height"])
    return shown
