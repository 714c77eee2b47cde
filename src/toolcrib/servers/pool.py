"""All servers of a host: one supervisor each, started and closed in parallel. Applies changes of the config,
finds the server of a call, and starts separate instances for sessions.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from typing import Any

from toolcrib.errors import ConfigError, NotTrusted, UnknownServer
from toolcrib.schema.servers import RestartPolicy, ServerEntry, ServerState, ServerStatus
from toolcrib.servers.ports import OpenSession, SupervisorContext, ToolCache, notices_only, without_listener
from toolcrib.servers.sessions.handlers import relayed_client
from toolcrib.servers.sessions.peer import OnProgress
from toolcrib.servers.sessions.session import Session
from toolcrib.servers.supervisor import Supervisor
from toolcrib.servers.tool_list import DefinitionCheck
from toolcrib.servers.transport import traits_of
from toolcrib.suggestions import did_you_mean

TWIN = "older era"
"""The session key of the connection shared by all clients of the older protocol era."""
_TERMINALS = frozenset({"toolcrib.bundled.terminal", "toolcrib.bundled.project"})
"""Run as processes of their own, these start commands for a model."""


class Pool:
    """The supervisors by server name; calls tools for the MCP tool source."""

    def __init__(
        self,
        *,
        connector: Callable[[ServerEntry], OpenSession],
        context: SupervisorContext,
        cache: ToolCache,
        lazy: bool = False,
        distrust: Callable[[ServerEntry], NotTrusted | None] = lambda entry: None,
    ) -> None:
        self._distrust = distrust
        self._connector = connector
        self._with = context
        self._cache = cache
        self._lazy = lazy
        self._supervisors: dict[str, Supervisor] = {}
        self._fingerprints: dict[str, str] = {}
        self._broken: dict[str, ServerStatus] = {}
        self._isolated: dict[tuple[str, str], Supervisor] = {}

    def names(self) -> list[str]:
        """All configured servers, in the order of the file."""
        return [*self._supervisors, *self._broken]

    def statuses(self) -> list[ServerStatus]:
        return [*(supervisor.status for supervisor in self._supervisors.values()), *self._broken.values()]

    def status(self, name: str) -> ServerStatus:
        return self._broken.get(name) or self[name].status

    def fingerprint(self, name: str) -> str:
        """The fingerprint of the entry that the server runs with."""
        return self._fingerprints.get(name, "")

    def __getitem__(self, name: str) -> Supervisor:
        supervisor = self._supervisors.get(name)
        if supervisor is not None:
            return supervisor
        if name in self._broken:
            raise ConfigError(self._broken[name].reason, hint=self._broken[name].hint)
        raise UnknownServer(f"There is no server called {name!r}.", hint=did_you_mean(name, self.names()))

    def __contains__(self, name: object) -> bool:
        return name in self._supervisors or name in self._broken

    async def start_first(
        self, entries: Iterable[ServerEntry], fingerprints: dict[str, str], *, switched_on: bool
    ) -> None:
        """Start the server most likely to be ready first and wait for its process; `apply` starts the others.

        The host does its remaining start-up work while that process loads its program.
        """
        wanted = {entry.name: entry for entry in entries if entry.enabled and not self._distrust(entry)}
        self._fingerprints = self._marks(wanted, fingerprints, switched_on)
        first = next(iter(self._by_prospect(list(wanted))), None)
        if first is None or not switched_on:
            return
        self._add(wanted[first], switched_on)
        if self._supervisors[first].status.state is ServerState.STARTING:
            await self._with.slots.first_process()

    async def apply(
        self,
        entries: Iterable[ServerEntry],
        fingerprints: dict[str, str],
        broken: dict[str, ConfigError],
        *,
        switched_on: bool = True,
    ) -> tuple[str, ...]:
        """Apply a configuration; only changed servers are touched. Returns their names."""
        wanted = {entry.name: entry for entry in entries}
        marks = self._marks(wanted, fingerprints, switched_on)
        changed = [name for name in self._supervisors if self._fingerprints.get(name) != marks.get(name)]
        new = [name for name in wanted if name not in self._supervisors]
        newly_broken = self._note_broken(broken)
        self._fingerprints = marks
        for name in self._by_prospect(new):
            self._add(wanted[name], switched_on)
            await asyncio.sleep(0)
        self._supervisors = {name: self._supervisors[name] for name in {**wanted, **self._supervisors}}
        # In parallel: a server that ends slowly does not delay the others.
        await asyncio.gather(*(self._change(name, wanted.get(name), switched_on) for name in changed))
        self._supervisors = {name: self._supervisors[name] for name in wanted}
        return tuple(dict.fromkeys([*changed, *new, *newly_broken]))

    def _marks(
        self, wanted: dict[str, ServerEntry], fingerprints: dict[str, str], switched_on: bool
    ) -> dict[str, str]:
        """A string for each server that differs if anything about it changed."""
        return {
            name: f"{fingerprints[name]}:{switched_on}{':held' if self._distrust(entry) else ''}"
            for name, entry in wanted.items()
        }

    def _by_prospect(self, names: list[str]) -> list[str]:
        """Servers known to have worked come first, so that broken ones delay no one.

        The rest is shuffled: a broken server near the top of the file is then seldom first.
        """
        known = [name for name in names if self._cache.load(name, self._fingerprints[name]) is not None]
        unknown = [name for name in names if name not in known]
        return [*known, *random.sample(unknown, len(unknown))]

    def call_tool(
        self,
        server: str,
        tool: str,
        arguments: dict[str, Any],
        *,
        timeout: float | None,
        on_progress: OnProgress | None = None,
        session: str | None = None,
        repeatable: bool = False,
        check: DefinitionCheck | None = None,
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        """Call a tool, on the session's own instance if the server is isolated."""
        supervisor = self._supervisors.get(server) or self[server]
        if timeout is None:
            timeout = supervisor.entry.call_timeout
        if session is not None and supervisor.entry.isolation == "session":
            supervisor = self._instance(supervisor, session)
            if supervisor.listed.replaced:  # its list is not in the registry
                supervisor.listed.check(tool, check)
        elif (client := relayed_client.get()) is not None and client.wants_legacy and _has_twin(supervisor):
            return self._call_twin(supervisor, tool, arguments, timeout, on_progress, repeatable, check)
        return supervisor.call(
            tool, arguments, timeout=timeout, on_progress=on_progress, repeatable=repeatable, check=check
        )

    async def session(self, server: str, session: str | None = None) -> Session:
        """The live session of a server, for resources, prompts and completion; with the session of an agent,
        that of its own instance if the server is isolated."""
        supervisor = self[server]
        if session is not None and supervisor.entry.isolation == "session":
            supervisor = self._instance(supervisor, session)
        return await supervisor.ready()

    async def end_session(self, session: str) -> None:
        """Close the isolated instances of an agent session."""
        mine = [key for key in self._isolated if key[1] == session]
        await asyncio.gather(*(self._isolated.pop(key).close() for key in mine))

    def sandboxed(self) -> frozenset[int]:
        """The processes of the servers that run in a sandbox, or that run commands in one."""
        running = (*self._supervisors.values(), *self._isolated.values())
        return frozenset(
            connected.status.pid
            for connected in running
            if connected.status.pid is not None and _is_sandboxed(connected.entry)
        )

    def starting(self) -> list[str]:
        """Servers that are starting and offer no tools yet."""
        return [
            name
            for name, supervisor in self._supervisors.items()
            if supervisor.status.state is ServerState.STARTING and not supervisor.status.tools
        ]

    async def until_listed(self) -> None:
        """Wait until every starting server offers tools, possibly cached ones."""
        await asyncio.gather(*(self._supervisors[name].until_listed() for name in self.starting()))

    async def settle(self) -> None:
        """Wait until no server is starting; each start has a timeout."""
        await asyncio.gather(*(supervisor.settled() for supervisor in self._supervisors.values()))

    async def close(self) -> None:
        """End all servers in parallel, within a bounded time."""
        supervisors = [*self._supervisors.values(), *self._isolated.values()]
        self._supervisors, self._isolated = {}, {}
        await asyncio.gather(*(supervisor.close() for supervisor in supervisors))

    def _add(self, entry: ServerEntry, switched_on: bool) -> None:
        cached = self._cache.load(entry.name, self._fingerprints[entry.name])
        distrust = self._distrust(entry)
        supervisor = Supervisor(entry, self._connector(entry), self._with, cached=cached, distrust=distrust)
        self._supervisors[entry.name] = supervisor
        if not entry.enabled or not switched_on:
            supervisor.rest("" if entry.enabled else f"Enable it with `toolcrib enable {entry.name}`.")
            return
        supervisor.open(asleep=(self._lazy or entry.lazy) and cached is not None)

    async def _change(self, name: str, entry: ServerEntry | None, switched_on: bool) -> None:
        """End a server and start the changed one; the old one stays visible until then."""
        mine = [key for key in self._isolated if key[0] == name]
        instances = [self._supervisors[name], *(self._isolated.pop(key) for key in mine)]
        reason = "Stopped: it was removed, turned off, or its entry changed."
        await asyncio.gather(*(instance.close(reason) for instance in instances))
        self._with.listener.withdrawn(name)
        if entry is None:
            del self._supervisors[name]
        else:
            self._add(entry, switched_on)

    def _note_broken(self, broken: dict[str, ConfigError]) -> list[str]:
        """Give unusable entries a status; returns the names that are new."""
        before = self._broken
        self._broken = {name: _broken_status(name, error) for name, error in broken.items()}
        news = [name for name, status in self._broken.items() if before.get(name) != status]
        for name in news:
            self._with.listener.changed(self._broken[name])
        return news

    async def _call_twin(
        self,
        shared: Supervisor,
        tool: str,
        arguments: dict[str, Any],
        timeout: float | None,
        on_progress: OnProgress | None,
        repeatable: bool,
        check: DefinitionCheck | None,
    ) -> dict[str, Any]:
        supervisor = await self._twin(shared)
        supervisor.listed.check(tool, check)
        return await supervisor.call(
            tool, arguments, timeout=timeout, on_progress=on_progress, repeatable=repeatable, check=check
        )

    async def _twin(self, shared: Supervisor) -> Supervisor:
        """A second connection of the older era, or the first one if the server does not offer it."""
        key = (shared.entry.name, TWIN)
        twin = self._isolated.get(key)
        if twin is None:
            entry = replace(shared.entry, era="legacy", restart=RestartPolicy(enabled=False))
            twin = Supervisor(entry, self._connector(entry), notices_only(self._with), cached=None)
            self._isolated[key] = twin
            twin.open()
        await twin.settled()
        if twin.session is not None and twin.session.agreement.era == "legacy":
            return twin
        if twin.session is None and shared.session is not None:
            twin.start()  # it may be ready for the next call
        return shared

    def _instance(self, shared: Supervisor, session: str) -> Supervisor:
        key = (shared.entry.name, session)
        instance = self._isolated.get(key)
        if instance is None:
            instance = Supervisor(
                shared.entry,
                self._connector(shared.entry),
                without_listener(self._with),
                cached=shared.cached,
            )
            self._isolated[key] = instance
            instance.open()
        return instance


def _has_twin(supervisor: Supervisor) -> bool:
    """Whether a client of the older era needs another connection: the server is remote, and ours is of the
    newer era. A server of both eras can ask such a client questions only over one of the older era."""
    session = supervisor.session
    remote = traits_of(supervisor.entry.type).second_connection
    return remote and session is not None and session.agreement.era == "modern"


def _broken_status(name: str, error: ConfigError) -> ServerStatus:
    return ServerStatus(
        name=name,
        type="?",
        enabled=True,
        state=ServerState.NEEDS_CONFIG,
        reason=error.message,
        hint=error.hint,
    )


def _is_sandboxed(entry: ServerEntry) -> bool:
    arguments = entry.raw.get("args")
    terminal = isinstance(arguments, list | tuple) and not _TERMINALS.isdisjoint(map(str, arguments))
    return entry.sandbox is not None or terminal
