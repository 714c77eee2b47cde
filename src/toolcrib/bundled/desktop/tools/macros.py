"""The tools for macros: create, read, list, run."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any, TypedDict, cast

from toolcrib.bundled.desktop.identifiers import timestamp
from toolcrib.bundled.desktop.macros.execution import (
    LONGEST_TIMEOUT,
    ExecutionLogEntry,
    ExecutionOptions,
    ExecutionResult,
    ExecutionStep,
    MacroRunner,
    OnStep,
)
from toolcrib.bundled.desktop.macros.model import Macro, flatten, macro_json, read_macro
from toolcrib.bundled.desktop.macros.store import MacroStore
from toolcrib.bundled.desktop.pages import paginate
from toolcrib.bundled.desktop.records import as_text
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.tools.offer import ACTING, Offer, answer, as_failure
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.server import ToolServer

LOG_SHOWN = 200
"""Entries of the log in one reply."""


class MacroParameterData(TypedDict, total=False):
    key: str
    type: str
    default_value: str
    description: str
    required: bool


class NeededOfMacro(TypedDict):
    display_name: str
    actions: list[dict[str, Any]]


class MacroArgument(NeededOfMacro, total=False):
    description: str
    parameters: list[MacroParameterData]
    tags: list[str]


class MacroData(TypedDict):
    name: str
    display_name: str
    description: str
    actions: list[dict[str, Any]]
    parameters: list[MacroParameterData]
    tags: list[str]
    create_time: str | None
    update_time: str | None
    execution_count: int


class MacroSummary(TypedDict):
    name: str
    display_name: str
    description: str
    parameters: list[MacroParameterData]
    tags: list[str]
    actions_count: int
    execution_count: int


class MacroList(TypedDict):
    macros: list[MacroSummary]
    next_page_token: str


class ExecutionOptionsArgument(TypedDict, total=False):
    speed: float
    continue_on_error: bool
    timeout: float
    record_execution: bool


class LogEntryData(TypedDict):
    name: str
    execution_time: str | None
    action_index: int
    description: str
    success: bool
    error: str
    duration: float


class ExecutionData(TypedDict):
    success: bool
    actions_executed: int
    execution_duration: float
    error: str
    log: list[LogEntryData]


class MacroTools:
    def __init__(self, session: DesktopSession) -> None:
        self._sessions = session.automation
        self._store = MacroStore.of_home(session.settings.home)
        self._runner = MacroRunner(session, self._store)

    async def create_macro(self, macro: MacroArgument, macro_id: str | None = None) -> MacroData:
        made = await asyncio.to_thread(self._store.create, read_macro(macro), macro_id)
        return answer(macro_data(made), f"Stored {made.name} with {len(made.actions)} actions.")

    async def get_macro(self, name: str) -> MacroData:
        return macro_data(await asyncio.to_thread(self._store.get, name))

    async def list_macros(self, page_size: int = 0, page_token: str = "") -> MacroList:
        macros = await asyncio.to_thread(self._store.all)
        page = paginate(macros, page_size, page_token, "macros")
        data: MacroList = {
            "macros": [_summary(each) for each in page.items],
            "next_page_token": page.next_page_token,
        }
        lines = [_line(each) for each in page.items] or ["No macros."]
        return answer(data, "\n".join([*lines, *([f"… {page.more} more"] if page.more else [])]))

    async def execute_macro(
        self,
        macro: str,
        context: ToolContext,
        parameter_values: dict[str, Any] | None = None,
        application: str = "",
        options: ExecutionOptionsArgument | None = None,
        session: str = "",
    ) -> ExecutionData:
        if session:
            self._sessions.get(session)
        values = {key: str(as_text(each)) for key, each in (parameter_values or {}).items()}
        result = await self._runner.execute(
            macro, values, application, ExecutionOptions(**(options or {})), _progress(context), context
        )
        if session:
            self._sessions.record(session, "execute_macro", macro, result.error)
        return _executed(macro, result)


def offer_tools(server: ToolServer, session: DesktopSession, wanted: frozenset[str] | None) -> None:
    tools, offer = MacroTools(session), Offer(server, wanted)
    reading = {"read_only": True, "open_world": False, "reach": "here"}
    offer(tools.create_macro, "Create a macro", destructive=False, open_world=False, reach="here")
    offer(tools.get_macro, "Read a macro", **reading)
    offer(tools.list_macros, "List macros", **reading)
    acts = {**ACTING, "limit": LONGEST_TIMEOUT + 60}
    offer(tools.execute_macro, "Run a macro", **acts)


def macro_data(macro: Macro) -> MacroData:
    plain = macro_json(macro)
    return {
        "name": macro.name,
        "display_name": macro.display_name,
        "description": macro.description,
        "actions": plain["actions"],
        "parameters": plain.get("parameters", []),
        "tags": list(macro.tags),
        "create_time": timestamp(macro.create_time),
        "update_time": timestamp(macro.update_time),
        "execution_count": macro.execution_count,
    }


def _summary(macro: Macro) -> MacroSummary:
    return {
        "name": macro.name,
        "display_name": macro.display_name,
        "description": macro.description,
        "parameters": macro_json(macro).get("parameters", []),
        "tags": list(macro.tags),
        "actions_count": sum(1 for _ in flatten(macro.actions)),
        "execution_count": macro.execution_count,
    }


def _line(macro: Macro) -> str:
    keys = ", ".join(parameter.key for parameter in macro.parameters)
    takes = f" ({keys})" if keys else ""
    return f"{macro.name} {macro.display_name!r}{takes} {macro.description[:200]}".rstrip()


def _progress(context: ToolContext) -> OnStep:
    def report(step: ExecutionStep) -> None:
        total = step.total_actions if step.current_action <= step.total_actions else None
        context.progress(step.current_action, total, step.description)

    return report


def _executed(name: str, result: ExecutionResult) -> ExecutionData:
    data: ExecutionData = {
        "success": result.success,
        "actions_executed": result.actions_executed,
        "execution_duration": round(result.execution_duration, 3),
        "error": result.error,
        "log": [_logged(each) for each in result.log[-LOG_SHOWN:]],
    }
    said = f"{result.actions_executed} actions in {result.execution_duration:.1f} s."
    failures = [f"- {each.description}: {each.error}" for each in result.log if not each.success]
    if result.success:
        return answer(data, f"{name} has run: {said}")
    shown = answer(data, "\n".join([f"{name} failed: {result.error}", said, *failures[:10]]))
    return as_failure(shown)


def _logged(entry: ExecutionLogEntry) -> LogEntryData:
    moment, took = timestamp(entry.execution_time), round(entry.duration, 3)
    return cast("LogEntryData", {**asdict(entry), "execution_time": moment, "duration": took})
