"""What happened before: a day of calls and some chats, written through the store with a turned clock."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

from toolcrib.agent.chat import Remark, Said, Took
from toolcrib.schema.messages import FromModel, FromTools, FromUser, Text, ToolAnswer, ToolUse, Usage
from toolcrib.schema.tools import CallRecord, Outcome
from toolcrib.store.audit import AuditLog
from toolcrib.store.chats import Chats
from toolcrib.store.database import AsyncDatabase, open_database
from toolcrib.testing.clock import TurnedClock

_USED = {
    "git": (("git_status", "git_log", "git_diff"), 31.0, 3),
    "filesystem": (("read_file", "list_directory"), 9.0, 5),
    "github": (("list_pull_requests", "get_file_contents"), 340.0, 3),
    "fetch": (("fetch_robots",), 420.0, 3),
    "postgres": (("query", "list_tables"), 22.0, 2),
    "playwright": (("browser_snapshot", "browser_click"), 610.0, 2),
    "demo": (("add",), 0.4, 1),
}
_WHO = ("agent", "agent", "agent", "gateway:editor", "python", "cli")
_MODEL = "workshop:scripted"


async def write_history(database: Path, now: datetime) -> None:
    """All of it; the host must not be running yet."""
    database.parent.mkdir(parents=True, exist_ok=True)
    async with open_database(database) as opened:
        async with AuditLog(opened, clock=TurnedClock(now)) as audit:
            for record in sorted(_calls(now), key=lambda one: one.time):
                audit.record(record)
            await audit.flush()
        await _write_chats(opened, now)


def _calls(now: datetime) -> list[CallRecord]:
    chance = random.Random(4)
    records = []
    for server, (tools, typical, most) in _USED.items():
        for hour in range(1, 24):
            count = max(0, chance.randint(-1, most) + (2 if 6 <= hour % 12 <= 9 else 0))
            for _ in range(count):
                when = now - timedelta(hours=hour, seconds=chance.randint(0, 3400))
                failed = server == "postgres" and hour < 3
                outcome: Outcome = "unavailable" if failed else "ok"
                records.append(_record(server, chance.choice(tools), when, outcome, typical, chance))
    latest = {"fetch": ("ok", 4), "git": ("ok", 9), "filesystem": ("ok", 12)}
    for server, (outcome, minutes) in latest.items():
        when = now - timedelta(minutes=minutes)
        tools, typical, _ = _USED[server]
        records.append(_record(server, tools[0], when, cast("Outcome", outcome), typical, chance))
    records.append(_record("fetch", "fetch", now - timedelta(minutes=31), "timeout", 420.0, chance))
    return records


def _record(
    server: str, tool: str, when: datetime, outcome: Outcome, typical: float, chance: random.Random
) -> CallRecord:
    failed = outcome != "ok"
    return CallRecord(
        time=when,
        tool=f"{server}__{tool}",
        server=server,
        principal=chance.choice(_WHO),
        outcome=outcome,
        ms=5000.0 if failed else round(typical * chance.uniform(0.6, 1.7), 1),
        bytes=chance.randint(80, 4000),
        error="The server is down." if failed else None,
        call_id=f"{chance.getrandbits(48):012x}",
        extra={"mode": "on_miss", "decision": "allow", "reason": "it only reads"},
    )


async def _write_chats(database: AsyncDatabase, now: datetime) -> None:
    noon = now.replace(hour=9, minute=20)
    await _chat(database, now - timedelta(hours=2), "Rename the config keys", 12)
    await _chat(database, noon - timedelta(days=1), "Which branch has the fix?", 3)
    await _chat(database, noon - timedelta(days=1, hours=1), "Weekly numbers to a sheet", 5, ending="stopped")
    await _chat(database, noon - timedelta(days=3), "Summarise the retro notes", 2)
    await _chat(database, noon - timedelta(days=4), "Find unused images", 18)
    await _chat(database, noon - timedelta(days=4, hours=2), "Port the parser tests", 0, ending="failed")


async def _chat(
    database: AsyncDatabase, when: datetime, title: str, calls: int, ending: str = "answered"
) -> None:
    clock = TurnedClock(when)
    chats = Chats(database, clock)
    chat = await chats.create(_MODEL, title=title)
    uses = [ToolUse(id=f"c{number}", name="git__git_status") for number in range(calls)]
    answers = [ToolAnswer(id=use.id, name=use.name, parts=(Text("clean"),), ms=24.0) for use in uses]
    entries = [Said(FromUser(parts=(Text(title),)))]
    if uses:
        entries.append(Said(FromModel(parts=tuple(uses))))
        entries.append(Said(FromTools(answers=tuple(answers))))
    if ending == "answered":
        entries.append(Said(FromModel(parts=(Text("Done."),))))
    usage = Usage(input=4100 + 300 * calls, output=350, requests=2)
    remark = {"stopped": "Stopped.", "failed": "The key was refused (401)."}.get(ending)
    ends = [Remark(kind=ending, text=remark)] if remark else []
    took = Took(model=_MODEL, ending=ending, rounds=2, usage=usage, cost=0.01)
    for position, entry in enumerate([*entries, *ends, took]):
        clock.turn(1)
        chats.append(chat.id, position, entry)
    await chats.flush()
    chats.change(replace(chat.info, title=title, updated=clock.now(), entries=len(entries) + len(ends) + 1))
    await chats.flush()
