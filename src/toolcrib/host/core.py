"""The core of a host: config, database, registry, server pool. The rest is built on it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from toolcrib.agent.question_routing import QuestionRouter
from toolcrib.clock import Clock
from toolcrib.config.contents import SERVERS, Config, fingerprint
from toolcrib.config.entries import parse_entry
from toolcrib.config.paths import Paths
from toolcrib.config.secrets import SecretStore
from toolcrib.config.store import ConfigStore, new_document
from toolcrib.errors import ConfigError
from toolcrib.events import Bus
from toolcrib.host.server_events import Screening, ServerEvents
from toolcrib.schema.events import ConfigChanged, Event, ServerRemoved
from toolcrib.schema.tools import Tool
from toolcrib.servers.connector import Connector
from toolcrib.servers.pool import Pool
from toolcrib.servers.ports import SupervisorContext
from toolcrib.servers.processes.guard import guard_processes
from toolcrib.servers.sessions.handlers import Handlers
from toolcrib.servers.signin.credential_store import CredentialStore
from toolcrib.servers.starts import StartSlots
from toolcrib.servers.traffic import Traffic
from toolcrib.store.database import AsyncDatabase, open_database
from toolcrib.store.tool_history import ToolHistory
from toolcrib.store.tool_lists import ToolLists
from toolcrib.store.tool_pins import ToolPins
from toolcrib.store.trust import EVERYTHING, Trust
from toolcrib.telemetry.setup import open_telemetry
from toolcrib.tools.masker import Masker
from toolcrib.tools.registry import Registry

if TYPE_CHECKING:
    from toolcrib.store.shared_profiles import Profiles
    from toolcrib.telemetry.instruments import Instruments

ADDED = "x-added"
"""Marks an entry that is not in the config file."""


@dataclass(kw_only=True)
class HostCore:
    """The servers and their dependencies."""

    paths: Paths
    clock: Clock
    only: frozenset[str] | None
    """Run only these servers; None for all."""
    config_store: ConfigStore
    config: Config
    """The last valid configuration."""
    secrets: SecretStore
    database: AsyncDatabase
    database_url: str = field(repr=False)
    """With its password; empty for the SQLite file."""
    profiles: Profiles = field(repr=False)
    """Profiles in the shared database; those of the config file are in `config` alone."""
    events: Bus[Event]
    telemetry: Instruments | None
    masker: Masker
    trust: Trust
    pins: ToolPins
    registry: Registry
    screening: Screening
    """Holds new tools with suspicious definitions."""
    question_router: QuestionRouter
    credentials: CredentialStore
    connector: Connector
    traffic: Traffic
    """Messages of servers, recorded for the user."""
    server_events: ServerEvents
    servers: Pool
    holds_home: bool = True
    """Whether this is the one host of its home; another runs beside it, for one command or client."""
    added: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Entries that are not in the config file, such as the server of a workflow; `apply` starts them."""

    async def read_config(self) -> Config:
        """The config file with the shared profiles; raises `ConfigError`."""
        config = await asyncio.to_thread(self.config_store.read)
        return _overlaid(config, self.profiles) if self.profiles else config

    def tool(self, name: str) -> Tool | None:
        """The tool with this public name, if it exists."""
        return self.registry.snapshot.get(name)

    async def start_first(self) -> None:
        """Start one server and wait for its process; `apply` starts the others."""
        self._adopt(self.config)
        await self.servers.start_first(
            self.server_events.entries.values(),
            dict(self.config.fingerprints),
            switched_on=self.config.settings.global_enabled,
        )

    async def apply(self, config: Config) -> tuple[str, ...]:
        """Apply a configuration to the servers; returns the names of the changed ones."""
        others = self._adopt(config)
        config = self.config
        before = set(self.servers.names())
        changed = await self.servers.apply(
            self.server_events.entries.values(),
            dict(config.fingerprints),
            dict(config.broken),
            switched_on=config.settings.global_enabled,
        )
        for name in before - set(self.servers.names()):
            self.registry.forget(name)
            self.server_events.forget(name)
            self.traffic.forget(name)
            self.events.publish(ServerRemoved(name))
        changed = tuple(dict.fromkeys([*changed, *others]))
        if changed:
            self.events.publish(ConfigChanged(changed=changed))
        return changed

    def _adopt(self, config: Config) -> tuple[str, ...]:
        """Store a configuration; returns the servers whose enabled tools changed."""
        config = self.config = _with_added(config, self.added)
        entries = list(config.servers.values())
        if self.only is not None:
            entries = [entry for entry in entries if entry.name in self.only or entry.name in self.added]
        others = self.server_events.adopt(entries)
        for name in self.server_events.entries:
            self.registry.expect(name)
        return others


def _overlaid(config: Config, profiles: Profiles) -> Config:
    """The config with the shared profiles."""
    from toolcrib.store.shared_profiles import overlaid

    return overlaid(config, profiles)


async def _shared(database: AsyncDatabase, secrets: SecretStore) -> Profiles:
    """The profiles that all hosts of a database have; from now on, its decisions are checked with its key."""
    from toolcrib.host.database_key import use_key
    from toolcrib.store.shared_profiles import read_profiles

    await use_key(database, secrets)
    return await database.run(partial(read_profiles, database.decisions))


async def build_core(
    stack: AsyncExitStack,
    paths: Paths,
    *,
    lazy: bool,
    only: Collection[str] | None,
    handlers: Handlers | None,
    clock: Clock,
    trust_config: bool,
) -> HostCore:
    """Read the config file and open the database; no server runs yet. Leaving the stack closes everything."""
    store = ConfigStore(paths.config_file, paths.files)
    config: Config = await asyncio.to_thread(store.read)
    settings = config.settings
    telemetry = await stack.enter_async_context(open_telemetry(os.environ))
    secrets, masker = SecretStore(paths), Masker()
    secrets.on_value = masker.learn
    with contextlib.suppress(ConfigError):  # reported by those who need a secret
        await asyncio.to_thread(secrets.tell)
    url = ""
    if settings.database:
        from toolcrib.config.database_url import connection_url

        url = await asyncio.to_thread(connection_url, settings.database, secrets)
    database = await stack.enter_async_context(open_database(url or paths.database))
    profiles = await _shared(database, secrets) if database.shared else {}
    history = await ToolHistory.open(database, clock=clock)
    lists = await ToolLists.open(database)
    pins = await ToolPins.open(database, clock=clock)
    ours = new_document(paths.files)[SERVERS]
    everything = trust_config or os.environ.get(EVERYTHING) == "1"
    trust = await Trust.open(database, ours, clock=clock, everything=everything)
    guard = await stack.enter_async_context(guard_processes(paths.state / "hosts"))
    bus: Bus[Event] = Bus()
    registry = Registry(bus, history, pins, prefix=settings.tool_prefix)
    question_router = QuestionRouter(
        lambda tool: found.server if (found := core.tool(tool)) else None,
        lambda: core.config.settings.agent,
        handlers,
    )
    server_events = ServerEvents(registry, lists, bus, clock, telemetry)
    stack.push_async_callback(server_events.close)
    pins.on_unstored = server_events.list_again
    registry.screen = screening = Screening(registry, server_events.recheck)
    server_events.until_checked = screening.until_checked
    stack.push_async_callback(screening.close)
    credentials = CredentialStore(secrets, masker.learn)
    traffic = Traffic(clock=clock, mask=masker.value)
    connector = Connector(
        guard=guard,
        environ=os.environ,
        secret=secrets.get,
        log_path=paths.server_log,
        installs=paths.data / "servers",
        home=paths.home,
        handlers=question_router.handlers(),
        max_message_bytes=settings.max_message_bytes,
        learn_secrets=masker.learn,
        auth=partial(_signed_in, credentials),
        recordings=traffic.active,
    )
    context = SupervisorContext(
        clock=clock,
        slots=StartSlots(settings.start_concurrency),
        listener=server_events,
        call_wait=settings.call_wait,
        liveness_interval=settings.liveness_interval,
        log_path=paths.server_log,
    )
    server_events.pool = Pool(
        connector=connector.opener,
        context=context,
        cache=lists,
        lazy=lazy,
        distrust=trust.distrust,
    )
    stack.push_async_callback(server_events.pool.close)
    core = HostCore(
        paths=paths,
        clock=clock,
        only=frozenset(only) if only is not None else None,
        config_store=store,
        config=_overlaid(config, profiles) if profiles else config,
        secrets=secrets,
        database=database,
        database_url=url,
        profiles=profiles,
        events=bus,
        telemetry=telemetry,
        masker=masker,
        trust=trust,
        pins=pins,
        registry=registry,
        screening=screening,
        question_router=question_router,
        credentials=credentials,
        connector=connector,
        traffic=traffic,
        server_events=server_events,
        servers=server_events.pool,
    )
    return core


def _with_added(config: Config, added: Mapping[str, Mapping[str, Any]]) -> Config:
    """The configuration with further entries; those of the file win, and removed ones are left out."""
    kept = {name: entry for name, entry in config.servers.items() if ADDED not in entry.raw}
    new = {name: raw for name, raw in added.items() if name not in kept}
    if not new and len(kept) == len(config.servers):
        return config
    marks = {
        name: mark for name, mark in config.fingerprints.items() if name in kept or name in config.broken
    }
    return replace(
        config,
        servers={**kept, **{name: parse_entry(name, {**raw, ADDED: True}) for name, raw in new.items()}},
        fingerprints={**marks, **{name: fingerprint(raw) for name, raw in new.items()}},
    )


def _signed_in(credentials: CredentialStore, server: str, url: str) -> object | None:
    """The credentials of a server, if the user signed in to exactly this address."""
    found = credentials.load(server)
    if found is None or not found.fits(url):
        return None
    from toolcrib.servers.signin.credentials import BearerAuth

    return BearerAuth(server, credentials, found)
