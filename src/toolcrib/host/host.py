"""The host as its callers see it: servers, tools, one door, events."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from toolcrib.agent.client_requests import ClientRequests
from toolcrib.approvals.durable_questions import DurableAsker
from toolcrib.approvals.gate import Gate as ApprovalGate
from toolcrib.approvals.question import Asker
from toolcrib.config.contents import Config
from toolcrib.config.paths import Paths
from toolcrib.config.secrets import SecretStore
from toolcrib.config.settings import Settings
from toolcrib.config.store import ConfigStore
from toolcrib.errors import ConfigError, UnknownServer
from toolcrib.events import Bus
from toolcrib.host.core import HostCore
from toolcrib.host.installs import Setups
from toolcrib.host.removals import Removals
from toolcrib.host.server_events import ServerEvents
from toolcrib.host.tool_catalog import ToolCatalog
from toolcrib.host.tool_search import Searching
from toolcrib.host.workspace_tools import WorkspaceTools
from toolcrib.schema.approvals import Mode
from toolcrib.schema.events import ConfigChanged, Event
from toolcrib.schema.tools import Principal, Tool, ToolResult
from toolcrib.servers.connector import Connector
from toolcrib.servers.pool import Pool
from toolcrib.servers.sessions.peer import OnProgress
from toolcrib.servers.signin.credential_store import CredentialStore
from toolcrib.store.audit import AuditLog
from toolcrib.store.page_keys import PageKeys
from toolcrib.store.tool_pins import ToolPins
from toolcrib.store.trust import Trust
from toolcrib.suggestions import did_you_mean
from toolcrib.tools.caller import Caller
from toolcrib.tools.functions import FunctionOptions
from toolcrib.tools.ports import Gate, OnDecided
from toolcrib.tools.registry import Registry
from toolcrib.tools.sources.inline import InlineServer, InlineTools
from toolcrib.tools.sources.native import NativeTools

if TYPE_CHECKING:
    from toolcrib.agent import Agent
    from toolcrib.agent.live import Turns
    from toolcrib.agent.ports import Person
    from toolcrib.host.chat_news import ChatNews
    from toolcrib.host.chat_services import ChatServices
    from toolcrib.host.chat_words import ChatWords
    from toolcrib.llm.model import Model
    from toolcrib.llm.models import Models
    from toolcrib.retrieval import Finder, Index, Meaning
    from toolcrib.servers.trial import Step, Trial
    from toolcrib.store.chat_rows import ChatRows
    from toolcrib.store.chats import Chats

F = TypeVar("F", bound=Callable[..., Any])

LOG_READ_BYTES = 256 * 1024


@dataclass(kw_only=True)
class Host:
    """A running tool room. `open_host` makes one; it lives as long as that block."""

    core: HostCore = field(repr=False)
    """What the servers rest on."""
    paths: Paths
    config_store: ConfigStore
    secrets: SecretStore
    events: Bus[Event]
    registry: Registry
    caller: Caller
    """The one door: every tool call of every surface goes through it."""
    gate: Gate
    """Decides which calls may run."""
    approvals: ApprovalGate
    """The gate of the settings and of the person's rules; the same, unless another one was given."""
    questions: DurableAsker
    """Where questions wait that nobody was there to answer."""
    workspace_tools: WorkspaceTools
    """The terminal and the tools for a project's folder."""
    servers: Pool
    """The MCP servers and how they are doing."""
    audit: AuditLog
    trust: Trust
    """Which launches a person has agreed to."""
    pins: ToolPins
    """Which tool definitions a person has approved."""
    native: NativeTools
    inline: InlineTools
    pages: PageKeys = field(repr=False)
    """Who may use the page."""
    removals: Removals = field(repr=False)
    """Servers that were removed and can still come back."""
    setups: Setups = field(repr=False)
    """Servers that are being added, installed or tried out."""
    client_requests: ClientRequests = field(repr=False)
    """Answers what servers ask while they work for a chat."""
    credentials: CredentialStore = field(repr=False)
    """What sign-ins to remote servers left behind."""
    searching: Searching = field(repr=False)
    connector: Connector = field(repr=False)
    server_events: ServerEvents = field(repr=False)
    config_error: ConfigError | None = field(default=None, repr=False)
    """Why the config file, as it stands, is not what is in force; None when it is."""
    started: datetime = field(default_factory=lambda: datetime.now(UTC), repr=False)
    lent: bool = False
    """True while a gateway lends the tools to others: what is for this person alone is then not opened."""
    _reloading: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @property
    def meaning(self) -> Meaning:
        """Vectors of texts, for whoever searches."""
        return self.searching.meaning

    @property
    def finder(self) -> Finder:
        """The tools, ready to be searched; whoever searches lets it follow the registry first."""
        return self.searching.finder

    @property
    def index(self) -> Index:
        """The finder's tools by their words alone."""
        return self.finder.index

    @cached_property
    def tool_catalog(self) -> ToolCatalog:
        """Every tool that is known, those that cannot be called now too."""
        return ToolCatalog(self.registry, self.server_events.last_known, self.meaning)

    @cached_property
    def chat_services(self) -> ChatServices:
        """Where chats are held."""
        from toolcrib.host.chat_services import open_chat_services

        return open_chat_services(self.core, self.workspace_tools, lambda: len(self.tools()))

    async def close_chat_services(self) -> None:
        """End its chats, if it ever had any."""
        if "chat_services" in self.__dict__:
            await self.chat_services.close()

    @property
    def models(self) -> Models:
        """The language models that can be asked."""
        return self.chat_services.models

    @property
    def chats(self) -> Chats:
        """What was asked and answered."""
        return self.chat_services.chats

    @property
    def chat_rows(self) -> ChatRows:
        """The same as a page shows it."""
        return self.chat_services.rows

    @property
    def chat_words(self) -> ChatWords:
        """What surfaces are told of turns, in words."""
        return self.chat_services.words

    @property
    def chat_news(self) -> ChatNews:
        """Tells surfaces what turns are doing."""
        return self.chat_services.news

    @property
    def turns(self) -> Turns:
        """Questions that are being answered by themselves, for whoever follows."""
        return self.chat_services.turns

    @property
    def config(self) -> Config:
        """What the config file said when it was last good."""
        return self.core.config

    @property
    def settings(self) -> Settings:
        """The settings of the config file."""
        return self.config.settings

    def tools(self, server: str | None = None, *, disabled: bool = False) -> list[Tool]:
        """The tools there are now, of all servers or of one; `disabled` adds those that are switched off."""
        found = self.registry.snapshot.tools.values()
        return [
            tool for tool in found if (disabled or tool.enabled) and (server is None or tool.server == server)
        ]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        principal: Principal | None = None,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        on_decided: OnDecided | None = None,
    ) -> ToolResult:
        """Call a tool by its public name; returns the raw MCP result or raises `ToolcribError`."""
        return await self.caller.call(
            name,
            arguments if arguments is not None else {},
            principal=principal or Principal(),
            timeout=timeout,
            on_progress=on_progress,
            on_decided=on_decided,
        )

    def tool(self, **options: Unpack[FunctionOptions]) -> Callable[[F], F]:
        """Decorator: make a typed Python function a native tool of this host."""

        def register(function: F) -> F:
            self.native.tool(**options)(function)
            self.registry.put(None, "native", self.native.tools()[None])
            return function

        return register

    def add_inline(self, server: InlineServer) -> None:
        """Offer the tools of an inline server, under its name and with no process behind them."""
        self.inline.add(server)
        self.registry.put(server.name, "inline", self.inline.tools()[server.name])

    def agent(
        self,
        model: str | Model | None = None,
        *,
        person: Person | None = None,
        mode: Mode | None = None,
        project: str = "",
        max_rounds: int | None = None,
    ) -> Agent:
        """Something that answers questions with a model and these tools.

        `model` is a name such as `anthropic:claude-…`, or a model; without it, that of `TOOLCRIB_MODEL` or of
        the settings. `person` is asked whether a call may run and when a server wants something; `mode` says
        when, as the settings do otherwise. `project` is the folder the person works in. Raises `NoModel`.
        """
        from toolcrib.agent import Agent
        from toolcrib.agent.approval_prompt import TurnGate
        from toolcrib.host.tool_selector import ToolSelector

        settings = self.settings.agent
        if max_rounds is not None:
            settings = replace(settings, max_rounds=max_rounds)
        return Agent(
            model=self._model(model),
            door=self.caller,
            room=ToolSelector(
                self.tools, self.finder, lambda: self.settings.retrieval, self.workspace_tools.owns
            ),
            chats=self.chats,
            settings=settings,
            forms=self.chat_services.forms,
            clock=self.models.context.clock,
            person=person,
            mode=mode,
            project=project,
            gate=self.gate if isinstance(self.gate, TurnGate) else None,
            watch=self.client_requests.watch,
            stop=self.workspace_tools.stop,
        )

    def _model(self, model: str | Model | None) -> Model:
        if model is None or isinstance(model, str):
            return self.models.get(self.models.choose(model))
        return model

    def open_workspace_tools(self) -> None:
        """Put the terminal and the tools for a project's folder among the others."""
        self.workspace_tools.open(self.registry, self.native, self.inline)

    @asynccontextmanager
    async def session(
        self,
        name: str = "agent",
        *,
        mode: Mode | None = None,
        asker: Asker | None = None,
        project: str = "",
    ) -> AsyncIterator[Principal]:
        """An agent session: calls made as this principal reach its own instances of isolated servers.

        A program that makes one decides what it calls, so that nobody is asked unless `mode` says so; `asker`
        is who, and `project` the folder that the session works in.
        """
        principal = Principal(name=name, session=secrets.token_hex(8))
        by_hand = self.approvals.mode_of(Principal())
        self.approvals.begin(principal, mode=mode or by_hand, asker=asker, project=project)
        try:
            yield principal
        finally:
            await self.end_session(principal)

    async def end_session(self, principal: Principal) -> None:
        """A session is over: what ran for it alone ends, and nothing is remembered of it."""
        self.approvals.end(principal)
        await self.rest_session(principal)

    async def rest_session(self, principal: Principal) -> None:
        """A session may go on later: what ran for it alone ends, but the gate knows what it has read."""
        await self.workspace_tools.stop(principal.session)
        await self.servers.end_session(principal.session or "")

    async def ready(self) -> None:
        """Wait until no server is starting any more; each start has its deadline."""
        await self.servers.settle()

    async def try_server(
        self, name: str, on_step: Callable[[Step], None] = lambda step: None
    ) -> tuple[Trial, list[str]]:
        """Start a second instance of a server step by step, and look its tools over."""
        from toolcrib.servers.trial import try_server
        from toolcrib.tools.review import review

        if name in self.config.broken:
            raise self.config.broken[name]
        entry = self.config.servers.get(name) or self.servers[name].entry
        distrust = self.trust.distrust(entry)
        if distrust is not None:
            raise distrust
        trial = await try_server(self.connector, entry, on_step)
        return trial, review(name, trial.definitions, others=self.names_beside(name))

    def names_beside(self, server: str) -> frozenset[str]:
        """The names of the tools of all other servers, their own and the public ones."""
        others = (tool for tool in self.tools(disabled=True) if tool.server != server)
        return frozenset(name for tool in others for name in (tool.name, tool.definition.name))

    async def agree(self, name: str) -> None:
        """A person agrees to what a server would run and to its tools as they are now; it may start."""
        if name in self.config.broken:
            raise self.config.broken[name]
        entry = self.config.servers.get(name)
        if entry is None:
            raise UnknownServer(
                f"There is no server called {name!r}.", hint=did_you_mean(name, self.config.servers)
            )
        self.trust.accept(entry)
        tools = self.registry.snapshot.by_server.get(name, ())
        if any(tool.held for tool in tools):
            self.pins.approve(name, [(tool.definition, tool.hash) for tool in tools])
            self.server_events.list_again(name)
        await self.apply(self.config)

    async def reload(self) -> tuple[str, ...]:
        """Read the config file again and change what changed; an invalid one changes nothing and raises."""
        async with self._reloading:
            try:
                config = await asyncio.to_thread(self.config_store.read)
            except ConfigError as error:
                self.config_error = error
                self.events.publish(ConfigChanged(error=error.message))
                raise
            mended, self.config_error = self.config_error is not None, None
            before = self.config.settings
            changed = await self.apply(config)
            if (mended or config.settings != before) and not changed:
                self.events.publish(ConfigChanged())
            return changed

    async def apply(self, config: Config) -> tuple[str, ...]:
        """Bring the servers in line with a configuration; returns the names of those that were touched."""
        self.caller.settings = config.settings
        self.approvals.adopt(config.settings.approvals)
        if "chat_services" in self.__dict__:
            self.models.settings = config.settings.agent
        self.workspace_tools.adopt(config.settings.terminal)
        if config.settings.terminal.enabled:
            self.open_workspace_tools()
        before = set(self.servers.names())
        changed = await self.core.apply(config)
        for name in before - set(self.servers.names()):
            self.caller.counts.forget(name)
        return changed

    def log_lines(self, server: str, count: int = 100) -> list[str]:
        """The last lines a server wrote to stderr, oldest first."""
        try:
            with self.paths.server_log(server).open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - LOG_READ_BYTES))
                lines = file.read().decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return []
        return lines[-count:]
