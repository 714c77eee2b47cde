"""What the servers of a profile offer besides tools: prompts, resources and resource templates.

A list is fetched once and kept until its server says that it changed, or is another process. Servers are
asked side by side; one that is slow is waited for briefly, and its list is announced as a change when it
comes after all. The last good list of a server that is restarting stays.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from toolcrib.errors import AuthRequired, ConnectionLost, PeerError, ToolcribError
from toolcrib.gateway.templates import literal_length, matches
from toolcrib.servers.pool import Pool
from toolcrib.servers.sessions.peer import METHOD_NOT_FOUND
from toolcrib.servers.sessions.session import Session
from toolcrib.servers.supervisor import HOPELESS, Supervisor
from toolcrib.tools.naming import public_name

logger = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds for which a list waits for each server."""
FETCH_TIMEOUT = 30.0

Definition = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of thing that servers list."""

    method: str
    key: str
    capability: str
    identity: str

    def identify(self, server: str, definition: Definition) -> str:
        """What clients call it: prompts have public names, as tools have; a URI stays what it is."""
        own = str(definition[self.identity])
        return public_name(server, own) if self.identity == "name" else own

    def is_sound(self, definition: Any) -> bool:
        """True when a client can read it; one that cannot be read would spoil the whole list for many."""
        if not isinstance(definition, dict):
            return False
        texts = (definition.get("name"), definition.get(self.identity))
        loose = (definition.get(key) for key in ("title", "description", "mimeType"))
        if not all(isinstance(text, str) for text in texts):
            return False
        return all(text is None or isinstance(text, str) for text in loose) and _are_arguments(
            definition.get("arguments")
        )


def _are_arguments(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(
        isinstance(one, dict) and isinstance(one.get("name"), str) for one in value
    )


PROMPTS = Kind("prompts", "prompts", "prompts", "name")
RESOURCES = Kind("resources", "resources", "resources", "uri")
TEMPLATES = Kind("resources/templates", "resourceTemplates", "resources", "uriTemplate")
CAPABILITIES = ("prompts", "resources")


@dataclass(frozen=True)
class _Fetch:
    session: Session
    task: asyncio.Task[bool]
    """True once the list is there, False when it could not be had."""
    awaited_until: float

    @property
    def failed(self) -> bool:
        return self.task.done() and (self.task.cancelled() or not self.task.result())


class Catalog:
    """The lists, by server and kind."""

    def __init__(self, servers: Pool, shows: Callable[[str], bool], announce: Callable[[str], None]) -> None:
        self._servers = servers
        self._shows = shows
        self._announce = announce
        self._fetches: dict[tuple[str, Kind], _Fetch] = {}
        self._lists: dict[tuple[str, Kind], dict[str, Definition]] = {}
        self._seen: dict[str, Session] = {}
        self._tasks: set[asyncio.Task[bool]] = set()

    async def page(self, kind: Kind) -> list[Definition]:
        """All of a kind; of two with the same identity, the one of the first server by name."""
        await self._fetch_all(kind)
        merged: dict[str, Definition] = {}
        for server in self._names():
            for identity, definition in self._lists.get((server, kind), {}).items():
                merged.setdefault(identity, {**definition, kind.identity: identity})
        return list(merged.values())

    async def find(self, kind: Kind, identity: str) -> tuple[str, Definition] | None:
        """Whose it is, and its definition as its server knows it."""
        found = self._known(kind, identity)
        if found is None:
            await self._fetch_all(kind)
            found = self._known(kind, identity)
        return found

    async def matching(self, uri: str) -> list[str]:
        """The servers with a template that fits, the one with the most specific template first."""
        await self._fetch_all(TEMPLATES)
        fits = [
            (-literal_length(template), server)
            for server in self._names()
            for template in self._lists.get((server, TEMPLATES), {})
            if matches(template, uri)
        ]
        return list(dict.fromkeys(server for _, server in sorted(fits)))

    async def owner(self, uri: str) -> str | None:
        """The server that a resource belongs to: it lists it, or has the template that fits best."""
        found = await self.find(RESOURCES, uri)
        if found is not None:
            return found[0]
        return next(iter(await self.matching(uri)), None)

    def sessions(self, capability: str) -> list[Session]:
        """The live sessions that offer a capability, by server name."""
        live = (self._session(name) for name in self._names())
        return [session for session in live if session is not None and session.offers(capability)]

    async def ask(self, server: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask a server for something that may be asked for twice; waits briefly for one that restarts."""
        supervisor = self._servers[server]
        timeout = supervisor.entry.call_timeout
        session = await supervisor.ready()
        try:
            return await session.ask(method, params, timeout=timeout)
        except AuthRequired as error:
            session.lose(error)  # everything else would meet the same refusal
            raise
        except ConnectionLost:
            session = await supervisor.ready(after=session)
        return await session.ask(method, params, timeout=timeout)

    def forget(self, server: str, capability: str) -> None:
        """The server says that these lists changed."""
        for key in [key for key in self._fetches if key[0] == server and key[1].capability == capability]:
            del self._fetches[key]

    def look_at(self, server: str) -> Session | None:
        """A server's state changed: announce what may be listed differently now. Returns a new session."""
        if not self._shows(server):
            return None
        session, before = self._session(server), self._seen.get(server)
        if session is before or (session is None and self._supervisor(server) is not None):
            return None
        if session is None:
            del self._seen[server]
            self._drop(server)
        else:
            self._seen[server] = session
        for capability in CAPABILITIES:
            if any(one is not None and one.offers(capability) for one in (session, before)):
                self._announce(capability)
        return session

    async def close(self) -> None:
        """Give up what is still being fetched."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _fetch_all(self, kind: Kind) -> None:
        """Wait for the lists that are not there yet, for none longer than its time."""
        now = asyncio.get_running_loop().time()
        wanted = [fetch for name in self._names() if (fetch := self._fetch(name, kind)) is not None]
        waits = [fetch for fetch in wanted if not fetch.task.done() and fetch.awaited_until > now]
        if waits:
            latest = max(fetch.awaited_until for fetch in waits)
            await asyncio.wait({fetch.task for fetch in waits}, timeout=latest - now)

    def _fetch(self, server: str, kind: Kind) -> _Fetch | None:
        session = self._session(server)
        if session is None:
            return None
        if not session.offers(kind.capability):
            self._lists.pop((server, kind), None)
            return None
        known = self._fetches.get((server, kind))
        if known is not None and known.session is session and not known.failed:
            return known
        until = asyncio.get_running_loop().time() + PATIENCE
        task = asyncio.create_task(self._load(session, kind), name=f"{kind.method} of {server}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        fetch = self._fetches[server, kind] = _Fetch(session, task, until)
        return fetch

    async def _load(self, session: Session, kind: Kind) -> bool:
        try:
            found = await session.list_all(kind.method, timeout=FETCH_TIMEOUT, key=kind.key)
        except ToolcribError as error:
            if not isinstance(error, PeerError) or error.code != METHOD_NOT_FOUND:
                logger.warning(
                    "%s could not be listed", kind.key, extra={"server": session.server, "reason": str(error)}
                )
                return False
            found = []
        self._keep(session, kind, found)
        return True

    def _keep(self, session: Session, kind: Kind, found: Iterable[Any]) -> None:
        fetch = self._fetches.get((session.server, kind))
        if fetch is None or fetch.task is not asyncio.current_task():
            return  # it changed meanwhile, and will be asked for again
        kept: dict[str, Definition] = {}
        for definition in found:
            if kind.is_sound(definition):
                kept.setdefault(kind.identify(session.server, definition), definition)
        self._lists[session.server, kind] = kept
        if asyncio.get_running_loop().time() > fetch.awaited_until:
            self._announce(kind.capability)

    def _known(self, kind: Kind, identity: str) -> tuple[str, Definition] | None:
        for server in self._names():
            definition = self._lists.get((server, kind), {}).get(identity)
            if definition is not None:
                return server, definition
        return None

    def _names(self) -> list[str]:
        names = (name for name in self._servers.names() if self._shows(name))
        return sorted(name for name in names if self._supervisor(name) is not None)

    def _supervisor(self, server: str) -> Supervisor | None:
        """Of a server that runs or will run again."""
        if server not in self._servers or self._servers.status(server).state in HOPELESS:
            return None
        return self._servers[server]

    def _session(self, server: str) -> Session | None:
        supervisor = self._supervisor(server)
        return None if supervisor is None else supervisor.session

    def _drop(self, server: str) -> None:
        for kind in (PROMPTS, RESOURCES, TEMPLATES):
            self._fetches.pop((server, kind), None)
            self._lists.pop((server, kind), None)
