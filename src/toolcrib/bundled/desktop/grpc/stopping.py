"""Stops all input with a key, as the MCP server does; what acts is refused until the server is restarted."""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import grpc

from toolcrib.bundled.desktop.consent.stop import InputStopped, StopKey, StopSwitch, release_all
from toolcrib.bundled.desktop.grpc.failures import RpcFailure
from toolcrib.serverkit.context import ToolFailure

if TYPE_CHECKING:
    from toolcrib.bundled.desktop.backend import Backend
    from toolcrib.bundled.desktop.session import DesktopSession

logger = logging.getLogger(__name__)
T = TypeVar("T")
RESUME = "The user can allow input again by ending `toolcrib desktop serve --grpc` and starting it again."


class Stopping:
    """The stop switch of a server; the key is heard from the first action on."""

    def __init__(self, session: DesktopSession, chord: str) -> None:
        self._session = session
        self._chord = chord
        self._key: StopKey | None = None
        self._watched: Backend | None = None
        self.switch = StopSwitch("desktop")
        self.switch.on_stop = self._stopped

    async def run(self, action: Coroutine[Any, Any, T]) -> T:
        """Run an action that the key stops; raises `RpcFailure` if it is, or was."""
        try:
            await self._watch()
        except BaseException:
            action.close()
            raise
        try:
            return await self.switch.run(action)
        except InputStopped as stopped:
            raise RpcFailure(
                grpc.StatusCode.FAILED_PRECONDITION,
                "INPUT_STOPPED",
                f"{stopped.message} {RESUME}",
                {"hint": RESUME},
            ) from None

    def close(self) -> None:
        key, self._key = self._key, None
        if key is not None:
            key.close()

    async def _watch(self) -> None:
        backend = await self._session.backend()
        if backend is self._watched or self._session.settings.headless or not self._chord:
            return
        self.close()
        self._watched = backend
        try:
            self._key = await StopKey.listen(backend, self._chord, self.switch.stop)
        except ToolFailure as failure:
            logger.warning("The stop key %s is not available: %s", self._chord, failure.message)

    def _stopped(self) -> None:
        logger.warning("Input was stopped with %s. Restart this server to allow it again.", self._chord)
        if self._session.opened is not None:
            release_all(self._session.opened)
