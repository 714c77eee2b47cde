"""Keeps one server running: starts it, checks it, and restarts it after a failure or reports why not. Has its
states and reasons ("Stopped by the user.", "Asleep"), and the time that it has to end.

One task owns the connection; calls may come from any task. A failure never affects another server.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from typing import Any

from toolcrib.errors import (
    AuthRequired,
    CallTimeout,
    ConnectionLost,
    NotDelivered,
    NotTrusted,
    StartFailed,
    ToolcribError,
)
from toolcrib.schema.servers import CachedTools, ServerEntry, ServerState, ServerStatus
from toolcrib.serverkit.readiness import Lack
from toolcrib.servers.health import FLOODS, Health, SilenceTimer, watch_health
from toolcrib.servers.ports import OpenSession, SupervisorContext
from toolcrib.servers.processes.child import shortage_of
from toolcrib.servers.processes.log import LAST_OUTPUT, log_size, slow_start
from toolcrib.servers.processes.orphans import signal_group
from toolcrib.servers.restarts import HOPELESS as HOPELESS
from toolcrib.servers.restarts import RestartBudget, not_ready
from toolcrib.servers.sessions.negotiation import Era, era_of
from toolcrib.servers.sessions.peer import OnProgress
from toolcrib.servers.sessions.session import CALL, NoHandshake, Session
from toolcrib.servers.starts import StartSlot
from toolcrib.servers.tool_list import DefinitionCheck, ListRefresher, ToolList
from toolcrib.tasks import being_cancelled, end_within, first_of

READINESS_INTERVAL = 10.0
"""Seconds between two questions to a server that tells what it needs."""
READINESS_TIMEOUT = 10.0

logger = logging.getLogger(__name__)

OFFER_AFTER = 0.5
"""Seconds after which a starting server offers its cached tools; most are ready sooner."""
CLOSE_DEADLINE = 8.0
"""Seconds a server has to end; a process needs at most seven, see `processes/termination.py`."""
INSIST_DEADLINE = 1.0
"""Seconds after a second cancellation; then its processes are killed."""
OWNER_DEADLINE = CLOSE_DEADLINE + INSIST_DEADLINE + 1.0
NUDGE_PAUSE = 5.0
"""Seconds between retries that a call may trigger."""


class _ExitedOnProbe(Exception):
    """The process ended when probed for its protocol era."""


class Connection:
    """`run` is the task that owns the connection."""

    def __init__(
        self,
        entry: ServerEntry,
        connector: OpenSession,
        context: SupervisorContext,
        listener: Supervisor,
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
                self._with.tell(
                    self._entry.name, "Exited when asked for its protocol version. Trying the older one."
                )
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
        self._with.tell(self._entry.name, f"Started, process {pid}.")
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
            await first_of(pause, asyncio.ensure_future(self._asked_again.wait()))
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
        tasks = [asyncio.ensure_future(watch) for watch in watches]
        try:
            await asyncio.wait({session.lost, *tasks}, return_when=asyncio.FIRST_COMPLETED)
            return next(future for future in (session.lost, *tasks) if future.done()).result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class Supervisor:
    """Owns one server's connection; an untrusted server has a status and is never started."""

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
        self._untrusted = distrust
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
        self.listed = ToolList()
        self._offered = False
        self._wanted = asyncio.Event()
        self._hurry = asyncio.Event()
        self._changed = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None
        self._connection: Connection | None = None
        self._connecting: asyncio.Task[ToolcribError] | None = None
        self._abandoned = asyncio.Event()
        self._last_start = float("-inf")
        self._ready_since: float | None = None
        self._lost_at: float | None = None
        self._first_start_over = False
        self._health = Health(entry)
        self._lacks = False

    @property
    def session(self) -> Session | None:
        session = self._session
        return None if session is None or session.lost.done() else session

    @property
    def crashes(self) -> int:
        """Failures within the restart policy's window."""
        return self._budget.crashes

    def open(self, *, asleep: bool = False) -> None:
        """Start supervising. `asleep` starts the server with the first call and offers its cached tools."""
        if self._untrusted is not None:
            self._set(ServerState.NEEDS_TRUST, reason=self._untrusted.message, hint=self._untrusted.hint)
            return
        self._owner = asyncio.create_task(self._supervise(), name=f"server {self.entry.name}")
        if asleep and self.cached is not None:
            self._offer_stale(self.cached)
            self._set(
                ServerState.READY,
                reason="Asleep: starts with the first call.",
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
        """Supervise without starting: the server is off."""
        self._owner = asyncio.create_task(self._supervise(), name=f"server {self.entry.name}")
        self._set(ServerState.DISABLED, hint=hint)

    async def close(self, reason: str = "Stopped together with Toolcrib.") -> None:
        if self._owner is not None:
            connecting = self._connecting
            connected = connecting is not None and not connecting.done()
            await end_within(self._owner, OWNER_DEADLINE)
            if connected:
                self._with.tell(self.entry.name, reason)

    def start(self) -> None:
        """Start now and forget earlier failures; a running server is unchanged."""
        if self._session is not None:
            return
        if self._untrusted is not None:
            raise self._untrusted
        self._budget.reset()
        self._set(ServerState.STARTING)
        if self._lacks:
            self.check_readiness()
        self._wanted.set()
        self._hurry.set()

    def check_readiness(self) -> None:
        """Something that the server may need has changed, such as the accounts."""
        if self._connection is not None:
            self._connection.check_readiness()

    async def stop(self, reason: str = "Stopped by the user.") -> None:
        """End the server; it stays off until `start`."""
        self._wanted.clear()
        self._hurry.set()
        await self._disconnect()
        self._with.tell(self.entry.name, reason)
        self._withdraw()
        self._set(
            ServerState.DISABLED, reason=reason, hint=f"Start it with `toolcrib start {self.entry.name}`."
        )

    async def restart(self, reason: str = "Restarted by the user.") -> None:
        """End the server, if running, and start it, forgetting earlier failures."""
        await self._disconnect()
        self._with.tell(self.entry.name, reason)
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
        """Call a tool; waits briefly for a restarting server, and retries only if `repeatable`.

        `check` gets the tool's current definition before a call that had to wait is sent.
        """
        session = self._session
        if check is not None and self.listed.refresher.due and session is not None:
            await self.listed.refreshed(session, tool, check)
        if session is None or session.lost.done():
            session = await self.ready()
            self.listed.check(tool, check)
        params = {"name": tool, "arguments": arguments}
        monotonic = self._with.clock.monotonic
        began = monotonic()
        watch = None if on_progress is None else SilenceTimer(monotonic, on_progress)
        reported = None if watch is None else watch.on_progress
        try:
            answer = await session.ask(CALL, params, timeout=timeout, on_progress=reported, check=check)
        except CallTimeout:
            if self._health.times.took(monotonic() - began if watch is None else watch.seconds):
                self._update_health()
            raise
        except AuthRequired as error:
            session.lose(error)  # every other call would fail in the same way
            raise
        except ConnectionLost as error:
            if not repeatable and not isinstance(error, NotDelivered):
                raise
        else:
            if self._health.times.took(monotonic() - began if watch is None else watch.seconds):
                self._update_health()
            return answer
        session = await self.ready(after=session)
        self.listed.check(tool, check)
        return await session.ask(CALL, params, timeout=timeout, on_progress=on_progress, check=check)

    async def ready(self, *, after: Session | None = None) -> Session:
        """The live session. Waits for a start, and briefly for a restart; raises `ServerNotReady`.

        `after` is a session that has just failed and may not be marked as lost yet.
        """
        self._wake()
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
        """A first start gets its full timeout plus `call_wait`; a restart only `call_wait`."""
        waits = self.status.state in (ServerState.STARTING, ServerState.READY)
        starts_first = waits and not self._first_start_over
        return self._with.call_wait + (self.entry.start_timeout if starts_first else 0)

    def _shorten(self, deadline: asyncio.Timeout) -> None:
        """Once a first start failed, wait no longer than for a restart."""
        soon = asyncio.get_running_loop().time() + self._with.call_wait
        if self.status.state is ServerState.BACKOFF and soon < (deadline.when() or 0):
            deadline.reschedule(soon)

    async def settled(self) -> ServerStatus:
        """Wait until the server is no longer starting."""
        while self.status.state is ServerState.STARTING:
            await self._changed.wait()
        return self.status

    async def until_listed(self) -> None:
        """Wait until the server offers tools or is no longer starting."""
        while self.status.state is ServerState.STARTING and not self.status.tools:
            await self._changed.wait()

    # The owner task.

    async def _supervise(self) -> None:
        while True:
            await self._wanted.wait()
            error = await self._connect_once()
            if error is not None:
                await self._after(error)

    async def _connect_once(self) -> ToolcribError | None:
        """Connect once; returns why it ended, or None if that was requested."""
        self._last_start = self._with.clock.monotonic()
        self._ready_since = self._lost_at = None
        self._lacks = False
        if self.status.state not in (ServerState.STARTING, ServerState.FAILED):
            self._set(ServerState.STARTING)
        self.listed = ToolList()
        self._health = Health(self.entry)
        self._connection = Connection(self.entry, self._connector, self._with, self, self.listed.refresher)
        self._connecting = asyncio.create_task(
            self._connection.run(self._era), name=f"connection to {self.entry.name}"
        )
        self._abandoned.clear()
        try:
            return await self._outcome(self._connecting)
        except asyncio.CancelledError:
            await self._disconnect()
            raise
        finally:
            self._session = None

    async def _outcome(self, connecting: asyncio.Task[ToolcribError]) -> ToolcribError | None:
        """Why it ended; None if requested, or if it did not end and was abandoned."""
        abandoned = asyncio.ensure_future(self._abandoned.wait())
        try:
            await asyncio.wait({connecting, abandoned}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            abandoned.cancel()
        return None if not connecting.done() or connecting.cancelled() else connecting.result()

    async def _after(self, error: ToolcribError) -> None:
        now, self._first_start_over = self._with.clock.monotonic(), True
        lost_at = now if self._lost_at is None else self._lost_at
        ready_for = lost_at - self._ready_since if self._ready_since is not None else 0.0
        decision = self._budget.after(error, now=now, ready_for=ready_for)
        self.error = error
        moment = self._with.clock.now().isoformat(timespec="seconds")
        self.status = replace(self.status, last_failure=f"{moment} {error.message}")
        logger.info("server ended", extra={"server": self.entry.name, "reason": error.message})
        again = "Not started again." if decision.delay is None else f"Next try in {decision.delay:.1f} s."
        self._with.tell(self.entry.name, f"{error.message.partition(LAST_OUTPUT)[0]} {again}")
        details: dict[str, Any] = {"reason": error.message, "hint": error.hint}
        if decision.state is not ServerState.BACKOFF:
            self._withdraw()
        elif decision.delay is not None:
            retry_at = self._with.clock.now() + timedelta(seconds=decision.delay)
            details |= {"retry_at": retry_at.isoformat(timespec="milliseconds"), "stale_tools": self._offered}
            details["restarts"] = self.status.restarts + 1
        self._set(decision.state, **details)
        if decision.delay is None:
            self._wanted.clear()
            return
        self._hurry.clear()
        pause = asyncio.ensure_future(self._with.clock.sleep(decision.delay))
        await first_of(pause, asyncio.ensure_future(self._hurry.wait()))

    async def _disconnect(self) -> None:
        """End the server within a bounded time, killing it if necessary."""
        self._lacks = False
        connection, connecting = self._connection, self._connecting
        if connection is None or connecting is None or connecting.done():
            return
        ended = await end_within(connecting, CLOSE_DEADLINE, INSIST_DEADLINE)
        self._session = None
        if ended:
            return
        connection.kill()
        logger.error("server did not end and was abandoned", extra={"server": self.entry.name})
        self._abandoned.set()

    async def began(self, session: Session, definitions: list[Any]) -> None:
        self._opened(session)
        await self._offer_list(definitions)
        self._session = session
        self._with.tell(self.entry.name, self._ready_text(session, len(definitions)))
        self._lacks = False
        self.error = None
        self._ready_since = self._with.clock.monotonic()
        self._set(
            ServerState.READY,
            pid=session.pid,
            last_connected=self._with.clock.now().isoformat(timespec="seconds"),
            stale_tools=False,
        )
        self._update_health()

    def _ready_text(self, session: Session, tools: int) -> str:
        """The last start took this long; a server that got what it lacked was ready for longer."""
        info, version = session.agreement.server_info, self.status.version
        name = " ".join(str(part) for part in (info.get("name"), version) if part)
        seconds = self._with.clock.monotonic() - self._last_start
        after = "Ready again" if self._lacks else f"Ready after {seconds:.1f} s"
        offers = f"{tools} tool{'' if tools == 1 else 's'}"
        return f"{after}: {', '.join([*([name] if name else []), f'protocol {self.status.era}', offers])}."

    def lacking(self, session: Session, lack: Lack) -> None:
        """Offer no tools until the server has what it needs; it keeps running and is asked again."""
        self._opened(session)
        self._with.tell(self.entry.name, f"Not ready: {lack.message}")
        self._session = None
        self._lacks = True
        self._withdraw()
        details = {"reason": lack.message, "hint": lack.hint, "needs": lack.needs, "pid": session.pid}
        self._set(ServerState.NEEDS_CONFIG, **details)

    def _opened(self, session: Session) -> None:
        agreement = session.agreement
        told = agreement.server_info.get("version")
        version = told if isinstance(told, str) else None
        self.status = replace(self.status, era=agreement.version, version=version, unresponsive=False)
        self._era = agreement.era
        self._first_start_over = True

    def ending(self, error: ToolcribError) -> None:
        """The connection is lost; new calls wait while the server is cleaned up."""
        self._session = None
        self._lost_at = self._with.clock.monotonic()  # cleaning up may take long
        self._with.listener.staled(self.entry.name)
        self._set(ServerState.BACKOFF, reason=error.message, hint=error.hint, stale_tools=self._offered)

    async def relisted(self, definitions: list[Any]) -> None:
        if self._lacks:
            return
        await self._offer_list(definitions)
        self._with.listener.changed(self.status)

    def report_health(self, complaint: str | None, *, unresponsive: bool = False) -> None:
        self._health.complaint = complaint
        self.status = replace(self.status, unresponsive=unresponsive)
        self._update_health()

    def _update_health(self) -> None:
        complaint = self._health.text
        if self._session is None or self.status.reason == (complaint or ""):
            return
        state = ServerState.READY if complaint is None else ServerState.DEGRADED
        self._set(state, reason=complaint or "", pid=self.status.pid)

    def flooded(self, flooding: bool) -> None:
        self._health.floods = flooding
        self._update_health()

    def counted_junk(self, count: int) -> None:
        self.status = replace(self.status, junk_lines=count)

    async def _offer_list(self, definitions: list[Any]) -> None:
        self._offered = True
        self.listed.take(definitions)
        count = await self._with.listener.list_gradually(self.entry.name, definitions)
        self.status = replace(self.status, tools=count)

    def _offer_stale(self, cached: CachedTools) -> None:
        self._offered = True
        count = self._with.listener.listed(self.entry.name, list(cached.definitions), stale=True)
        self.status = replace(self.status, tools=count)

    def _offer_cached(self) -> None:
        """Offer the cached tools while the server starts; calls wait for it."""
        ended = self._owner is None or self._owner.done()
        if self.cached is None or ended or self._offered or self.status.state is not ServerState.STARTING:
            return
        self._offer_stale(self.cached)
        self._set(ServerState.STARTING, stale_tools=True)

    def _withdraw(self) -> None:
        if self._offered:
            self._offered = False
            self._with.listener.withdrawn(self.entry.name)
        self.status = replace(self.status, tools=0, stale_tools=False)

    def _wake(self) -> None:
        """A call needs the server: start it if asleep, retry now if it is backing off."""
        if self.status.state in HOPELESS:
            return
        self._wanted.set()
        if self._with.clock.monotonic() - self._last_start >= NUDGE_PAUSE:
            self._hurry.set()

    def _set(self, state: ServerState, **details: Any) -> None:
        cleared: dict[str, Any] = {"reason": "", "hint": "", "needs": "", "pid": None, "retry_at": None}
        self.status = replace(self.status, state=state, **{**cleared, **details})
        previous, self._changed = self._changed, asyncio.Event()
        previous.set()
        self._with.listener.changed(self.status)
