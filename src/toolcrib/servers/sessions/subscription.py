"""Keeps a modern server's change notifications coming: one `subscriptions/listen` stream, reopened.

The legacy era pushes changes unasked; the modern one only on such a stream, and replays nothing, so a stream
that had to be opened again counts as a change of everything it covers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from toolcrib.errors import CallFailed, PeerError, ServerUnavailable
from toolcrib.tasks import cancel_and_wait

if TYPE_CHECKING:
    from toolcrib.servers.sessions.session import Session

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
CHANGES = {
    "tools": ("toolsListChanged", "notifications/tools/list_changed"),
    "prompts": ("promptsListChanged", "notifications/prompts/list_changed"),
    "resources": ("resourcesListChanged", "notifications/resources/list_changed"),
}


@asynccontextmanager
async def listen(session: Session, on_notice: Callable[[str, dict[str, Any]], None]) -> AsyncIterator[None]:
    """Listen in the background while the block runs, if the server has anything to tell."""
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
    session: Session, wanted: list[str], on_notice: Callable[[str, dict[str, Any]], None]
) -> None:
    pause = FIRST_PAUSE
    params = {"notifications": {CHANGES[kind][0]: True for kind in wanted}}
    while True:
        began = asyncio.get_running_loop().time()
        try:
            await session.request("subscriptions/listen", params, timeout=None)
        except PeerError:
            return  # it does not do this after all
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
