"""Fetches a server's tool list again when it changed; a storm of notices costs one fetch a second."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.servers.sessions.session import Session

DEBOUNCE = 0.05
PAUSE = 1.0
TIMEOUT = 30.0


class ListRefresher:
    """Remembers that a refresh was asked for."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()

    def ask(self) -> None:
        """The list changed."""
        self._asked.set()

    async def run(
        self, session: Session, offer: Callable[[list[Any]], None], rate: Callable[[str | None], None]
    ) -> ToolcribError:
        """Refresh whenever asked; the last good list stays when a fetch fails. Ends only by cancellation."""
        failed = False
        while True:
            await self._asked.wait()
            await asyncio.sleep(DEBOUNCE)
            self._asked.clear()
            try:
                definitions = await session.list_tools(timeout=TIMEOUT)
            except ToolcribError as error:
                failed = True
                if not session.lost.done():  # that the connection is gone is heard of elsewhere
                    rate(f"The tool list could not be refreshed: {error}")
            else:
                offer(definitions)
                if failed:
                    rate(None)
                failed = False
            await asyncio.sleep(PAUSE)
