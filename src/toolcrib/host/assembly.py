"""Builds the rest of a host on its core: the tools, the approvals, and what surfaces use."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from toolcrib.host.approvals import open_approvals
from toolcrib.host.core import HostCore
from toolcrib.host.host import Host
from toolcrib.host.installs import Installs, Removals, Setups
from toolcrib.host.service_preview import ServicePreviews
from toolcrib.host.tool_search import Retrieval
from toolcrib.host.toolset import Toolset
from toolcrib.lazy import Lazy
from toolcrib.schema.events import WaitingChanged
from toolcrib.schema.tools import Tool
from toolcrib.store.audit import AuditLog
from toolcrib.store.page_keys import PageKeys
from toolcrib.tools.caller import Caller
from toolcrib.tools.ports import CallGate
from toolcrib.tools.sources.inline import InlineTools
from toolcrib.tools.sources.mcp import McpTools
from toolcrib.tools.sources.native import NativeTools

if TYPE_CHECKING:
    from toolcrib.host.chat_services import ChatServices


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
    approvals, workspace = await open_approvals(core, gate, ServicePreviews(lambda: core.servers))
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
    search = Retrieval(settings.retrieval.embedder, paths.cache / "vectors", core.secrets.get)
    stack.push_async_callback(search.close)
    host = Host(
        core=core,
        toolset=Toolset(
            registry=registry,
            caller=caller,
            native=native,
            inline=inline,
            workspace=workspace,
            search=search,
            server_events=core.server_events,
        ),
        approvals=approvals,
        installs=Installs(setups=Setups(bus, clock), removals=Removals(clock)),
        audit=audit,
        pages=await PageKeys.open(database, clock=clock),
        lazy_chats=Lazy(lambda: _open_chats(host)),
    )
    # Before the database closes, so that calls under way can still be recorded.
    stack.push_async_callback(host.servers.close)
    stack.push_async_callback(_close_chats, host)
    stack.push_async_callback(host.features.close)
    stack.push_async_callback(host.installs.removals.close)
    stack.push_async_callback(host.installs.setups.close)
    approvals.questions.on_change = core.client_requests.questions.on_change = lambda: bus.publish(
        WaitingChanged()
    )
    if settings.terminal.enabled:
        host.open_workspace_tools()
    return host


def _open_chats(host: Host) -> ChatServices:
    from toolcrib.host.chat_services import open_chat_services

    is_ours = host.approvals.policy.is_ours
    return open_chat_services(host.core, host.toolset.workspace, is_ours, lambda: len(host.tools()))


async def _close_chats(host: Host) -> None:
    if host.lazy_chats.opened is not None:
        await host.lazy_chats.opened.close()
