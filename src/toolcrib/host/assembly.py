"""Puts the rest of a host on its foundation: the door, the gate, and what surfaces ask for."""

from __future__ import annotations

from contextlib import AsyncExitStack

from toolcrib.host.approvals import open_gate
from toolcrib.host.core import HostCore
from toolcrib.host.host import Host
from toolcrib.host.installs import Setups
from toolcrib.host.removals import Removals
from toolcrib.host.tool_search import Searching
from toolcrib.schema.events import WaitingChanged
from toolcrib.schema.tools import Tool
from toolcrib.store.audit import AuditLog
from toolcrib.store.page_keys import PageKeys
from toolcrib.tools.caller import Caller
from toolcrib.tools.ports import Gate
from toolcrib.tools.sources.inline import InlineTools
from toolcrib.tools.sources.mcp import McpTools
from toolcrib.tools.sources.native import NativeTools


async def assemble(stack: AsyncExitStack, core: HostCore, gate: Gate | None) -> Host:
    """The host; `gate` decides which calls may run, in the place of its own. The stack takes it apart."""
    paths, clock, database = core.paths, core.clock, core.database
    settings, bus, registry = core.config.settings, core.events, core.registry
    audit = await stack.enter_async_context(AuditLog(database, days=settings.audit_days))
    native, inline = NativeTools(), InlineTools()

    def patience(tool: Tool) -> float | None:
        entry = core.config.servers.get(tool.server or "")
        return None if entry is None else entry.tool_timeouts.get(tool.definition.name)

    mcp = McpTools(core.servers, patience, registry.check_listed)
    sources = (native, inline, mcp)
    approvals, questions, workspace_tools = await open_gate(
        database, clock, paths, core.config, lambda: core.config
    )
    stack.push_async_callback(workspace_tools.close)
    gate = gate or approvals
    masker, telemetry = core.masker, core.telemetry
    caller = Caller(
        registry, sources, gate, audit, bus, settings, masker=masker, telemetry=telemetry, arrive=mcp.arrive
    )
    searching = Searching(settings.retrieval.embedder, paths.cache / "vectors", core.secrets.get)
    stack.push_async_callback(searching.close)
    host = Host(
        core=core,
        paths=paths,
        config_store=core.config_store,
        secrets=core.secrets,
        events=bus,
        registry=registry,
        servers=core.servers,
        trust=core.trust,
        pins=core.pins,
        client_requests=core.client_requests,
        credentials=core.credentials,
        connector=core.connector,
        server_events=core.server_events,
        caller=caller,
        gate=gate,
        approvals=approvals,
        questions=questions,
        workspace_tools=workspace_tools,
        audit=audit,
        native=native,
        inline=inline,
        pages=await PageKeys.open(database, clock=clock),
        removals=Removals(clock),
        setups=Setups(bus, clock),
        searching=searching,
    )
    # The foundation would close them last of all; calls under way end while they can still be recorded.
    stack.push_async_callback(host.servers.close)
    stack.push_async_callback(host.close_chat_services)
    stack.push_async_callback(host.removals.close)
    stack.push_async_callback(host.setups.close)
    questions.on_change = host.client_requests.questions.on_change = lambda: bus.publish(WaitingChanged())
    if settings.terminal.enabled:
        host.open_workspace_tools()
    return host
