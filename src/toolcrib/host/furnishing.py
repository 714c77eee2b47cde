"""Puts the rest of a host on its foundation: the door, the gate, models, chats, and what surfaces ask for."""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import partial

from toolcrib.agent.live import Turns
from toolcrib.config.secrets import SecretStore
from toolcrib.host.chat_news import ChatNews
from toolcrib.host.chat_questions import QuestionWords
from toolcrib.host.chat_words import ChatWords
from toolcrib.host.foundation import Foundation
from toolcrib.host.gating import is_ours, open_gate
from toolcrib.host.host import Host
from toolcrib.host.removals import Removals
from toolcrib.host.searching import Searching
from toolcrib.host.setups import Setups
from toolcrib.llm.context import ModelContext
from toolcrib.llm.opening import Models
from toolcrib.schema.events import WaitingChanged
from toolcrib.schema.tools import Tool
from toolcrib.store.audit import AuditLog
from toolcrib.store.chat_rows import ChatRows
from toolcrib.store.chats import Chats
from toolcrib.store.page_keys import PageKeys
from toolcrib.tools.caller import Caller
from toolcrib.tools.masking import Masker
from toolcrib.tools.ports import Gate
from toolcrib.tools.registry import Registry
from toolcrib.tools.sources.inline import InlineTools
from toolcrib.tools.sources.mcp import McpTools
from toolcrib.tools.sources.native import NativeTools


async def furnish(stack: AsyncExitStack, foundation: Foundation, gate: Gate | None) -> Host:
    """The host; `gate` decides which calls may run, in the place of its own. The stack takes it apart."""
    paths, clock, database = foundation.paths, foundation.clock, foundation.database
    settings, bus, registry = foundation.config.settings, foundation.events, foundation.registry
    secrets, masker = foundation.secrets, foundation.masker
    audit = await stack.enter_async_context(AuditLog(database, days=settings.audit_days))
    models = Models(ModelContext(secret=partial(_secret, secrets, masker), clock=clock), settings.agent)
    stack.push_async_callback(models.close)
    native, inline = NativeTools(), InlineTools()

    def patience(tool: Tool) -> float | None:
        entry = foundation.config.servers.get(tool.server or "")
        return None if entry is None else entry.tool_timeouts.get(tool.definition.name)

    sources = (native, inline, McpTools(foundation.servers, patience))
    approvals, questions, workbench = await open_gate(
        database, clock, paths, foundation.config, lambda: foundation.config
    )
    stack.push_async_callback(workbench.close)
    gate = gate or approvals
    caller = Caller(
        registry, sources, gate, audit, bus, settings, masker=masker, telemetry=foundation.telemetry
    )
    searching = Searching(settings.retrieval.embedder, paths.cache / "vectors", secrets.get)
    stack.push_async_callback(searching.close)
    tool_of = partial(_find_tool, registry)
    known = QuestionWords(tool_of, lambda tool: is_ours(tool, foundation.config, workbench), workbench.holds)
    words = ChatWords(tool_of, lambda: len(host.tools()), known)
    news = ChatNews(bus, words.told)
    stack.push_async_callback(news.close)
    turns = Turns()
    stack.push_async_callback(turns.close)
    host = Host(
        foundation=foundation,
        paths=paths,
        config_store=foundation.config_store,
        secrets=secrets,
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
        models=models,
        chats=Chats(database, clock),
        chat_rows=ChatRows(database),
        chat_words=words,
        chat_news=news,
        pages=await PageKeys.open(database, clock=clock),
        removals=Removals(clock),
        setups=Setups(bus, clock),
        turns=turns,
        searching=searching,
    )
    stack.push_async_callback(host.removals.close)
    stack.push_async_callback(host.setups.close)
    questions.on_change = host.desk.questions.on_change = lambda: bus.publish(WaitingChanged())
    if settings.terminal.enabled:
        host.open_workbench()
    return host


def _find_tool(registry: Registry, name: str) -> Tool | None:
    return registry.snapshot.get(name)


def _secret(secrets: SecretStore, masker: Masker, name: str) -> str | None:
    """A model's key; from now on it is hidden in whatever is written down."""
    value = secrets.get(name)
    if value is not None:
        masker.learn([value])
    return value
