"""Background commands by id; each belongs to the session that started it. Limits: most background commands of
a session, and how many finished ones keep their output."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass

from toolcrib.bundled.terminal.processes import RunningCommand
from toolcrib.serverkit import caller_context
from toolcrib.serverkit.context import ToolFailure

MOST = 32
"""Commands of one session at the same time."""
_KEPT = 64
"""Finished commands whose output can still be read."""


@dataclass(frozen=True)
class Background:
    """One of them."""

    id: str
    command: str
    running: RunningCommand
    owner: str | None


class CommandSessions:
    """All of them, ended ones for a while too."""

    def __init__(self) -> None:
        self._known: dict[str, Background] = {}

    def add(self, command: str, running: RunningCommand) -> Background:
        """Let it go on."""
        background = Background(secrets.token_hex(4), command, running, caller_context.session.get())
        self._known[background.id] = background
        ended = [session.id for session in self._known.values() if not session.running.alive]
        for old in ended[: max(0, len(ended) - _KEPT)]:
            del self._known[old]
        return background

    def check_room(self) -> None:
        """Raise `ToolFailure` when this session has too many."""
        owner = caller_context.session.get()
        mine = [
            background
            for background in self._known.values()
            if background.owner == owner and background.running.alive
        ]
        if len(mine) >= MOST:
            raise ToolFailure(
                f"{len(mine)} commands are running in the background.", "End some with kill_process."
            )

    def find(self, session_id: str) -> Background:
        """The caller's own of this id; raises `ToolFailure`."""
        background = self._known.get(session_id)
        if background is not None and background.owner == caller_context.session.get():
            return background
        mine = [
            session.id for session in self._known.values() if session.owner == caller_context.session.get()
        ]
        hint = f"Known: {', '.join(mine)}." if mine else "Start one with run_command and background=true."
        raise ToolFailure(f"There is no background session {session_id!r}.", hint)

    async def end_owner(self, owner: str | None) -> None:
        """End all that a session started."""
        await self._end([background for background in self._known.values() if background.owner == owner])

    async def end_all(self) -> None:
        """End everything."""
        await self._end(list(self._known.values()))

    def let_go(self) -> None:
        """Have everything ended without waiting for it."""
        for background in self._known.values():
            background.running.let_go()
        self._known.clear()

    async def _end(self, wanted: list[Background]) -> None:
        for background in wanted:
            self._known.pop(background.id, None)
        await asyncio.gather(*(background.running.stop() for background in wanted))
