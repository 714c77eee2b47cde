"""Tools for macros: create, read, list, run; how a run and its log look in a reply. What a run may do is
limited in `macros/execution.py`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, replace
from typing import Any, TypedDict

from toolcrib.bundled.desktop.macros.execution import (
    LONGEST_TIMEOUT,
    ExecutionLogEntry,
    ExecutionOptions,
    ExecutionResult,
    ExecutionStep,
    MacroRunner,
    OnStep,
)
from toolcrib.bundled.desktop.macros.model import Macro, flatten, read_macro
from toolcrib.bundled.desktop.macros.store import MacroStore
from toolcrib.bundled.desktop.operations.table import ACTING, KEEPING, Desktop, Reply, operation
from toolcrib.bundled.desktop.records import as_text, write_record
from toolcrib.bundled.desktop.resources import timestamp
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.serverkit.context import ToolContext

READING = replace(KEEPING, read_only=True)
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


@dataclass(frozen=True)
class MacroData:
    name: str
    display_name: str
    description: str
    actions: list[dict[str, Any]]
    parameters: list[MacroParameterData]
    tags: list[str]
    create_time: str | None
    update_time: str | None
    execution_count: int


@dataclass(frozen=True)
class MacroSummary:
    name: str
    display_name: str
    description: str
    parameters: list[MacroParameterData]
    tags: list[str]
    actions_count: int
    execution_count: int


@dataclass(frozen=True)
class MacroList:
    macros: list[MacroSummary]
    next_page_token: str


class ExecutionOptionsArgument(TypedDict, total=False):
    speed: float
    continue_on_error: bool
    timeout: float
    record_execution: bool


@dataclass(frozen=True)
class LogEntryData:
    name: str
    execution_time: str | None
    action_index: int
    description: str
    success: bool
    error: str
    duration: float


@dataclass(frozen=True)
class ExecutionData:
    success: bool
    actions_executed: int
    execution_duration: float
    error: str
    log: list[LogEntryData]


@operation("Create a macro", replace(KEEPING, destructive=False))
async def create_macro(
    desktop: Desktop, macro: MacroArgument, macro_id: str | None = None
) -> Reply[MacroData]:
    made = await asyncio.to_thread(store_of(desktop.session).create, read_macro(macro), macro_id)
    return Reply(_data(made), f"Stored {made.name} with {len(made.actions)} actions.")


@operation("Read a macro", READING)
async def get_macro(desktop: Desktop, name: str) -> MacroData:
    return _data(await asyncio.to_thread(store_of(desktop.session).get, name))


@operation("List macros", READING)
async def list_macros(desktop: Desktop, page_size: int = 0, page_token: str = "") -> Reply[MacroList]:
    macros = await asyncio.to_thread(store_of(desktop.session).all)
    page = desktop.page(macros, page_size, page_token, "macros")
    data = MacroList([_summary(macro) for macro in page.items], page.next_page_token)
    lines = [_line(macro) for macro in page.items] or ["No macros."]
    return Reply(data, "\n".join([*lines, *([f"… {page.more} more"] if page.more else [])]))


@operation("Run a macro", replace(ACTING, limit=LONGEST_TIMEOUT + 60))
async def execute_macro(
    desktop: Desktop,
    macro: str,
    parameter_values: dict[str, Any] | None = None,
    application: str = "",
    options: ExecutionOptionsArgument | None = None,
    session: str = "",
) -> Reply[ExecutionData]:
    sessions, context = desktop.session.automation, desktop.context
    if session:
        sessions.get(session)
    values = {key: str(as_text(value)) for key, value in (parameter_values or {}).items()}
    runner = desktop.session.part(runner_of)
    result = await runner.execute(
        macro, values, application, ExecutionOptions(**(options or {})), _progress(context), context
    )
    if session:
        sessions.record(session, "execute_macro", macro, result.error)
    return _executed(macro, result)


def store_of(session: DesktopSession) -> MacroStore:
    return MacroStore.of_home(session.settings.home)


def runner_of(session: DesktopSession) -> MacroRunner:
    """The one of a session: only one macro runs at a time."""
    return MacroRunner(session, store_of(session))


def _data(macro: Macro) -> MacroData:
    return MacroData(
        **_shared(macro),
        actions=write_record(macro)["actions"],
        create_time=timestamp(macro.create_time),
        update_time=timestamp(macro.update_time),
    )


def _summary(macro: Macro) -> MacroSummary:
    return MacroSummary(**_shared(macro), actions_count=sum(1 for _ in flatten(macro.actions)))


def _shared(macro: Macro) -> dict[str, Any]:
    return {
        "name": macro.name,
        "display_name": macro.display_name,
        "description": macro.description,
        "parameters": write_record(macro).get("parameters", []),
        "tags": list(macro.tags),
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


def _executed(name: str, result: ExecutionResult) -> Reply[ExecutionData]:
    took = result.execution_duration
    log = [_logged(entry) for entry in result.log[-LOG_SHOWN:]]
    data = ExecutionData(result.success, result.actions_executed, round(took, 3), result.error, log)
    said = f"{result.actions_executed} actions in {took:.1f} s."
    if result.success:
        return Reply(data, f"{name} has run: {said}")
    failures = [f"- {entry.description}: {entry.error}" for entry in result.log if not entry.success]
    shown = "\n".join([f"{name} failed: {result.error}", said, *failures[:10]])
    return Reply(data, shown, failed=True)


def _logged(entry: ExecutionLogEntry) -> LogEntryData:
    moment, took = timestamp(entry.execution_time), round(entry.duration, 3)
    return LogEntryData(**{**asdict(entry), "execution_time": moment, "duration": took})
