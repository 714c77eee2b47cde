"""A server's tools as its newest list has them, for calls that have to wait before they are sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolcrib.servers.refresh import ListRefresher
from toolcrib.servers.sessions.session import Session

DefinitionCheck = Callable[[Any], None]
"""Called with a tool's definition as its server lists it now; raises when a call must not be made."""


class Listed:
    """The newest list of one connection, and how it is kept up to date."""

    def __init__(self) -> None:
        self.refresher = ListRefresher()
        self.replaced = False
        """The server has listed other tools since the connection was made."""
        self._named: dict[str, Any] = {}

    def take(self, definitions: list[Any]) -> None:
        """A new list; of two definitions with one name the first counts, as it does in the registry."""
        self.replaced = bool(self._named)
        self._named = {}
        for one in definitions:
            name = one.get("name") if isinstance(one, dict) else None
            if isinstance(name, str):
                self._named.setdefault(name, one)

    def check(self, tool: str, check: DefinitionCheck | None) -> None:
        """Show the tool's definition to `check`, which may raise."""
        if check is not None:
            check(self._named.get(tool))

    async def refreshed(self, session: Session, tool: str, check: DefinitionCheck) -> None:
        """Wait for the list that the server has announced, then check the tool."""
        await self.refresher.refreshed(session)
        if not session.lost.done():
            self.check(tool, check)
