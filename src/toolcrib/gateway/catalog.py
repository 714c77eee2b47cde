"""The prompts, resources and resource templates of the servers of a profile: when lists are fetched again,
how long a slow server is waited for, how long clients may cache, and lists of stopped lazy servers.

A list is fetched once and kept until its server reports a change or restarts. Servers are asked concurrently;
a slow one is waited for briefly, and its list is announced as a change when it arrives. The last list of a
server that is restarting stays. A stopped lazy server is listed as it was when it last ran; a request for one
of its definitions starts it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from toolcrib.errors import AuthRequired, ConnectionLost, PeerError, ToolcribError
from toolcrib.gateway.definitions import (
    CAPABILITIES,
    KINDS,
    RESOURCES,
    TEMPLATES,
    Definition,
    Kind,
    PlainNames,
    by_identity,
    literal_length,
    matches_template,
)
from toolcrib.gateway.profile import Profile
from toolcrib.gateway.wire import AT_ONCE, Encoded
from toolcrib.schema.servers import ServerState
from toolcrib.servers.pool import Pool
from toolcrib.servers.sessions.peer import METHOD_NOT_FOUND
from toolcrib.servers.sessions.session import Session
from toolcrib.servers.supervisor import HOPELESS, Supervisor
from toolcrib.tasks import TaskSet, cancel_and_wait
from toolcrib.tools.names import BORDER
from toolcrib.tools.registry import Snapshot

Lists = dict[str, list[dict[str, Any]]]
"""Definitions as the server sent them, by kind."""

logger = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds that a list waits for each server."""
FETCH_TIMEOUT = 30.0
MAX_FRESH = 60.0
"""Seconds that a client may cache a list at most, because servers come and go."""


class ListFiles:
    """What servers listed when they last ran, one file each, to be listed while a lazy server is stopped.

    A damaged file, or one of another config entry, is ignored.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, server: str, fingerprint: str) -> Lists:
        """The last lists of a server, if its entry is unchanged."""
        try:
            kept = json.loads(self._file(server).read_text())
        except (OSError, ValueError):
            return {}
        if not isinstance(kept, dict) or kept.get("fingerprint") != fingerprint:
            return {}
        lists = kept.get("lists")
        if not isinstance(lists, dict):
            return {}
        return {str(kind): found for kind, found in lists.items() if isinstance(found, list)}

    def save(self, server: str, fingerprint: str, lists: Lists) -> None:
        """Replace the lists of a server; a failure to write is only logged."""
        file = self._file(server)
        draft = file.with_suffix(f".{os.getpid()}")
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft.write_text(json.dumps({"fingerprint": fingerprint, "lists": lists}))
            draft.replace(file)
        except OSError as error:
            logger.warning("lists cannot be saved", extra={"server": server, "reason": str(error)})

    def _file(self, server: str) -> Path:
        """A hash, because a server's name may contain any character."""
        digest = hashlib.sha256(server.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / f"{digest[:32]}.json"


class ToolListCache:
    """The result of `tools/list` in both eras, until the registry or the profile changes.

    A thousand tools take milliseconds to collect and encode, and every client lists them.
    """

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None
        self._profile: Profile | None = None
        self._pages: dict[bool, Encoded] = {}
        self._encoding = asyncio.Lock()

    async def page(
        self, snapshot: Snapshot, profile: Profile, make: Callable[[], dict[str, Any]], *, modern: bool
    ) -> Encoded:
        """The result for this era; made again if the snapshot or the profile is another."""
        if snapshot is not self._snapshot or profile is not self._profile:
            self._snapshot, self._profile = snapshot, profile
            self._pages = {}
        page = self._pages.get(modern)
        if page is None:
            page = self._pages[modern] = Encoded(make())
        if not page.is_encoded:
            async with self._encoding:  # many clients may ask at once
                if not page.is_encoded:
                    await page.encode_list("tools")
        return page


@dataclass(frozen=True)
class _Fetch:
    session: Session
    task: asyncio.Task[bool]
    """True once the list is there, False if it failed."""
    awaited_until: float

    @property
    def failed(self) -> bool:
        return self.task.done() and (self.task.cancelled() or not self.task.result())


def _is_stale(fetch: _Fetch, kind: Kind) -> bool:
    """True for an expired list of a server that does not report changes."""
    session = fetch.session
    offered = session.agreement.capabilities.get(kind.capability)
    if session.agreement.era == "legacy" or not fetch.task.done():
        return False
    if isinstance(offered, dict) and offered.get("listChanged") is True:
        return False
    return session.fresh_until.get(kind.listing, 0.0) <= asyncio.get_running_loop().time()


class CatalogView(Protocol):
    """What a catalog is seen through."""

    profile: Profile

    def shows_server(self, server: str) -> bool:
        """True if clients may see what a server offers besides tools."""


class Catalog:
    """The lists by server and kind."""

    def __init__(
        self,
        servers: Pool,
        view: CatalogView,
        announce: Callable[[str], None],
        kept: ListFiles,
    ) -> None:
        self._kept = kept
        self._servers = servers
        self._view = view
        self._announce = announce
        self._fetches: dict[tuple[str, Kind], _Fetch] = {}
        self._lists: dict[tuple[str, Kind], dict[str, Definition]] = {}
        self._seen: dict[str, Session] = {}
        self._tasks = TaskSet()

    async def page(self, kind: Kind) -> list[Definition]:
        """All definitions of a kind; of two with the same identity, that of the first server by name."""
        await self._fetch_all(kind)
        merged: dict[str, Definition] = {}
        for server in self._names():
            for identity, definition in self._lists.get((server, kind), {}).items():
                merged.setdefault(identity, definition)
        names = self._names_of(kind)
        shown = (
            merged
            if names is None
            else {names.shown(name): definition for name, definition in merged.items()}
        )
        return [{**definition, kind.identity: identity} for identity, definition in shown.items()]

    async def find(self, kind: Kind, identity: str) -> tuple[str, Definition] | None:
        """The server, and the definition as the server sent it."""
        found = self._known(kind, identity)
        if found is None:
            await self._fetch_all(kind)
            found = self._known(kind, identity)
        if found is None and await self._start_owners(identity):
            await self._fetch_all(kind)
            found = self._known(kind, identity)
        return found

    async def matching(self, uri: str) -> list[str]:
        """The servers with a matching template, the most specific first."""
        await self._fetch_all(TEMPLATES)
        matching = [
            (-literal_length(template), server)
            for server in self._names()
            for template in self._lists.get((server, TEMPLATES), {})
            if matches_template(template, uri)
        ]
        return list(dict.fromkeys(server for _, server in sorted(matching)))

    async def owner(self, uri: str) -> str | None:
        """The server of a resource: it lists it, or has the most specific matching template."""
        found = await self.find(RESOURCES, uri)
        if found is not None:
            return found[0]
        return next(iter(await self.matching(uri)), None)

    def fresh_for(self, kind: Kind) -> float:
        """For how many seconds a list of this kind stays valid: the minimum of what the servers declare.

        A server that declares nothing, or is not running, may change at any time.
        """
        now = asyncio.get_running_loop().time()
        left = [MAX_FRESH]
        for name in self._names():
            session = self._session(name)
            if session is None or session.agreement.era == "legacy":
                return 0.0
            if session.offers(kind.capability):
                left.append(session.fresh_until.get(kind.listing, 0.0) - now)
        return max(0.0, min(left)) if len(left) > 1 else 0.0

    def sessions(self, capability: str) -> list[Session]:
        """The live sessions that offer a capability, by server name."""
        live = (self._session(name) for name in self._names())
        return [session for session in live if session is not None and session.offers(capability)]

    async def session(self, server: str) -> Session:
        """The session of a server; a stopped lazy one is started. Raises `ServerNotReady`."""
        return await self._servers[server].ready()

    async def ask(self, server: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a server an idempotent request; waits briefly for one that restarts."""
        supervisor = self._servers[server]
        timeout = supervisor.entry.call_timeout
        session = await supervisor.ready()
        try:
            return await session.ask(method, params, timeout=timeout)
        except AuthRequired as error:
            session.lose(error)  # every other request would be refused too
            raise
        except ConnectionLost:
            session = await supervisor.ready(after=session)
        return await session.ask(method, params, timeout=timeout)

    def invalidate(self, server: str, capability: str) -> None:
        """The server reported that these lists changed."""
        for key in [key for key in self._fetches if key[0] == server and key[1].capability == capability]:
            del self._fetches[key]

    def update_server(self, server: str) -> Session | None:
        """A server's state changed: announce lists that may have changed. Returns a new session."""
        if not self._view.shows_server(server):
            return None
        session, before = self._session(server), self._seen.get(server)
        if session is before or (session is None and self._supervisor(server) is not None):
            return None
        if session is None:
            del self._seen[server]
            self._drop(server)
        else:
            self._seen[server] = session
            self._prefetch(session)
        for capability in CAPABILITIES:
            if any(known is not None and known.offers(capability) for known in (session, before)):
                self._announce(capability)
        return session

    async def close(self) -> None:
        """Cancel fetches that still run."""
        await cancel_and_wait(*self._tasks)

    def _prefetch(self, session: Session) -> None:
        """Fetch all lists of a lazy server while it runs, for when it is stopped."""
        if self._is_lazy(session.server):
            for kind in KINDS:
                self._fetch(session.server, kind)

    async def _start_owners(self, name: str) -> bool:
        """Start the stopped lazy servers that a public name may belong to; True if there are any."""
        stopped = (server for server in self._names() if self._is_stopped(server))
        owners = [server for server in stopped if name.startswith(f"{server}{BORDER}")]
        for server in owners:
            with contextlib.suppress(ToolcribError):
                await self.session(server)
        return bool(owners)

    async def _fetch_all(self, kind: Kind) -> None:
        """Wait for the lists that are not there yet, each until its own deadline."""
        now = asyncio.get_running_loop().time()
        wanted = [fetch for name in self._names() if (fetch := self._fetch(name, kind)) is not None]
        waits = [fetch for fetch in wanted if not fetch.task.done() and fetch.awaited_until > now]
        if waits:
            latest = max(fetch.awaited_until for fetch in waits)
            await asyncio.wait({fetch.task for fetch in waits}, timeout=latest - now)

    def _fetch(self, server: str, kind: Kind) -> _Fetch | None:
        session = self._session(server)
        if session is None:
            self._load_saved(server, kind)
            return None
        if not session.offers(kind.capability):
            self._lists.pop((server, kind), None)
            return None
        known = self._fetches.get((server, kind))
        if known is not None and known.session is session and not known.failed and not _is_stale(known, kind):
            return known
        until = asyncio.get_running_loop().time() + PATIENCE
        task = self._tasks.start(self._load(session, kind), name=f"{kind.method} of {server}")
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
        await self._keep(session, kind, found)
        return True

    async def _keep(self, session: Session, kind: Kind, found: list[Any]) -> None:
        server, valid = session.server, dict[str, Definition]()
        for start in range(0, len(found), AT_ONCE):
            for name, definition in by_identity(server, kind, found[start : start + AT_ONCE]).items():
                valid.setdefault(name, definition)
            await asyncio.sleep(0)
        fetch = self._fetches.get((server, kind))
        if fetch is None or fetch.task is not asyncio.current_task():
            return  # it changed meanwhile, and will be fetched again
        self._lists[server, kind] = valid
        self._save(server)
        if asyncio.get_running_loop().time() > fetch.awaited_until:
            self._announce(kind.capability)

    def _load_saved(self, server: str, kind: Kind) -> None:
        """Load what a stopped lazy server listed when it last ran."""
        if (server, kind) not in self._lists and self._is_stopped(server):
            kept = self._kept.load(server, self._servers.fingerprint(server))
            for saved in KINDS:
                self._lists[server, saved] = by_identity(server, saved, kept.get(saved.key, ()))

    def _save(self, server: str) -> None:
        if not self._is_lazy(server):
            return
        lists = {kind.key: list(self._lists.get((server, kind), {}).values()) for kind in KINDS}
        self._kept.save(server, self._servers.fingerprint(server), lists)

    def _is_lazy(self, server: str) -> bool:
        supervisor = self._supervisor(server)
        return supervisor is not None and supervisor.entry.lazy

    def _is_stopped(self, server: str) -> bool:
        """True for a lazy server that waits for its first call."""
        return self._session(server) is None and self._servers.status(server).state is ServerState.READY

    def _names_of(self, kind: Kind) -> PlainNames | None:
        """The plain names of a kind; URIs have none."""
        if not self._view.profile.plain_names or kind.identity != "name":
            return None
        lists = (self._lists.get((server, kind), {}) for server in self._names())
        return PlainNames(
            {name: str(definition["name"]) for kept in lists for name, definition in kept.items()}
        )

    def _known(self, kind: Kind, identity: str) -> tuple[str, Definition] | None:
        names = self._names_of(kind)
        identity = identity if names is None else names.public(identity)
        for server in self._names():
            definition = self._lists.get((server, kind), {}).get(identity)
            if definition is not None:
                return server, definition
        return None

    def _names(self) -> list[str]:
        names = (name for name in self._servers.names() if self._view.shows_server(name))
        return sorted(name for name in names if self._supervisor(name) is not None)

    def _supervisor(self, server: str) -> Supervisor | None:
        """Of a server that runs, or will run again."""
        if server not in self._servers or self._servers.status(server).state in HOPELESS:
            return None
        return self._servers[server]

    def _session(self, server: str) -> Session | None:
        supervisor = self._supervisor(server)
        return None if supervisor is None else supervisor.session

    def _drop(self, server: str) -> None:
        for kind in KINDS:
            self._fetches.pop((server, kind), None)
            self._lists.pop((server, kind), None)
