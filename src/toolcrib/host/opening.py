"""Puts the parts together in the order of their dependence, and takes them apart in the reverse order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from toolcrib.agent.desk import Desk
from toolcrib.agent.live import Turns
from toolcrib.clock import Clock, SystemClock
from toolcrib.config.contents import SERVERS, Config
from toolcrib.config.defaults import new_document
from toolcrib.config.paths import Paths, find_paths
from toolcrib.config.secrets import SecretStore
from toolcrib.config.store import ConfigStore
from toolcrib.config.watch import changes
from toolcrib.errors import ConfigError
from toolcrib.events import Bus
from toolcrib.host.chat_news import ChatNews
from toolcrib.host.chat_questions import QuestionWords
from toolcrib.host.chat_words import ChatWords
from toolcrib.host.fortunes import Fortunes
from toolcrib.host.freshness import keep_fresh
from toolcrib.host.gating import is_ours, open_gate
from toolcrib.host.host import Host
from toolcrib.host.lock import sole_host
from toolcrib.host.removals import Removals
from toolcrib.host.searching import Searching
from toolcrib.host.setups import Setups
from toolcrib.llm.context import ModelContext
from toolcrib.llm.opening import Models
from toolcrib.schema.events import Event, WaitingChanged
from toolcrib.schema.tools import Tool
from toolcrib.servers.connecting import Workshop
from toolcrib.servers.pool import Pool
from toolcrib.servers.ports import Circumstances
from toolcrib.servers.processes.guard import guard_processes
from toolcrib.servers.sessions.handlers import Handlers
from toolcrib.servers.signin.credentials import CredentialStore
from toolcrib.servers.starts import StartSlots
from toolcrib.store.audit import AuditLog
from toolcrib.store.chat_rows import ChatRows
from toolcrib.store.chats import Chats
from toolcrib.store.database import open_database
from toolcrib.store.page_keys import PageKeys
from toolcrib.store.tool_history import ToolHistory
from toolcrib.store.tool_lists import ToolLists
from toolcrib.store.tool_pins import ToolPins
from toolcrib.store.trust import EVERYTHING, Trust
from toolcrib.telemetry.opening import open_telemetry
from toolcrib.tools.caller import Caller
from toolcrib.tools.masking import Masker
from toolcrib.tools.ports import Gate
from toolcrib.tools.registry import Registry
from toolcrib.tools.sources.inline import InlineTools
from toolcrib.tools.sources.mcp import McpTools
from toolcrib.tools.sources.native import NativeTools

logger = logging.getLogger(__name__)


@asynccontextmanager
async def open_host(
    home: Path | str | None = None,
    *,
    exclusive: bool = True,
    lazy: bool = False,
    only: Collection[str] | None = None,
    watch: bool = True,
    handlers: Handlers | None = None,
    gate: Gate | None = None,
    clock: Clock | None = None,
    trust_config: bool = False,
) -> AsyncIterator[Host]:
    """A running host on `home` (default: `TOOLCRIB_HOME`, else the platform's folders).

    `exclusive` holds the home, so that a second host is refused with a pointer to the first. `lazy` starts a
    server only when one of its tools is called, once its tool list is known. `only` leaves all other servers
    alone. `watch` follows edits of the config file. `handlers` answer what servers ask of us, `gate` decides
    which calls may run. `trust_config` takes the config file at its word, for programs that write it.
    """
    paths = await asyncio.to_thread(find_paths(Path(home) if home else None).ensure)
    async with AsyncExitStack() as stack:
        if exclusive:
            stack.enter_context(sole_host(paths.lock_file, paths.home or paths.config_file.parent))
        host = await _assemble(stack, paths, lazy, only, handlers, gate, clock or SystemClock(), trust_config)
        stack.push_async_callback(host.servers.close)
        stack.push_async_callback(host.removals.close)
        stack.push_async_callback(host.setups.close)
        await host.apply(host.config)
        if watch:
            stack.push_async_callback(_cancelled, asyncio.create_task(_follow(host), name="config watch"))
            stack.push_async_callback(_cancelled, asyncio.create_task(keep_fresh(host), name="folder watch"))
        yield host


async def _assemble(
    stack: AsyncExitStack,
    paths: Paths,
    lazy: bool,
    only: Collection[str] | None,
    handlers: Handlers | None,
    gate: Gate | None,
    clock: Clock,
    trust_config: bool,
) -> Host:
    store = ConfigStore(paths.config_file, paths.files)
    config: Config = await asyncio.to_thread(store.read)
    telemetry = await stack.enter_async_context(open_telemetry(os.environ))
    database = await stack.enter_async_context(open_database(paths.database))
    audit = await stack.enter_async_context(AuditLog(database, days=config.settings.audit_days))
    history = await ToolHistory.open(database, clock=clock)
    lists = await ToolLists.open(database)
    pins = await ToolPins.open(database, clock=clock)
    ours = new_document(paths.files)[SERVERS]
    everything = trust_config or os.environ.get(EVERYTHING) == "1"
    trust = await Trust.open(database, ours, clock=clock, everything=everything)
    guard = await stack.enter_async_context(guard_processes(paths.state / "hosts"))
    settings = config.settings
    secrets = SecretStore(paths)
    bus: Bus[Event] = Bus()
    registry = Registry(bus, history, pins, prefix=config.settings.tool_prefix)
    masker = Masker()
    models = Models(ModelContext(secret=partial(_secret, secrets, masker), clock=clock), settings.agent)
    stack.push_async_callback(models.close)
    desk = Desk(partial(_server_of, registry), lambda: models.settings, handlers)
    fortunes = Fortunes(registry, lists, bus, clock, telemetry)
    credentials = CredentialStore(secrets, masker.learn)
    workshop = Workshop(
        guard=guard,
        environ=os.environ,
        secret=secrets.get,
        log_path=paths.server_log,
        installs=paths.data / "servers",
        handlers=desk.handlers(),
        max_message_bytes=settings.max_message_bytes,
        learn_secrets=masker.learn,
        auth=partial(_signed_in, credentials),
    )
    circumstances = Circumstances(
        clock=clock,
        slots=StartSlots(settings.start_concurrency),
        audience=fortunes,
        call_wait=settings.call_wait,
        liveness_interval=settings.liveness_interval,
    )
    pool = Pool(
        connector=workshop.connector,
        circumstances=circumstances,
        cache=lists,
        lazy=lazy,
        distrust=trust.distrust,
    )
    fortunes.pool = pool
    native, inline = NativeTools(), InlineTools()

    def patience(tool: Tool) -> float | None:
        entry = host.config.servers.get(tool.server or "")
        return None if entry is None else entry.tool_timeouts.get(tool.definition.name)

    sources = (native, inline, McpTools(pool, patience))
    approvals, questions, workbench = await open_gate(database, clock, paths, config, lambda: host.config)
    stack.push_async_callback(workbench.close)
    gate = gate or approvals
    caller = Caller(registry, sources, gate, audit, bus, settings, masker=masker, telemetry=telemetry)
    searching = Searching(settings.retrieval.embedder, paths.cache / "vectors", secrets.get)
    stack.push_async_callback(searching.close)
    tool_of = partial(_find_tool, registry)
    known = QuestionWords(tool_of, lambda tool: is_ours(tool, host.config, workbench), workbench.holds)
    words = ChatWords(tool_of, lambda: len(host.tools()), known)
    news = ChatNews(bus, words.told)
    stack.push_async_callback(news.close)
    turns = Turns()
    stack.push_async_callback(turns.close)
    host = Host(
        paths=paths,
        config_store=store,
        config=config,
        secrets=secrets,
        events=bus,
        registry=registry,
        caller=caller,
        gate=gate,
        approvals=approvals,
        questions=questions,
        workbench=workbench,
        servers=pool,
        audit=audit,
        trust=trust,
        pins=pins,
        native=native,
        inline=inline,
        models=models,
        chats=Chats(database, clock),
        chat_rows=ChatRows(database),
        chat_words=words,
        chat_news=news,
        pages=await PageKeys.open(database, clock=clock),
        removals=Removals(clock),
        setups=Setups(bus, clock),
        desk=desk,
        turns=turns,
        credentials=credentials,
        searching=searching,
        workshop=workshop,
        fortunes=fortunes,
        only=frozenset(only) if only is not None else None,
    )
    questions.on_change = desk.questions.on_change = lambda: bus.publish(WaitingChanged())
    if settings.terminal.enabled:
        host.open_workbench()
    return host


def _find_tool(registry: Registry, name: str) -> Tool | None:
    return registry.snapshot.get(name)


def _server_of(registry: Registry, tool: str) -> str | None:
    found = registry.snapshot.get(tool)
    return None if found is None else found.server


def _secret(secrets: SecretStore, masker: Masker, name: str) -> str | None:
    """A model's key; from now on it is hidden in whatever is written down."""
    value = secrets.get(name)
    if value is not None:
        masker.learn([value])
    return value


def _signed_in(credentials: CredentialStore, server: str, url: str) -> object | None:
    """The authentication of a server that somebody signed in to at this very address."""
    found = credentials.load(server)
    if found is None or not found.fits(url):
        return None
    from toolcrib.servers.signin.bearer import BearerAuth

    return BearerAuth(server, credentials, found)


async def _follow(host: Host) -> None:
    """Apply edits of the config file as they happen; a bad one is told and changes nothing."""
    async for digest in changes(host.paths.config_file, since=host.config.digest):
        if digest == host.config.digest and host.config_error is None:
            continue
        try:
            await host.reload()
        except ConfigError as error:
            logger.warning("config not applied", extra={"reason": error.message})


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
