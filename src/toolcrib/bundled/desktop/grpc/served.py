"""What the methods of one server share: the desktop, pages, operations, and one actor at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.elements.observing import PATIENCE, QUIET
from toolcrib.bundled.desktop.grpc.failures import not_found
from toolcrib.bundled.desktop.grpc.operations import Operations
from toolcrib.bundled.desktop.grpc.schema import Timestamp
from toolcrib.bundled.desktop.grpc.stopping import Stopping
from toolcrib.bundled.desktop.session import DesktopSession


class ServedDesktop:
    def __init__(self, session: DesktopSession, stop_key: str = "") -> None:
        self.session = session
        self.stopping = Stopping(session, stop_key)
        self.operations = Operations()
        self.at_close: list[Callable[[], None]] = []
        """What methods have to close when the server ends."""
        self._acting = asyncio.Lock()

    async def backend(self) -> Backend:
        return await self.session.backend()

    @contextlib.asynccontextmanager
    async def acting(self) -> AsyncIterator[Backend]:
        """For what changes the desktop: one after another, and done when the desktop has become quiet.

        A client that looks right after the reply sees the effect.
        """
        backend = await self.backend()
        async with self._acting:
            with backend.events.listen() as changes:
                yield backend
                await changes.settled(QUIET, PATIENCE)

    async def close(self) -> None:
        await self.operations.close()
        self.stopping.close()
        for close in self.at_close:
            close()

    async def window(self, backend: Backend, window: int) -> Window:
        for each in await backend.windows.list():
            if each.id == window:
                return each
        raise not_found("WINDOW", f"window {window}")


def timestamp(moment: datetime | None = None) -> Any:
    made = Timestamp()
    made.FromDatetime(moment or datetime.now(UTC))
    return made
