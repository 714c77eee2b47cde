"""Passes changes of servers on to the registry, the tool cache and the event bus. Decides when definitions of
new tools are scanned, how many at once, and that the tools are held until then.

Tool definitions that were never approved are screened: those with findings wait for a review. A long
list is scanned in a thread, portion by portion; until its turn has come, a new tool is held.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from toolcrib.clock import Clock
from toolcrib.config.review import is_bundled, launch_hash, launch_of
from toolcrib.errors import ConfigError
from toolcrib.events import Bus
from toolcrib.schema.events import Event, ServerChanged, ServerLogged, ServerNoticed
from toolcrib.schema.servers import CachedTools, ServerEntry, ServerState, ServerStatus
from toolcrib.schema.tools import UNCHECKED, Tool, ToolDefinition
from toolcrib.servers.pool import Pool
from toolcrib.servers.ports import ToolCache
from toolcrib.tasks import TaskSet, cancel_and_wait
from toolcrib.tools.definitions import Problem
from toolcrib.tools.registry import Registry

if TYPE_CHECKING:
    from toolcrib.telemetry.instruments import Instruments

logger = logging.getLogger(__name__)

STEPS_AT_ONCE = 3
"""Steps of a cached list that are taken at once: up to a few hundred tools."""
MAX_LOGGED = 50
"""Unusable tools of one list that are logged."""

MOST_AT_ONCE = 20
LONGEST_AT_ONCE = 50_000
"""Characters; scanning them takes some 20 milliseconds."""
PORTION = 500
"""Tools of a long list that are scanned before they are registered."""
MOST_KEPT = 100_000
PATIENCE = 2.0


class ServerEvents:
    """The listener of every supervisor."""

    def __init__(
        self,
        registry: Registry,
        cache: ToolCache,
        bus: Bus[Event],
        clock: Clock,
        telemetry: Instruments | None = None,
    ) -> None:
        self._registry = registry
        self._cache = cache
        self._bus = bus
        self._clock = clock
        self._telemetry = telemetry
        self.pool: Pool | None = None
        """Set once the pool exists; nothing happens to a server before that."""
        self.until_checked: Callable[[str], Awaitable[None]] = _at_once
        """Waits until new tools of a server have been checked, within a limit."""
        self.entries: Mapping[str, ServerEntry] = {}
        self._unfinished = TaskSet()
        self._turns: dict[str, asyncio.Lock] = {}
        """A server's lists are registered one after another, the newest last."""
        self._since: dict[str, tuple[ServerState, datetime]] = {}

    def since(self, server: str) -> datetime | None:
        """When the server's state last changed; None if it never did."""
        known = self._since.get(server)
        return None if known is None else known[1]

    def last_known(self) -> dict[str, CachedTools]:
        """The last tool lists of the configured servers, even if their entries changed since."""
        lists = ((name, self._cache.last(name)) for name in self.entries)
        return {name: tools for name, tools in lists if tools is not None}

    def adopt(self, entries: Iterable[ServerEntry]) -> tuple[str, ...]:
        """Replace the entries; returns the servers whose enabled tools changed."""
        before, self.entries = self.entries, {entry.name: entry for entry in entries}
        other = [
            name
            for name, entry in self.entries.items()
            if _filters(before.get(name, entry)) != _filters(entry)
        ]
        for name in other:
            self.list_again(name)
        return tuple(other)

    def list_again(self, server: str) -> None:
        """Register a server's current tools again, after a change of which are offered."""
        if self._turn(server).locked():
            self._unfinished.start(self.relist(server), name=f"tools of {server}")
        elif tools := self._registry.snapshot.by_server.get(server):
            definitions, stale = _definitions(tools)
            self.listed(server, definitions, stale=stale)

    async def relist(self, server: str) -> None:
        """Like `list_again`, in short steps, after a list that is just being registered."""
        async with self._turn(server):
            if tools := self._registry.snapshot.by_server.get(server):
                await _take_steps(self._listing(server, *_definitions(tools)))

    async def recheck(self, server: str, hashes: Collection[str]) -> None:
        """Enable those of the tools with these hashes that need no review."""
        async with self._turn(server):
            include, exclude = _filters(self.entries[server]) if server in self.entries else ((), ())
            self._registry.recheck(server, hashes, include=include, exclude=exclude)

    async def close(self) -> None:
        await cancel_and_wait(*self._unfinished)

    def changed(self, status: ServerStatus) -> None:
        """Publish the new state of a server."""
        known = self._since.get(status.name)
        if known is None or known[0] is not status.state:
            self._since[status.name] = (status.state, self._clock.now())
        self._registry.mark_silent(status.name, status.unresponsive)
        if status.needs:
            self._cache.forget(status.name)  # its tools cannot be offered before it runs again
        self._bus.publish(ServerChanged(status))
        if self._telemetry is not None:
            self._telemetry.server_changed(status)

    def listed(self, server: str, definitions: list[Any], *, stale: bool) -> int:
        """Register a new tool list; a fresh one is also cached."""
        steps = self._listing(server, definitions, stale)
        for _ in range(STEPS_AT_ONCE):
            try:
                next(steps)
            except StopIteration as end:
                return cast("int", end.value)
        self._unfinished.start(self._finish(steps, server), name=f"tools of {server}")
        return len(definitions)

    async def _finish(self, steps: Generator[None, None, int], server: str) -> None:
        async with self._turn(server):
            await _take_steps(steps)

    async def list_gradually(self, server: str, definitions: list[Any]) -> int:
        """Register a new tool list in short steps."""
        async with self._turn(server):
            count = await _take_steps(self._listing(server, definitions, stale=False))
        await self.until_checked(server)
        return count

    def _turn(self, server: str) -> asyncio.Lock:
        return self._turns.setdefault(server, asyncio.Lock())

    def _listing(self, server: str, definitions: list[Any], stale: bool) -> Generator[None, None, int]:
        entry = self.entries.get(server)
        try:
            problems = yield from self._registry.put_in_steps(
                server,
                "mcp",
                definitions,
                stale=stale,
                include=entry.include_tools if entry else (),
                exclude=entry.exclude_tools if entry else (),
                # A developer changes the tools all the time; `watch` is part of what was approved.
                pinned=entry is not None and not is_bundled(entry.raw) and not entry.watch,
                launch=launch_hash(launch_of(entry.raw)) if entry is not None else "",
            )
        except ConfigError as error:
            logger.warning("tools refused", extra={"server": server, "reason": error.message})
            return 0
        _log_problems(server, problems)
        if not stale:
            self._remember(server, definitions)
        return len(self._registry.snapshot.by_server.get(server, ()))

    def staled(self, server: str) -> None:
        """Mark the tools of an unavailable server as stale."""
        self._registry.mark_stale(server)

    def withdrawn(self, server: str) -> None:
        """Remove the tools of a server."""
        self._registry.withdraw(server)

    def forget(self, server: str) -> None:
        """Forget a server that is no longer configured, and its cached tools."""
        self._cache.forget(server)
        self._since.pop(server, None)
        self._turns.pop(server, None)
        if self._telemetry is not None:
            self._telemetry.server_removed(server)

    def noticed(self, server: str, method: str, params: dict[str, Any]) -> None:
        """Publish a notification of a server."""
        self._bus.publish(ServerNoticed(server, method, params))
        if method == "notifications/message":
            self._bus.publish(ServerLogged(server, str(params.get("level", "info")), params.get("data")))

    def _remember(self, server: str, definitions: list[Any]) -> None:
        if self.pool is None or server not in self.pool:
            return  # removed while its list was being registered
        status = self.pool.status(server)
        self._cache.save(
            CachedTools(
                server=server,
                fingerprint=self.pool.fingerprint(server),
                protocol=status.era or "",
                version=status.version,
                definitions=tuple(definition for definition in definitions if isinstance(definition, dict)),
                saved_at=self._clock.now(),
            )
        )


async def _at_once(server: str) -> None:
    """Nothing is checked."""


async def _take_steps(steps: Generator[None, None, int]) -> int:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast("int", end.value)
        await asyncio.sleep(0)


def _definitions(tools: Iterable[Tool]) -> tuple[list[Any], bool]:
    """The definitions as listed, and whether they are cached ones."""
    tools = tuple(tools)
    return [dict(tool.definition.raw) for tool in tools], any(tool.stale for tool in tools)


def _log_problems(server: str, problems: Sequence[Problem]) -> None:
    for problem in problems[:MAX_LOGGED]:
        logger.warning(
            "tool left out", extra={"server": server, "tool": problem.tool, "reason": problem.reason}
        )
    if len(problems) > MAX_LOGGED:
        logger.warning("more tools left out", extra={"server": server, "count": len(problems) - MAX_LOGGED})


def _filters(entry: ServerEntry) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return entry.include_tools, entry.exclude_tools


class Screening:
    """A `DefinitionScreen`; `recheck` registers the tools of a server that were scanned, by hash."""

    def __init__(
        self, registry: Registry, recheck: Callable[[str, Collection[str]], Awaitable[None]]
    ) -> None:
        self._registry = registry
        self._recheck = recheck
        self._found: dict[tuple[str, str], str] = {}
        """What was found first, by server and hash; empty if nothing was."""
        self._waiting: dict[str, dict[str, ToolDefinition]] = {}
        """What a thread is to scan, by server and hash."""
        self._scans: dict[str, asyncio.Task[None]] = {}

    def __call__(self, server: str, new: Sequence[tuple[ToolDefinition, str]]) -> Mapping[str, str]:
        """The tools that the user has to review first, each with the reason."""
        unknown = {hash_: definition for definition, hash_ in new if (server, hash_) not in self._found}
        if unknown and (server in self._scans or _is_long(unknown.values())):
            self._scan_later(server, unknown)
        elif unknown:
            self._note(server, unknown, self._scan(server, unknown))
        found = {definition.name: self._found.get((server, hash_), UNCHECKED) for definition, hash_ in new}
        return {name: reason for name, reason in found.items() if reason}

    async def settle(self) -> bool:
        """Wait until no list is being scanned; False if none was."""
        scans = list(self._scans.values())
        await asyncio.gather(*scans, return_exceptions=True)
        return bool(scans)

    async def until_checked(self, server: str) -> None:
        """Wait for the scan of a server's list, so that it becomes ready with its tools; not long."""
        if scan := self._scans.get(server):
            await asyncio.wait({scan}, timeout=PATIENCE)

    async def close(self) -> None:
        for scan in self._scans.values():
            scan.cancel()
        await self.settle()

    def _scan_later(self, server: str, definitions: Mapping[str, ToolDefinition]) -> None:
        self._waiting.setdefault(server, {}).update(definitions)
        if server not in self._scans:
            self._scans[server] = asyncio.create_task(self._scan_waiting(server), name=f"scan of {server}")

    async def _scan_waiting(self, server: str) -> None:
        """Scan what waits, also what a long list adds meanwhile, and register each portion."""
        waiting = self._waiting[server]
        scanned: set[str] = set()
        try:
            while waiting:
                portion = dict(islice(waiting.items(), PORTION))
                self._note(server, portion, await asyncio.to_thread(self._scan, server, portion))
                for hash_ in portion:
                    waiting.pop(hash_, None)
                scanned.update(portion)
                await self._recheck(server, portion.keys())
            # Once more: a list may have been registered while its last portion was scanned.
            await self._recheck(server, scanned)
        finally:
            del self._scans[server]
            self._waiting.pop(server, None)

    def _scan(self, server: str, definitions: Mapping[str, ToolDefinition]) -> list[str]:
        from toolcrib.tools.scanner import find  # its patterns take long to compile, and few hosts need them

        waiting = self._waiting.get(server, {})
        listed = (definition.name for definition in (*definitions.values(), *waiting.values()))
        own = self._registry.snapshot.names_of(server).union(listed)
        others = self._registry.snapshot.names_beside(server)
        found = (
            next(find(definition.raw, own=own, others=others), None) for definition in definitions.values()
        )
        return ["" if finding is None else f"its definition {finding.what}" for finding in found]

    def _note(self, server: str, scanned: Iterable[str], found: Iterable[str]) -> None:
        if len(self._found) > MOST_KEPT:
            self._found.clear()
        for hash_, reason in zip(scanned, found, strict=True):
            self._found[server, hash_] = reason


def _is_long(definitions: Collection[ToolDefinition]) -> bool:
    if len(definitions) > MOST_AT_ONCE:
        return True
    return sum(len(str(definition.raw)) for definition in definitions) > LONGEST_AT_ONCE
