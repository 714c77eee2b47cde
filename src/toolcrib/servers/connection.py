"""One life of a server: from a start, over being ready, to the reason of its end."""

from __future__ import annotations

import asyncio
import logging
import signal
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Protocol

from toolcrib.errors import ConnectionLost, StartFailed, ToolcribError
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.health import watch_health
from toolcrib.servers.ports import OpenSession, SupervisorContext
from toolcrib.servers.processes.descriptors import shortage_of
from toolcrib.servers.processes.orphans import signal_group
from toolcrib.servers.refresh import ListRefresher
from toolcrib.servers.sessions.negotiation import Era
from toolcrib.servers.sessions.session import Session
from toolcrib.servers.starts import Start
from toolcrib.tasks import being_cancelled

logger = logging.getLogger(__name__)


class Witness(Protocol):
    """The supervisor, as seen from the life it watches."""

    def began(self, session: Session, definitions: list[Any]) -> None:
        """The server is ready, with these tools."""

    def ending(self, error: ToolcribError) -> None:
        """It is over; what is left of the server is being cleared away."""

    def relisted(self, definitions: list[Any]) -> None:
        """The server's tools changed."""

    def rated(self, complaint: str | None) -> None:
        """Health speaks; None is well."""

    def counted_junk(self, count: int) -> None:
        """So many lines on stdout were no messages."""


class _DiedOnProbe(Exception):
    """The process ended when it was asked which eras it speaks."""


class Life:
    """Everything between one start and one end. `run` is the task that owns the connection."""

    def __init__(
        self,
        entry: ServerEntry,
        connector: OpenSession,
        context: SupervisorContext,
        witness: Witness,
        refresher: ListRefresher | None = None,
    ) -> None:
        self._entry = entry
        self._connector = connector
        self._with = context
        self._witness = witness
        self._refresher = refresher or ListRefresher()
        self._slot: Start | None = None
        self._group: int | None = None

    async def run(self, era: Era | None) -> ToolcribError:
        """Live; returns why it ended. Cancelling ends the server too."""
        try:
            async with AsyncExitStack() as stack:
                session, definitions = await self._started(stack, era)
                self._witness.began(session, definitions)
                error = await self._until_over(session)
                self._witness.ending(error)
                return error
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            # What a transport raises while it is closed may stand in place of the cancellation.
            if being_cancelled():
                raise asyncio.CancelledError from error
            return self._reason(error)

    def _reason(self, error: BaseException) -> ToolcribError:
        if isinstance(error, ToolcribError):
            return error
        shortage = shortage_of(error)
        if shortage is not None:
            return shortage
        if isinstance(error, asyncio.CancelledError):
            return StartFailed(f"{self._entry.name} failed: its connection was cancelled from within.")
        logger.error("server %s failed in an unexpected way", self._entry.name, exc_info=error)
        return StartFailed(f"{self._entry.name} failed: {type(error).__name__}: {error}")

    async def _started(self, stack: AsyncExitStack, era: Era | None) -> tuple[Session, list[Any]]:
        """A session and its tools; a server that dies on the probe is started again without it.

        For that it waits its turn anew: most that die so are broken, and others should not wait for it twice.
        """
        if era is None:
            try:
                return await self._start(stack, None)
            except _DiedOnProbe:
                era = "legacy"
        return await self._start(stack, era)

    async def _start(self, stack: AsyncExitStack, era: Era | None) -> tuple[Session, list[Any]]:
        name, patience = self._entry.name, self._entry.start_timeout
        async with self._with.slots.taken() as self._slot:
            try:
                async with asyncio.timeout(patience):
                    session = await self._connect(stack, era)
                    return session, await session.list_tools(timeout=patience)
            except TimeoutError:
                raise StartFailed(
                    f"{name} was not ready within {patience:g} s.",
                    hint=f"See `toolcrib logs {name}`; raise timeouts.start if it is merely slow.",
                ) from None

    async def _connect(self, stack: AsyncExitStack, era: Era | None) -> Session:
        try:
            return await stack.enter_async_context(self._opened(era))
        except ConnectionLost:
            if era is not None:
                raise
            raise _DiedOnProbe from None

    def _opened(self, era: Era | None) -> AbstractAsyncContextManager[Session]:
        return self._connector(
            era=era, on_notice=self._noticed, on_junk=self._counted_junk, on_spawn=self._spawned
        )

    def kill(self) -> None:
        """End the server's processes at once, when its transport does not."""
        if self._group is not None:
            signal_group(self._group, signal.SIGKILL)

    def _spawned(self, pid: int) -> None:
        self._group = pid
        if self._slot is not None:
            self._slot.uses(pid)

    def _counted_junk(self, count: int) -> None:
        if self._slot is not None:
            self._slot.raves()
        self._witness.counted_junk(count)

    def _noticed(self, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/tools/list_changed":
            self._refresher.ask()
        self._with.listener.noticed(self._entry.name, method, params)

    async def _until_over(self, session: Session) -> ToolcribError:
        """Wait for the connection's end, or for health to end it."""
        health = watch_health(
            session, self._entry, self._with.clock, self._with.liveness_interval, self._witness.rated
        )
        refresh = self._refresher.run(session, self._witness.relisted, self._witness.rated)
        return await first_of(session.lost, asyncio.ensure_future(health), asyncio.ensure_future(refresh))


async def first_of(
    given: asyncio.Future[ToolcribError], *tasks: asyncio.Future[ToolcribError]
) -> ToolcribError:
    """The first result; the tasks that are not done by then are cancelled, `given` is left alone."""
    try:
        await asyncio.wait({given, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        return next(future for future in (given, *tasks) if future.done()).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
