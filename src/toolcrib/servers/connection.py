"""One connection to a server, from its start to the reason of its end."""

from __future__ import annotations

import asyncio
import logging
import signal
from contextlib import AsyncExitStack
from typing import Any, Protocol

from toolcrib.errors import CallTimeout, ConnectionLost, StartFailed, ToolcribError
from toolcrib.schema.servers import ServerEntry
from toolcrib.serverkit.readiness import Lack
from toolcrib.servers.health import FLOODS, watch_health
from toolcrib.servers.ports import OpenSession, SupervisorContext
from toolcrib.servers.processes.child import shortage_of
from toolcrib.servers.processes.exit_errors import log_size, slow_start
from toolcrib.servers.processes.orphans import signal_group
from toolcrib.servers.sessions.negotiation import Era
from toolcrib.servers.sessions.session import NoHandshake, Session
from toolcrib.servers.starts import StartSlot
from toolcrib.servers.tool_list import ListRefresher
from toolcrib.tasks import being_cancelled
from toolcrib.tasks import first_of as first_done

logger = logging.getLogger(__name__)

READINESS_INTERVAL = 10.0
"""Seconds between two questions to a server that tells what it needs."""
READINESS_TIMEOUT = 10.0


class ConnectionListener(Protocol):
    """The supervisor, as its connection sees it."""

    async def began(self, session: Session, definitions: list[Any]) -> None:
        """The server is ready and has these tools."""

    def lacking(self, session: Session, lack: Lack) -> None:
        """The server runs, but its tools need something first."""

    def ending(self, error: ToolcribError) -> None:
        """The connection is lost; the server is being cleaned up."""

    async def relisted(self, definitions: list[Any]) -> None:
        """The server's tools changed."""

    def report_health(self, complaint: str | None, *, unresponsive: bool = False) -> None:
        """The result of a health check; None if healthy, `unresponsive` if there was no answer."""

    def flooded(self, flooding: bool) -> None:
        """The server begins or stops to send more than is read."""

    def counted_junk(self, count: int) -> None:
        """The number of stdout lines that were not messages."""


class _ExitedOnProbe(Exception):
    """The process ended when probed for its protocol era."""


class Connection:
    """`run` is the task that owns the connection."""

    def __init__(
        self,
        entry: ServerEntry,
        connector: OpenSession,
        context: SupervisorContext,
        listener: ConnectionListener,
        refresher: ListRefresher | None = None,
    ) -> None:
        self._entry = entry
        self._connector = connector
        self._with = context
        self._listener = listener
        self._refresher = refresher or ListRefresher()
        self._slot: StartSlot | None = None
        self._group: int | None = None
        self._floods = False
        self._asked_again = asyncio.Event()

    def check_readiness(self) -> None:
        """Ask the server now what it needs."""
        self._asked_again.set()

    async def run(self, era: Era | None) -> ToolcribError:
        """Connect and stay connected; returns why it ended. Cancelling ends the server too."""
        try:
            async with AsyncExitStack() as stack:
                session, definitions = await self._started(stack, era)
                lack = await session.find_lack(timeout=READINESS_TIMEOUT)
                if lack is None:
                    await self._listener.began(session, definitions)
                else:
                    self._listener.lacking(session, lack)
                error = await self._until_over(session, lack)
                self._listener.ending(error)
                return error
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            # An error raised while a transport closes may replace the cancellation.
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
            return StartFailed(f"{self._entry.name} failed: its connection was cancelled internally.")
        logger.error("server %s failed in an unexpected way", self._entry.name, exc_info=error)
        return StartFailed(f"{self._entry.name} failed: {type(error).__name__}: {error}")

    async def _started(self, stack: AsyncExitStack, era: Era | None) -> tuple[Session, list[Any]]:
        """A session and its tools; a server that exits on the probe is started again without it.

        The second start waits for a new slot: most such servers are broken and should not delay others again.
        """
        if era is None:
            try:
                return await self._start(stack, None)
            except _ExitedOnProbe:
                era = "legacy"
        return await self._start(stack, era)

    async def _start(self, stack: AsyncExitStack, era: Era | None) -> tuple[Session, list[Any]]:
        name, patience = self._entry.name, self._entry.start_timeout
        log = self._with.log_path(name)
        before = log_size(log)
        async with self._with.slots.taken() as self._slot:
            try:
                async with asyncio.timeout(patience):
                    session = await self._connect(stack, era)
                    return session, await session.list_tools(timeout=patience)
            except TimeoutError:
                message = f"{name} was not ready within {patience:g} s."
                if self._floods:
                    raise StartFailed(f"{message} {FLOODS}") from None
                raise slow_start(name, message, log, before) from None
            except NoHandshake as error:
                raise slow_start(name, error.message, log, before) from None

    async def _connect(self, stack: AsyncExitStack, era: Era | None) -> Session:
        opened = self._connector(
            era=era,
            on_notice=self._noticed,
            on_junk=self._counted_junk,
            on_flood=self._flooded,
            on_spawn=self._spawned,
        )
        try:
            return await stack.enter_async_context(opened)
        except ConnectionLost:
            if era is not None:
                raise
            raise _ExitedOnProbe from None

    def kill(self) -> None:
        """Kill the server's processes, if its transport does not end them."""
        if self._group is not None:
            signal_group(self._group, signal.SIGKILL)

    def _spawned(self, pid: int) -> None:
        self._group = pid
        if self._slot is not None:
            self._slot.uses(pid)

    def _counted_junk(self, count: int) -> None:
        if self._slot is not None:
            self._slot.wrote_junk()
        self._listener.counted_junk(count)

    def _flooded(self, flooding: bool) -> None:
        self._floods = flooding
        self._listener.flooded(flooding)

    def _noticed(self, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/tools/list_changed":
            self._refresher.ask()
        self._with.listener.noticed(self._entry.name, method, params)

    async def _watch_readiness(self, session: Session, known: Lack | None) -> ToolcribError:
        """Report what the server needs whenever that changes, until cancelled."""
        while True:
            pause = asyncio.ensure_future(self._with.clock.sleep(READINESS_INTERVAL))
            await first_done(pause, asyncio.ensure_future(self._asked_again.wait()))
            if self._asked_again.is_set() and known is not None:
                known = Lack("", "")  # reported again, even if it is still the same
            self._asked_again.clear()
            try:
                lack = await session.find_lack(timeout=READINESS_TIMEOUT)
                if lack == known:
                    continue
                if lack is None:
                    await self._listener.began(session, await session.list_tools(timeout=READINESS_TIMEOUT))
                else:
                    self._listener.lacking(session, lack)
            except (CallTimeout, ConnectionLost):  # health checks tell what follows
                continue
            known = lack

    async def _until_over(self, session: Session, lack: Lack | None) -> ToolcribError:
        """Wait until the connection is lost or a health check ends it."""
        health = watch_health(
            session, self._entry, self._with.clock, self._with.liveness_interval, self._listener.report_health
        )
        refresh = self._refresher.run(session, self._listener.relisted, self._listener.report_health)
        watches = [health, refresh]
        if session.reports_readiness:
            watches.append(self._watch_readiness(session, lack))
        return await first_of(session.lost, *map(asyncio.ensure_future, watches))


async def first_of(
    given: asyncio.Future[ToolcribError], *tasks: asyncio.Future[ToolcribError]
) -> ToolcribError:
    """The first result; unfinished tasks are cancelled, `given` is not."""
    try:
        await asyncio.wait({given, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        return next(future for future in (given, *tasks) if future.done()).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
