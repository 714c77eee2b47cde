"""Subscribes to a modern server's change notifications: one `subscriptions/listen` stream, reopened if cut.

The legacy era sends changes unasked; the modern one only on such a stream, and replays nothing, so a reopened
stream counts as a change of everything it covers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Protocol

from toolcrib.errors import CallFailed, PeerError, ServerUnavailable
from toolcrib.servers.sessions.negotiation import Agreement
from toolcrib.tasks import cancel_and_wait

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
CHANGES = {
    "tools": ("toolsListChanged", "notifications/tools/list_changed"),
    "prompts": ("promptsListChanged", "notifications/prompts/list_changed"),
    "resources": ("resourcesListChanged", "notifications/resources/list_changed"),
}


class ListeningSession(Protocol):
    """The part of a session that is needed here."""

    agreement: Agreement
    lost: asyncio.Future[Any]

    def request(
        self, method: str, params: dict[str, Any], *, timeout: float | None
    ) -> Coroutine[Any, Any, dict[str, Any]]: ...


@asynccontextmanager
async def listen(
    session: ListeningSession, on_notice: Callable[[str, dict[str, Any]], None]
) -> AsyncIterator[None]:
    """Listen in the background while the block runs, if the server announces changes."""
    wanted = [kind for kind in CHANGES if _promises_changes(session.agreement.capabilities.get(kind))]
    if not wanted:
        yield
        return
    task = asyncio.ensure_future(_keep_listening(session, wanted, on_notice))
    try:
        yield
    finally:
        await cancel_and_wait(task)


def _promises_changes(capability: Any) -> bool:
    return isinstance(capability, dict) and capability.get("listChanged") is True


async def _keep_listening(
    session: ListeningSession, wanted: list[str], on_notice: Callable[[str, dict[str, Any]], None]
) -> None:
    pause = FIRST_PAUSE
    params = {"notifications": {CHANGES[kind][0]: True for kind in wanted}}
    while True:
        began = asyncio.get_running_loop().time()
        try:
            await session.request("subscriptions/listen", params, timeout=None)
        except PeerError:
            return  # not supported after all
        except (ServerUnavailable, CallFailed):
            pass
        if asyncio.get_running_loop().time() - began > LONGEST_PAUSE:
            pause = FIRST_PAUSE
        await asyncio.sleep(pause)
        if session.lost.done():
            return
        pause = min(pause * 2, LONGEST_PAUSE)
        for kind in wanted:
            on_notice(CHANGES[kind][1], {})
