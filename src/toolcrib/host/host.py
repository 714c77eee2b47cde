"""The public interface of a host (servers, tools, calls, agents, events), and how it is built on its core:
approvals, installs, audit log and chats are wired here.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from toolcrib.approvals.facts import WORKFLOW_CODE
from toolcrib.approvals.gate import ApprovalGate
from toolcrib.approvals.question import Asker, DurableAsker
from toolcrib.config.contents import Config
from toolcrib.config.paths import Paths
from toolcrib.config.settings import Effort, Settings
from toolcrib.errors import ConfigError, UnknownServer
from toolcrib.events import Bus
from toolcrib.host.core import HostCore
from toolcrib.host.features import Features
from toolcrib.host.installs import Installs, Removals, Setups
from toolcrib.host.service_preview import ServicePreviews
from toolcrib.host.toolset import Toolset, open_meaning
from toolcrib.host.workspace_tools import WorkspaceTools
from toolcrib.lazy import Lazy
from toolcrib.schema.approvals import Mode
from toolcrib.schema.events import ConfigChanged, Event, WaitingChanged
from toolcrib.schema.tools import Principal, Tool, ToolResult
from toolcrib.servers.pool import Pool
from toolcrib.servers.processes.log_lines import output_in
from toolcrib.servers.sessions.peer import OnProgress
from toolcrib.store.approvals import ApprovalRequests, ApprovalRules
from toolcrib.store.audit import AuditLog
from toolcrib.store.page_keys import PageKeys
from toolcrib.suggestions import did_you_mean
from toolcrib.tools import ports
from toolcrib.tools.caller import Caller
from toolcrib.tools.functions import FunctionOptions
from toolcrib.tools.ports import CallGate, OnDecided
from toolcrib.tools.sources.inline import InlineServer, InlineTools
from toolcrib.tools.sources.mcp import McpTools
from toolcrib.tools.sources.native import NativeTools

if TYPE_CHECKING:
    from toolcrib.agent import Agent
    from toolcrib.agent.ports import User
    from toolcrib.host.chat_services import ChatServices
    from toolcrib.llm.model import Model
    from toolcrib.servers.trial import StepResult, TrialResult

F = TypeVar("F", bound=Callable[..., Any])

LOG_READ_BYTES = 256 * 1024


@dataclass(kw_only=True)
class Host:
    """A running host. Created by `open_host`, and open as long as that block."""

    core: HostCore = field(repr=False)
    """Config, database, servers, and what they need."""
    toolset: Toolset = field(repr=False)
    """The tools: where they come from, how they are found and called."""
    approvals: Approvals = field(repr=False)
    """Decides which calls may run."""
    installs: Installs = field(repr=False)
    """Servers that are being added, installed, tested or removed."""
    audit: AuditLog = field(repr=False)
    """Every call that was made."""
    pages: PageKeys = field(repr=False)
    """The browsers that may use the page."""
    lazy_chats: Lazy[ChatServices] = field(repr=False)
    config_error: ConfigError | None = field(default=None, repr=False)
    """Why the config file is not in effect; None if it is."""
    started: datetime = field(default_factory=partial(datetime.now, UTC), repr=False)
    continues_work: bool = False
    """True if features go on with what a former host left unfinished."""
    lent: bool = False
    """True while a gateway offers the tools to clients; they do not get the terminal."""
    reopen: Callable[[], None] | None = field(default=None, repr=False)
    """Closes this host and opens it again in the same process; None if its owner cannot."""
    _reloading: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    def __post_init__(self) -> None:
        self.features = Features(self)
        """The services of features; `host.workflows` is `host.features["workflows"]`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "features" or not self.features.offers(name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.features[name]

    @property
    def chats(self) -> ChatServices:
        """Models, stored chats and running turns; opened on first use."""
        return self.lazy_chats.value

    @property
    def servers(self) -> Pool:
        """The MCP servers and their status."""
        return self.core.servers

    @property
    def events(self) -> Bus[Event]:
        return self.core.events

    @property
    def paths(self) -> Paths:
        """The files and folders of this home."""
        return self.core.paths

    @property
    def config(self) -> Config:
        """The last valid configuration."""
        return self.core.config

    @property
    def settings(self) -> Settings:
        """The settings of the config file."""
        return self.config.settings

    def tools(self, server: str | None = None, *, disabled: bool = False) -> list[Tool]:
        """The current tools of all servers or of one; `disabled` includes disabled tools."""
        found = self.toolset.registry.snapshot.tools.values()
        return [
            tool for tool in found if (disabled or tool.enabled) and (server is None or tool.server == server)
        ]

    def answering_tools(self) -> list[Tool]:
        """The tools to offer to a model: not those of servers that do not answer their health checks."""
        return [tool for tool in self.tools() if not tool.silent]

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
        return await self.toolset.caller.call(
            name,
            arguments if arguments is not None else {},
            principal=principal or Principal(),
            timeout=timeout,
            on_progress=on_progress,
            on_decided=on_decided,
        )

    def tool(self, **options: Unpack[FunctionOptions]) -> Callable[[F], F]:
        """Decorator: register a typed Python function as a native tool of this host."""

        def register(function: F) -> F:
            self.toolset.native.tool(**options)(function)
            self.toolset.registry.put(None, "native", self.toolset.native.tools()[None])
            return function

        return register

    def add_inline(self, server: InlineServer) -> None:
        """Add the tools of an inline server, which needs no process."""
        self.toolset.inline.add(server)
        self.toolset.registry.put(server.name, "inline", self.toolset.inline.tools()[server.name])

    def agent(
        self,
        model: str | Model | None = None,
        *,
        person: User | None = None,
        mode: Mode | None = None,
        project: str = "",
        max_rounds: int | None = None,
        effort: Effort | None = None,
    ) -> Agent:
        """An agent that answers questions with a model and these tools.

        `model` is a name such as `anthropic:claude-…`, or a model; the default is `TOOLCRIB_MODEL`, then
        the settings. `person` approves calls and answers questions of servers; `mode` is the approval mode
        (default: the settings). `project` is the user's working folder. Raises `NoModel`.
        """
        from toolcrib.agent import Agent
        from toolcrib.approvals.gate import ApprovalGate
        from toolcrib.host.tool_selector import ToolSelector

        settings = self.settings.agent
        if max_rounds is not None:
            settings = settings.replace(max_rounds=max_rounds)
        if effort is not None:
            settings = settings.replace(effort=effort)
        return Agent(
            model=self._model(model),
            caller=self.toolset.caller,
            finder=ToolSelector(
                self.answering_tools,
                self.toolset.finder,
                lambda: self.settings.retrieval,
                self.toolset.workspace.owns,
            ),
            chats=self.chats.store,
            settings=settings,
            forms=self.chats.forms,
            clock=self.chats.models.context.clock,
            user=person,
            mode=mode,
            project=project,
            gate=self.approvals.gate if isinstance(self.approvals.gate, ApprovalGate) else None,
            watch=self.core.question_router.watch,
            stop=self.toolset.workspace.stop,
        )

    def _model(self, model: str | Model | None) -> Model:
        if model is None or isinstance(model, str):
            return self.chats.models.get(self.chats.models.choose(model))
        return model

    def open_workspace_tools(self) -> None:
        """Add the terminal and the project tools to the registry."""
        self.toolset.workspace.open(self.toolset.registry, self.toolset.native, self.toolset.inline)

    @asynccontextmanager
    async def session(
        self,
        name: str = "agent",
        *,
        mode: Mode | None = None,
        asker: Asker | None = None,
        project: str = "",
        given: Sequence[str] = (),
    ) -> AsyncIterator[Principal]:
        """An agent session: calls made as this principal reach its own instances of isolated servers.

        The program decides what it calls, so approval is only needed if `mode` says so; `asker` is then
        asked. `project` is the working folder of the session. `given` are texts that its user wrote: the
        addresses in them may be read without approval.
        """
        principal = Principal(name=name, session=secrets.token_hex(8))
        self.approvals.policy.given(principal, given)
        by_hand = self.approvals.policy.mode_of(Principal())
        self.approvals.policy.begin(principal, mode=mode or by_hand, asker=asker, project=project)
        try:
            yield principal
        finally:
            await self.end_session(principal)

    async def end_session(self, principal: Principal) -> None:
        """End a session: stop its own processes and forget its approvals."""
        self.approvals.policy.end(principal)
        await self.rest_session(principal)

    async def rest_session(self, principal: Principal) -> None:
        """Pause a session: stop its own processes, but keep its approvals and what it has read."""
        await self.toolset.workspace.stop(principal.session)
        await self.servers.end_session(principal.session or "")

    async def ready(self) -> None:
        """Wait until no server is starting; each start has a timeout."""
        await self.servers.settle()
        await self.core.screening.settle()

    async def try_server(
        self, name: str, on_step: Callable[[StepResult], None] = lambda step: None
    ) -> tuple[TrialResult, list[str]]:
        """Start a second instance of a server step by step, and review its tools."""
        from toolcrib.servers.trial import try_server
        from toolcrib.tools.review import review

        if name in self.config.broken:
            raise self.config.broken[name]
        entry = self.config.servers.get(name) or self.servers[name].entry
        distrust = self.core.trust.distrust(entry)
        if distrust is not None:
            raise distrust
        trial = await try_server(self.core.connector, entry, on_step)
        others = self.toolset.registry.snapshot.names_beside(name)
        return trial, await asyncio.to_thread(review, name, trial.definitions, others=others)

    async def agree(self, name: str) -> None:
        """Approve what a server runs and its current tools, on behalf of the user; it may then start."""
        if name in self.config.broken:
            raise self.config.broken[name]
        entry = self.config.servers.get(name)
        if entry is None:
            raise UnknownServer(
                f"There is no server called {name!r}.", hint=did_you_mean(name, self.config.servers)
            )
        self.core.trust.accept(entry)
        tools = self.toolset.registry.snapshot.by_server.get(name, ())
        if any(tool.in_review for tool in tools):
            reviewed = [(tool.definition, tool.hash) for tool in tools if not tool.checking]
            self.core.pins.approve(name, reviewed)
            self.core.server_events.list_again(name)
        await self.apply(self.config)

    async def reload(self) -> tuple[str, ...]:
        """Read the config file again and apply the changes; raises if it is invalid, and changes nothing."""
        async with self._reloading:
            try:
                config = await self.core.read_config()
            except ConfigError as error:
                self.config_error = error
                self.events.publish(ConfigChanged(error=error.message))
                raise
            fixed, self.config_error = self.config_error is not None, None
            before = self.config.settings
            changed = await self.apply(config)
            if (fixed or config.settings != before) and not changed:
                self.events.publish(ConfigChanged())
            return changed

    async def apply(self, config: Config) -> tuple[str, ...]:
        """Apply a configuration; returns the names of the changed servers."""
        self.toolset.caller.settings = config.settings
        adopt_settings(self.approvals.policy, config.settings)
        if self.lazy_chats.opened is not None:
            self.lazy_chats.opened.models.settings = config.settings.agent
        self.toolset.workspace.adopt(config.settings.terminal)
        if config.settings.terminal.enabled:
            self.open_workspace_tools()
        before = set(self.servers.names())
        changed = await self.core.apply(config)
        for name in before - set(self.servers.names()):
            self.toolset.caller.counts.forget(name)
        return changed

    def is_own_program(self, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
        """Whether a connection comes from a command or a sandboxed server, of this host or another."""
        from toolcrib.servers.processes.origin import comes_from_sandbox

        return comes_from_sandbox(self.toolset.workspace.keepers | self.servers.sandboxed(), ours, theirs)

    def log_lines(self, server: str, count: int = 100) -> list[str]:
        """The last lines a server wrote to stderr, oldest first."""
        try:
            with self.paths.server_log(server).open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - LOG_READ_BYTES))
                lines = output_in(file.read().decode("utf-8", "replace"))
        except FileNotFoundError:
            return []
        return lines[-count:]


async def assemble(stack: AsyncExitStack, core: HostCore, gate: CallGate | None) -> Host:
    """Build the host; `gate` replaces its own approval gate. Leaving the stack closes it."""
    paths, clock, database = core.paths, core.clock, core.database
    settings, bus, registry = core.config.settings, core.events, core.registry
    audit = await stack.enter_async_context(AuditLog(database, days=settings.audit_days))
    native, inline = NativeTools(), InlineTools()

    def patience(tool: Tool) -> float | None:
        entry = core.config.servers.get(tool.server or "")
        return None if entry is None else entry.tool_timeouts.get(tool.definition.name)

    mcp = McpTools(core.servers, patience, registry.check_listed)
    sources = (native, inline, mcp)
    approvals, workspace = await open_approvals(core, gate, ServicePreviews(core.servers))
    stack.push_async_callback(workspace.close)
    masker, telemetry, gate = core.masker, core.telemetry, approvals.gate

    async def arrive(name: str) -> bool:
        started = await mcp.arrive(name)
        return await core.screening.settle() or started

    caller = Caller(
        registry,
        sources,
        gate,
        audit,
        bus,
        settings,
        masker=masker,
        telemetry=telemetry,
        arrive=arrive,
        settle=audit.settle if database.shared else None,
    )
    host = Host(
        core=core,
        toolset=Toolset(
            registry=registry,
            caller=caller,
            native=native,
            inline=inline,
            workspace=workspace,
            lazy_meaning=Lazy(
                lambda: open_meaning(settings.retrieval.embedder, paths.cache / "vectors", core.secrets.get)
            ),
            server_events=core.server_events,
        ),
        approvals=approvals,
        installs=Installs(setups=Setups(bus, clock), removals=Removals(clock)),
        audit=audit,
        pages=await PageKeys.open(database, clock=clock),
        lazy_chats=Lazy(lambda: _open_chats(host)),
    )
    stack.push_async_callback(host.toolset.close)
    # Before the database closes, so that calls under way can still be recorded.
    stack.push_async_callback(host.servers.close)
    stack.push_async_callback(_close_chats, host)
    stack.push_async_callback(host.features.close)
    stack.push_async_callback(host.installs.removals.close)
    stack.push_async_callback(host.installs.setups.close)
    approvals.questions.on_change = core.question_router.questions.on_change = lambda: bus.publish(
        WaitingChanged()
    )
    if settings.terminal.enabled:
        host.open_workspace_tools()
    return host


def _open_chats(host: Host) -> ChatServices:
    from toolcrib.host.chat_services import open_chat_services

    is_ours = host.approvals.policy.is_ours
    return open_chat_services(host.core, host.toolset.workspace, is_ours, lambda: len(host.answering_tools()))


async def _close_chats(host: Host) -> None:
    if host.lazy_chats.opened is not None:
        await host.lazy_chats.opened.close()


@dataclass(frozen=True, kw_only=True)
class Approvals:
    """Decides which calls may run."""

    policy: ApprovalGate
    """The settings and the user's rules."""
    gate: ports.CallGate
    """The policy, unless another gate was passed to `open_host`."""
    questions: DurableAsker
    """Questions that wait for the user."""
    rules: ApprovalRules
    """The user's rules, as stored."""


async def open_approvals(
    core: HostCore, gate: ports.CallGate | None, previews: ServicePreviews
) -> tuple[Approvals, WorkspaceTools]:
    """The approvals, and the workspace tools, which work in the folders of their sessions."""
    database, clock, settings = core.database, core.clock, core.config.settings
    rules = await ApprovalRules.open(database, clock=clock)
    wait_seconds = settings.approvals.wait_seconds
    waiting = DurableAsker(ApprovalRequests(database, clock), timeout=wait_seconds)

    def is_ours(tool: Tool) -> bool:
        """Whether a tool came with Toolcrib, so that its annotations can be trusted."""
        if tool.origin == "mcp":
            return tool.server in core.config.bundled
        return tool is WORKFLOW_CODE or workspace_tools.owns(tool)

    policy = ApprovalGate(
        rules=rules,
        ours=is_ours,
        asker=waiting if settings.approvals.headless == "wait" else None,
        protected=_own_folders(core.paths),
        folders=(settings.terminal.folder, *settings.terminal.folders),
        default_project=_default_project(settings),
        preview=previews.of,
        scope_of=previews.scope_of,
    )
    adopt_settings(policy, settings)
    workspace_tools = WorkspaceTools(settings.terminal, policy.project_of, hidden=_own_folders(core.paths))
    return Approvals(policy=policy, gate=gate or policy, questions=waiting, rules=rules), workspace_tools


def adopt_settings(policy: ApprovalGate, settings: Settings) -> None:
    """Use the settings for approvals from now on."""
    policy.adopt(settings.approvals)
    views = {"gateway": settings.gateway, **{f"gateway:{name}": p for name, p in settings.profiles.items()}}
    policy.unasked = frozenset(name for name, view in views.items() if view.approvals == "off")


def _default_project(settings: Settings) -> str:
    """Where commands run in sessions without a project."""
    return str(Path(settings.terminal.folder or ".").expanduser().absolute())


def _own_folders(paths: Paths) -> tuple[Path, ...]:
    """Files that control the host; not those offered to tools, which may be in the same home."""
    backup = paths.config_file.with_name(f"{paths.config_file.name}.bak")
    folders = (paths.database.parent, paths.workflows, paths.state, paths.runtime, paths.logs, paths.cache)
    return (paths.config_file, backup, paths.secrets_file, paths.accounts_file, *folders)
