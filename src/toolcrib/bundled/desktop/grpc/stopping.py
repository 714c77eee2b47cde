"""Stops all input with a key, as the MCP server does; what acts is refused until the server is restarted."""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import grpc

from toolcrib.bundled.desktop.consent.stop import InputStopped, StopKey, StopSwitch, release_all
from toolcrib.bundled.desktop.grpc.failures import RpcFailure

if TYPE_CHECKING:
    from toolcrib.bundled.desktop.session import DesktopSession

logger = logging.getLogger(__name__)
T = TypeVar("T")
RESUME = "The user can allow input again by ending `toolcrib desktop serve --grpc` and starting it again."


class Stopping:
    """The stop switch of a server; the key is heard from the first action on."""

    def __init__(self, session: DesktopSession, chord: str) -> None:
        self._session = session
        self.switch = StopSwitch("desktop")
        self.switch.on_stop = self._stopped
        self.key = StopKey(session, chord, self.switch.stop)

    async def run(self, action: Coroutine[Any, Any, T]) -> T:
        """Run an action that the key stops; raises `RpcFailure` if it is, or was."""
        try:
            await self.key.listen()
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

    def _stopped(self) -> None:
        logger.warning(
            "Input was stopped with %s. Restart this server to allow it again.", self.switch.stopped_by
        )
        if self._session.opened is not None:
            release_all(self._session.opened)
