"""Puts the rest of a host on its foundation: the door, the gate, and what surfaces ask for."""

from __future__ import annotations

from contextlib import AsyncExitStack

from toolcrib.host.foundation import Foundation
from toolcrib.host.gating import open_gate
from toolcrib.host.host import Host
from toolcrib.host.removals import Removals
from toolcrib.host.searching import Searching
from toolcrib.host.setups import Setups
from toolcrib.schema.events import WaitingChanged
from toolcrib.schema.tools import Tool
from toolcrib.store.audit import AuditLog
from toolcrib.store.page_keys import PageKeys
from toolcrib.tools.caller import Caller
from toolcrib.tools.ports import Gate
from toolcrib.tools.sources.inline import InlineTools
from toolcrib.tools.sources.mcp import McpTools
from toolcrib.tools.sources.native import NativeTools


async def furnish(stack: AsyncExitStack, foundation: Foundation, gate: Gate | None) -> Host:
    """The host; `gate` decides which calls may run, in the place of its own. The stack takes it apart."""
    paths, clock, database = foundation.paths, foundation.clock, foundation.database
    settings, bus, registry = foundation.config.settings, foundation.events, foundation.registry
    audit = await stack.enter_async_context(AuditLog(database, days=settings.audit_days))
    native, inline = NativeTools(), InlineTools()

    def patience(tool: Tool) -> float | None:
        entry = foundation.config.servers.get(tool.server or "")
        return None if entry is None else entry.tool_timeouts.get(tool.definition.name)

    mcp = McpTools(foundation.servers, patience, registry.check_listed)
    sources = (native, inline, mcp)
    approvals, questions, workbench = await open_gate(
        database, clock, paths, foundation.config, lambda: foundation.config
    )
    stack.push_async_callback(workbench.close)
    gate = gate or approvals
    masker, telemetry = foundation.masker, foundation.telemetry
    caller = Caller(
        registry, sources, gate, audit, bus, settings, masker=masker, telemetry=telemetry, arrive=mcp.arrive
    )
    searching = Searching(settings.retrieval.embedder, paths.cache / "vectors", foundation.secrets.get)
    stack.push_async_callback(searching.close)
    host = Host(
        foundation=foundation,
        paths=paths,
        config_store=foundation.config_store,
        secrets=foundation.secrets,
        events=bus,
        registry=registry,
        servers=foundation.servers,
        trust=foundation.trust,
        pins=foundation.pins,
        desk=foundation.desk,
        credentials=foundation.credentials,
        workshop=foundation.workshop,
        fortunes=foundation.fortunes,
        caller=caller,
        gate=gate,
        approvals=approvals,
        questions=questions,
        workbench=workbench,
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
    stack.push_async_callback(host.close_parlour)
    stack.push_async_callback(host.removals.close)
    stack.push_async_callback(host.setups.close)
    questions.on_change = host.desk.questions.on_change = lambda: bus.publish(WaitingChanged())
    if settings.terminal.enabled:
        host.open_workbench()
    return host
