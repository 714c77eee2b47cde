"""Calls that ran or are running: the activity page and `toolcrib audit` with its columns. Also the filter of
past calls (`server:git outcome:failed since:7d`): its keys, times, and groups of outcomes."""

from __future__ import annotations

import asyncio
import json
import shlex
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Any, cast, get_args

from pydantic import Field

from toolcrib.chats.call_question import CallExhibit
from toolcrib.errors import NotFound, UsageError
from toolcrib.host import Host
from toolcrib.host.call_preview import exhibit
from toolcrib.host.service_preview import read_preview
from toolcrib.operations.command import Column, Command, CommandParameter
from toolcrib.operations.operation import (
    RUNNING,
    operation,
)
from toolcrib.operations.results.calls import (
    CallCounts,
    CallPath,
    CallRecorded,
    Calls,
    RunningCall,
    read_place,
    record_json,
    shown_call,
    shown_running,
)
from toolcrib.operations.results.policy import covers_tool, rule_numbers, shown_rules
from toolcrib.schema.tools import CallRecord, Outcome
from toolcrib.store.audit_search import CallFilter, find, find_one, sums
from toolcrib.store.audit_search import count as count_calls
from toolcrib.suggestions import did_you_mean


@operation(page=True)
async def calls(
    host: Host,
    *,
    words: Annotated[str, Field(max_length=2000)] = "",
    limit: Annotated[int, Field(ge=1, le=2000)] = 200,
    before: str | None = None,
    after: str | None = None,
    count: bool = True,
) -> Calls:
    """Search the audit log, page by page: each call with its caller and the approval decision.

    Raises `UsageError` for a filter that cannot be read.
    `before`, `after`: the `place` of a call in the last page.
    `count`: also count all matches.
    """
    wanted = parse_filter(words)
    page = partial(find, wanted=wanted, limit=limit + 1, before=read_place(before), after=read_place(after))
    found = await host.audit.look(page)
    matching = await host.audit.look(partial(count_calls, wanted=wanted)) if count else None
    numbers = rule_numbers(host)
    return {
        "calls": [shown_call(host, call, numbers) for call in found[:limit]],
        "matching": matching,
        "more": len(found) > limit,
    }


@operation(page=True)
async def call_counts(host: Host, *, days: Annotated[int, Field(ge=1, le=3650)] = 30) -> CallCounts:
    """Count recent calls by outcome."""
    since = datetime.now(UTC) - timedelta(days=days)
    found = await host.audit.look(partial(sums, since=since))
    return {
        "total": found.total,
        "asked": found.asked,
        "denied": found.ended.get("denied", 0),
        "failed": sum(found.ended.get(outcome, 0) for outcome in OUTCOMES["failed"]),
        "days": days,
    }


@operation(page=True)
async def call_path(host: Host, call_id: str) -> CallPath:
    """Show how one call went: caller, approval, server.

    Raises `NotFound`.
    """
    found = await host.audit.look(partial(find_one, call_id=call_id))
    if found is None:
        raise NotFound(
            f"There is no call {call_id!r} in the record.", hint="It may be too old, or still running."
        )
    call = shown_call(host, found, rule_numbers(host))
    server = found.record.server
    return {
        "call": call,
        "chat": await _title(host, found.record),
        "exhibit": await _exhibit(host, found.record),
        "rules": [rule for rule in await shown_rules(host) if covers_tool(rule, server, call["name"])],
        "server_state": _state(host, server),
    }


def _state(host: Host, server: str | None) -> str | None:
    return host.servers.status(server).state.value if server is not None and server in host.servers else None


async def _title(host: Host, record: CallRecord) -> str | None:
    if record.principal != "agent" or not record.session:
        return None
    try:
        return (await host.chats.store.load(record.session)).info.title
    except NotFound:
        return None


async def _exhibit(host: Host, record: CallRecord) -> CallExhibit:
    """What the user was shown, or the parts of a command; files may have changed since and are not read."""
    asked = read_preview(record.extra.get("preview"))
    if asked is not None:
        return cast("CallExhibit", asked)
    tool = host.toolset.registry.snapshot.tools.get(record.tool)
    arguments = _read(record.arguments)
    if tool is None or arguments is None or "path" in arguments:
        return {"kind": "arguments"}
    ours = host.approvals.policy.is_ours(tool)
    shown = await asyncio.to_thread(exhibit, tool, arguments, ours=ours, folder="")
    return cast("CallExhibit", shown)


def _read(text: str) -> dict[str, Any] | None:
    try:
        read = json.loads(text)
    except ValueError:
        return None  # shortened
    return read if isinstance(read, dict) else None


@operation(page=True, needs=RUNNING)
async def calls_running(host: Host) -> list[RunningCall]:
    """List calls that are running or waiting for approval, newest first."""
    numbers = rule_numbers(host)
    return [shown_running(host, call, numbers) for call in reversed(host.toolset.caller.under_way())]


@operation(
    page=True,
    command=Command(
        section="Tools",
        help="List past calls, newest first.",
        columns=(
            Column("TIME", "{time:local}"),
            Column("TOOL", "{tool}"),
            Column("BY", "{principal}"),
            Column("OUTCOME", "{outcome}", colours=(("ok", "green"), ("", "red"))),
            Column("TOOK", "{ms:duration}", right=True),
            Column("SIZE", "{bytes:size}", right=True),
            Column("ARGUMENTS", "{error}|{arguments}"),
        ),
        empty="No calls.",
        parameters=(
            CommandParameter("limit", short="-n", help="Maximum number."),
            CommandParameter("tool", help="Only calls of this tool.", completes="tools"),
            CommandParameter("server", help="Only calls of this server's tools.", completes="servers"),
            CommandParameter("principal", help="Only calls by this caller: cli, python, agent …"),
            CommandParameter("outcome", help="Only calls with this outcome."),
            CommandParameter(
                "since", metavar="TIME", help="Only calls since 30m, 2h or 7d ago, or since a date and time."
            ),
        ),
    ),
)
async def audit(
    host: Host,
    *,
    limit: Annotated[int, Field(ge=1, le=100_000)] = 50,
    tool: str | None = None,
    server: str | None = None,
    principal: str | None = None,
    outcome: Outcome | None = None,
    since: datetime | None = None,
) -> list[CallRecorded]:
    """List the recorded calls, newest first."""
    records = await host.audit.query(
        limit=limit,
        tool=tool,
        server=server,
        principal=principal,
        outcome=outcome,
        since=since,
    )
    return [record_json(record) for record in records]


OUTCOMES: dict[str, tuple[Outcome, ...]] = {
    "done": ("ok",),
    "failed": ("tool_error", "invalid", "unavailable", "failed", "timeout"),
    "denied": ("denied",),
    "stopped": ("cancelled",),
    "timeout": ("timeout",),
}
"""The page's names for outcomes; those of the record work too."""
_RECORDED: tuple[Outcome, ...] = get_args(Outcome)
WHO = {"chat": "agent", "terminal": "cli"}
"""Callers that the page and the record name differently."""
KEYS = ("server", "tool", "who", "outcome", "rule", "chat", "since")
_SPANS = {"min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


def parse_filter(text: str, now: datetime | None = None) -> CallFilter:
    """Parse a filter such as `server:git outcome:failed`; raises `UsageError` for an invalid value."""
    given: dict[str, list[str]] = {key: [] for key in KEYS}
    texts: list[str] = []
    for term in _split(text):
        key, colon, value = term.partition(":")
        if colon and key.lower() in given:
            if value:
                given[key.lower()].append(value)
        else:
            texts.append(term)
    outcomes = given["outcome"]
    return CallFilter(
        tools=_tools(given["tool"]),
        servers=tuple(given["server"]),
        principals=tuple(_principal(value) for value in given["who"]),
        sessions=tuple(given["chat"]),
        outcomes=tuple(outcome for value in outcomes if value != "asked" for outcome in _outcomes(value)),
        rules=tuple(given["rule"]),
        texts=tuple(texts),
        asked="asked" in outcomes,
        since=_since(given["since"][-1], now or datetime.now(UTC)) if given["since"] else None,
    )


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()  # an unclosed quotation mark


def _tools(values: list[str]) -> tuple[str, ...]:
    """Patterns for the public name and for the tool's own name, of any server."""
    return tuple(pattern for value in values for pattern in (value, f"*__{value}"))


def _principal(value: str) -> str:
    first, colon, name = value.partition(":")
    return f"{WHO.get(first, first)}{colon}{name}"


def _outcomes(value: str) -> tuple[Outcome, ...]:
    if value in OUTCOMES:
        return OUTCOMES[value]
    recorded = tuple(outcome for outcome in _RECORDED if outcome == value)
    if recorded:
        return recorded
    hint = did_you_mean(value, [*OUTCOMES, "asked"], otherwise=f"Use one of: {', '.join(OUTCOMES)}, asked.")
    raise UsageError(f"There is no outcome {value!r}.", hint=hint)


def _since(value: str, now: datetime) -> datetime:
    if value == "today":
        return now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
    for unit, span in _SPANS.items():
        number = value.removesuffix(unit)
        if number != value and number.isdecimal():
            return now - min(int(number), 10_000) * span
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise UsageError(
            f"{value!r} is not a time.", hint="Use today, 30min, 2h, 7d or a date such as 2026-11-15."
        ) from None
    return moment if moment.tzinfo else moment.astimezone(UTC)
