"""Opens a session for a config entry: expands references, checks the keys, opens the transport. Has the
errors for an unknown type and for a wrong key of an entry.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from toolcrib.config.entries import EntryError
from toolcrib.config.environment import entry_environment
from toolcrib.config.expansion import expand
from toolcrib.config.sections import InvalidValue, Section
from toolcrib.errors import ConfigError, NotFound
from toolcrib.schema.servers import ServerEntry
from toolcrib.serverkit.own_places import HOME_VARIABLE, PLACES_VARIABLE, own_places
from toolcrib.servers.ports import OpenSession
from toolcrib.servers.processes.guard import ProcessGuard
from toolcrib.servers.sessions.handlers import Handlers
from toolcrib.servers.sessions.negotiation import Era
from toolcrib.servers.sessions.peer import OnNotice
from toolcrib.servers.sessions.session import OpenLink, Session, connect
from toolcrib.servers.traffic import Recording
from toolcrib.servers.transport import MAX_MESSAGE_BYTES, LinkContext, Transport
from toolcrib.servers.transport import find_transport as transport_of


@dataclass(frozen=True, kw_only=True)
class Connector:
    """Settings and services to open any server of a host."""

    guard: ProcessGuard
    environ: Mapping[str, str]
    secret: Callable[[str], str | None]
    log_path: Callable[[str], Path]
    installs: Path
    home: Path | None = None
    """The home that the user chose, if any."""
    max_message_bytes: int = MAX_MESSAGE_BYTES
    learn_secrets: Callable[[frozenset[str]], None] = lambda values: None
    """Called with the secret values an entry uses, so that logs can mask them."""
    handlers: Handlers = field(default_factory=Handlers)
    auth: Callable[[str, str], Any] = lambda server, url: None
    """The `httpx2.Auth` of a server at this address, if the user signed in; may wait for a keyring."""

    recordings: Mapping[str, Recording] = field(default_factory=dict)
    """Of servers whose traffic is recorded; changes while connections last."""

    def opener(self, entry: ServerEntry) -> OpenSession:
        return partial(self.open_session, entry)

    @asynccontextmanager
    async def open_session(
        self,
        entry: ServerEntry,
        *,
        era: Era | None = None,
        on_notice: OnNotice = lambda method, params: None,
        on_junk: Callable[[int], None] = lambda count: None,
        on_flood: Callable[[bool], None] = lambda flooding: None,
        on_spawn: Callable[[int], None] = lambda pid: None,
    ) -> AsyncIterator[Session]:
        """A session with the server while the block runs."""
        open_link = await self.resolve(entry, on_junk=on_junk, on_flood=on_flood, on_spawn=on_spawn)
        async with connect(
            entry.name,
            open_link,
            handlers=self.handlers,
            era=era,
            timeout=entry.start_timeout,
            on_notice=on_notice,
            recordings=self.recordings,
        ) as session:
            yield session

    async def resolve(
        self,
        entry: ServerEntry,
        *,
        on_junk: Callable[[int], None] = lambda count: None,
        on_flood: Callable[[bool], None] = lambda flooding: None,
        on_spawn: Callable[[int], None] = lambda pid: None,
    ) -> OpenLink:
        """A function that opens the server's link; raises `ConfigError` for an unusable entry."""
        transport, spec, secrets, auth = await asyncio.to_thread(self._prepare, entry)
        self.learn_secrets(secrets)

        def spawned(pid: int) -> None:
            self.guard.spawned(pid)
            on_spawn(pid)

        context = replace(
            self._context(entry),
            masked=secrets,
            on_junk=on_junk,
            on_flood=on_flood,
            on_spawn=spawned,
            auth=auth,
        )
        return lambda inbox: transport.open(spec, inbox, context)

    def _prepare(self, entry: ServerEntry) -> tuple[Transport, Section, frozenset[str], Any]:
        """Runs in a thread: a keyring or the first import of a transport can be slow."""
        raw = expand(entry.raw, self.environ, self.secret)
        transport = find_transport(entry)
        spec = parse_spec(transport, entry.name, raw)
        url = getattr(spec, "url", None)
        auth = self.auth(entry.name, url) if isinstance(url, str) else None
        return transport, spec, raw.secrets, auth

    def _context(self, entry: ServerEntry) -> LinkContext:
        return LinkContext(
            server=entry.name,
            log_path=self.log_path(entry.name),
            installs=self.installs,
            home=self.home,
            environment=entry_environment(entry, self.environ) | _own_variables(entry, self.home),
            marker=self.guard.new_marker(),
            on_exit=self.guard.exited,
            max_message_bytes=self.max_message_bytes,
            sandbox=entry.sandbox,
        )


def _own_variables(entry: ServerEntry, home: Path | None) -> dict[str, str]:
    """For a bundled server in its own process: the host's files, which it must not touch, and its home."""
    words = (entry.raw.get("module"), *(entry.raw.get("args") or ()))
    if not any(str(word).startswith("toolcrib.bundled") for word in words):
        return {}
    places = {PLACES_VARIABLE: os.pathsep.join(map(str, own_places()))}
    return places if home is None else {**places, HOME_VARIABLE: str(home)}


def find_transport(entry: ServerEntry) -> Transport:
    """The transport of this entry; raises `ConfigError`."""
    try:
        return transport_of(entry.type)
    except NotFound as error:
        raise ConfigError(f"{entry.name} has the unknown type {entry.type!r}.", hint=error.hint) from None


def parse_spec(transport: Transport, server: str, raw: Mapping[str, Any]) -> Section:
    """The transport's keys of the entry; raises `EntryError` naming the wrong one."""
    try:
        return transport.Spec.read(raw)
    except InvalidValue as error:
        key = ".".join(map(str, error.path))
        raise EntryError(
            f"{server}: {key} {error.problem}.",
            path=error.path,
            hint=f"Fix {key!r} in the entry of {server}.",
        ) from None
