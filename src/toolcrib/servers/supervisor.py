"""Keeps one server alive: starts it, watches it, tries again after a failure or says why it does not.

One task owns the connection for its whole life; calls may come from any task. Nothing that happens to this
server reaches another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import replace
from datetime import timedelta
from typing import Any

from toolcrib.errors import (
    AuthRequired,
    CallTimeout,
    ConnectionLost,
    NotDelivered,
    NotTrusted,
    ToolcribError,
)
from toolcrib.schema.servers import CachedTools, ServerEntry, ServerState, ServerStatus
from toolcrib.servers.budget import RestartBudget
from toolcrib.servers.connection import Life
from toolcrib.servers.latency import Pace, Stopwatch
from toolcrib.servers.listed import DefinitionCheck, Listed
from toolcrib.servers.ports import OpenSession, SupervisorContext
from toolcrib.servers.refusals import HOPELESS as HOPELESS
from toolcrib.servers.refusals import not_ready
from toolcrib.servers.sessions.negotiation import Era, era_of
from toolcrib.servers.sessions.peer import OnProgress
from toolcrib.servers.sessions.session import Session
from toolcrib.tasks import end_within, first_of

logger = logging.getLogger(__name__)

OFFER_AFTER = 0.5
"""Seconds after which a server that is still starting is listed with the tools it had last time. Most are
ready sooner, and are spared the second listing."""
CLOSE_DEADLINE = 8.0
"""Seconds a server has to end; a process takes seven at most, see `processes/ending.py`."""
INSIST_DEADLINE = 1.0
"""Seconds it has once it is cancelled a second time; afterwards it is killed and waited for no longer."""
OWNER_DEADLINE = CLOSE_DEADLINE + INSIST_DEADLINE + 1.0
NUDGE_PAUSE = 5.0
"""A call may hurry a retry, but not more often than this."""


class Supervisor:
    """The owner of one server's connection; a server that nobody agreed to is known and never started."""

    def __init__(
        self,
        entry: ServerEntry,
        connector: OpenSession,
        context: SupervisorContext,
        *,
        cached: CachedTools | None = None,
        distrust: NotTrusted | None = None,
    ) -> None:
        self.entry = entry
        self._distrust = distrust
        self.error: ToolcribError | None = None
        self.status = ServerStatus(
            name=entry.name, type=entry.type, enabled=entry.enabled, state=ServerState.DISABLED
        )
        self._connector = connector
        self._with = context
        self._budget = RestartBudget(entry.restart)
        self.cached = cached
        self._era: Era | None = entry.era or (era_of(cached.protocol) if cached is not None else None)
        self._session: Session | None = None
        self.listed = Listed()
        self._offered = False
        self._wanted = asyncio.Event()
        self._hurry = asyncio.Event()
        self._changed = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None
        self._life: Life | None = None
        self._living: asyncio.Task[ToolcribError] | None = None
        self._abandoned = asyncio.Event()
        self._last_start = float("-inf")
        self._ready_since: float | None = None
        self._was_ready = False
        self._health: str | None = None
        self._pace = Pace(entry)

    @property
    def session(self) -> Session | None:
        """The live session, if there is one right now."""
        session = self._session
        return None if session is None or session.lost.done() else session

    @property
    def crashes(self) -> int:
        """Failures within the window of its restart policy."""
        return self._budget.crashes

    def open(self, *, asleep: bool = False) -> None:
        """Begin to look after the server. `asleep` waits for the first call, offering the cached tools."""
        if self._distrust is not None:
            self._set(ServerState.NEEDS_TRUST, reason=self._distrust.message, hint=self._distrust.hint)
            return
        self._owner = asyncio.create_task(self._own(), name=f"server {self.entry.name}")
        if asleep and self.cached is not None:
            self._offer(list(self.cached.definitions), stale=True)
            self._set(
                ServerState.READY,
                reason="asleep: starts with the first call",
                era=self.cached.protocol,
                version=self.cached.version,
                stale_tools=True,
            )
            return
        self._set(ServerState.STARTING)
        self._wanted.set()
        if self.cached is not None:
            asyncio.get_running_loop().call_later(OFFER_AFTER, self._offer_cached)

    def rest(self, hint: str = "") -> None:
        """Look after the server without starting it: it is off."""
        self._owner = asyncio.create_task(self._own(), name=f"server {self.entry.name}")
        self._set(ServerState.DISABLED, hint=hint)

    async def close(self) -> None:
        """End the server and stop looking after it."""
        if self._owner is not None:
            await end_within(self._owner, OWNER_DEADLINE)

    def start(self) -> None:
        """Start now, with a clean slate; a server that is up stays as it is."""
        if self._session is not None:
            return
        if self._distrust is not None:
            raise self._distrust
        self._budget.reset()
        self._set(ServerState.STARTING)
        self._wanted.set()
        self._hurry.set()

    async def stop(self, reason: str = "stopped by hand") -> None:
        """End the server and leave it off until `start`."""
        self._wanted.clear()
        self._hurry.set()
        await self._end_life()
        self._withdraw()
        self._set(ServerState.DISABLED, reason=reason, hint=f"`toolcrib start {self.entry.name}` starts it.")

    async def restart(self) -> None:
        """End the server, if it runs, and start it again with a clean slate."""
        await self._end_life()
        self.start()

    async def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        timeout: float | None,
        on_progress: OnProgress | None = None,
        repeatable: bool = False,
        check: DefinitionCheck | None = None,
    ) -> dict[str, Any]:
        """Call a tool; waits briefly for a restarting server, and repeats only what may be repeated.

        `check` sees the tool's definition in the newest list before a call that had to wait is sent.
        """
        session = self._session
        if check is not None and self.listed.refresher.due and session is not None:
            await self.listed.refreshed(session, tool, check)
        if session is None or session.lost.done():
            session = await self.ready()
            self.listed.check(tool, check)
        monotonic = self._with.clock.monotonic
        began = monotonic()
        watch = None if on_progress is None else Stopwatch(monotonic, on_progress)
        heard = None if watch is None else watch.told
        try:
            answer = await session.call_tool(tool, arguments, timeout=timeout, on_progress=heard, check=check)
        except CallTimeout:
            if self._pace.took(monotonic() - began if watch is None else watch.seconds):
                self._judge()
            raise
        except AuthRequired as error:
            session.lose(error)  # every other call would meet the same refusal
            raise
        except ConnectionLost as error:
            if not repeatable and not isinstance(error, NotDelivered):
                raise
        else:
            if self._pace.took(monotonic() - began if watch is None else watch.seconds):
                self._judge()
            return answer
        session = await self.ready(after=session)
        self.listed.check(tool, check)
        return await session.call_tool(tool, arguments, timeout=timeout, on_progress=on_progress, check=check)

    async def ready(self, *, after: Session | None = None) -> Session:
        """The live session. Waits for a start, and briefly for a restart; raises `ServerNotReady`.

        `after` is one that has just failed its caller: it may not yet be known to be lost.
        """
        self._rouse()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._patience()) as deadline:
                while self.session in (None, after) and self.status.state not in HOPELESS:
                    await self._changed.wait()
                    self._shorten(deadline)
        session = self.session
        if session is None or session is after:
            raise not_ready(self.status)
        return session

    def _patience(self) -> float:
        """A first start may take its own deadline and some more for its turn; a restart only `call_wait`."""
        starts_first = not self._was_ready and self.status.state in (ServerState.STARTING, ServerState.READY)
        return self._with.call_wait + (self.entry.start_timeout if starts_first else 0)

    def _shorten(self, deadline: asyncio.Timeout) -> None:
        """A first start that failed is waited for no longer than a restart."""
        soon = asyncio.get_running_loop().time() + self._with.call_wait
        if self.status.state is ServerState.BACKOFF and soon < (deadline.when() or 0):
            deadline.reschedule(soon)

    async def settled(self) -> ServerStatus:
        """The status once the server is ready, or waiting longer makes little sense."""
        while self.status.state is ServerState.STARTING:
            await self._changed.wait()
        return self.status

    async def until_listed(self) -> None:
        """Wait until the server offers tools, or is not starting any more."""
        while self.status.state is ServerState.STARTING and not self.status.tools:
            await self._changed.wait()

    # The owner task.

    async def _own(self) -> None:
        while True:
            await self._wanted.wait()
            error = await self._live()
            if error is not None:
                await self._after(error)

    async def _live(self) -> ToolcribError | None:
        """From one start to one end; None when the end was asked for."""
        self._last_start = self._with.clock.monotonic()
        self._ready_since = None
        if self.status.state is not ServerState.STARTING:  # mostly, whoever asked for it has said so
            self._set(ServerState.STARTING)
        self.listed = Listed()
        self._life = Life(self.entry, self._connector, self._with, self, self.listed.refresher)
        self._living = asyncio.create_task(self._life.run(self._era), name=f"life of {self.entry.name}")
        self._abandoned.clear()
        try:
            return await self._outcome(self._living)
        except asyncio.CancelledError:
            await self._end_life()
            raise
        finally:
            self._session = None

    async def _outcome(self, living: asyncio.Task[ToolcribError]) -> ToolcribError | None:
        """How it ended; None when that was asked for, or when it would not end and was abandoned."""
        abandoned = asyncio.ensure_future(self._abandoned.wait())
        try:
            await asyncio.wait({living, abandoned}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            abandoned.cancel()
        return None if not living.done() or living.cancelled() else living.result()

    async def _after(self, error: ToolcribError) -> None:
        now = self._with.clock.monotonic()
        ready_for = now - self._ready_since if self._ready_since is not None else 0.0
        verdict = self._budget.after(error, now=now, ready_for=ready_for)
        self.error = error
        moment = self._with.clock.now().isoformat(timespec="seconds")
        self.status = replace(self.status, last_failure=f"{moment} {error.message}")
        logger.info("server ended", extra={"server": self.entry.name, "reason": error.message})
        if verdict.delay is None:
            self._wanted.clear()
            self._withdraw()
            self._set(verdict.state, reason=error.message, hint=error.hint)
            return
        self._hurry.clear()
        pause = asyncio.ensure_future(self._with.clock.sleep(verdict.delay))
        retry_at = self._with.clock.now() + timedelta(seconds=verdict.delay)
        self._set(
            ServerState.BACKOFF,
            reason=error.message,
            hint=error.hint,
            retry_at=retry_at.isoformat(timespec="milliseconds"),
            restarts=self.status.restarts + 1,
            stale_tools=self._offered,
        )
        await first_of(pause, asyncio.ensure_future(self._hurry.wait()))

    async def _end_life(self) -> None:
        """End the server within a bounded time: one that does not end is killed and waited for no longer."""
        life, living = self._life, self._living
        if life is None or living is None or living.done():
            return
        ended = await end_within(living, CLOSE_DEADLINE, INSIST_DEADLINE)
        self._session = None
        if ended:
            return
        life.kill()
        logger.error("server did not end and was abandoned", extra={"server": self.entry.name})
        self._abandoned.set()

    # What the life tells.

    def began(self, session: Session, definitions: list[Any]) -> None:
        """The server is ready."""
        agreement = session.agreement
        version = agreement.server_info.get("version")
        self._session = session
        self._era = agreement.era
        self.error = None
        self._ready_since = self._with.clock.monotonic()
        self._was_ready = True
        self._health, self._pace = None, Pace(self.entry)
        self.status = replace(
            self.status, era=agreement.version, version=version if isinstance(version, str) else None
        )
        self._offer(definitions)
        self._set(
            ServerState.READY,
            pid=session.pid,
            last_connected=self._with.clock.now().isoformat(timespec="seconds"),
            stale_tools=False,
        )

    def ending(self, error: ToolcribError) -> None:
        """It is over; nobody should be sent there while the rest is cleared away."""
        self._session = None
        self._with.listener.staled(self.entry.name)
        self._set(ServerState.BACKOFF, reason=error.message, hint=error.hint, stale_tools=self._offered)

    def relisted(self, definitions: list[Any]) -> None:
        """The server's tools changed."""
        self._offer(definitions)
        self._with.listener.changed(self.status)

    def rated(self, complaint: str | None) -> None:
        """Health speaks; None is well."""
        self._health = complaint
        self._judge()

    def _judge(self) -> None:
        complaint = self._health or self._pace.complaint
        if self._session is None or self.status.reason == (complaint or ""):
            return
        state = ServerState.READY if complaint is None else ServerState.DEGRADED
        self._set(state, reason=complaint or "", pid=self.status.pid)

    def counted_junk(self, count: int) -> None:
        """So many lines on stdout were no messages."""
        self.status = replace(self.status, junk_lines=count)

    # Small things.

    def _offer(self, definitions: list[Any], *, stale: bool = False) -> None:
        self._offered = True
        if not stale:
            self.listed.take(definitions)
        count = self._with.listener.listed(self.entry.name, definitions, stale=stale)
        self.status = replace(self.status, tools=count)

    def _offer_cached(self) -> None:
        """Offer the tools it had last time while it is still starting; calls of them wait for it."""
        ended = self._owner is None or self._owner.done()
        if self.cached is None or ended or self._offered or self.status.state is not ServerState.STARTING:
            return
        self._offer(list(self.cached.definitions), stale=True)
        self._set(ServerState.STARTING, stale_tools=True)

    def _withdraw(self) -> None:
        if self._offered:
            self._offered = False
            self._with.listener.withdrawn(self.entry.name)
        self.status = replace(self.status, tools=0, stale_tools=False)

    def _rouse(self) -> None:
        """A call needs the server: wake it from sleep, hurry a retry."""
        if self.status.state in HOPELESS:
            return
        self._wanted.set()
        if self._with.clock.monotonic() - self._last_start >= NUDGE_PAUSE:
            self._hurry.set()

    def _set(self, state: ServerState, **details: Any) -> None:
        cleared: dict[str, Any] = {"reason": "", "hint": "", "pid": None, "retry_at": None}
        self.status = replace(self.status, state=state, **{**cleared, **details})
        previous, self._changed = self._changed, asyncio.Event()
        previous.set()
        self._with.listener.changed(self.status)
